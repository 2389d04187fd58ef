"""Limited-memory BFGS, for so many coefficients that a Hessian would not fit."""

import numpy as np
from scipy.optimize import minimize

from doublelogit._types import Floats
from doublelogit.common.threads import limited_by
from doublelogit.core.solvers.objective import FirstOrder
from doublelogit.core.solvers.solution import Solution, largest

PAIRS = 20  # curvature pairs remembered; more cost memory, fewer cost iterations


@limited_by(lambda *args, **_: len(args[1]))  # theta
def lbfgs(
    objective: FirstOrder,
    theta: Floats,
    *,
    tol: float,
    max_iter: int = 1000,
    enough: float = 0.0,
    root: Floats | None = None,
) -> Solution:
    """Minimise by SciPy's L-BFGS in variables scaled to unit curvature.

    With ``enough`` it ends where the value can fall by about that: after a step that lowers it by a
    tenth. A ``root`` of the inverse curvature nearby, R of RR', makes it nearly one in all
    directions, not only along the axes.
    """
    origin, scale, unit = theta, objective.scale, objective.unit

    def point(z: Floats) -> Floats:
        return np.asarray(z / scale if root is None else origin + root @ z)

    trace: list[float] = []
    size = np.inf  # of the gradient seen last, in the variables the tolerance is meant for

    def scaled(z: Floats) -> tuple[float, Floats]:
        nonlocal size
        value, grad = objective.value_grad(point(z))
        size = largest(grad, unit)
        return value, grad / scale if root is None else root.T @ grad

    def watch(intermediate_result: object) -> None:
        trace.append(float(intermediate_result.fun))  # type: ignore[attr-defined]
        slow = len(trace) > 1 and trace[-2] - trace[-1] < enough / 10
        if size <= tol or slow:  # a step ends where the line search looked last
            raise StopIteration

    result = minimize(
        scaled,
        theta * scale if root is None else np.zeros(len(theta)),
        jac=True,
        method="L-BFGS-B",
        callback=watch,
        options={
            "maxcor": PAIRS,
            "maxiter": max_iter,
            "maxfun": 20 * max_iter,
            "gtol": 0.0,  # in scaled variables this would ask far more of rare features
            "ftol": 0.0,
        },
    )
    theta = point(result.x)
    size = largest(objective.gradient(theta), unit)
    return Solution(
        theta, float(result.fun), size, int(result.nit), size <= tol, trace=tuple(trace)
    )
