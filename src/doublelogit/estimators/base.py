"""What all classifiers share: validation, predictions, a score that needs no true class."""

import warnings
from abc import ABC, abstractmethod
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_expit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from doublelogit._types import Floats, Matrix
from doublelogit.design import Terms, predictor
from doublelogit.engines.encoding import Encoding
from doublelogit.engines.memory import MemoryRows, memory_rows
from doublelogit.estimators.out_of_core import (
    as_source,
    expanded,
    is_distant,
    nameless,
    over_blocks,
    source_like_fit,
)
from doublelogit.estimators.serialization import save
from doublelogit.estimators.validation import (
    check_audited,
    check_weighted,
    encode_labels,
    feature_index,
    label_classes,
    listed,
    row_columns,
    separated,
)
from doublelogit.exceptions import SeparationWarning
from doublelogit.fit import PUFit, shifted
from doublelogit.likelihood import positive_given_unlabelled
from doublelogit.link import LINKS, Link, to_logit
from doublelogit.methods import Problem
from doublelogit.methods.problem import nearer_zero, varying_columns
from doublelogit.metrics import label_log_likelihood
from doublelogit.rows import Rows, Source

POSITIVE = [Interval(Real, 0, None, closed="right")]
NON_NEGATIVE = [Interval(Real, 0, None, closed="left")]
COUNT = [Interval(Integral, 1, None, closed="left")]
FEATURES = ["array-like", None]


