"""Trust-region Newton for objectives whose Hessian may be indefinite.

Algorithm::

    repeat until |g|_max <= tol
        d <- minimiser of g'd + d'Hd/2 over |d|_scale <= radius    (exact, by eigenvectors)
        accept d if the objective falls by a tenth of what the model promised
        widen the radius after a good step on its border, narrow it after a bad one

SciPy's ``trust-exact`` does the same in unscaled variables and judges steps by the value
alone, which stalls once a step changes the value by less than rounding; here such steps
are judged by the gradient, so that tolerances near machine precision can be met.
"""

import numpy as np
from scipy.optimize import brentq

from doublelogit._types import Floats
from doublelogit.solvers.problem import Objective
from doublelogit.solvers.solution import Solution, largest

EPS = float(np.finfo(float).eps)


def trust_region(
    objective: Objective, theta: Floats, *, tol: float, max_iter: int = 500
) -> Solution:
    """Minimise a smooth objective from theta; ends in a point with no downward curvature."""
    scale = objective.scale
    radius, rejected = 1.0, 0
    value, grad, hess = objective.second(theta)
    trace = [value]
    for n_iter in range(max_iter):
        if rejected == 0:
            curvatures, axes = np.linalg.eigh(hess / np.outer(scale, scale))
            slopes = axes.T @ (grad / scale)
        # a step below rounding of a flat function cannot be told from none
        if largest(grad) <= tol and curvatures[0] >= -np.sqrt(EPS) * curvatures[-1]:
            return Solution(theta, value, largest(grad), n_iter, True, trace=tuple(trace))
        if radius < 1e-12:
            break
        d = _subproblem(curvatures, slopes, radius)
        promised = -float(slopes @ d + 0.5 * curvatures @ d**2)
        step = (axes @ d) / scale
        trial = objective.first(theta + step)
        gain = value - trial.value
        if promised < 100 * EPS * max(abs(value), 1.0):
            good = 1.0 if largest(trial.grad) < largest(grad) else 0.0
        else:
            good = gain / promised
        length = float(np.linalg.norm(d))
        if good < 0.25:
            radius = 0.25 * length
        elif good > 0.75 and length > 0.99 * radius:
            radius = 2 * radius
        if good > 0.1:
            theta, rejected = theta + step, 0
            value, grad, hess = objective.second(theta)
            trace.append(value)
        else:
            rejected += 1
    size = largest(grad)
    return Solution(theta, value, size, len(trace) - 1, tol == 0 or size <= tol, trace=tuple(trace))


def _subproblem(curvatures: Floats, slopes: Floats, radius: float) -> Floats:
    """Minimiser of ``slopes'd + sum curvatures d^2 / 2`` over ``|d| <= radius``.

    On the border ``d = -slopes / (curvatures + shift)`` with the shift at which |d| = radius
    (More & Sorensen, 1983).
    """
    lowest = curvatures[0]
    if lowest > 0:
        d = -slopes / curvatures
        if np.linalg.norm(d) <= radius:
            return d
    floor = max(0.0, -lowest)
    width = float(np.linalg.norm(slopes)) / radius

    def excess(shift: float) -> float:
        return float(1 / radius - 1 / np.linalg.norm(slopes / (curvatures + shift)))

    tiny = EPS * max(abs(lowest), abs(curvatures[-1]), width)
    if np.linalg.norm(slopes / (curvatures + floor + tiny)) <= radius:
        # the hard case: no slope along the downward axis, so go along it as far as allowed
        flat = curvatures + floor <= tiny
        d = np.where(flat, 0.0, -slopes / np.where(flat, 1.0, curvatures + floor + tiny))
        d[0] = np.sqrt(max(radius**2 - float(d @ d), 0.0)) * (-1.0 if slopes[0] > 0 else 1.0)
        return d
    shift = brentq(excess, floor + tiny, floor + tiny + width, rtol=1e-6)
    return np.asarray(-slopes / (curvatures + shift))
