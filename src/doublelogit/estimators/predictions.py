"""What a fitted classifier predicts, by asking the model that it holds."""

from copy import copy
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted, validate_data

from doublelogit._types import Floats, Matrix
from doublelogit.estimators.label_sources import any_label, is_several
from doublelogit.estimators.out_of_core import (
    is_distant,
    nameless,
    over_blocks,
    source_like_fit,
)
from doublelogit.estimators.validation import (
    listed,
    row_columns,
    with_unlabelled,
)
from doublelogit.findings import fit as findings
from doublelogit.fitted import FittedModel, Probabilities
from doublelogit.fitted.fit import Orientation
from doublelogit.metrics import label_log_likelihood


class ModelPredictions:
    """Predictions of ``model_``; formulas are the model's, checks of X are here.

    Each takes X, {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features), and gives
    one number for each row; ``predict_proba`` gives two.
    """

    classes_: NDArray[Any]
    model_: FittedModel
    orientation_: Orientation | None

    @over_blocks
    def decision_function(self, X: Any) -> Floats:
        """Logit of P(Y=1 | x)."""
        check_is_fitted(self)
        return self.model_.outcome_logit(self._features(X))

    @over_blocks
    def predict_positive(self, X: Any) -> Floats:
        """Probability of the class y(x) = P(Y=1 | x), as one column."""
        check_is_fitted(self)
        return self.model_.outcome_proba(self._features(X))

    @over_blocks
    def predict_proba(self, X: Any) -> Floats:
        """Probabilities P(Y=0 | x) and P(Y=1 | x), in the order of ``classes_``."""
        y_x = self.predict_positive(X)
        return np.column_stack([1 - y_x, y_x])

    @over_blocks
    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the likelier class: ``classes_[1]`` where P(Y=1 | x) > 1/2."""
        positive = self.decision_function(X) > 0
        return self.classes_[positive.astype(int)]

    @over_blocks
    def predict_propensity(self, X: Any) -> Floats:
        """Propensity e(x) = P(S=1 | Y=1, x), the probability that a positive is labelled."""
        check_is_fitted(self)
        return self.model_.propensity(self._features(X))

    @over_blocks
    def predict_source_propensity(self, X: Any) -> Floats:
        """Propensity of every source, P(S_j=1 | Y=1, x), a column each; that of any is e(x)."""
        check_is_fitted(self)
        model: Any = self.model_
        if not hasattr(model, "source_propensity"):
            raise ValueError(
                "predict_source_propensity needs a fit to labels of several sources, y of shape "
                "(n, m); got a fit to one. Use predict_propensity."
            )
        return np.asarray(model.source_propensity(self._features(X)))

    @over_blocks
    def predict_label_proba(self, X: Any) -> Floats:
        """Probability of a label s(x) = P(S=1 | x), false labels included if allowed for."""
        check_is_fitted(self)
        return self.model_.label_proba(self._features(X))

    @over_blocks
    def predict_hidden(self, X: Any) -> Floats:
        """Probability that an unlabelled row is positive, P(Y=1 | x, S=0): the ranking score."""
        check_is_fitted(self)
        return self.model_.hidden_proba(self._features(X))

    def probabilities(self, X: Any) -> Probabilities:
        """All four probabilities of every row, by one look at the features.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)

        Returns
        -------
        probabilities : Probabilities
            A named tuple of columns: ``positive`` y(x), ``propensity`` e(x), ``label`` s(x) and
            ``hidden`` P(Y=1 | x, S=0), as by the four ``predict_`` methods.
        """
        return Probabilities(*self._four_columns(X).T)

    @over_blocks
    def _four_columns(self, X: Any) -> Floats:
        check_is_fitted(self)
        return np.column_stack(self.model_.probabilities(self._features(X)))

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Mean log-likelihood of the observed labels; larger is better.

        Accuracy against the observed label would reward calling every hidden positive
        negative. This score compares s(x) = y(x) e(x) with the labels, needs no true class,
        and is maximal in expectation for the true s(x).

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Observed labels, coded as in ``fit``; of several sources, that of any counts.
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        score : float
        """
        check_is_fitted(self)
        if is_distant(X):
            rows = source_like_fit(self, X, y, sample_weight).rows(
                partial(row_columns, self.classes_, False)
            )
            value, n = rows.sum_rows(
                partial(_label_score, nameless(self)), rows.labels.any, rows.weight
            )
            return float(value / n)
        y = any_label(y, self.classes_) if is_several(y) else y
        y = np.asarray(with_unlabelled(y, *self.classes_[::-1]))
        unknown = np.setdiff1d(y, self.classes_)
        if len(unknown):
            raise ValueError(
                f"y must hold the labels of fit, {listed(self.classes_)}; got {listed(unknown)}."
            )
        s = y == self.classes_[1]
        return label_log_likelihood(s, self.predict_label_proba(X), sample_weight)

    def swapped(self) -> Self:
        """Return the fitted classifier with class and labelling swapped.

        Returns
        -------
        other : classifier
            The rival solution; ``orientation_`` says how much worse it is.
        """
        check_is_fitted(self)
        model = self.model_.swapped()
        if model is None or self.orientation_ is None:
            raise ValueError(
                f"{type(self).__name__} has no solution with class and labelling swapped: "
                f"{findings.orientation_sentence(self.orientation_)}"
            )
        other = copy(self)
        other.model_, other.orientation_ = model, self.orientation_.swapped()
        return other

    @property
    def coef_(self) -> Floats:
        """Slopes of the outcome model."""
        return _linear(self.model_.coefficients().beta, "outcome")[None, :-1]

    @property
    def intercept_(self) -> Floats:
        """Intercept of the outcome model."""
        return _linear(self.model_.coefficients().beta, "outcome")[-1:]

    @property
    def propensity_coef_(self) -> Floats:
        """Slopes of the propensity model."""
        return _linear(self.model_.coefficients().gamma, "propensity")[None, :-1]

    @property
    def propensity_intercept_(self) -> Floats:
        """Intercept of the propensity model."""
        return _linear(self.model_.coefficients().gamma, "propensity")[-1:]

    @property
    def _feature_names(self) -> NDArray[Any] | None:
        """Names of the features of fit, if they had any."""
        return vars(self).get("feature_names_in_")

    def _features(self, X: Any) -> Any:
        """New features, checked against those of fit."""
        return validate_data(
            self, X, accept_sparse="csr", dtype=(np.float64, np.float32), reset=False
        )


def _linear(coef: Floats | None, which: str) -> Floats:
    """The coefficients of a linear model; another one has none, as scikit-learn's hasattr asks."""
    if coef is None:
        raise AttributeError(f"the {which} model is not linear, so it has no coefficients.")
    return coef


def _label_score(
    model: ModelPredictions, X: Matrix, s: Floats, weight: Floats
) -> tuple[float, float]:
    n = float(weight.sum())
    if n == 0:
        return 0.0, 0.0
    return n * label_log_likelihood(s == 1, model.predict_label_proba(X), weight), n
