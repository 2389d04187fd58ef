"""Coordinates of a slice: slopes of standardised features, and their way to coefficients."""

import numpy as np
from scipy import sparse
from scipy.linalg import block_diag

from doublelogit._types import Floats, Matrix
from doublelogit.methods.problem import Problem
from doublelogit.methods.units import from_standardised

INTERCEPT = 10.0  # prior standard deviation of the class's intercept at the features' means
SPARSE_FROM = 100  # coordinates from which a matrix with few entries is stored as such


def standardising(problem: Problem) -> Matrix:
    """The matrix that takes (u, v_0) to theta."""
    models = (problem.outcome, problem.propensity)
    return _stored(block_diag(*(from_standardised(problem, terms) for terms in models)))


def following(problem: Problem, k: float) -> tuple[Matrix, Matrix]:
    """The matrices that take (u, w) to (beta, w), and to theta with gamma = k beta + w."""
    beta = from_standardised(problem, problem.outcome)
    tied = block_diag(beta, 1.0)
    if problem.propensity.size == 1:
        return _stored(tied), _stored(tied)
    theta = np.vstack([tied[:-1], k * tied[:-1]])
    theta[-1, -1] = 1.0
    return _stored(tied), _stored(theta)


def _stored(matrix: Floats) -> Matrix:
    """The matrix, most of which is zero, as it is multiplied fastest."""
    return sparse.csr_array(matrix) if len(matrix) > SPARSE_FROM else matrix
