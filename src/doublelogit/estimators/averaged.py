"""AVERAGED as a scikit-learn classifier."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_is_fitted

from doublelogit._types import Floats
from doublelogit.averaged import averaged
from doublelogit.averaged.readings import linear, varying, weighed_readings
from doublelogit.averaged.settings import Settings
from doublelogit.common.thresholds import TORN, UNDETERMINED, WEAK_SIGNAL
from doublelogit.core.rows import Rows, labelled_share
from doublelogit.estimators.base import FEATURES, AbstractPUClassifier
from doublelogit.estimators.out_of_core import over_blocks
from doublelogit.estimators.validation import PROBABILITY_OR_RANGE, beliefs
from doublelogit.findings import Finding
from doublelogit.findings import fit as findings
from doublelogit.fitted import PosteriorMixture
from doublelogit.fitted.fit import PUFit
from doublelogit.fitted.mixture import credible
from doublelogit.fitted.sources import SourcesPosterior
from doublelogit.label_models import AUTO, kinds_of
from doublelogit.methods import Problem
from doublelogit.methods.logistic import DENSE_LIMIT


class AveragedClassifier(AbstractPUClassifier):
    """AVERAGED: Bayesian averaging of double logistic models by variational inference.

    Models with very different prevalences fit the same labels. Maximum likelihood picks one of
    them; this classifier averages all, each weighted by its evidence under a prior learned from
    real tables. A component of its posterior is a mechanism (labelling at random, labelling that
    follows the class, labelling with slopes of its own or of the features named for it), a shape of
    the class (a line, any) and a prevalence, with a gaussian of the coefficients: the one with the
    largest lower bound of the evidence. Nothing needs to be tuned. Where the labels settle the
    question it agrees with :class:`JointClassifier`; elsewhere its probabilities keep to the middle
    and its credible intervals are wide.

    Parameters
    ----------
    outcome_features, propensity_features : array-like of names or indices, default=None
        Features that the models may use; None is all, an empty list a constant. A constant
        propensity is the SCAR assumption.
    smooth_features : array-like of names or indices, default=None
        Features of the outcome that are curves of others, such as the columns of a spline. They do
        not count as named features where class and labelling are told apart, since a linear class
        has curves by chance. The propensity does not use them unless they are named there.
    prevalence, label_frequency : float or (mean, sd), default=None
        What is known from elsewhere of P(Y=1), or of P(S=1 | Y=1): a number, or a number with
        its standard deviation. One of them at most; it weighs the models beside the prior.
    shape : {"any", "line"}, default="any"
        What the class may look like. Labels show only s(x) = y(x) e(x): with "any" a part of the
        posterior has y(x) = s(x) / e(x), s(x) by ``label_model``, so that a nonlinear class is not
        taken for biased labelling. Rows of ``fit`` are predicted by models that have not seen
        them. With "line" logit y(x) is linear.
    label_model : str, classifier or list of them, default="auto"
        Models of the label, weighted by the likelihood of held-out labels: "logistic", "product"
        (the double logistic model), "splines", "trees", "forest", or classifiers of scikit-learn's
        kind; "auto" is the first four. Not used below ten labelled rows, and no trees below 30.
    pos_label : object, default=None
        The value of y that means labelled. Not needed for 0/1, -1/1 and booleans.

    Attributes
    ----------
    coef_, propensity_coef_ : ndarray of shape (1, n_features)
        Posterior means of the slopes of the lines.
    intercept_, propensity_intercept_ : ndarray of shape (1,)
        Posterior means of the intercepts.
    evidence_ : structured ndarray
        The components of the posterior, a row each: weight, log_evidence, prevalence,
        prevalence_sd, mechanism of labelling and shape of the class by name, labelling_scale and
        class_scale (prior standard deviations of x'gamma and x'beta). ``DataFrame(evidence_)``
        works.
    model_ : PosteriorMixture
        The posterior, with the coefficients and covariances of each component.
    prevalence_, label_frequency_ : float
        Posterior means of P(Y=1) and P(S=1 | Y=1); see :meth:`prevalence_interval`.
    orientation_ : Orientation
        What told class and labelling apart, and how clearly; see also :meth:`swapped`.
    findings_ : tuple of Finding
        What a user must know of the fit.
    classes_ : ndarray of shape (2,)
        The values of y: unlabelled (negative) first, labelled (positive) second.
    n_iter_ : int
        Components of the posterior that were evaluated.
    converged_ : bool
        Whether all of them were fitted, none of weight with its steps used up.
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
        "smooth_features": FEATURES,
        "prevalence": PROBABILITY_OR_RANGE,
        "label_frequency": PROBABILITY_OR_RANGE,
        "shape": [StrOptions({"any", "line"})],
        "label_model": "no_validation",  # by its own sentence, in fit
        "pos_label": "no_validation",
    }

    _settings: ClassVar[Settings] = Settings()

    model_: PosteriorMixture

    def __init__(
        self,
        *,
        outcome_features: Sequence[Any] | None = None,
        propensity_features: Sequence[Any] | None = None,
        smooth_features: Sequence[Any] | None = None,
        prevalence: float | tuple[float, float] | None = None,
        label_frequency: float | tuple[float, float] | None = None,
        shape: str = "any",
        label_model: Any = "auto",
        pos_label: Any = None,
    ) -> None:
        self.outcome_features = outcome_features
        self.propensity_features = propensity_features
        self.smooth_features = smooth_features
        self.prevalence = prevalence
        self.label_frequency = label_frequency
        self.shape = shape
        self.label_model = label_model
        self.pos_label = pos_label

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
            X, side = model._features(X), model.model_.outcome_model
            interval = model.model_.credible(side.predictor(X), side.deviation(X), level)
            return np.asarray(expit(interval))

        return ends(self, X)

    def coef_interval(self, level: float = 0.9) -> Floats:
        """Credible intervals of the coefficients.

        Parameters
        ----------
        level : float, default=0.9

        Returns
        -------
        ends : ndarray of shape (2, n_features + 1, 2)
            For the outcome, then for the propensity; intercepts last. Of labels by several
            sources for the outcome alone.
        """
        check_is_fitted(self)
        model = self.model_
        sides = (model.outcome_model, model.propensity_model)
        ends = []
        for side in sides[: 2 - isinstance(model, SourcesPosterior)]:
            weight, lines = side.lines(model.weight)
            ends.append(credible(weight, lines.coef.T, lines.errors.T, level))
        return np.array(ends)

    def prevalence_interval(self, level: float = 0.9) -> tuple[float, float]:
        """Credible interval of the prevalence P(Y=1), which is at least the labelled share.

        Half as much of the posterior lies below it as above, so that it holds more than its level.

        Parameters
        ----------
        level : float, default=0.9
            Probability of the interval, at least.

        Returns
        -------
        low, high : float
        """
        check_is_fitted(self)
        return self.model_.prevalence_interval(level)

    def label_frequency_interval(self, level: float = 0.9) -> tuple[float, float]:
        """Credible interval of the label frequency; see :meth:`prevalence_interval`."""
        low, high = self.prevalence_interval(level)
        return self.model_.mean_s / high, self.model_.mean_s / low

    def plot_prevalence(self, ax: Any = None, *, level: float = 0.9) -> Any:
        """Draw the posterior of the prevalence, by what is assumed of the labelling.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw in; a new figure if not given.
        level : float, default=0.9
            Credibility of the interval that is shown.

        Returns
        -------
        ax : matplotlib Axes
        """
        check_is_fitted(self)
        from doublelogit.estimators.plots import posterior_of_prevalence

        return posterior_of_prevalence(self.model_, ax, level)

    @property
    def evidence_(self) -> NDArray[Any]:
        """The components of the posterior as a table."""
        check_is_fitted(self)
        model, side = self.model_, self.model_.outcome_model
        columns = {
            "weight": model.weight,
            "log_evidence": model.log_evidence,
            "prevalence": side.share,
            "prevalence_sd": side.share_sd,
            "mechanism": np.array(model.mechanism),
            "shape": np.array(model.shape),
            "labelling_scale": model.labelling_scale,
            "class_scale": model.class_scale,
        }
        rows = list(zip(*columns.values(), strict=True))
        return np.array(rows, [(name, column.dtype) for name, column in columns.items()])

    def _problem(self, rows: Rows) -> Problem:
        informed = beliefs(self.prevalence, self.label_frequency, labelled_share(rows))
        return replace(super()._problem(rows), beliefs=informed)

    def _fit(self, problem: Problem, X: Any) -> PUFit:
        self._check_size(problem)
        if not (isinstance(self.label_model, str) and self.label_model == AUTO):
            kinds_of(self.label_model)  # also where no label model is fitted
        settings = replace(self._settings, shape=self.shape, label_model=self.label_model)
        return averaged(problem, settings)

    def _check_size(self, problem: Problem) -> None:
        size = problem.outcome.size + problem.propensity.size
        if size > 2 * DENSE_LIMIT:
            raise ValueError(
                f"{type(self).__name__} holds matrices of all pairs of features, so it takes at "
                f"most {DENSE_LIMIT} of them; got {size // 2}. Choose SparseClassifier, or name "
                "fewer outcome_features and propensity_features."
            )

    @property
    def prevalence_(self) -> float:
        """Posterior mean of the prevalence P(Y=1)."""
        return self.model_.prevalence

    @property
    def label_frequency_(self) -> float:
        """Posterior mean of the label frequency P(S=1 | Y=1)."""
        return self.model_.label_frequency

    def _findings(self, problem: Problem, result: PUFit) -> list[Finding]:
        name = type(self).__name__
        found = []
        if result.stalled > self._settings.light:
            found.append(findings.stalled(name, result.stalled))
        elif not result.converged:
            found.append(findings.components_missed(name))
        assert result.orientation is not None
        if not result.orientation.clear:
            found.append(findings.orientation(result.orientation))
        posterior = result.model
        assert isinstance(posterior, PosteriorMixture)
        if isinstance(posterior, SourcesPosterior):
            found += _of_sources(posterior)
        low, high = posterior.prevalence_interval(0.9)
        if high - low > UNDETERMINED:
            readings = weighed_readings(posterior)
            found.append(findings.undetermined_prevalence(low, high, _reason(posterior), readings))
        return found


