"""The observed information of a likelihood and its inverse."""

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotri

from doublelogit._types import Floats
from doublelogit.common.threads import with_paying_threads
from doublelogit.core.solvers.solution import unit_scale
from doublelogit.methods.problem import Problem

SMALLEST = 1e-10  # eigenvalue of the scaled information below which a direction is all noise


def inverse_information(problem: Problem, theta: Floats, hess: Floats | None = None) -> Floats:
    """Inverse of the observed information; directions without information have a large variance.

    ``hess`` of the likelihood at theta, if a solver has left it, saves a pass.
    """
    if hess is None:
        hess = problem.likelihood.value_grad_hess(theta).hess
    return inverted(problem.n * hess)


@with_paying_threads
def inverted(information: Floats) -> Floats:
    """Inverse by the eigenvalues of the matrix scaled to unit diagonal, none below a floor.

    Eigenvalues are looked for only where one may be so small: the largest of a positive inverse is
    no more than its trace.
    """
    scale = unit_scale(information)  # units of features must not matter
    scaled = information / np.outer(scale, scale)
    root, failed = dpotrf(scaled, lower=True)
    if not failed:
        lower, _ = dpotri(root, lower=True)
        if 0 < np.trace(lower) <= 1 / SMALLEST:
            inverse = np.tril(lower) + np.tril(lower, -1).T
            return np.asarray(inverse / np.outer(scale, scale))
    values, vectors = np.linalg.eigh(scaled)
    vectors = vectors / scale[:, None]
    return np.asarray((vectors / np.maximum(values, SMALLEST)) @ vectors.T)
