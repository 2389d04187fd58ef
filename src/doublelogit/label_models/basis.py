"""Columns of a model that is additive in smooth terms, each penalised towards its line."""

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.linalg import block_diag

from doublelogit._types import Floats, Matrix
from doublelogit.core.rows import quantile

FEWEST_VALUES = 6  # of a column that can bend
KNOTS = (0.05, 0.275, 0.5, 0.725, 0.95)  # quantiles, as Harrell has them for five knots
TINY = 1e-12


@dataclass(frozen=True)
class Scale:
    """Columns shifted and divided so that they have mean 0 and variance 1; sparse ones divided."""

    shift: Floats
    unit: Floats

    @classmethod
    def learn(cls, X: Matrix, weight: Floats) -> "Scale":
        """Weighted moments; a constant column has unit 1."""
        largest = np.abs(X).max(axis=0)  # squares of values of any size stay finite
        largest = (largest.toarray() if sparse.issparse(largest) else largest).ravel()
        largest = np.where(largest > 0, largest, 1.0)
        Z = X.multiply(1 / largest) if sparse.issparse(X) else X / largest
        total, squares = weight.sum(), (Z.multiply(Z) if sparse.issparse(X) else Z * Z)
        mean = np.asarray(weight @ Z).ravel() / total
        variance = np.maximum(np.asarray(weight @ squares).ravel() / total - mean**2, 0.0)
        varies = variance > TINY * (mean**2 + TINY)
        unit = np.where(varies, np.sqrt(np.where(varies, variance, 1.0)) * largest, 1.0)
        return cls(np.zeros_like(mean) if sparse.issparse(X) else mean * largest, unit)

    def __call__(self, X: Matrix) -> Matrix:
        if sparse.issparse(X):
            return X.multiply(1 / self.unit).tocsr()
        return (X - self.shift) / self.unit


@dataclass(frozen=True)
class Smooths:
    """Natural cubic splines of the columns that have values enough, beside their lines."""

    columns: tuple[int, ...]
    knots: tuple[Floats, ...]

    @classmethod
    def learn(cls, X: Floats, weight: Floats) -> "Smooths":
        """Knots at weighted quantiles; columns whose quantiles coincide stay lines."""
        columns, knots = [], []
        for j in range(X.shape[1]):
            if len(np.unique(X[:, j])) < FEWEST_VALUES:
                continue
            at = np.unique([quantile(X[:, j], weight, q) for q in KNOTS])
            if len(at) > 2:
                columns.append(j)
                knots.append(at)
        return cls(tuple(columns), tuple(knots))

    @property
    def terms_of_cubes(self) -> Floats:
        """The terms of all columns as sums of cubes beyond the knots of all columns."""
        return np.asarray(block_diag(*map(natural_terms, self.knots)))

    def __call__(self, X: Floats) -> Floats:
        """The terms that bend, all columns side by side; none is a line."""
        terms = [natural(X[:, j], at) for j, at in zip(self.columns, self.knots, strict=True)]
        return np.hstack(terms) if terms else np.empty((len(X), 0))


def natural(x: Floats, knots: Floats) -> Floats:
    """Natural cubic splines of a column without constant and line: linear beyond the outer knots.

    The restricted cubic splines of Harrell, in units of the distance of the outer knots.
    """
    span = knots[-1] - knots[0]
    cubes = np.maximum((x[:, None] - knots) / span, 0.0) ** 3
    return np.asarray(cubes @ natural_terms(knots))


def natural_terms(knots: Floats) -> Floats:
    """The terms of a column as sums of cubes beyond its knots, a column each."""
    last, before, others = knots[-1], knots[-2], knots[:-2]
    ends = [-(last - others) / (last - before), (before - others) / (last - before)]
    return np.vstack([np.eye(len(others)), *ends])
