"""Newton's method for convex objectives, frugal with Hessians.

Algorithm::

    repeat until |g|_max <= tol
        d <- -H0^-1 g                  H0: the Hessian factorised last, here or in an earlier fit
        if |g(theta + d)| <= |g| / 10  keep H0, corrected by what the step revealed
        else                           take the step if it helps, renew H0; if H0 was already
                                       that of theta, shorten the step until the value falls

A gradient costs a sixth of a Hessian. One that shrinks is progress enough in a convex problem,
and unlike the value it can be compared down to rounding error.
"""

import numpy as np

from doublelogit._types import Floats
from doublelogit.solvers.objective import Objective, ValueGrad
from doublelogit.solvers.solution import Factor, Solution, largest

CONTRACTION = 0.1  # steps that shrink g less gain less per second than a renewed Hessian
# A step that changes predictors by ten is one on a flat tail, where the optimum is at infinity.
LONGEST = 10.0


def newton(
    objective: Objective,
    theta: Floats,
    *,
    tol: float,
    max_iter: int = 100,
    factor: Factor | None = None,
    metric: Floats | None = None,
) -> Solution:
    """Minimise a convex objective.

    ``factor`` of a nearby fit saves the first Hessian. ``metric`` tells how far a step d goes: it
    changes predictors by sqrt(d' metric d), root mean square.
    """
    fresh, rate, unit = factor is None, 1.0, objective.unit
    if factor is None:
        value, grad, hess = objective.value_grad_hess(theta)
        factor = Factor.from_matrix(hess)
    else:
        value, grad = np.nan, objective.gradient(theta)
    for n_iter in range(max_iter):
        size = largest(grad, unit)
        if size <= tol:
            break
        step = _bounded(-factor.solve(grad), metric)
        trial = _look(objective, theta + step, last=rate * size <= tol)
        rate = largest(trial.grad, unit) / size
        if rate <= CONTRACTION:
            factor = factor.corrected(step, trial.grad - grad)
            theta, (value, grad), fresh = theta + step, trial, False
            continue
        if fresh:
            length = _backtrack(objective, theta, value, grad, step)
            if length == 0:  # no step lowers the value: rounding error is all that is left
                return Solution(theta, value, size, n_iter, tol == 0, factor)
            theta = theta + length * step
        elif rate < 1:
            theta = theta + step
        value, grad, hess = objective.value_grad_hess(theta)
        factor, fresh = Factor.from_matrix(hess), True
    else:
        n_iter = max_iter
    if np.isnan(value):
        value = objective.value_grad(theta).value
    size = largest(grad, unit)
    return Solution(theta, value, size, n_iter, tol == 0 or size <= tol, factor)


def _bounded(step: Floats, metric: Floats | None) -> Floats:
    """The step, shortened if the quadratic model that proposed it can not hold so far away."""
    if metric is None:
        return step
    length = np.sqrt(max(float(step @ metric @ step), 0.0))
    return step * min(1.0, LONGEST / max(length, LONGEST))


def _look(objective: Objective, theta: Floats, last: bool) -> ValueGrad:
    """The gradient, with the value too where the search is expected to end."""
    return objective.value_grad(theta) if last else ValueGrad(np.nan, objective.gradient(theta))


def _backtrack(
    objective: Objective, theta: Floats, value: float, grad: Floats, step: Floats
) -> float:
    """Length of a step that lowers the value enough (Armijo), or zero if there is none."""
    slope, length = float(grad @ step), 1.0
    while length > 1e-10:  # below this a step no longer changes theta
        if objective.value_grad(theta + length * step).value <= value + 1e-4 * length * slope:
            return length
        length /= 2
    return 0.0
