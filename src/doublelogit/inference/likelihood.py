"""Inference at a maximum of the likelihood: standard errors, profile, bootstrap."""

import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.base import clone

from doublelogit._types import Floats
from doublelogit.common.thresholds import (
    AT_BOUND,
    BENT_RIDGE,
    LARGE_SAMPLE,
    SHARP_LOGIT_ERROR,
    VERY_WIDE,
)
from doublelogit.common.wording import as_parameters
from doublelogit.core.labels import Labels
from doublelogit.core.rows import row_count
from doublelogit.estimators.out_of_core import is_distant
from doublelogit.exceptions import MisfitWarning, OrientationWarning, WeakIdentificationWarning
from doublelogit.findings import fit as findings
from doublelogit.inference.base import Inference
from doublelogit.inference.bootstrap import bootstrap
from doublelogit.inference.covariance import Sampling, covariance
from doublelogit.inference.diagnosis import LikelihoodDiagnosis, diagnose_likelihood
from doublelogit.inference.estimate import Estimate, check_level, draws_estimate, share_estimate
from doublelogit.inference.fitted_problem import FittedProblem, bind
from doublelogit.inference.groups import Groups
from doublelogit.inference.misfit import Misfit, misfits, worst_misfit
from doublelogit.inference.profile import Profile, least_prevalence, other_optima, profile
from doublelogit.inference.profiled import ProfiledShares
from doublelogit.inference.shares import SHARES, GroupShares
from doublelogit.inference.summary import Summary
from doublelogit.methods.prevalence import prevalence_at

RATES = (0.0, 0.001, 0.005, 0.01, 0.02)  # of false labels
WALKED = 0.99  # level to which the profile is walked and kept