def _of_sources(posterior: SourcesPosterior) -> list[Finding]:
    """What labels of several sources do not show of their dependence."""
    if not posterior.learned:
        return [findings.few_overlaps(posterior.overlaps)]
    return [findings.two_sources()] if posterior.n_sources == 2 else []


def _reason(posterior: PosteriorMixture, level: float = 0.9) -> str:
    """Why the interval of the prevalence is wide: sources, shape, mechanism, signal or labels."""
    if isinstance(posterior, SourcesPosterior):
        return "sources"
    low, high = posterior.prevalence_interval(level)
    lines, varies = linear(posterior), varying(posterior)
    if np.ptp(_only(posterior, lines).prevalence_interval(level)) <= UNDETERMINED:
        return "shape"
    widths = [
        np.ptp(_only(posterior, components & lines).prevalence_interval(level))
        for components in (~varies, varies)
        if posterior.weight[components & lines].sum() > 1 - level
    ]
    if len(widths) == 2 and max(widths) < TORN * (high - low):
        return "mechanism"
    signal = np.exp(posterior.weight[lines] @ np.log(posterior.class_scale[lines]))
    return "signal" if signal < WEAK_SIGNAL else "labels"


def _only(posterior: PosteriorMixture, components: NDArray[np.bool_]) -> PosteriorMixture:
    """The posterior without the other components."""
    weight = posterior.weight * components
    weight = weight / weight.sum()
    return replace(posterior, weight=weight)
