"""What in a fit may not be trusted, and why: starts, orientation, flat directions, overlap."""

from abc import ABC, abstractmethod
from dataclasses import astuple, dataclass
from typing import Any

import numpy as np

from doublelogit._types import Floats
from doublelogit.averaged.readings import weighed_readings
from doublelogit.common.threads import with_paying_threads
from doublelogit.common.thresholds import FITS_UNITS, RARE_PROPENSITY
from doublelogit.core.rows import Rows
from doublelogit.core.solvers.solution import unit_scale
from doublelogit.findings import Finding
from doublelogit.findings import fit as findings
from doublelogit.fitted import FittedModel, PosteriorMixture
from doublelogit.fitted.fit import Orientation
from doublelogit.inference.fitted_problem import FittedProblem
from doublelogit.inference.misfit import Misfit, misfits, worst_misfit
from doublelogit.inference.profile import Profile
from doublelogit.methods.joint import starts
from doublelogit.methods.maximum import maximum
from doublelogit.methods.prevalence import prevalence_value_grad
from doublelogit.methods.problem import Problem

CREDIBLE = 0.95  # level of the range of prevalences that a posterior is judged by


@dataclass(frozen=True)
class RowProbabilities:
    """Label, weight, y(x), e(x) and s(x) of every row: what overlap and rare labels are read off.

    Parameters
    ----------
    labelled, weight : ndarray
        Label and weight of every row.
    positive, propensity, label : ndarray
        y(x), e(x) and s(x) of every row.
    """

    labelled: Floats
    weight: Floats
    positive: Floats
    propensity: Floats
    label: Floats

    @classmethod
    def over(cls, rows: Rows, model: FittedModel) -> "RowProbabilities":
        """Probabilities of all rows, brought to the caller: a plot needs them all."""
        columns = map(rows.map_rows, (model.outcome_proba, model.propensity, model.label_proba))
        return cls(*rows.collect(_beside, rows.labels.any, rows.weight, *columns).T)

    @property
    def separated(self) -> bool:
        """Whether s(x) is larger on every labelled row than on any other."""
        inside = self.labelled == 1
        return bool(self.label[inside].min() > self.label[~inside].max())

    @property
    def overlap(self) -> float:
        """Share of unlabelled rows whose s(x) lies above the lowest tenth of the labelled ones."""
        inside = self.labelled == 1
        return float((self.label[~inside] > np.quantile(self.label[inside], 0.1)).mean())

    @property
    def rare(self) -> float:
        """Share of the expected positives whose propensity is below 5%."""
        positives = self.weight * self.positive
        return float(positives @ (self.propensity < RARE_PROPENSITY) / positives.sum())


def _beside(*columns: Floats) -> Floats:
    return np.column_stack(columns)


class Diagnosis(ABC):
    """What was found; prints as sentences, ``plot()`` shows it."""

    rows: RowProbabilities

    @property
    @abstractmethod
    def findings(self) -> list[Finding]:
        """The findings, each with a level."""

    @abstractmethod
    def plot(self) -> Any:
        """A matplotlib Figure of all findings."""

    def __str__(self) -> str:
        return "\n".join(map(str, self.findings))

    @property
    def _of_rows(self) -> list[Finding]:
        rows = self.rows
        return [
            findings.overlap(rows.overlap, rows.separated),
            findings.rare_labels(rows.rare),
        ]


@dataclass(frozen=True)
class LikelihoodDiagnosis(Diagnosis):
    """What was found at a maximum of the likelihood.

    Parameters
    ----------
    rows : RowProbabilities
        Probabilities of every row.
    start_drop, start_prevalence : ndarray
        The optimum reached from each start: how far below the best in log-likelihood, and its
        prevalence.
    orientation : Orientation or None
        What told class and labelling apart.
    eigenvalues : ndarray
        Eigenvalues of the information scaled to unit diagonal, smallest first.
    flattest : list of (str, float)
        The flattest direction: terms and their shares, largest first.
    profile : Profile
        Profile likelihood of the prevalence.
    misfits : tuple of Misfit
        What the labels say of the model itself.
    """

    rows: RowProbabilities
    start_drop: Floats
    start_prevalence: Floats
    orientation: Orientation | None
    eigenvalues: Floats
    flattest: list[tuple[str, float]]
    profile: Profile
    misfits: tuple[Misfit, ...] = ()

    @property
    def findings(self) -> list[Finding]:
        worst = worst_misfit(list(self.misfits))
        flatness = float(self.eigenvalues[0] / self.eigenvalues[-1])
        return [
            findings.profile_range(self.profile.fitting(FITS_UNITS)),
            findings.starts(self.start_drop, self.start_prevalence),
            findings.orientation(self.orientation),
            findings.curvature(flatness, self.flattest),
            *self._of_rows,
            *([] if worst is None else [findings.misfit(*astuple(worst))]),
        ]

    def plot(self) -> Any:
        from doublelogit.inference.plots import likelihood_figure

        return likelihood_figure(self)


