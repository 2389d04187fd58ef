"""Smooth terms of a column: natural cubic splines, beside the straight line that they bend.

A curve is given by its values at a few knots: cubic between them, straight beyond the outer ones,
so that a far value is no further away than on a line. Of all such curves those are kept that are
no line: uncorrelated with the line over the rows and with one another, the smoothest first
(Demmler and Reinsch, 1975), each scaled by how much smoother than it the smoothest is. The ridge
penalty that every model has on its slopes is then one on the integral of squared curvature:
what the labels do not show stays a straight line.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.linalg import eigh

from doublelogit._types import Floats

KNOTS = (0.03, 0.25, 0.5, 0.75, 0.97)  # quantiles, as Harrell (2015) places five
FEWEST_KNOTS = 3  # two have a line between them
MOST_SAMPLED = 2**15  # values that tell the knots of a column, evenly spread over its rows


@dataclass(frozen=True)
class Curves:
    """Curves by their values at the knots, one column of ``values`` each."""

    knots: tuple[float, ...]
    values: tuple[tuple[float, ...], ...]

    @classmethod
    def learn(cls, x: Floats) -> "Curves | None":
        """The curves of a column of numbers; None if it has too few values to bend."""
        knots = _knots(x)
        if len(knots) < FEWEST_KNOTS:
            return None
        cardinal = CubicSpline(knots, np.eye(len(knots)), bc_type="natural")
        near = cardinal(np.clip(x, knots[0], knots[-1]))
        overlap = near.T @ near / len(x) + 1e-9 * np.eye(len(knots))
        roughness, curves = eigh(_roughness(cardinal), overlap)
        bent, roughness = curves[:, 2:], roughness[2:]  # the first two are constant and line
        largest = np.abs(bent).argmax(axis=0)
        bent = bent * np.sign(bent[largest, np.arange(bent.shape[1])])
        scaled = bent * np.sqrt(roughness[0] / roughness)
        return cls(tuple(knots.tolist()), tuple(map(tuple, scaled.tolist())))

    def resized(self, size: float) -> "Curves":
        """The curves times a number: a smaller one makes the ridge pull harder to the line."""
        return replace(self, values=tuple(tuple(size * v for v in row) for row in self.values))

    def __len__(self) -> int:
        return len(self.values[0])

    def at(self, x: Floats) -> Floats:
        """Values of the curves, a column each; straight beyond the outer knots."""
        spline = CubicSpline(self.knots, self.values, bc_type="natural")
        near = np.clip(x, self.knots[0], self.knots[-1])
        values = spline(near)
        beyond = np.flatnonzero(near != x)
        slopes = spline(near[beyond], 1)
        values[beyond] += slopes * (x - near)[beyond, None]
        return np.asarray(values)


def _knots(x: Floats) -> Floats:
    """Different quantiles, values that occur; one that takes several leaves others to the rest."""
    knots = np.quantile(x, KNOTS, method="lower")
    values, times = np.unique(knots, return_counts=True)
    if times.max() > 1:
        common = values[times.argmax()]
        rest = x[x != common]
        if len(rest):
            levels = np.linspace(KNOTS[0], KNOTS[-1], len(KNOTS) - 1)
            values = np.unique([common, *np.quantile(rest, levels, method="lower")])
    apart = np.diff(values, prepend=-np.inf) > 1e-6 * np.ptp(values)
    return np.asarray(values[apart])


def _roughness(cardinal: Any) -> Floats:
    """Integrals of the products of second derivatives, which are straight between the knots."""
    bend = cardinal(cardinal.x, 2)
    h = np.diff(cardinal.x)[:, None, None]
    left, right = bend[:-1, :, None], bend[1:, :, None]
    crossed = left * right.swapaxes(1, 2)
    squares = left * left.swapaxes(1, 2) + right * right.swapaxes(1, 2)
    integrals = h * (squares / 3 + (crossed + crossed.swapaxes(1, 2)) / 6)
    return np.asarray(integrals.sum(axis=0))


def thinned(batches: Iterable[Floats], most: int = MOST_SAMPLED) -> Floats:
    """Every k-th of the values that come in parts, k the least power of two that leaves so many.

    The same values come out whatever parts they come in.
    """
    sample: list[Floats] = []
    step, count, size = 1, 0, 0
    for batch in batches:
        new = batch[-count % step :: step]
        sample, count, size = [*sample, new], count + len(batch), size + len(new)
        while size > most:
            sample, step = [np.concatenate(sample)[::2]], 2 * step
            size = len(sample[0])
    return np.concatenate(sample)
