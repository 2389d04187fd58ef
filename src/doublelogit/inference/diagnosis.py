"""What in a fit may not be trusted, and why: starts, orientation, flat directions, overlap."""

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy.special import expit

from doublelogit._types import Floats
from doublelogit.fit import Orientation
from doublelogit.inference.fitted_problem import Fitted
from doublelogit.inference.profile import Profile, profile
from doublelogit.link import Link, to_logit
from doublelogit.methods.joint import starts
from doublelogit.methods.prevalence import prevalence_value_grad
from doublelogit.solvers import trust_region

UNITS = 2.0  # log-likelihood units within which a value is said to fit
WIDE = 0.2  # a range of prevalences that is no answer
FLAT = 1e-4  # eigenvalue of the information, relative to the largest
RARE = 0.05  # propensities below it
SAME_OPTIMUM = 0.01  # log-likelihood units


@dataclass(frozen=True)
class Diagnosis:
    """What was found; prints as sentences, ``plot()`` shows it.

    Parameters
    ----------
    start_drop, start_prevalence : ndarray
        Of the optimum reached from each start: how far below the best in log-likelihood, and
        its prevalence.
    orientation : Orientation or None
        What told outcome and propensity apart.
    eigenvalues : ndarray
        Of the information scaled to unit diagonal, smallest first.
    flattest : list of (str, float)
        The flattest direction: terms and their shares, largest first.
    separated : bool
        Whether s(x) is larger on every labelled row than on any other.
    overlap : float
        Share of unlabelled rows whose s(x) lies above the lowest tenth of the labelled ones.
    rare : float
        Share of the expected positives whose chance of a label is below 5%.
    profile : Profile
        Profile likelihood of the prevalence.
    label_chance, propensity, labelled : ndarray
        s(x), e(x) and the label of every row.
    """

    start_drop: Floats
    start_prevalence: Floats
    orientation: Orientation | None
    eigenvalues: Floats
    flattest: list[tuple[str, float]]
    separated: bool
    overlap: float
    rare: float
    profile: Profile
    label_chance: Floats
    propensity: Floats
    labelled: Floats

    @property
    def sentences(self) -> list[str]:
        """The findings in words, those that need attention marked."""
        return [
            self._of_prevalence(),
            self._of_starts(),
            self._of_orientation(),
            self._of_flatness(),
            self._of_overlap(),
            self._of_rare(),
        ]

    def __str__(self) -> str:
        return "\n".join(self.sentences)

    def plot(self) -> Any:
        """A matplotlib Figure of all findings."""
        from doublelogit.inference.plots import diagnosis_figure

        return diagnosis_figure(self)

    def _of_prevalence(self) -> str:
        low, high = self.profile.within(UNITS)
        fits = f"any value from {low:.2f} to {high:.2f} fits within {UNITS:g} log-likelihood units"
        if high - low > WIDE:
            return f"ATTENTION  The prevalence is not determined by this sample: {fits}."
        return f"fine       The prevalence is determined: {fits}."

    def _of_starts(self) -> str:
        other = self.start_drop > SAME_OPTIMUM
        n = len(self.start_drop)
        if other[0]:
            return (
                f"ATTENTION  This is not the best fit: another start leads "
                f"{self.start_drop[0]:.1f} log-likelihood units higher. Increase n_starts, or use "
                "JointClassifier."
            )
        if not other.any():
            return f"fine       All {n} starts lead to one optimum."
        near = self.start_drop[other].min()
        pis = self.start_prevalence
        word = "ATTENTION " if near < UNITS else "fine      "
        return (
            f"{word} {other.sum()} of {n} starts lead to a lower optimum, the nearest {near:.1f} "
            f"log-likelihood units below; prevalences of the optima range from {pis.min():.2f} to "
            f"{pis.max():.2f}."
        )

    def _of_orientation(self) -> str:
        decided = self.orientation
        if decided is None:
            return "ATTENTION  This method has no rule to tell the class from the labelling."
        gap = "no rival" if np.isinf(decided.gap) else f"{decided.gap:.1f} {decided.unit}"
        word = "fine      " if decided.clear else "ATTENTION "
        return f"{word} Class and labelling are told apart by {decided.rule} ({gap})."

    def _of_flatness(self) -> str:
        ratio = self.eigenvalues[0] / self.eigenvalues[-1]
        terms = ", ".join(f"{name} ({share:+.2f})" for name, share in self.flattest[:3])
        word = "ATTENTION " if ratio < FLAT else "fine      "
        return (
            f"{word} The flattest direction of the likelihood has {ratio:.1e} of the curvature of "
            f"the steepest; it moves {terms}."
        )

    def _of_overlap(self) -> str:
        if self.separated:
            return "ATTENTION  Labelled rows are perfectly separable from the others."
        return (
            f"fine       {self.overlap:.0%} of the unlabelled rows look like labelled ones (s(x) "
            "above the lowest tenth of the labelled)."
        )

    def _of_rare(self) -> str:
        word = "ATTENTION " if self.rare > 0.1 else "fine      "
        return (
            f"{word} {self.rare:.0%} of the expected positives have a chance below {RARE:.0%} to "
            "be labelled: of those the data say next to nothing."
        )


