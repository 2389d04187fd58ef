"""Inference at a maximum of the likelihood: standard errors, profile, bootstrap."""

import warnings
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import logit
from scipy.stats import norm
from sklearn.base import clone

from doublelogit._types import Floats
from doublelogit.estimators.out_of_core import is_distant
from doublelogit.exceptions import OrientationWarning, WeakIdentificationWarning
from doublelogit.findings import fit as findings
from doublelogit.inference.base import Inference
from doublelogit.inference.bootstrap import bootstrap
from doublelogit.inference.covariance import Sampling, covariance
from doublelogit.inference.diagnosis import LikelihoodDiagnosis, diagnose_likelihood
from doublelogit.inference.estimate import Estimate, check_level, draws_estimate, share_estimate
from doublelogit.inference.fitted_problem import FittedProblem, bind
from doublelogit.inference.groups import Groups
from doublelogit.inference.profile import Profile, profile
from doublelogit.inference.shares import SHARES, GroupShares
from doublelogit.inference.summary import Summary
from doublelogit.methods.prevalence import label_frequency_at
from doublelogit.rows import row_count, weighted_mean
from doublelogit.thresholds import BENT_RIDGE, LARGE_SAMPLE, WEAK_LOGIT_ERROR
from doublelogit.wording import as_parameters

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
        return profile(self._fitted, WALKED)

    def summary(self, level: float = 0.95) -> Summary:
        """Coefficients of both models with standard errors, tests, intervals and odds ratios."""
        check_level(level)
        problem = self._fitted.problem
        free = replace(problem, l2=0.0, propensity_l2=0.0, beliefs=())
        value = -problem.n * free.likelihood.value_grad(self._fitted.theta).value
        n, labelled = row_count(problem.rows), problem.rows.sum_columns(np.sum, problem.rows.s)
        heading = (
            f"{type(self.model).__name__}: {n} rows, {int(labelled)} labelled; "
            f"log-likelihood {value:.2f}; {self.cov_type} covariance"
        )
        notes = []
        if problem.l2 > 0 or problem.propensity_l2 > 0:
            notes.append(
                "A penalty shrinks these coefficients a little towards zero; C=np.inf removes it."
            )
        decided = self.model.orientation_
        if decided is not None and not decided.clear:
            notes.append("Class and labelling may be swapped: see orientation_.")
        if problem.link is not None:
            notes.append("exp(coef) is no odds ratio here: the link is not the logit.")
        terms, coef = self._fitted.terms(), self.coefficients
        lines = (terms, coef, self.covariance)
        summary = Summary.from_covariance(*lines, heading, level, tuple(notes))
        return replace(summary, of_unlabelled=self.model.model_.of_unlabelled)

    def prevalence(
        self, *, by: Any = None, level: float = 0.95, method: str = "delta", **options: Any
    ) -> Any:
        """P(Y=1) over the rows, or over each group of ``by``, with an interval.

        Parameters
        ----------
        by : array-like of shape (n_samples,), default=None
            Group of each row; the answer is then a dict by group.
        level : float, default=0.95
            Nominal coverage.
        method : {"delta", "profile", "bootstrap"}, default="delta"
            delta: from the curvature at the maximum, on the logit scale. profile: from the
            likelihood itself, valid along flat ridges, for all rows together. bootstrap:
            refits; n_resamples, random_state and n_jobs may be given.

        Returns
        -------
        estimate : Estimate or dict of Estimate
        """
        if method == "profile":
            if by is not None:
                raise ValueError(
                    "method='profile' is for all rows together; got by. Use bootstrap."
                )
            return self._profiled(level)
        return self._shares("prevalence", by, level, method, options)

    def label_frequency(
        self, *, by: Any = None, level: float = 0.95, method: str = "delta", **options: Any
    ) -> Any:
        """P(S=1 | Y=1), the share of positives that are labelled; see :meth:`prevalence`."""
        if method != "profile" or by is not None:
            return self._shares("label frequency", by, level, method, options)
        pi, problem = self._profiled(level), self._fitted.problem
        mean_s = weighted_mean(problem.rows, problem.rows.s)
        rate = problem.false_label_rate
        value, low, high = (
            label_frequency_at(p, mean_s, rate) for p in (pi.value, pi.high, pi.low)
        )
        se = (mean_s - rate) / pi.value**2 * pi.se
        return Estimate("label frequency", value, se, low, high, level, pi.method)

    def hidden(
        self, *, by: Any = None, level: float = 0.95, method: str = "delta", **options: Any
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
            rates = (
                RATES[1:] if rows.sum_columns(_labelled_negatives, rows.s, rows.known) else RATES
            )
        found = {}
        for rate in rates:
            refitted = clone(self.model).set_params(false_label_rate=float(rate))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", OrientationWarning)  # the fit itself has shown it
                refitted.fit(**self._data)
            again = bind(refitted, **self._data)
            found[float(rate)] = self._delta("prevalence", again, None, 0.95)[None]
        return found

    def diagnose(self, n_starts: int = 8) -> LikelihoodDiagnosis:
        """What in this fit may not be trusted; prints as sentences, ``plot()`` shows it."""
        return diagnose_likelihood(self._fitted, self.model.orientation_, n_starts)

    def _shares(
        self, name: str, by: Any, level: float, method: str, options: dict[str, Any]
    ) -> Any:
        check_level(level)
        if method == "delta":
            self._warn_if_weak()
            found = self._delta(name, self._fitted, by, level)
        elif method == "bootstrap":
            found = self._bootstrapped(name, by, level, options)
        else:
            raise ValueError(
                f"method must be delta or bootstrap (profile: for the prevalence and the label "
                f"frequency of all rows together); got {method!r}."
            )
        return found[None] if by is None else found

    def _groups(self, fitted: FittedProblem, by: Any) -> Groups:
        rows = fitted.problem.rows
        return Groups.everyone(rows) if by is None else Groups.from_values(by, rows, "by")

    def _delta(
        self, name: str, fitted: FittedProblem, by: Any, level: float
    ) -> dict[Any, Estimate]:
        """Estimates by group, with intervals from the curvature."""
        groups = self._groups(fitted, by)
        found = SHARES[name](GroupShares.over(fitted, groups, self._sampling))
        numbers = zip(groups.names, *map(np.ndarray.tolist, found), strict=True)
        return {
            group: share_estimate(name, value, se, level, "delta method", total)
            for group, value, se, total in numbers
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

    def _profiled(self, level: float) -> Estimate:
        check_level(level)
        found = self._curvature
        walked = self.profile if level <= WALKED else profile(self._fitted, level)
        low, high = walked.interval(level)
        return Estimate("prevalence", found.value, found.se, low, high, level, "profile likelihood")

    @cached_property
    def _reliable(self) -> Estimate:
        # where curvature and profile differ the profile is right; in large samples they seldom do
        if self.weak or row_count(self._fitted.problem.rows) <= LARGE_SAMPLE:
            return self._profiled(0.95)
        return self._curvature

    def reliable_prevalence(self) -> Estimate:
        """The prevalence with its profile interval, in large samples that of the curvature."""
        return self._reliable

    @property
    def undetermined(self) -> bool:
        """Whether intervals from the curvature do not hold: it is flat, or the ridge bends."""
        if self.weak:
            return True
        found = self._reliable
        reach = np.subtract(*logit(np.clip([found.high, found.low], 1e-12, 1 - 1e-12)))
        return bool(reach > BENT_RIDGE * 2 * norm.ppf(0.975) * self.logit_error)

    @cached_property
    def _curvature(self) -> Estimate:
        """The prevalence with its interval from the curvature."""
        return self._delta("prevalence", self._fitted, None, 0.95)[None]

    @property
    def logit_error(self) -> float:
        """Standard error of the logit of the prevalence."""
        found = self._curvature
        return found.se / (found.value * (1 - found.value))

    @property
    def weak(self) -> bool:
        """Whether the labels hardly determine the prevalence: then only the profile holds."""
        return self.logit_error > WEAK_LOGIT_ERROR

    def _warn_if_weak(self) -> None:
        if self.weak:
            finding = findings.weak_curvature(self.logit_error, WEAK_LOGIT_ERROR)
            warnings.warn(as_parameters(finding.text), WeakIdentificationWarning, stacklevel=4)


def likelihood_inference(
    model: Any, data: dict[str, Any], *, cov_type: str, groups: Any
) -> LikelihoodInference:
    """Inference for a classifier that maximises a likelihood, bound to the rows of its fit."""
    fitted = bind(model, **data)
    sampling = Sampling.from_options(cov_type, groups, fitted.problem.rows)
    return LikelihoodInference(model, fitted, sampling, data)


def _labelled_negatives(s: Floats, known: Floats) -> int:
    return int(np.count_nonzero((s == 1) & (known == 0)))