class LikelihoodInference(Inference):
    """Standard errors and intervals of a maximum-likelihood model; made by :func:`infer`."""

    def __init__(
        self, model: Any, fitted: FittedProblem, sampling: Sampling, data: dict[str, Any]
    ) -> None:
        self.model, self.cov_type = model, sampling.cov_type
        self._fitted, self._sampling, self._data = fitted, sampling, data

    @cached_property
    def covariance(self) -> Floats:
        """Covariance of all coefficients, outcome then propensity, intercepts last in each."""
        to_original = self._fitted.to_original()
        return to_original @ covariance(self._fitted, self._sampling) @ to_original.T

    @cached_property
    def coefficients(self) -> Floats:
        """The coefficients in the order of ``covariance``."""
        return self._fitted.to_original() @ self._fitted.theta

    @cached_property
    def profile(self) -> Profile:
        """Profile likelihood of the prevalence."""
        return self._walked(WALKED)

    def summary(self, level: float = 0.95) -> Summary:
        """Coefficients of both models with standard errors, tests, intervals and odds ratios."""
        check_level(level)
        problem = self._fitted.problem
        free = replace(problem, l2=0.0, propensity_l2=0.0, beliefs=())
        value = -problem.n * free.likelihood.value_grad(self._fitted.theta).value
        rows = problem.rows
        n, labelled = row_count(rows), rows.sum_columns(np.sum, rows.labels.any)
        heading = (
            f"{type(self.model).__name__}: {n} rows, {int(labelled)} labelled; "
            f"log-likelihood {value:.2f}; {self.cov_type} covariance"
        )
        orientation = self.model.orientation_
        notes = findings.summary_notes(
            penalty=problem.l2 > 0 or problem.propensity_l2 > 0,
            swap=orientation is not None and not orientation.clear,
            link=problem.link is not None,
        )
        terms, coef = self._fitted.terms(), self.coefficients
        lines = (terms, coef, self.covariance)
        return Summary.from_covariance(*lines, heading, level, notes)

    def prevalence(
        self, *, by: Any = None, level: float = 0.95, method: str | None = None, **options: Any
    ) -> Any:
        """P(Y=1) over the rows, or over each group of ``by``, with an interval.

        Parameters
        ----------
        by : array-like of shape (n_samples,), default=None
            Group of each row; the answer is then a dict by group.
        level : float, default=0.95
            Nominal coverage.
        method : {"profile", "delta", "bootstrap"}, default=None
            profile: all prevalences whose best fit is nearly as good, for all rows together; they
            may be several ``regions``. delta: from the curvature at the maximum, on the logit of
            the hidden share. bootstrap: refits; n_resamples, random_state and n_jobs may be given.
            With smooth terms the interval of profile holds that of delta, too.
            None: profile, but delta for groups and in large samples in which the two agree.

        Returns
        -------
        estimate : Estimate or dict of Estimate
        """
        return self._shares("prevalence", by, level, method, options)

    def label_frequency(
        self, *, by: Any = None, level: float = 0.95, method: str | None = None, **options: Any
    ) -> Any:
        """P(S=1 | Y=1), the share of positives that are labelled; see :meth:`prevalence`."""
        return self._shares("label frequency", by, level, method, options)

    def hidden(
        self, *, by: Any = None, level: float = 0.95, method: str | None = None, **options: Any
    ) -> Any:
        """Number of positives among the unlabelled rows, with a prediction interval."""
        return self._shares("hidden positives", by, level, method, options)

    def sensitivity(self, rates: Any = None) -> dict[float, Estimate]:
        """Prevalence if negatives were labelled too: false labels, S=1 with Y=0.

        Parameters
        ----------
        rates : sequence of float, default=None
            Probabilities that a negative is labelled, whatever its features. None: up to two in a
            hundred, from zero unless an audit found a labelled negative.

        Returns
        -------
        prevalence : dict of Estimate, by rate
        """
        if "false_label_rate" not in self.model.get_params():
            name = type(self.model).__name__
            raise TypeError(f"sensitivity to false labels needs a JointClassifier; got {name}.")
        if rates is None:
            rows = self._fitted.problem.rows
            rates = RATES[1:] if rows.sum_columns(_labelled_negatives, rows.labels) else RATES
        estimates = {}
        for rate in rates:
            refitted = clone(self.model).set_params(false_label_rate=float(rate))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", OrientationWarning)  # the fit itself has shown it
                refitted.fit(**self._data)
            again = bind(refitted, **self._data)
            estimates[float(rate)] = self._delta("prevalence", again, None, 0.95)[None]
        return estimates

    def diagnose(self, n_starts: int = 8) -> LikelihoodDiagnosis:
        """What in this fit may not be trusted; prints as sentences, ``plot()`` shows it."""
        return diagnose_likelihood(self._fitted, self.model.orientation_, self.profile, n_starts)

    def _shares(
        self, name: str, by: Any, level: float, method: str | None, options: dict[str, Any]
    ) -> Any:
        check_level(level)
        method = method or ("delta" if by is not None or self._sharp else "profile")
        if method == "bootstrap":
            estimates = self._bootstrapped(name, by, level, options)
        elif method == "delta":
            estimates = self._delta(name, self._fitted, by, level)
        elif method != "profile":
            raise ValueError(f"method must be profile, delta or bootstrap; got {method!r}.")
        elif by is not None:
            raise ValueError("method='profile' is for all rows together; got by. Use bootstrap.")
        else:
            estimates = {None: self._profiled(name, level)}
        if method != "bootstrap":
            self._warn()
        return estimates[None] if by is None else estimates

    def _groups(self, fitted: FittedProblem, by: Any) -> Groups:
        rows = fitted.problem.rows
        return Groups.everyone(rows) if by is None else Groups.from_values(by, rows, "by")

    def _delta(
        self, name: str, fitted: FittedProblem, by: Any, level: float
    ) -> dict[Any, Estimate]:
        """Estimates by group, with intervals from the curvature."""
        groups = self._groups(fitted, by)
        shares = GroupShares.over(fitted, groups, self._sampling)
        estimates, least = SHARES[name](shares), np.zeros(len(groups))
        if name == "prevalence":  # the labelled rows are certain
            rate = fitted.problem.false_label_rate
            least = np.maximum(prevalence_at(1.0, shares.labelled_share, rate), 0.0)
        numbers = zip(groups.names, *map(np.ndarray.tolist, (*estimates, least)), strict=True)
        return {
            group: share_estimate(name, value, se, level, "delta method", total, certain)
            for group, value, se, total, certain in numbers
        }

    def _bootstrapped(
        self, name: str, by: Any, level: float, options: dict[str, Any]
    ) -> dict[Any, Estimate]:
        data = self._data
        if is_distant(data["X"]):
            raise ValueError(
                "method='bootstrap' draws rows that are in memory; got "
                f"{type(data['X']).__name__}. Use method='delta' or 'profile'."
            )

        def statistic(refitted: Any, weight: Floats) -> Floats:
            again = bind(refitted, data["X"], data["y"], weight, data["audited_y"])
            return self._values(name, again, by)

        clusters = self._sampling.clusters
        groups = None if clusters is None else clusters.codes
        draws = bootstrap(self.model, statistic=statistic, groups=groups, **data, **options)
        values, names = self._values(name, self._fitted, by), self._groups(self._fitted, by).names
        return {
            group: draws_estimate(name, float(value), draws[:, i], level, "bootstrap")
            for i, (group, value) in enumerate(zip(names, values, strict=True))
        }

    def _values(self, name: str, fitted: FittedProblem, by: Any) -> Floats:
        shares = GroupShares.over(fitted, self._groups(fitted, by), Sampling())
        return SHARES[name](shares).value

    def _profiled(self, name: str, level: float) -> Estimate:
        """A share of all rows together, with its interval from the profile."""
        walked = self.profile if level <= WALKED else self._walked(level)
        fitted, groups = self._fitted, Groups.everyone(self._fitted.problem.rows)
        shares = GroupShares.over(fitted, groups, self._sampling)
        estimate = PROFILED[name](ProfiledShares(fitted, self._sampling, shares, walked, level))
        if fitted.problem.smooth is None:
            return estimate
        # the penalised profile takes the smoothness of curves for known, and leans to the line
        return estimate.hull(self._delta(name, fitted, None, level)[None])

    def _walked(self, level: float) -> Profile:
        """The profile as far as a level needs it, from every optimum that is known."""
        decided, problem = self.model.orientation_, self._fitted.problem
        # the worse of two solutions: its interval is that of its own basin
        improved = decided is not None and decided.gap < 0
        if improved or row_count(problem.rows) > LARGE_SAMPLE:
            return profile(self._fitted, level, own=improved)
        return profile(self._fitted, level, others=other_optima(self._fitted, self._rival))

    @property
    def _rival(self) -> Floats | None:
        """The swapped solution, where the likelihood tells it from this one."""
        problem, model = self._fitted.problem, self.model.model_.swapped()
        if model is None or problem.symmetric:
            return None
        return problem.theta(model if problem.shift is None else model.uncentred(-problem.shift))

    @cached_property
    def _reliable(self) -> Estimate:
        if self._sharp:
            return self._curvature
        return self._profiled("prevalence", 0.95)

    def reliable_prevalence(self) -> Estimate:
        """The prevalence with its profile interval, in large samples that of the curvature."""
        return self._reliable

    @property
    def undetermined(self) -> bool:
        """Whether intervals from the curvature do not hold: it is flat, or the ridge bends."""
        if self.weak:
            return True
        reliable, delta = self._reliable, self._curvature
        return bool(reliable.high - reliable.low > BENT_RIDGE * (delta.high - delta.low))

    @cached_property
    def _curvature(self) -> Estimate:
        """The prevalence with its interval from the curvature."""
        return self._delta("prevalence", self._fitted, None, 0.95)[None]

    @property
    def logit_error(self) -> float:
        """Standard error of the logit of the hidden share, which grows at both of its bounds."""
        curvature, least = self._curvature, max(least_prevalence(self._fitted.problem), 0.0)
        slope = (curvature.value - least) * (1 - curvature.value) / (1 - least)
        return float(curvature.se / slope) if slope > 0 else np.inf

    @cached_property
    def _sharp(self) -> bool:
        """Whether the sample is so large and so informative that curvature and profile agree."""
        large = row_count(self._fitted.problem.rows) > LARGE_SAMPLE
        return large and self.logit_error < SHARP_LOGIT_ERROR

    @property
    def weak(self) -> bool:
        """Whether the labels hardly determine the prevalence, by its profile.

        Several regions fit, or a bound fits (that every positive is labelled, that every row is
        positive), or most of what is possible does.
        """
        if self._sharp:
            return False
        reliable, (least, most) = self._reliable, self.profile.bounds
        at_bound = reliable.low <= least * (1 + AT_BOUND) or reliable.high >= most - AT_BOUND
        return len(reliable.regions) > 1 or at_bound or reliable.high - reliable.low > VERY_WIDE

    @cached_property
    def misfits(self) -> list[Misfit]:
        """What the labels say of the model itself: response, shape of the class, left-out columns.

        Empty where there are more than 150 features.
        """
        return misfits(self._fitted)

    def _warn(self) -> None:
        """Say once more what an interval cannot show."""
        if self.weak:
            finding = findings.weak_profile(self._reliable.regions, least=self.profile.bounds[0])
            warnings.warn(as_parameters(finding.text), WeakIdentificationWarning, stacklevel=4)
        worst = worst_misfit(self.misfits)
        if worst is not None:
            finding = findings.misfit(worst.question, worst.feature, worst.p_value)
            warnings.warn(as_parameters(finding.text), MisfitWarning, stacklevel=4)


PROFILED: dict[str, Callable[[ProfiledShares], Estimate]] = {
    "prevalence": ProfiledShares.prevalence,
    "label frequency": ProfiledShares.label_frequency,
    "hidden positives": ProfiledShares.hidden,
}


def likelihood_inference(
    model: Any, data: dict[str, Any], *, cov_type: str, groups: Any
) -> LikelihoodInference:
    """Inference for a classifier that maximises a likelihood, bound to the rows of its fit."""
    fitted = bind(model, **data)
    sampling = Sampling.from_options(cov_type, groups, fitted.problem.rows)
    return LikelihoodInference(model, fitted, sampling, data)


def _labelled_negatives(labels: Labels) -> int:
    return int(np.count_nonzero((labels.any == 1) & (labels.known == 0)))
