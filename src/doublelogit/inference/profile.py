"""Profile likelihood of the prevalence: how well the best model with each prevalence fits.

Along a flat ridge the curvature at the top says little of how far the ridge goes on; the profile
walks it. From an optimum it goes up and down in prevalence, each point found from the last by
pulling the prevalence (see methods/belief.py), until the fit is clearly worse or the prevalence
meets a bound: no prevalence is below what the labelled rows prove, or above one. Steps are equal
in the logit of the hidden share (pi - bound) / (1 - bound), in which the bound is infinitely far.

A likelihood may have several optima, and a walk may climb again beyond a valley. So the prevalences
that fit are a union of regions, over the walks from every optimum that is known.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.special import expit, logit
from scipy.stats import chi2

from doublelogit._types import Floats
from doublelogit.common.threads import with_paying_threads
from doublelogit.core.rows import labelled_share
from doublelogit.inference.fitted_problem import FittedProblem
from doublelogit.methods.belief import Belief
from doublelogit.methods.maximum import maximum, worth_hessians
from doublelogit.methods.prevalence import (
    label_frequency_value_grad,
    prevalence_at,
    prevalence_value_grad,
)
from doublelogit.methods.problem import Problem
from doublelogit.methods.start import balanced_start, naive_start

STEP = 0.5  # of the logit of the hidden share, at most
ERRORS = 0.7  # standard errors of it, at most
WALK_BEYOND = 1.5  # walk on until the drop is so many times that of the interval asked for
MOST = 60  # points on either side
NEAR_BOUND = 1e-3  # hidden positives per labelled one, or share of negatives: a bound is reached
OPTIMA_APART = 0.02  # hidden share on the logit scale by which another optimum is another one
MOVED = 0.01  # of the way to its target, by which a pull must move the prevalence
POINT_TOLERANCE = 1e-3  # log-likelihood units that a point of a walk may lie below the best
TURNED = 0.01  # log-likelihood units by which a walk that climbs again has left its basin

Region = tuple[float, float]


@dataclass(frozen=True)
class Walk:
    """The profile around one optimum: prevalences in order, and the drop at each."""

    prevalence: Floats
    drop: Floats
    ends: Region  # how far the walk went: a bound, if it came near one
    bound: float

    def regions(self, allowed: float) -> list[Region]:
        """Where the drop is no more than allowed; its root is nearly linear between points."""
        inside = np.concatenate([[False], self.drop <= allowed, [False]])
        edges = np.flatnonzero(inside[1:] != inside[:-1])
        return [
            (self._edge(first, -1, allowed), self._edge(last - 1, 1, allowed))
            for first, last in edges.reshape(-1, 2).tolist()
        ]

    def _edge(self, i: int, side: int, allowed: float) -> float:
        """Where the drop passes what is allowed, between the i-th point and the next outside."""
        j = i + side
        if not 0 <= j < len(self.drop):
            return self.ends[0 if side < 0 else 1]
        inner, outer = np.sqrt(np.maximum(self.drop[[i, j]], 0.0))
        share = (np.sqrt(allowed) - inner) / (outer - inner)
        here, there = self._position(self.prevalence[[i, j]])
        return prevalence_from(here + share * (there - here), self.bound)

    def at(self, prevalence: Floats) -> Floats:
        """The drop at other prevalences; infinite where the walk did not go."""
        drop = np.interp(prevalence, self.prevalence, self.drop)
        outside = (prevalence < self.prevalence[0]) | (prevalence > self.prevalence[-1])
        return np.where(outside, np.inf, drop)

    def _position(self, prevalence: Floats) -> Floats:
        return hidden_logit(prevalence, self.bound)


@dataclass(frozen=True)
class Profile:
    """How far below the fit the best log-likelihood of each prevalence is, by walks from optima.

    The first walk is that of the fit itself; another optimum may be better, its drop negative.
    """

    walks: tuple[Walk, ...]
    bounds: Region

    @cached_property
    def _lowest(self) -> tuple[Floats, Floats]:
        points = np.unique(np.concatenate([walk.prevalence for walk in self.walks]))
        return points, np.min([walk.at(points) for walk in self.walks], axis=0)

    @property
    def prevalence(self) -> Floats:
        """Prevalences of all walks, in order."""
        return self._lowest[0]

    @property
    def drop(self) -> Floats:
        """How far below the fit the best log-likelihood is at each prevalence."""
        return self._lowest[1]

    def regions(self, level: float = 0.95, stretch: float = 1.0) -> tuple[Region, ...]:
        """Every region of prevalences within the drop that a chi-square of one degree allows.

        ``stretch`` multiplies what is allowed, where the likelihood counts rows that are not
        independent, or a model that is not right.
        """
        return self.fitting(stretch * float(chi2.ppf(level, 1)) / 2)

    def interval(self, level: float = 0.95) -> Region:
        """The lowest and the highest prevalence of all regions."""
        regions = self.regions(level)
        return regions[0][0], regions[-1][1]

    def fitting(self, units: float = 2.0) -> tuple[Region, ...]:
        """Every region of prevalences within so many log-likelihood units of the fit."""
        return merged(region for walk in self.walks for region in walk.regions(units))

    def within(self, units: float = 2.0) -> Region:
        """The lowest and the highest prevalence within so many log-likelihood units."""
        regions = self.fitting(units)
        return regions[0][0], regions[-1][1]

    @property
    def reach(self) -> Region:
        """How far the walks went."""
        return min(w.ends[0] for w in self.walks), max(w.ends[1] for w in self.walks)


def merged(regions: Iterable[Region]) -> tuple[Region, ...]:
    """Regions in order, those that touch made one."""
    union: list[Region] = []
    for low, high in sorted(regions):
        if union and low <= union[-1][1]:
            union[-1] = (union[-1][0], max(union[-1][1], high))
        else:
            union.append((low, high))
    return tuple(union)


def hidden_logit(prevalence: Floats, bound: float) -> Floats:
    """Logit of the hidden share, kept off its bounds."""
    share = (np.asarray(prevalence) - bound) / (1 - bound)
    return np.asarray(logit(np.clip(share, _least(bound) / 2, 1 - NEAR_BOUND / 2)))


def _least(bound: float) -> float:
    """The hidden share at which the lower bound counts as reached."""
    return NEAR_BOUND * min(max(bound, NEAR_BOUND), 1.0)


def prevalence_from(position: float, bound: float) -> float:
    """The prevalence of a logit of the hidden share."""
    return bound + (1 - bound) * float(expit(position))


def least_prevalence(problem: Problem) -> float:
    """The prevalence if every positive were labelled."""
    mean_s = labelled_share(problem.rows)
    return float(prevalence_at(1.0, mean_s, problem.false_label_rate))


@with_paying_threads
def profile(
    fitted: FittedProblem, level: float = 0.95, *, others: Sequence[Floats] = (), own: bool = False
) -> Profile:
    """Walk the ridge as far as an interval of this level needs.

    Parameters
    ----------
    fitted : FittedProblem
        The optimum whose prevalence is wanted.
    level : float, default=0.95
        Of the widest interval that will be asked for.
    others : sequence of ndarray, default=()
        Other optima of the same likelihood.
    own : bool, default=False
        Whether to stay in the basin of this optimum: for a solution that is shown beside another.
    """
    problem = fitted.problem
    bound = least_prevalence(problem)
    enough = WALK_BEYOND * float(chi2.ppf(level, 1)) / 2
    top = problem.likelihood.value_grad(fitted.theta).value
    stepper = _Stepper(problem, top, bound, enough, own, _root(fitted))
    walks = [stepper.walk(fitted.theta, _step(fitted, bound))]
    for theta in others:
        drop = stepper.drop(theta)
        if drop < enough and _is_another(problem, theta, walks, bound):
            optimum = FittedProblem(problem, theta, fitted.feature_names)
            stepper = replace(stepper, root=_root(optimum))
            walks.append(stepper.walk(theta, _step(optimum, bound)))
    return Profile(tuple(walks), (bound, 1.0))


def other_optima(fitted: FittedProblem, rival: Floats | None = None) -> list[Floats]:
    """Optima that the named starts, and a rival solution, lead to."""
    problem = fitted.problem
    begins = [begin(problem) for begin in (naive_start, balanced_start)]
    if rival is not None:
        begins.append(rival)
    optima = [maximum(problem, theta, tol=1e-6, max_iter=300) for theta in begins]
    return [solution.theta for solution in optima if solution.converged]


def _is_another(problem: Problem, theta: Floats, walks: list[Walk], bound: float) -> bool:
    """Whether no walk has passed an optimum: another prevalence, or a better fit at this one."""
    pi = _prevalence(problem, theta)
    at = hidden_logit(np.array([pi]), bound)
    centres = [hidden_logit(walk.prevalence[[walk.drop.argmin()]], bound) for walk in walks]
    return all(abs(float((at - centre)[0])) > OPTIMA_APART for centre in centres)


def _step(fitted: FittedProblem, bound: float) -> float:
    """So many standard errors of the logit of the hidden share, within reason."""
    pi = prevalence_value_grad(fitted.problem.likelihood, fitted.theta)
    se = np.sqrt(max(float(pi.grad @ fitted.inverse_information @ pi.grad), 0.0))
    slope = max((pi.value - bound) * (1 - pi.value) / (1 - bound), _least(bound))
    return float(np.clip(ERRORS * se / slope, 1e-5, STEP))


def _root(fitted: FittedProblem) -> Floats | None:
    """A root of the covariance, in whose units a search without Hessians needs few passes."""
    if worth_hessians(fitted.problem):
        return None
    try:
        return np.asarray(np.linalg.cholesky(fitted.inverse_information), dtype=np.float64)
    except np.linalg.LinAlgError:  # rounding, where some directions are all noise
        return None


@dataclass(frozen=True)
class _Stepper:
    """What all points of a walk share."""

    problem: Problem
    top: float
    bound: float
    enough: float
    own: bool
    root: Floats | None = None

    def drop(self, theta: Floats) -> float:
        """How far below the fit a theta is."""
        return self.problem.n * (self.problem.likelihood.value_grad(theta).value - self.top)

    def walk(self, theta: Floats, step: float) -> Walk:
        """Both sides of an optimum."""
        pi, drop = _prevalence(self.problem, theta), self.drop(theta)
        down, low = self._side(theta, pi, drop, -step)
        up, high = self._side(theta, pi, drop, step)
        points = np.array([*down[::-1], (pi, drop), *up])
        return Walk(points[:, 0], points[:, 1], (low, high), self.bound)

    def _side(
        self, theta: Floats, pi: float, drop: float, step: float
    ) -> tuple[list[tuple[float, float]], float]:
        """Points of one side, and where it ends."""
        points: list[tuple[float, float]] = []
        last: tuple[Floats, float] | None = None
        least, most = float(logit(_least(self.bound))), float(logit(1 - NEAR_BOUND))
        for _ in range(MOST):
            position = float(hidden_logit(np.array([pi]), self.bound)[0]) + step
            if not least <= position <= most and not (step > 0 and position < least):
                return points, self.bound if step < 0 else 1.0
            target = prevalence_from(max(position, least), self.bound)
            begin = theta
            if last is not None:  # where the last step would lead, were the ridge straight
                begin = theta + (theta - last[0]) * (target - pi) / (pi - last[1])
            before, (theta, attained, jumped) = theta, self._next(begin, pi, target)
            last = None if jumped else (before, pi)
            if not _moved(pi, attained, target):
                return points, pi  # the likelihood cannot be moved further
            higher, drop = drop, self.drop(theta)
            if self.own and drop < higher - TURNED:
                return points, pi
            pi = attained
            points.append((pi, drop))
            if drop > self.enough:
                break
        return points, pi

    def _next(self, begin: Floats, pi: float, target: float) -> tuple[Floats, float, bool]:
        """The best model near a prevalence, what it attains, and whether it lies elsewhere.

        Where e(x) has run to one the likelihood is flat and nothing moves it back, though fewer
        labels per positive would fit better: so that is tried from a constant propensity.
        """
        theta, attained = self._pulled(begin, pi, target)
        c = label_frequency_value_grad(self.problem.likelihood, theta).value
        if target < pi or c <= (1 + self.bound / attained) / 2:
            return theta, attained, False
        other, reached = self._pulled(self._loosened(theta, target), pi, target)
        if self.drop(other) < self.drop(theta):
            return other, reached, True
        return theta, attained, False

    def _loosened(self, theta: Floats, target: float) -> Floats:
        """Theta with a constant propensity that suits a prevalence."""
        theta = theta.copy()
        theta[self.problem.outcome.size :] = 0.0
        theta[-1] = logit(np.clip(self.bound / target, NEAR_BOUND, 1 - NEAR_BOUND))
        return theta

    def _pulled(self, theta: Floats, pi: float, target: float) -> tuple[Floats, float]:
        """The best model near a prevalence, and the prevalence that it attains."""
        pull = Belief(target, max(abs(target - pi), 1e-9) / 20)
        pulled = replace(self.problem, beliefs=(*self.problem.beliefs, pull))
        enough = POINT_TOLERANCE / self.problem.n
        pulled_theta = maximum(pulled, theta, tol=1e-7, enough=enough, root=self.root).theta
        return pulled_theta, _prevalence(self.problem, pulled_theta)


def _moved(pi: float, attained: float, target: float) -> bool:
    """Whether a pull has brought the prevalence nearer to its target."""
    return (attained - pi) / (target - pi) >= MOVED


def _prevalence(problem: Problem, theta: Floats) -> float:
    return prevalence_value_grad(problem.likelihood, theta).value