def diagnose(fitted: Fitted, orientation: Orientation | None, n_starts: int = 8) -> Diagnosis:
    """Look at a fit from all sides."""
    rows, link = fitted.problem.rows, fitted.problem.link
    columns = (rows.s, rows.weight, *fitted.predictors())
    chances = rows.collect(partial(_chances, link), *columns)
    labelled, weight, y, e = chances.T
    s_x, is_labelled = y * e, labelled == 1
    drop, prevalence = _from_starts(fitted, n_starts)
    values, flattest = _curvature(fitted)
    lowest, others = s_x[is_labelled], s_x[~is_labelled]
    positives = weight * y
    return Diagnosis(
        start_drop=drop,
        start_prevalence=prevalence,
        orientation=orientation,
        eigenvalues=values,
        flattest=flattest,
        separated=bool(lowest.min() > others.max()),
        overlap=float((others > np.quantile(lowest, 0.1)).mean()),
        rare=float(positives @ (e < RARE) / positives.sum()),
        profile=profile(fitted, 0.99),
        label_chance=s_x,
        propensity=e,
        labelled=labelled,
    )


def _chances(link: Link, s: Floats, weight: Floats, a: Floats, b: Floats) -> Floats:
    """Label, weight, y(x) and e(x) of every row: a plot needs them all."""
    return np.column_stack([s, weight, *(expit(to_logit(link, z)) for z in (a, b))])


def _from_starts(fitted: Fitted, n_starts: int) -> tuple[Floats, Floats]:
    problem = fitted.problem
    rng = np.random.default_rng(0)
    found = [
        trust_region(problem.likelihood, theta, tol=1e-6, max_iter=500)
        for theta in (fitted.theta, *starts(problem, "naive", n_starts - 1, rng))
    ]
    values = problem.n * np.array([solution.value for solution in found])
    pis = [prevalence_value_grad(problem.likelihood, solution.theta).value for solution in found]
    return values - values.min(), np.array(pis)


def _curvature(fitted: Fitted) -> tuple[Floats, list[tuple[str, float]]]:
    """Eigenvalues of the scaled information, and what the flattest direction moves."""
    hess = fitted.problem.likelihood.value_grad_hess(fitted.theta).hess
    diagonal = np.diagonal(hess)
    scale = np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
    values, vectors = np.linalg.eigh(hess / np.outer(scale, scale))
    flat = vectors[:, 0] * np.sign(vectors[np.abs(vectors[:, 0]).argmax(), 0])
    order = np.argsort(-np.abs(flat))
    terms = [f"{model} {term}" for model, term in fitted.terms()]
    return values, [(terms[i], float(flat[i])) for i in order]
