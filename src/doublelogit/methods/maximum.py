"""A maximum of the likelihood near a point, by as few passes and Hessians as the problem allows.

Newton's steps are few, but each costs a matrix of all pairs of coefficients. With more coefficients
than rows that matrix is larger than the data, while the penalty alone keeps the likelihood from
being flat: then L-BFGS takes a hundred passes and no Hessian.
"""

from typing import Any

from doublelogit._types import Floats
from doublelogit.core.rows import row_count
from doublelogit.core.solvers import Solution, lbfgs, trust_region
from doublelogit.methods.logistic import DENSE_LIMIT
from doublelogit.methods.problem import Problem

FEW_COEFFICIENTS = 100  # coefficients of which a Hessian costs nothing, however few the rows


def worth_hessians(problem: Problem) -> bool:
    """Whether a Hessian costs less than the passes that it saves."""
    size = problem.outcome.size + problem.propensity.size
    return size <= min(2 * DENSE_LIMIT, max(row_count(problem.rows), FEW_COEFFICIENTS))


def maximum(
    problem: Problem,
    theta: Floats,
    *,
    tol: float,
    max_iter: int = 500,
    enough: float = 0.0,
    root: Floats | None = None,
    **newton: Any,
) -> Solution:
    """The maximum that theta leads to, or a point as near as is ``enough``.

    ``root`` of the inverse curvature nearby is for those without Hessians, and saves passes there.
    ``newton`` are further options of the trust region, whose first steps in large samples see the
    curvature of some of the rows.
    """
    likelihood = problem.likelihood
    if not worth_hessians(problem):
        return lbfgs(likelihood, theta, tol=tol, max_iter=max_iter, enough=enough, root=root)
    newton["rough"] = likelihood.rough()
    return trust_region(likelihood, theta, tol=tol, max_iter=max_iter, enough=enough, **newton)
