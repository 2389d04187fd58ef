"""Newton's method for convex objectives, frugal with Hessians.

Algorithm::

    repeat until |g|_max <= tol
        d <- -H0^-1 g                  H0: the Hessian factorised last, here or in an earlier fit
        if |g(theta + d)| <= r |g|     keep H0, corrected by what the step revealed
        else                           take the step if it helps, renew H0; if H0 was already
                                       that of theta, shorten the step until the value falls
                                       an old H0 is renewed when a fit begins
    a last step may be trusted, if the one before it shrank g so much that another is enough

A Hessian of p coefficients costs as much as p/9 gradients: r is the rate at which so many steps
are worth one by a new Hessian. A gradient that shrinks is progress enough in a convex problem, and
unlike the value it can be compared down to rounding error.
"""

from collections.abc import Callable

import numpy as np

from doublelogit._types import Floats
from doublelogit.common.threads import limited_by
from doublelogit.core.solvers.objective import Objective, ValueGrad
from doublelogit.core.solvers.solution import Factor, Solution, largest

CONTRACTION = 0.3  # a step that shrinks g so much is good, however few the coefficients
RENEWED = 0.01  # what a step by a new Hessian shrinks g to, or so
COEFFICIENTS_PER_GRADIENT = 9  # by which the cost of a Hessian grows
TRUSTED = 0.01  # what a step that is not looked at is trusted to shrink g to, at best
# A step that changes predictors by ten is one on a flat tail, where the optimum is at infinity.
LONGEST = 10.0


# How far a step moves predictors, root mean square: of all rows, and of most of them.
Reach = tuple[float, float]


@limited_by(lambda *args, **_: len(args[1]))  # theta
def newton(
    objective: Objective,
    theta: Floats,
    *,
    tol: float,
    max_iter: int = 100,
    factor: Factor | None = None,
    reach: Callable[[Floats], Reach] | None = None,
    valued: bool = True,
    trusted: bool = False,
) -> Solution:
    """Minimise a convex objective.

    ``factor`` of a nearby fit saves the first Hessian. ``reach`` tells how far a step goes. The
    value, which steps that shrink the gradient do without, may be left out (not ``valued``).
    Where a last step is ``trusted``, it is not looked at, and the value is that before it.
    """
    fresh, rate, unit = factor is None or factor.old, 1.0, objective.unit
    if factor is None or factor.old:
        value, grad, hess = objective.value_grad_hess(theta)
        factor = Factor.from_matrix(hess)
    else:
        value, grad = np.nan, objective.gradient(theta)
    slowest = max(RENEWED ** (1 / (1 + len(theta) / COEFFICIENTS_PER_GRADIENT)), CONTRACTION)
    for n_iter in range(max_iter):
        size = largest(grad, unit)
        if size <= tol:
            break
        step, longest = _bounded(-factor.solve(grad), reach)
        if trusted and max(rate, TRUSTED) * size <= tol:
            left = rate * size
            return Solution(theta + step, value, left, n_iter + 1, True, factor)
        trial = _look(objective, theta + step, last=valued and rate * size <= tol)
        rate = largest(trial.grad, unit) / size
        if rate <= slowest:
            factor = factor.corrected(step, trial.grad - grad)
            theta, (value, grad), fresh = theta + step, trial, False
            continue
        if fresh:
            length = _backtrack(objective, theta, value, grad, step, longest)
            if length == 0:  # no step lowers the value: rounding error is all that is left
                return Solution(theta, value, size, n_iter, tol == 0, factor)
            theta = theta + length * step
        elif rate < 1:
            theta = theta + step
        value, grad, hess = objective.value_grad_hess(theta)
        factor, fresh = Factor.from_matrix(hess), True
    else:
        n_iter = max_iter
    if valued and np.isnan(value):
        value = objective.value_grad(theta).value
    size = largest(grad, unit)
    return Solution(theta, value, size, n_iter, tol == 0 or size <= tol, factor)


def _bounded(step: Floats, reach: Callable[[Floats], Reach] | None) -> tuple[Floats, float]:
    """The step, shortened if the quadratic model that proposed it can not hold so far away.

    A few rows far from all others may be carried any distance: if that is outwards, it does no
    harm, and must not hold back the rest. The share of the step that would not carry them so far is
    returned too, for the case that it does.
    """
    if reach is None:
        return step, 1.0
    all_rows, most_rows = reach(step)
    share = min(1.0, LONGEST / max(all_rows, LONGEST))
    return (step * share, 1.0) if most_rows > LONGEST else (step, share)


def _look(objective: Objective, theta: Floats, last: bool) -> ValueGrad:
    """The gradient, with the value too where the search is expected to end."""
    return objective.value_grad(theta) if last else ValueGrad(np.nan, objective.gradient(theta))


def _backtrack(
    objective: Objective, theta: Floats, value: float, grad: Floats, step: Floats, longest: float
) -> float:
    """Length of a step that lowers the value enough (Armijo), or zero if there is none."""
    slope, length = float(grad @ step), 1.0
    while length > 1e-10 * longest:  # below this a step no longer changes theta
        if objective.value_grad(theta + length * step).value <= value + 1e-4 * length * slope:
            return length
        length = min(length / 2, longest)
    return 0.0
