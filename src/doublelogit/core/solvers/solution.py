"""What a solver returns, and the factorised curvature it may leave for the next fit."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from doublelogit._types import Floats
from doublelogit.core.solvers.objective import ValueGradHess

FEWEST_STEPS = 40  # that a matrix serves, however few its coefficients
SINGULAR = 1e-13  # eigenvalues below are rounding error of a matrix with unit diagonal


@dataclass(frozen=True)
class Factor:
    """The inverse of a positive (semi)definite matrix, corrected by what steps reveal.

    Each pair (step, change of gradient) seen since is folded in by a BFGS update, so that it
    stays good while the point moves on.
    """

    inverse: Floats
    steps: int = 0  # so many since the matrix was computed

    @property
    def old(self) -> bool:
        """Whether a new matrix pays: fits to come need fewer steps by it.

        It costs more passes the more coefficients there are, so that it must serve longer.
        """
        return self.steps >= max(len(self.inverse), FEWEST_STEPS)

    @classmethod
    def from_matrix(cls, matrix: Floats) -> "Factor":
        """Inverse of the matrix scaled to unit diagonal: the shortest solutions if singular."""
        scale = unit_scale(matrix)
        outer = np.outer(scale, scale)
        return cls(_inverse(matrix / outer) / outer)

    def corrected(self, step: Floats, change: Floats) -> "Factor":
        """The inverse updated by how a step changed the gradient."""
        curvature = float(step @ change)
        if curvature <= 0:
            return replace(self, steps=self.steps + 1)
        response = self.inverse @ change
        along = (1 + change @ response / curvature) / curvature * step - response / curvature
        left, right = np.column_stack([step, -response]), np.vstack([along, step / curvature])
        return Factor(self.inverse + left @ right, self.steps + 1)

    def solve(self, v: Floats) -> Floats:
        """Solution of ``matrix @ x = v``."""
        return self.inverse @ v


def unit_scale(matrix: Floats) -> Floats:
    """Scale by which a matrix is divided on both sides to have a unit diagonal."""
    diagonal = np.diagonal(matrix)
    return np.sqrt(np.where(diagonal > 0, diagonal, 1.0))


def _inverse(scaled: Floats) -> Floats:
    # by numpy, as the sums over rows: SciPy brings a BLAS of its own, whose threads would wait for
    # the cores on which numpy's still spin
    if _definite(scaled):
        inverse = np.linalg.inv(scaled)
        return (inverse + inverse.T) / 2
    values, vectors = np.linalg.eigh(scaled)
    keep = values > SINGULAR
    return np.asarray((vectors[:, keep] / values[keep]) @ vectors[:, keep].T)


def _definite(scaled: Floats) -> bool:
    try:
        factor = np.linalg.cholesky(scaled)
    except np.linalg.LinAlgError:
        return False
    return bool(np.diagonal(factor).min() ** 2 > SINGULAR)


class Solution(NamedTuple):
    """A minimiser; ``factor`` is the curvature last used, to warm-start a fit nearby.

    ``last`` is what the solver saw there, if it looks at Hessians.
    """

    theta: Floats
    value: float
    grad_norm: float
    n_iter: int
    converged: bool
    factor: Factor | None = None
    trace: tuple[float, ...] = ()
    last: ValueGradHess | None = None


def largest(grad: Floats, unit: Floats | float = 1.0) -> float:
    """Size of a gradient: its largest entry, in the units of the coordinates."""
    return float(np.abs(grad / unit).max())


def settled(values: Sequence[float], tol: float) -> bool:
    """The paper's rule: the last value differs from the one before by less than tol, relatively."""
    return len(values) > 1 and abs(values[-1] - values[-2]) < tol * abs(values[-2])


def stationary(grad: Floats, tol: float, unit: Floats | float = 1.0) -> bool:
    """Whether a gradient of a mean loss is within tolerance of zero."""
    return largest(grad, unit) <= tol
