"""Units of the columns: coefficients of standardised features, and their way back."""

import numpy as np

from doublelogit._types import Floats
from doublelogit.core.design import Terms
from doublelogit.methods.problem import Problem

CONSTANT = 1e-12  # guard: a constant column has no unit


def column_scales(problem: Problem, terms: Terms) -> tuple[Floats, Floats]:
    """Means and standard deviations of the columns of a model."""
    centre, spread = problem.centre, problem.spread
    # a constant column has no unit; its spread may be a rounding error of its mean
    spread = np.where(spread > CONSTANT * np.abs(centre), spread, 1.0)
    return terms.take(np.append(centre, 0.0))[:-1], terms.take(np.append(spread, 0.0))[:-1]


def from_standardised(problem: Problem, terms: Terms) -> Floats:
    """The matrix from slopes per standard deviation, and the intercept at the means."""
    centre, spread = column_scales(problem, terms)
    matrix = np.diag(np.append(1 / spread, 1.0))
    matrix[-1, :-1] = -centre / spread
    return matrix
