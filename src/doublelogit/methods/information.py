"""The observed information of a likelihood and its inverse."""

import numpy as np

from doublelogit._types import Floats
from doublelogit.methods.problem import Problem
from doublelogit.solvers.solution import unit_scale

SMALLEST = 1e-10  # eigenvalue of the scaled information below which a direction is all noise


def inverse_information(problem: Problem, theta: Floats, hess: Floats | None = None) -> Floats:
    """Inverse of the observed information; directions without information have a large variance.

    ``hess`` of the likelihood at theta, if a solver has left it, saves a pass.
    """
    if hess is None:
        hess = problem.likelihood.value_grad_hess(theta).hess
    return inverted(problem.n * hess)


def inverted(information: Floats) -> Floats:
    """Inverse by the eigenvalues of the matrix scaled to unit diagonal, none below a floor."""
    scale = unit_scale(information)  # units of features must not matter
    values, vectors = np.linalg.eigh(information / np.outer(scale, scale))
    vectors = vectors / scale[:, None]
    return np.asarray((vectors / np.maximum(values, SMALLEST)) @ vectors.T)
