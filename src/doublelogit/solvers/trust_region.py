"""Trust-region Newton for objectives whose Hessian may be indefinite.

Algorithm::

    repeat until |g|_max <= tol
        d <- minimiser of g'd + d'Hd/2 over |d|_scale <= radius    (exact: Newton's step where it
                                                                    is inside, else by eigenvectors)
        accept d if the objective falls by a tenth of what the model promised
        widen the radius after a good step on its border, narrow it after a bad one

SciPy's ``trust-exact`` does the same in unscaled variables and judges steps by the value
alone, which stalls once a step changes the value by less than rounding; here such steps
are judged by the gradient, so that tolerances near machine precision can be met.
"""

from functools import cached_property

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs
from scipy.optimize import brentq

from doublelogit._types import Floats
from doublelogit.solvers.objective import Objective, ValueGradHess
from doublelogit.solvers.solution import Solution, largest

EPS = float(np.finfo(float).eps)


def trust_region(
    objective: Objective, theta: Floats, *, tol: float, max_iter: int = 500, radius: float = 1.0
) -> Solution:
    """Minimise a smooth objective from theta; ends in a point with no downward curvature."""
    scale, unit = objective.scale, objective.unit
    here = objective.value_grad_hess(theta)
    model = _Quadratic(here, scale)
    trace = [here.value]
    for _ in range(max_iter):
        if (largest(here.grad, unit) <= tol and model.convex) or radius < 1e-12:
            break
        d = model.minimiser(radius)
        promised = -model.change(d)
        step = d / scale
        trial = objective.value_grad(theta + step)
        gain = here.value - trial.value
        if promised < 100 * EPS * max(abs(here.value), 1.0):
            good = 1.0 if largest(trial.grad, unit) < largest(here.grad, unit) else 0.0
        else:
            good = gain / promised
        length = float(np.linalg.norm(d))
        if good < 0.25:
            radius = 0.25 * length
        elif good > 0.75 and length > 0.99 * radius:
            radius = 2 * radius
        if good > 0.1:
            theta = theta + step
            here = objective.value_grad_hess(theta)
            model = _Quadratic(here, scale)
            trace.append(here.value)
    size, n_iter = largest(here.grad, unit), len(trace) - 1
    converged = tol == 0 or size <= tol
    return Solution(theta, here.value, size, n_iter, converged, trace=tuple(trace), last=here)


class _Quadratic:
    """``slopes'd + d'Hd/2`` in scaled variables, factorised as far as is needed."""

    def __init__(self, here: ValueGradHess, scale: Floats) -> None:
        self.slopes, self.hess = here.grad / scale, here.hess / np.outer(scale, scale)
        factor, failed = dpotrf(self.hess, lower=True)
        self.newton = None if failed else -dpotrs(factor, self.slopes, lower=True)[0]

    @cached_property
    def axes(self) -> tuple[Floats, Floats]:
        """Curvatures, smallest first, and the axes along which they are met."""
        curvatures, vectors = np.linalg.eigh(self.hess)
        return curvatures, vectors

    @property
    def convex(self) -> bool:
        """Whether no direction goes down; a step below rounding of a flat one is none."""
        return self.newton is not None or self.axes[0][0] >= -np.sqrt(EPS) * self.axes[0][-1]

    def minimiser(self, radius: float) -> Floats:
        if self.newton is not None and np.linalg.norm(self.newton) <= radius:
            return self.newton
        curvatures, vectors = self.axes
        return np.asarray(vectors @ _subproblem(curvatures, vectors.T @ self.slopes, radius))

    def change(self, d: Floats) -> float:
        return float(self.slopes @ d + 0.5 * d @ self.hess @ d)


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
