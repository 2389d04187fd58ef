"""Profile likelihood of the prevalence: how well the best model with each prevalence fits.

Along a flat ridge the curvature at the top says little of how far the ridge goes on; the profile
walks it. From the maximum it goes up and down in prevalence, each point found from the last by
pulling the prevalence (see methods/belief.py), until the fit is clearly worse or the prevalence
meets a bound: no prevalence is below what the labelled rows prove, or above one.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import expit, logit
from scipy.stats import chi2

from doublelogit._types import Floats
from doublelogit.inference.fitted_problem import FittedProblem
from doublelogit.methods.belief import Belief
from doublelogit.methods.prevalence import prevalence_at, prevalence_value_grad
from doublelogit.methods.problem import Problem
from doublelogit.rows import weighted_mean
from doublelogit.solvers import trust_region

STEP = 0.15  # of the logit of the prevalence, at most; at most half a standard error, too
FAR = 1.5  # walk on until the drop is so many times that of the interval asked for
MOST = 60  # points on either side
NEAR = 1e-3  # relative distance from a bound at which it counts as reached


@dataclass(frozen=True)
class Profile:
    """Prevalences in order, and how far below the maximum the log-likelihood is at each."""

    prevalence: Floats
    drop: Floats
    bounds: tuple[float, float]
    ends: tuple[float, float]  # how far the walk went

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Prevalences that fit within the drop that a chi-square of one degree allows."""
        allowed = chi2.ppf(level, 1) / 2
        best = int(np.argmin(self.drop))
        low = _crossing(self.prevalence[best::-1], self.drop[best::-1], allowed)
        high = _crossing(self.prevalence[best:], self.drop[best:], allowed)
        return (self.ends[0] if low is None else low, self.ends[1] if high is None else high)

    def within(self, units: float = 2.0) -> tuple[float, float]:
        """Prevalences that fit within so many log-likelihood units of the best."""
        return self.interval(float(chi2.cdf(2 * units, 1)))


def profile(fitted: FittedProblem, level: float = 0.95) -> Profile:
    """Walk the ridge as far as an interval of this level needs."""
    problem = fitted.problem
    mean_s = weighted_mean(problem.rows, problem.rows.s)
    bounds = (prevalence_at(1.0, mean_s, problem.false_label_rate), 1.0)
    enough = FAR * chi2.ppf(level, 1) / 2
    here = problem.likelihood.value_grad(fitted.theta).value
    step = _step(fitted)
    sides = [_walk(problem, fitted.theta, here, s * step, bounds, enough) for s in (-1, 1)]
    centre = [(_prevalence(problem, fitted.theta), 0.0)]
    points = np.array(sorted(sides[0] + centre + sides[1]))
    low, high = points[0, 0], points[-1, 0]
    ends = (
        bounds[0] if low < bounds[0] * np.exp(2 * step) else low,
        bounds[1] if 1 - high < 2 * NEAR else high,
    )
    return Profile(points[:, 0], points[:, 1] - points[:, 1].min(), bounds, ends)


def _step(fitted: FittedProblem) -> float:
    """Half a standard error of the logit of the prevalence, within reason."""
    problem = fitted.problem
    pi = prevalence_value_grad(problem.likelihood, fitted.theta)
    V = fitted.inverse_information
    se = float(np.sqrt(pi.grad @ V @ pi.grad)) / (pi.value * (1 - pi.value))
    return float(np.clip(se / 2, 1e-5, STEP))


def _walk(
    problem: Problem,
    theta: Floats,
    top: float,
    step: float,
    bounds: tuple[float, float],
    enough: float,
) -> list[tuple[float, float]]:
    points: list[tuple[float, float]] = []
    pi = _prevalence(problem, theta)
    for _ in range(MOST):
        target = float(expit(logit(pi) + step))
        if target < bounds[0] * (1 + NEAR) or 1 - target < NEAR:
            break
        pull = Belief(target, abs(target - pi) / 20)
        pulled = replace(problem, beliefs=(*problem.beliefs, pull))
        theta = trust_region(pulled.likelihood, theta, tol=1e-7, max_iter=100).theta
        attained = _prevalence(problem, theta)
        if np.sign(step) * (attained - pi) < abs(target - pi) / 100:
            break  # the likelihood cannot be moved further
        pi = attained
        drop = problem.n * (problem.likelihood.value_grad(theta).value - top)
        points.append((pi, drop))
        if drop > enough:
            break
    return points


def _prevalence(problem: Problem, theta: Floats) -> float:
    return prevalence_value_grad(problem.likelihood, theta).value


def _crossing(prevalence: Floats, drop: Floats, allowed: float) -> float | None:
    """Where the drop passes what is allowed; its root is nearly linear, so interpolate that."""
    beyond = np.flatnonzero(drop > allowed)
    if len(beyond) == 0:
        return None
    i = int(beyond[0])
    roots, positions = np.sqrt(np.maximum(drop[i - 1 : i + 1], 0)), logit(prevalence[i - 1 : i + 1])
    share = (np.sqrt(allowed) - roots[0]) / (roots[1] - roots[0])
    return float(expit(positions[0] + share * (positions[1] - positions[0])))