@dataclass(frozen=True)
class PosteriorDiagnosis(Diagnosis):
    """What was found in a posterior.

    Parameters
    ----------
    rows : RowProbabilities
        Probabilities of every row.
    mixture : PosteriorMixture
        The posterior.
    orientation : Orientation
        What told class and labelling apart.
    fit_findings : tuple of Finding
        What the fit itself found.
    """

    rows: RowProbabilities
    mixture: PosteriorMixture
    orientation: Orientation
    fit_findings: tuple[Finding, ...]

    @property
    def findings(self) -> list[Finding]:
        mixture = self.mixture
        low, high = mixture.prevalence_interval(CREDIBLE)
        others = [finding for finding in self.fit_findings if finding.topic != "orientation"]
        return [
            findings.credible_range(low, high, CREDIBLE),
            findings.mechanisms(weighed_readings(mixture), len(mixture.weight)),
            findings.orientation(self.orientation),
            *self._of_rows,
            *others,
        ]

    def plot(self) -> Any:
        from doublelogit.inference.plots import posterior_figure

        return posterior_figure(self)


@with_paying_threads
def diagnose_likelihood(
    fitted: FittedProblem, orientation: Orientation | None, walked: Profile, n_starts: int = 8
) -> LikelihoodDiagnosis:
    """Look at a maximum of the likelihood from all sides."""
    problem = fitted.problem
    drop, prevalence = _from_starts(fitted, n_starts)
    values, flattest = _curvature(fitted)
    return LikelihoodDiagnosis(
        rows=RowProbabilities.over(problem.rows, problem.fitted(fitted.theta)),
        start_drop=drop,
        start_prevalence=prevalence,
        orientation=orientation,
        eigenvalues=values,
        flattest=flattest,
        profile=walked,
        misfits=tuple(misfits(fitted)),
    )


def diagnose_posterior(
    problem: Problem, mixture: PosteriorMixture, classifier: Any
) -> PosteriorDiagnosis:
    """Look at a posterior from all sides."""
    return PosteriorDiagnosis(
        rows=RowProbabilities.over(problem.rows, mixture),
        mixture=mixture,
        orientation=classifier.orientation_,
        fit_findings=classifier.findings_,
    )


def _from_starts(fitted: FittedProblem, n_starts: int) -> tuple[Floats, Floats]:
    """Depth and prevalence of the optimum that each start leads to, the fitted one first."""
    problem = fitted.problem
    rng = np.random.default_rng(0)
    solutions = [
        maximum(problem, theta, tol=1e-6)
        for theta in (fitted.theta, *starts(problem, "naive", n_starts - 1, rng))
    ]
    values = problem.n * np.array([solution.value for solution in solutions])
    pis = [
        prevalence_value_grad(problem.likelihood, solution.theta).value for solution in solutions
    ]
    return values - values.min(), np.array(pis)


def _curvature(fitted: FittedProblem) -> tuple[Floats, list[tuple[str, float]]]:
    """Eigenvalues of the scaled information, and what the flattest direction moves."""
    information = fitted.information
    scale = unit_scale(information)
    values, vectors = np.linalg.eigh(information / np.outer(scale, scale))
    flat = vectors[:, 0] * np.sign(vectors[np.abs(vectors[:, 0]).argmax(), 0])
    order = np.argsort(-np.abs(flat))
    terms = [f"{model} {term}" for model, term in fitted.terms()]
    return values, [(terms[i], float(flat[i])) for i in order]
