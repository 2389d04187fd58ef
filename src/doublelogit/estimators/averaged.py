"""AVERAGED as a scikit-learn classifier."""

import warnings
from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from doublelogit._types import Floats
from doublelogit.estimators.base import FEATURES, AbstractPUClassifier
from doublelogit.estimators.joint import unclear
from doublelogit.estimators.out_of_core import over_blocks
from doublelogit.exceptions import OrientationWarning, WeakIdentificationWarning
from doublelogit.fit import Orientation, PUFit
from doublelogit.methods import Problem, averaged
from doublelogit.methods.models import DENSE_LIMIT
from doublelogit.mixture import Mixture, Side
from doublelogit.rows import Rows

TORN = 0.5  # weight that depends on how much an ill-fitting class may look like bias
WIDE = 0.5  # a 90% interval of the prevalence that is no answer
LIMIT = 1e-12  # probabilities of 0 and 1 have no logit


class AveragedClassifier(AbstractPUClassifier):
    """AVERAGED: the double logistic model averaged over all that the labels leave open.

    Labels say little of how many positives are hidden: models with very different prevalences
    fit them alike. Instead of the one that fits best this classifier averages all that fit, from
    labelling at random to labelling that leans on the features, each weighted by its evidence.
    Nothing needs to be tuned. Where the labels settle the question it agrees with
    :class:`JointClassifier`; where they do not, its probabilities keep to the middle and its
    intervals are wide.

    Parameters
    ----------
    outcome_features, propensity_features : array-like of names or indices, default=None
        Features that the models may use; None is all, an empty list a constant. A constant
        propensity is the SCAR assumption.
    pos_label : object, default=None
        The value of y that means labelled. Not needed for 0/1, -1/1 and booleans.

    Attributes
    ----------
    coef_, propensity_coef_ : ndarray of shape (1, n_features)
        Posterior means of the slopes.
    intercept_, propensity_intercept_ : ndarray of shape (1,)
        Those of the intercepts.
    evidence_ : structured ndarray
        The pieces of the posterior: weight, interval_weight (which leans less towards SCAR),
        log_evidence, prevalence and its standard deviation, and rho, the prior scale of the
        labelling's slopes (0 is SCAR). A DataFrame takes it as it is.
    mixture_ : Mixture
        The same with the coefficients and covariances of each.
    prevalence_, label_frequency_ : float
        Posterior means of P(Y=1) and P(S=1 | Y=1); see :meth:`prevalence_interval`.
    orientation_ : Orientation
        What told the outcome from the propensity, how clearly, and the exchanged pair; see
        also :meth:`swapped`.
    classes_ : ndarray of shape (2,)
        The values of y: unlabelled (negative) first, labelled (positive) second.
    n_iter_ : int
        Maxima climbed.
    converged_ : bool
        Whether all of them were reached.
    n_features_in_ : int
        Number of features seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X had string names for all.

    Examples
    --------
    >>> import numpy as np
    >>> from doublelogit import AveragedClassifier
    >>> from doublelogit.datasets import load_benchmark
    >>> from doublelogit.labelling import Scar, draw
    >>> X, y = load_benchmark("BreastCancer", return_X_y=True)
    >>> s = draw(y, Scar(0.5).propensity(X), np.random.default_rng(0))
    >>> model = AveragedClassifier().fit(X, s)
    >>> float((model.predict(X) == y).mean().round(2))
    0.97
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "outcome_features": FEATURES,
        "propensity_features": FEATURES,
        "pos_label": "no_validation",
    }

    def __init__(
        self,
        *,
        outcome_features: Sequence[Any] | None = None,
        propensity_features: Sequence[Any] | None = None,
        pos_label: Any = None,
    ) -> None:
        self.outcome_features = outcome_features
        self.propensity_features = propensity_features
        self.pos_label = pos_label

    @over_blocks
    def decision_function(self, X: Any) -> Floats:
        """Logit of the posterior mean of P(Y=1 | x).

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)

        Returns
        -------
        logit : ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        return self._mean_logit(self.mixture_.outcome, X)

    def predict_interval(self, X: Any, level: float = 0.9) -> Any:
        """Credible interval of y(x) = P(Y=1 | x) for each row.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
        level : float, default=0.9

        Returns
        -------
        ends : ndarray of shape (n_samples, 2)
            A lazy array for Dask inputs.
        """
        check_is_fitted(self)

        @over_blocks
        def ends(model: "AveragedClassifier", X: Any) -> Floats:
            X, mixture = model._features(X), model.mixture_
            side = mixture.outcome
            return np.asarray(expit(mixture.ends(side.predictor(X), side.deviation(X), level)))

        return ends(self, X)

    def coef_interval(self, level: float = 0.9) -> Floats:
        """Credible intervals of the coefficients.

        Parameters
        ----------
        level : float, default=0.9

        Returns
        -------
        ends : ndarray of shape (2, n_features + 1, 2)
            Of the outcome, then of the propensity; intercepts last.
        """
        check_is_fitted(self)
        mixture = self.mixture_
        sides = (mixture.outcome, mixture.propensity)
        return np.array([mixture.ends(side.coef.T, side.errors.T, level) for side in sides])

    def prevalence_interval(self, level: float = 0.9) -> tuple[float, float]:
        """Credible interval of the prevalence P(Y=1).

        Parameters
        ----------
        level : float, default=0.9

        Returns
        -------
        low, high : float
        """
        check_is_fitted(self)
        return self.mixture_.prevalence_interval(level)

    def label_frequency_interval(self, level: float = 0.9) -> tuple[float, float]:
        """Credible interval of the label frequency P(S=1 | Y=1); as :meth:`prevalence_interval`."""
        low, high = self.prevalence_interval(level)
        return self.mixture_.mean_s / high, self.mixture_.mean_s / low

    def plot_prevalence(self, ax: Any = None, *, level: float = 0.9) -> Any:
        """Draw the posterior of the prevalence, by what is assumed of the labelling.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where; a new figure if not given.
        level : float, default=0.9
            Of the credible interval that is shown.

        Returns
        -------
        ax : matplotlib Axes
        """
        check_is_fitted(self)
        from doublelogit.estimators.plots import posterior_of_prevalence

        return posterior_of_prevalence(self.mixture_, ax, level)

    def swapped(self) -> "AveragedClassifier":
        """The fitted classifier with the models exchanged, where nothing tells them apart.

        Returns
        -------
        other : AveragedClassifier
            As likely, or not, as ``orientation_`` says.
        """
        check_is_fitted(self)
        mine = self.orientation_
        if mine.rule != "norm":
            raise ValueError(
                f"the models are told apart by {mine.rule}, and what speaks for the exchanged pair "
                "is part of the average already; see orientation_."
            )
        other = copy(self)
        other._keep(self.mixture_.exchanged())
        beta = np.append(self.coef_[0], self.intercept_)
        gamma = np.append(self.propensity_coef_[0], self.propensity_intercept_)
        other.coef_, other.intercept_ = gamma[None, :-1], gamma[-1:]
        other.propensity_coef_, other.propensity_intercept_ = beta[None, :-1], beta[-1:]
        other.orientation_ = replace(mine, gap=-mine.gap, clear=False, beta=beta, gamma=gamma)
        return other

    @property
    def evidence_(self) -> NDArray[Any]:
        """The pieces of the posterior as a table."""
        check_is_fitted(self)
        mixture, side = self.mixture_, self.mixture_.outcome
        columns = {
            "weight": mixture.weight,
            "interval_weight": mixture.interval_weight,
            "log_evidence": mixture.log_evidence,
            "prevalence": side.share,
            "prevalence_sd": side.share_sd,
            "rho": mixture.rho,
        }
        rows = list(zip(*columns.values(), strict=True))
        return np.array(rows, [(name, float) for name in columns])

    def _mean_logit(self, side: Side, X: Any) -> Floats:
        p = self.mixture_.mean_probability(side, self._features(X))
        return np.asarray(logit(np.clip(p, LIMIT, 1 - LIMIT)))

    def _propensity_logit(self, X: Any) -> Floats:
        check_is_fitted(self)
        return self._mean_logit(self.mixture_.propensity, X)

    def _fit(self, problem: Problem, X: Any) -> PUFit:
        size = problem.outcome.size + problem.propensity.size
        if size > 2 * DENSE_LIMIT:
            raise ValueError(
                "AveragedClassifier holds matrices of all pairs of features, so it takes at most "
                f"{DENSE_LIMIT} of them; got {size // 2}. Choose JointClassifier, or name fewer "
                "outcome_features and propensity_features."
            )
        return averaged(problem)

    def _problem(self, rows: Rows) -> Problem:
        outcome, propensity = self._terms(rows)
        return Problem(rows, outcome=outcome, propensity=propensity)

    def _store(self, result: PUFit) -> None:
        super()._store(result)
        assert result.mixture is not None
        assert result.orientation is not None
        self.orientation_: Orientation = result.orientation
        self._keep(result.mixture)

    def _keep(self, mixture: Mixture) -> None:
        self.mixture_, side = mixture, mixture.outcome
        self.prevalence_ = float(mixture.weight @ side.share)
        self.label_frequency_ = float(mixture.weight @ (mixture.mean_s / side.share))

    def _warn(self, rows: Any, result: PUFit) -> None:
        if not result.converged:
            warnings.warn(
                f"{type(self).__name__} could not climb every part of its posterior; those left "
                "out may have mattered. Look for features that are nearly copies of others.",
                ConvergenceWarning,
                stacklevel=3,
            )
        assert result.orientation is not None
        if not result.orientation.clear:
            warnings.warn(unclear(result.orientation), OrientationWarning, stacklevel=3)
        assert result.mixture is not None
        low, high = result.mixture.prevalence_interval(0.9)
        if result.mixture.lean > TORN:
            warnings.warn(
                "labels lean on the features, or the class is not quite logistic: these rows do "
                f"not tell which, and anything from {low:.2f} to {high:.2f} is a credible (90%) "
                "prevalence. Probabilities take labels as given at random; name "
                "propensity_features or audit some rows to learn more.",
                WeakIdentificationWarning,
                stacklevel=3,
            )
        elif high - low > WIDE:
            warnings.warn(
                f"the labels hardly determine the prevalence: anything from {low:.2f} to "
                f"{high:.2f} is credible (90%). Probabilities keep to the middle of that; audit "
                "some rows to learn more.",
                WeakIdentificationWarning,
                stacklevel=3,
            )
