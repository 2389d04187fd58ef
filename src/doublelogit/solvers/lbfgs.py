"""Limited-memory BFGS, for so many coefficients that a Hessian would not fit."""

import numpy as np
from scipy.optimize import minimize

from doublelogit._types import Floats
from doublelogit.solvers.problem import Objective
from doublelogit.solvers.solution import Solution, largest

PAIRS = 20  # curvature pairs remembered; more cost memory, fewer cost iterations


def lbfgs(objective: Objective, theta: Floats, *, tol: float, max_iter: int = 1000) -> Solution:
    """Minimise by SciPy's L-BFGS in variables scaled to unit curvature."""
    scale = objective.scale
    trace: list[float] = []

    def scaled(z: Floats) -> tuple[float, Floats]:
        value, grad = objective.first(z / scale)
        return value, grad / scale

    def watch(intermediate_result: object) -> None:
        trace.append(float(intermediate_result.fun))  # type: ignore[attr-defined]

    result = minimize(
        scaled,
        theta * scale,
        jac=True,
        method="L-BFGS-B",
        callback=watch,
        options={
            "maxcor": PAIRS,
            "maxiter": max_iter,
            "maxfun": 20 * max_iter,
            "gtol": tol / float(scale.max()),  # then the unscaled gradient is below tol too
            "ftol": 0.0,
        },
    )
    theta = np.asarray(result.x) / scale
    size = largest(objective.gradient(theta))
    return Solution(
        theta, float(result.fun), size, int(result.nit), size <= tol, trace=tuple(trace)
    )