class AbstractPUClassifier(ClassifierMixin, BaseEstimator, ABC):
    """A classifier of the true class, learned from labels that only positives may carry."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "C": POSITIVE,
        "propensity_C": POSITIVE,
        "outcome_features": FEATURES,
        "propensity_features": FEATURES,
        "tol": NON_NEGATIVE,
        "max_iter": COUNT,
        "pos_label": "no_validation",
    }

    C: float
    tol: float
    max_iter: int
    pos_label: Any
    classes_: NDArray[Any]

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, audited_y: Any = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
            Features. Or a Dask array or data frame, then y too; or Parquet files, named by
            :func:`doublelogit.scan_parquet` together with labels, weights and audited classes.
        y : array-like of shape (n_samples,)
            Observed label: labelled (surely positive) or unlabelled (either). 1/True means
            labelled; for other values see ``pos_label``.
        sample_weight : array-like of shape (n_samples,), default=None
            How many times each row counts. (TM's quantile counts rows: weights that sum to one
            would make it one of a single row.)
        audited_y : array-like of shape (n_samples,), default=None
            The class of rows where it was found out: 1 positive, 0 negative, NaN elsewhere.

        Returns
        -------
        self : object
            The fitted classifier.
        """
        self._validate_params()
        before = dict(vars(self))
        try:
            rows = self._rows(X, y, sample_weight, audited_y)
            problem = nearer_zero(self._problem(rows))
            result = self._fit(problem, X)
            self._warn(problem.rows, result)
            self._store(shifted(result, problem.shift))
        except BaseException:  # a file may end in the middle: leave nothing half-fitted
            self.__dict__.clear()
            self.__dict__.update(before)
            raise
        return self

    @abstractmethod
    def _fit(self, problem: Problem, X: Any) -> PUFit:
        """Call the method. X is as the user passed it, for models that want it so."""

    @over_blocks
    def decision_function(self, X: Any) -> Floats:
        """Logit of P(Y=1 | x).

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)

        Returns
        -------
        logit : ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        X = self._features(X)
        return to_logit(self._link, predictor(X, np.append(self.coef_[0], self.intercept_)))

    @over_blocks
    def predict_positive(self, X: Any) -> Floats:
        """y(x) = P(Y=1 | x), as one column.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)

        Returns
        -------
        y_x : ndarray of shape (n_samples,)
        """
        return np.asarray(expit(self.decision_function(X)))

    @over_blocks
    def predict_proba(self, X: Any) -> Floats:
        """P(Y=0 | x) and P(Y=1 | x), in the order of ``classes_``.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)

        Returns
        -------
        p : ndarray of shape (n_samples, 2)
        """
        y_x = self.predict_positive(X)
        return np.column_stack([1 - y_x, y_x])

    @over_blocks
    def predict(self, X: Any) -> NDArray[Any]:
        """The likelier class: ``classes_[1]`` where P(Y=1 | x) > 1/2.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)

        Returns
        -------
        y : ndarray of shape (n_samples,)
        """
        positive = self.decision_function(X) > 0
        return self.classes_[positive.astype(int)]

    @over_blocks
    def predict_propensity(self, X: Any) -> Floats:
        """e(x) = P(S=1 | Y=1, x), the chance of a positive to be labelled.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)

        Returns
        -------
        e_x : ndarray of shape (n_samples,)
        """
        return np.asarray(expit(self._propensity_logit(X)))

    @over_blocks
    def predict_label_proba(self, X: Any) -> Floats:
        """s(x) = P(S=1 | x) = y(x) e(x), the chance to be labelled (of negatives too, if told so).

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)

        Returns
        -------
        s_x : ndarray of shape (n_samples,)
        """
        y_x, false_rate = self.predict_positive(X), getattr(self, "false_label_rate", 0.0)
        return y_x * self.predict_propensity(X) + (1 - y_x) * false_rate

    @over_blocks
    def predict_hidden(self, X: Any) -> Floats:
        """P(Y=1 | x, S=0), the chance that an unlabelled row is positive: the ranking score.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)

        Returns
        -------
        t_x : ndarray of shape (n_samples,)
        """
        log_not_e = log_expit(-self._propensity_logit(X))
        log_not_e = log_not_e - np.log1p(-getattr(self, "false_label_rate", 0.0))
        return positive_given_unlabelled(self.decision_function(X), log_not_e)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Mean log-likelihood of the observed labels; larger is better.

        Accuracy against the observed label would reward calling every hidden positive
        negative. This score compares s(x) = y(x) e(x) with the labels, needs no true class,
        and is maximal in expectation for the true s(x).

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Observed labels, coded as in ``fit``.
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
            value, n = rows.sum_rows(partial(_label_score, nameless(self)), rows.s, rows.weight)
            return float(value / n)
        y = np.asarray(y)
        unknown = np.setdiff1d(y, self.classes_)
        if len(unknown):
            raise ValueError(
                f"y must hold the labels of fit, {listed(self.classes_)}; got {listed(unknown)}."
            )
        s = y == self.classes_[1]
        return label_log_likelihood(s, self.predict_label_proba(X), sample_weight)

    def save(self, path: Any) -> None:
        """Write the fitted classifier to a file that :func:`doublelogit.load` reads.

        The file holds JSON and raw arrays, no pickle. Classifiers of other libraries that were
        plugged in are kept by skops, and load with the same version of scikit-learn only.

        Parameters
        ----------
        path : path
            Of the file; it is written whole or not at all.
        """
        check_is_fitted(self)
        save(self, path)

    def _propensity_logit(self, X: Any) -> Floats:
        check_is_fitted(self)
        X = self._features(X)
        gamma = np.append(self.propensity_coef_[0], self.propensity_intercept_)
        return to_logit(self._link, predictor(X, gamma))

    @property
    def _link(self) -> Link:
        """Response function of both models."""
        return LINKS[getattr(self, "link", "logit")]

    def _features(self, X: Any) -> Any:
        """New features, checked against those of fit."""
        return validate_data(
            self, X, accept_sparse="csr", dtype=(np.float64, np.float32), reset=False
        )

    def _rows(self, X: Any, y: Any, sample_weight: Any, audited_y: Any) -> Rows:
        self.__dict__.pop("encoding_", None)
        source = as_source(X, y, sample_weight, audited_y)
        if source is not None:
            return self._distant_rows(source)
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=(np.float64, np.float32))
        return self._labelled_rows(X, y, sample_weight, audited_y)

    def _distant_rows(self, source: Source) -> Rows:
        """Rows that are not in memory, and what is to be known of them."""
        labels = source.labels()
        if len(labels) == 0:
            raise ValueError("a fit needs rows; got none, or none that pass the filter.")
        self.classes_ = label_classes(labels, self.pos_label)
        self.n_features_in_ = source.n_features
        self.__dict__.pop("feature_names_in_", None)
        if source.names is not None:
            self.feature_names_in_ = np.array(source.names, dtype=object)
        if source.encoding is not None:
            self.encoding_: Encoding = source.encoding
        rows = source.rows(partial(row_columns, self.classes_, self._certain))
        check_weighted(rows, self.classes_)
        return rows

    @property
    def _certain(self) -> bool:
        """Whether a label is certain to mean a positive."""
        return getattr(self, "false_label_rate", 0.0) == 0

    def _labelled_rows(self, X: Any, y: Any, sample_weight: Any, audited_y: Any) -> MemoryRows:
        s, self.classes_ = encode_labels(y, self.pos_label)
        weight = None
        if sample_weight is not None:
            weight = _check_sample_weight(
                sample_weight, X, dtype=np.float64, ensure_non_negative=True
            )
        audited = check_audited(audited_y, s, self._certain)
        rows = memory_rows(X, s, weight=weight, audited=audited, certain=self._certain)
        check_weighted(rows, self.classes_)
        return rows

    def _problem(self, rows: Rows) -> Problem:
        outcome, propensity = self._terms(rows)
        propensity_C = getattr(self, "propensity_C", self.C)
        return Problem(rows, 1 / self.C, 1 / propensity_C, outcome, propensity, link=self._link)

    def _terms(self, rows: Rows) -> tuple[Terms, Terms]:
        """Terms of both models: the features asked for, but no constant columns."""
        varying = varying_columns(rows)
        names = getattr(self, "feature_names_in_", None)

        def chosen(parameter: str) -> Terms:
            features = expanded(getattr(self, parameter, None), getattr(self, "encoding_", None))
            index = feature_index(features, parameter, rows.n_features, names)
            if index is None:
                return varying
            if varying.columns is not None:
                index = np.intersect1d(index, varying.columns)
            return Terms(rows.n_features, index)

        return chosen("outcome_features"), chosen("propensity_features")

    def _store(self, result: PUFit) -> None:
        for name in ("coef_", "intercept_", "propensity_coef_", "propensity_intercept_"):
            self.__dict__.pop(name, None)  # of an earlier fit, which may have had other models
        if result.beta is not None:
            self.coef_, self.intercept_ = result.beta[None, :-1], result.beta[-1:]
        if result.gamma is not None:
            self.propensity_coef_ = result.gamma[None, :-1]
            self.propensity_intercept_ = result.gamma[-1:]
        self.n_iter_, self.converged_ = max(result.n_iter, 1), result.converged
        self.trace_ = np.array(result.trace)

    def _warn(self, rows: Any, result: PUFit) -> None:
        name = type(self).__name__
        if not result.converged:
            warnings.warn(
                f"{name} did not meet its stopping rule (tol={self.tol:g}) within "
                f"max_iter={self.max_iter} iterations, or a fit inside it did not. Increase "
                "max_iter or tol, standardise the features, or choose a smaller C.",
                ConvergenceWarning,
                stacklevel=3,
            )
        penalties = (self.C, getattr(self, "propensity_C", self.C))
        models = [coef for coef in (result.beta, result.gamma) if coef is not None]
        unbounded = np.isinf(penalties).any() and result.beta is not None
        if unbounded and separated(rows, self._link, models):
            warnings.warn(
                f"labelled and unlabelled rows are perfectly separable, so without a penalty "
                f"the coefficients of {name} have no finite optimum; they are large because the "
                "iteration had to stop somewhere. Set C to a finite value, for example 1.",
                SeparationWarning,
                stacklevel=3,
            )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.sparse = True
        return tags


def _label_score(
    model: AbstractPUClassifier, X: Matrix, s: Floats, weight: Floats
) -> tuple[float, float]:
    n = float(weight.sum())
    if n == 0:
        return 0.0, 0.0
    return n * label_log_likelihood(s == 1, model.predict_label_proba(X), weight), n
