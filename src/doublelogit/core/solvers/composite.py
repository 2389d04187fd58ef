"""Minimiser of a smooth function plus absolute values of its coordinates: an L1 penalty.

Algorithm::

    repeat until every optimality condition holds to tol
        q <- the quadratic model at theta, its Hessian as the objective gives it (semidefinite)
        z <- argmin q(z) + penalty'|z|       by a search over signs, exact
        shorten the step if it moves predictors too far, then until the sum falls enough (Armijo)

The search over signs holds the signs of the coordinates that are not zero, solves the linear system
they leave, stops where the first of them would cross zero and drops it, and else takes in the zeros
that violate their conditions most: several, until one of these leaves at once, and then one by one,
when each solution of a system lowers the sum, so that it ends.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from doublelogit._types import Floats
from doublelogit.common.threads import limited_by
from doublelogit.core.solvers.objective import Objective
from doublelogit.core.solvers.solution import unit_scale

FURTHEST = 6.0  # that a step moves a predictor: beyond, the quadratic model means nothing
JITTER = 1e-10  # of a unit diagonal: columns that repeat others leave a system singular
EXACT = 1e-12  # of the largest gradient: what a search over signs leaves
SHORTEST = 1e-10


class CompositeSolution(NamedTuple):
    """A minimiser, with the gradient of the smooth part there.

    ``violation`` is the largest gap of an optimality condition, in the units of the coordinates.
    """

    theta: Floats
    value: float
    grad: Floats
    violation: float
    n_iter: int
    converged: bool


def violations(theta: Floats, grad: Floats, penalty: Floats) -> Floats:
    """How far each coordinate is from its optimality condition.

    Zero coordinates need a gradient within the penalty, others one that balances it.
    """
    return np.where(
        theta == 0,
        np.maximum(np.abs(grad) - penalty, 0.0),
        np.abs(grad + penalty * np.sign(theta)),
    )


@limited_by(lambda *args, **_: len(args[1]))  # theta
def composite(
    objective: Objective,
    theta: Floats,
    penalty: Floats,
    *,
    tol: float,
    max_iter: int = 100,
    reach: Callable[[Floats], float] | None = None,
) -> CompositeSolution:
    """Minimise ``objective + penalty'|theta|``; ``reach`` tells how far a step moves predictors."""
    value, grad, hess = objective.value_grad_hess(theta)
    for n_iter in range(max_iter):
        gap = float((violations(theta, grad, penalty) / objective.unit).max())
        if gap <= tol:
            return CompositeSolution(theta, _sum(value, theta, penalty), grad, gap, n_iter, True)
        step = penalised_minimum(grad, hess, theta, penalty) - theta
        before = _sum(value, theta, penalty)
        promised = float(grad @ step + penalty @ (np.abs(theta + step) - np.abs(theta)))
        length = 1.0 if reach is None else min(1.0, FURTHEST / max(reach(step), FURTHEST))
        while True:
            trial = theta + length * step
            there = objective.value_grad_hess(trial)
            if _sum(there.value, trial, penalty) <= before + 1e-4 * length * promised:
                break
            length /= 2
            if length < SHORTEST:  # rounding error is all that is left
                return CompositeSolution(theta, before, grad, gap, n_iter, False)
        theta, (value, grad, hess) = trial, there
    gap = float((violations(theta, grad, penalty) / objective.unit).max())
    return CompositeSolution(theta, _sum(value, theta, penalty), grad, gap, max_iter, gap <= tol)


def _sum(value: float, theta: Floats, penalty: Floats) -> float:
    return float(value + penalty @ np.abs(theta))


def penalised_minimum(grad: Floats, hess: Floats, start: Floats, penalty: Floats) -> Floats:
    """Minimiser of ``grad'(z - start) + (z - start)'hess (z - start) / 2 + penalty'|z|``."""
    scale = 1 / unit_scale(hess)
    H = hess * np.outer(scale, scale)
    H[np.diag_indices_from(H)] += JITTER
    weight = penalty * scale
    b = grad * scale - H @ (start / scale)  # the gradient at z is b + H z
    return _by_signs(b, H, start / scale, weight) * scale


def _by_signs(b: Floats, H: Floats, z: Floats, weight: Floats) -> Floats:
    z, free = z.copy(), weight == 0
    sign, active = np.sign(z) * ~free, free | (z != 0)
    exact = EXACT * max(float(np.abs(b).max()), 1.0)
    some = max(len(z) // 8, 1)  # that enter at once, as long as none of them leaves at once
    for _ in range(20 * len(z) + 100):
        A = np.flatnonzero(active)
        goal = np.linalg.solve(H[np.ix_(A, A)], -(b[A] + weight[A] * sign[A]))
        crossing = np.flatnonzero(goal * sign[A] < 0)
        if len(crossing):
            here = z[A]
            share = here[crossing] / (here[crossing] - goal[crossing])
            first = share.min()
            z[A] = here + first * (goal - here)
            gone = A[crossing[share == first]]
            z[gone], sign[gone], active[gone] = 0.0, 0.0, False
            some = some if first > 0 else 1
            continue
        z[A] = goal
        slope = b + H @ z
        excess = np.where(active, -np.inf, np.abs(slope) - weight)
        entering = np.flatnonzero(excess > exact)
        if len(entering) == 0:
            break
        entering = entering[np.argsort(-excess[entering], kind="stable")[:some]]
        active[entering], sign[entering] = True, -np.sign(slope[entering])
    return z
