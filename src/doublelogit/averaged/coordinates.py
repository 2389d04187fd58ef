"""Coordinates of a slice: slopes of standardised features, and their way to coefficients."""

import numpy as np
from scipy import sparse
from scipy.linalg import block_diag

from doublelogit._types import Floats, Matrix
from doublelogit.core.design import Terms
from doublelogit.methods.problem import Problem

CONSTANT = 1e-12  # guard: a constant column has no unit
INTERCEPT = 10.0  # prior standard deviation of the class's intercept at the features' means
SPARSE_FROM = 100  # coordinates from which a matrix with few entries is stored as such


def standardising(problem: Problem) -> Matrix:
    """The matrix that takes (u, v_0) to theta."""
    return _stored(
        block_diag(
            _standardising(problem, problem.outcome), _standardising(problem, problem.propensity)
        )
    )


def following(problem: Problem, k: float) -> tuple[Matrix, Matrix]:
    """The matrices that take (u, w) to (beta, w), and to theta with gamma = k beta + w."""
    beta = _standardising(problem, problem.outcome)
    tied = block_diag(beta, 1.0)
    if problem.propensity.size == 1:
        return _stored(tied), _stored(tied)
    theta = np.vstack([tied[:-1], k * tied[:-1]])
    theta[-1, -1] = 1.0
    return _stored(tied), _stored(theta)


def column_scales(problem: Problem, terms: Terms) -> tuple[Floats, Floats]:
    """Means and standard deviations of the columns of a model."""
    centre, spread = problem.centre, problem.spread
    # a constant column has no unit; its spread may be a rounding error of its mean
    spread = np.where(spread > CONSTANT * np.abs(centre), spread, 1.0)
    return terms.take(np.append(centre, 0.0))[:-1], terms.take(np.append(spread, 0.0))[:-1]


def _standardising(problem: Problem, terms: Terms) -> Floats:
    centre, spread = column_scales(problem, terms)
    matrix = np.diag(np.append(1 / spread, 1.0))
    matrix[-1, :-1] = -centre / spread
    return matrix


def _stored(matrix: Floats) -> Matrix:
    """The matrix, most of which is zero, as it is multiplied fastest."""
    return sparse.csr_array(matrix) if len(matrix) > SPARSE_FROM else matrix
