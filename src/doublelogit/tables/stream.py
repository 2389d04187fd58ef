"""Numbers that come in parts: quantiles, moments and extremes that add up over the parts."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from doublelogit._types import Floats
from doublelogit.core.rows import Extremes, plus
from doublelogit.core.selection import quantile_over

MOST_VALUES = 10  # different values that are told apart; with more a column is a measurement


@dataclass(frozen=True)
class Stream:
    """Numbers that come in parts, offered as the one column that a selection works on."""

    parts: Callable[[], Iterator[Floats]]

    def sum_columns(self, fn: Callable[..., Any], *columns: str) -> Any:
        """Sum of ``fn`` over the parts."""
        return reduce(plus, self._map(fn, columns))

    def collect(self, fn: Callable[..., Floats], *columns: str) -> Floats:
        """Values of ``fn``, concatenated over the parts."""
        return np.concatenate(list(self._map(fn, columns)))

    def _map(self, fn: Callable[..., Any], columns: tuple[str, ...]) -> Iterator[Any]:
        for x in self.parts():
            present = x[~np.isnan(x)]
            column = {"value": present, "weight": np.ones(len(present))}
            yield fn(*(column[name] for name in columns))

    def extent(self) -> tuple[float, float]:
        """Smallest and largest value that is not missing."""
        ends = self.sum_columns(_extremes, "value")
        return float(ends.low), float(ends.high)

    @property
    def known(self) -> int:
        """Number of values that are not missing."""
        return int(self.sum_columns(len, "value"))

    def quantile(self, q: float) -> float:
        """Quantile of what is not missing."""
        return quantile_over(self, "value", "weight", q)

    def median(self) -> float:
        """Median of what is not missing."""
        return self.quantile(0.5)

    def within(self, low: float, high: float) -> "Stream":
        """The values strictly between two numbers."""
        return Stream(lambda: (x[(x > low) & (x < high)] for x in self.parts()))

    def mapped(self, fn: Callable[[Floats], Floats]) -> "Stream":
        """A function of the values; missing ones stay missing."""
        return Stream(lambda: map(fn, self.parts()))


@dataclass(frozen=True)
class RunningMoments:
    """Count, mean and sum of squares about it, which add up (Chan, Golub & LeVeque, 1983)."""

    n: float
    mean: float
    squares: float

    @classmethod
    def over(cls, x: Floats) -> "RunningMoments":
        """Moments of some numbers."""
        if len(x) == 0:
            return cls(0.0, 0.0, 0.0)
        mean = float(x.mean())
        return cls(float(len(x)), mean, float(((x - mean) ** 2).sum()))

    def __add__(self, other: "RunningMoments") -> "RunningMoments":
        n = self.n + other.n
        if n == 0:
            return self
        apart = other.mean - self.mean
        mean = self.mean + apart * other.n / n
        return RunningMoments(
            n, mean, self.squares + other.squares + apart**2 * self.n * other.n / n
        )

    @property
    def scale(self) -> float:
        """Standard deviation; one where nothing varies."""
        scale = float(np.sqrt(self.squares / self.n)) if self.n else 0.0
        # a constant leaves rounding errors of its mean
        return scale if scale > 10 * np.finfo(float).eps * abs(self.mean) else 1.0


@dataclass(frozen=True)
class Statistics:
    """Numbers of a column: how many, how many missing, some different values, moments."""

    n: int
    missing: int
    values: tuple[float, ...]
    mean: float
    scale: float
    low: float
    high: float

    @classmethod
    def over(cls, stream: Stream, fill: float | None = None) -> "Statistics":
        """Statistics of a stream; mean and scale with missing values at ``fill`` if given."""
        low, high = stream.extent()
        unit = _power_of_two(max(abs(low), abs(high)))  # squares must neither over- nor underflow
        moments, values, n, missing = RunningMoments(0.0, 0.0, 0.0), list[float](), 0, 0
        for x in stream.parts():
            present = x[~np.isnan(x)]
            n, missing = n + len(x), missing + len(x) - len(present)
            moments += RunningMoments.over(present / unit)
            _add_new(values, present)
        if fill is not None and missing:
            moments += RunningMoments(float(missing), fill / unit, 0.0)
        mean, scale = moments.mean * unit, moments.scale * unit
        return cls(n, missing, tuple(sorted(values)), mean, scale, low, high)

    @property
    def reach(self) -> float:
        """From the smallest to the largest."""
        return self.high - self.low


def _power_of_two(x: float) -> float:
    """The power of two below a number, by which others are divided without rounding."""
    return math.ldexp(1.0, math.frexp(x)[1] - 1) if 0 < x < math.inf else 1.0


def _add_new(values: list[float], present: Floats) -> None:
    """Add values that were not seen before, as many as are told apart."""
    new = present
    while len(values) <= MOST_VALUES:
        new = new[~np.isin(new, values)]
        if len(new) == 0:
            return
        values.append(float(new[0]))


def _extremes(x: Floats) -> Extremes:
    return Extremes(np.asarray(x.min(initial=np.inf)), np.asarray(x.max(initial=-np.inf)))
