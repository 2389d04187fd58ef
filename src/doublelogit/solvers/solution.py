"""What a solver returns, and the factorised curvature it may leave for the next fit."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from doublelogit._types import Floats

SINGULAR = 1e-13  # eigenvalues below are rounding error of a matrix with unit diagonal
PAIRS = 10  # corrections kept; older ones speak of a point too far away


@dataclass(frozen=True)
class Factor:
    """A positive (semi)definite matrix, factorised once and corrected by what steps reveal.

    Each pair (step, change of gradient) seen since is folded in by a BFGS update, so that a
    factor stays good while the point moves on.
    """

    scale: Floats
    cholesky: Floats | None
    eigen: tuple[Floats, Floats] | None = None
    pairs: tuple[tuple[Floats, Floats], ...] = ()

    @classmethod
    def of(cls, matrix: Floats) -> "Factor":
        """Cholesky of the matrix scaled to unit diagonal, or its eigenvectors if singular."""
        diagonal = np.diagonal(matrix)
        scale = np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
        scaled = matrix / np.outer(scale, scale)
        try:
            cholesky = cho_factor(scaled, lower=True, check_finite=False)[0]
            if np.diagonal(cholesky).min() ** 2 > SINGULAR:
                return cls(scale, cholesky)
        except LinAlgError:
            pass
        values, vectors = np.linalg.eigh(scaled)
        return cls(scale, None, (values, vectors))

    def corrected(self, step: Floats, change: Floats) -> "Factor":
        """The same, knowing that a step changed the gradient so."""
        if float(step @ change) <= 0:
            return self
        return replace(self, pairs=(*self.pairs, (step, change))[-PAIRS:])

    def solve(self, v: Floats) -> Floats:
        """Solution of ``matrix @ x = v``, by the two loops of L-BFGS around the factor."""
        shares = []
        for step, change in reversed(self.pairs):
            share = (step @ v) / (step @ change)
            v = v - share * change
            shares.append(share)
        x = self._solve(v)
        for (step, change), share in zip(self.pairs, reversed(shares), strict=True):
            x = x + (share - (change @ x) / (step @ change)) * step
        return x

    def _solve(self, v: Floats) -> Floats:
        """With the factor alone; the shortest solution, scaled, when there are many."""
        v = v / self.scale
        if self.cholesky is not None:
            return np.asarray(cho_solve((self.cholesky, True), v, check_finite=False)) / self.scale
        assert self.eigen is not None
        values, vectors = self.eigen
        keep = values > SINGULAR
        return np.asarray(vectors[:, keep] @ (vectors[:, keep].T @ v / values[keep])) / self.scale


class Solution(NamedTuple):
    """A minimiser; ``factor`` is the curvature last used, to warm-start a fit nearby."""

    theta: Floats
    value: float
    grad_norm: float
    n_iter: int
    converged: bool
    factor: Factor | None = None
    trace: tuple[float, ...] = ()


def largest(grad: Floats) -> float:
    """Size of a gradient: its largest entry."""
    return float(np.abs(grad).max())


def settled(values: Sequence[float], tol: float) -> bool:
    """The paper's rule: the last value differs from the one before by less than tol, relatively."""
    return len(values) > 1 and abs(values[-1] - values[-2]) < tol * abs(values[-2])


def stationary(grad: Floats, tol: float) -> bool:
    """Whether a gradient of a mean loss is within tolerance of zero."""
    return largest(grad) <= tol
