"""What is learned of a column before it is encoded: from a frame at once, from a file in parts.

A column is shown part by part, as often as it takes, so that the same rows give the same
description whichever door they come through. Formats of dates are skrub's.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial, reduce
from itertools import islice
from typing import Any

import numpy as np

from doublelogit._types import Floats
from doublelogit.exceptions import TableError
from doublelogit.extras import needs
from doublelogit.rows import Extremes, plus
from doublelogit.selection import quantile_over
from doublelogit.tables.columns import (
    MISSING,
    OTHER,
    SEASONS,
    Category,
    ColumnEncoding,
    Date,
    Ignored,
    Number,
    as_numbers,
    as_years,
    levels_of,
)

MOST_LEVELS = 30  # levels of a category that get a coefficient; the others share one
FEWEST_ROWS = 10  # of a level, to get one
MOST_TEXTS = 200_000  # different texts beyond which a column is free text, however long it is
NUMERIC_OBJECTS = ("integer", "floating", "mixed-integer-float", "decimal")

# Parts of one column as pandas Series, from the beginning whenever it is called.
Parts = Callable[[], Iterator[Any]]


def describe(
    name: str, parts: Parts, *, categorical: bool = False, scaled: bool = True
) -> ColumnEncoding:
    """The description that the values of a column ask for.

    Parameters
    ----------
    name : str
        Name of the column.
    parts : callable
        Gives the column part by part.
    categorical : bool, default=False
        Whether its numbers are codes of categories.
    scaled : bool, default=True
        Whether numbers are standardised; dates always are.
    """
    kind = _kind(parts)
    if kind is None:
        return Ignored(name, "it is empty")
    if kind == "time" and not categorical:
        return _date(name, parts, None)
    if kind == "number" and not categorical:
        return _number(name, parts, scaled)
    counts, missing = _counted(parts)
    if len(counts) == 1 and not missing:
        return Ignored(name, "it has the same value in every row")
    pattern = None if categorical else date_pattern(name, list(counts))
    if pattern is not None:
        return _date(name, parts, pattern)
    n = counts.total() + missing
    if not categorical and len(counts) > max(MOST_LEVELS, min(n / 2, MOST_TEXTS)):
        return Ignored(name, f"nearly every row has a text of its own ({len(counts)} values)")
    return _category(name, counts, missing)


def _kind(parts: Parts) -> str | None:
    """Whether a column holds times, numbers or texts; None if it is empty."""
    import pandas as pd

    for part in parts():
        if not part.isna().all():
            if pd.api.types.is_datetime64_any_dtype(part.dtype):
                return "time"
            return "number" if _is_numeric(part) else "text"
    return None


def _is_numeric(part: Any) -> bool:
    import pandas as pd

    if pd.api.types.is_numeric_dtype(part.dtype) or part.dtype.kind == "m":
        return True
    return part.dtype == object and pd.api.types.infer_dtype(part) in NUMERIC_OBJECTS


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
            known = x[~np.isnan(x)]
            column = {"value": known, "weight": np.ones(len(known))}
            yield fn(*(column[name] for name in columns))

    def extent(self) -> tuple[float, float]:
        """Smallest and largest value that is not missing."""
        ends = self.sum_columns(_extremes, "value")
        return float(ends.low), float(ends.high)

    @property
    def known(self) -> int:
        """Number of values that are not missing."""
        return int(self.sum_columns(len, "value"))

    def median(self) -> float:
        """Median of what is not missing."""
        return quantile_over(self, "value", "weight", 0.5)


@dataclass(frozen=True)
class Moments:
    """Count, mean and sum of squares about it, which add up (Chan, Golub & LeVeque, 1983)."""

    n: float
    mean: float
    squares: float

    @classmethod
    def over(cls, x: Floats) -> "Moments":
        """Moments of some numbers."""
        if len(x) == 0:
            return cls(0.0, 0.0, 0.0)
        mean = float(x.mean())
        return cls(float(len(x)), mean, float(((x - mean) ** 2).sum()))

    def __add__(self, other: "Moments") -> "Moments":
        n = self.n + other.n
        if n == 0:
            return self
        apart = other.mean - self.mean
        mean = self.mean + apart * other.n / n
        return Moments(n, mean, self.squares + other.squares + apart**2 * self.n * other.n / n)

    @property
    def scale(self) -> float:
        """Standard deviation; one where nothing varies."""
        scale = float(np.sqrt(self.squares / self.n)) if self.n else 0.0
        # a constant leaves rounding errors of its mean
        return scale if scale > 10 * np.finfo(float).eps * abs(self.mean) else 1.0


@dataclass(frozen=True)
class Statistics:
    """Numbers of a column: how many, how many missing, up to three different values, moments."""

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
        moments, values, n, missing = Moments(0.0, 0.0, 0.0), list[float](), 0, 0
        for x in stream.parts():
            known = x[~np.isnan(x)]
            n, missing = n + len(x), missing + len(x) - len(known)
            moments += Moments.over(known / unit)
            _add_new(values, known)
        if fill is not None and missing:
            moments += Moments(float(missing), fill / unit, 0.0)
        mean, scale = moments.mean * unit, moments.scale * unit
        return cls(n, missing, tuple(sorted(values)), mean, scale, low, high)

    @property
    def reach(self) -> float:
        """From the smallest to the largest."""
        return self.high - self.low


def _power_of_two(x: float) -> float:
    """The power of two below a number, by which others are divided without rounding."""
    return math.ldexp(1.0, math.frexp(x)[1] - 1) if 0 < x < math.inf else 1.0


def _add_new(values: list[float], known: Floats) -> None:
    """Add values that were not seen before, up to three in all."""
    new = known
    while len(values) < 3:
        new = new[~np.isin(new, values)]
        if len(new) == 0:
            return
        values.append(float(new[0]))


def _extremes(x: Floats) -> Extremes:
    return Extremes(np.asarray(x.min(initial=np.inf)), np.asarray(x.max(initial=-np.inf)))


def _stream(parts: Parts, convert: Callable[[Any], Floats]) -> Stream:
    """A column as numbers; one that comes in one part is converted once."""
    first = list(islice(parts(), 2))
    if len(first) == 1:
        values = convert(first[0])
        return Stream(lambda: iter((values,)))
    return Stream(lambda: map(convert, parts()))


def _number(name: str, parts: Parts, scaled: bool) -> ColumnEncoding:
    """A number, or what is left of one: a single value beside missing ones, or nothing."""
    stream = _stream(parts, as_numbers)
    if not stream.known:
        return Ignored(name, "it holds no finite number")
    fill = stream.median()
    found = Statistics.over(stream, fill)
    missing = found.missing > 0
    if len(found.values) == 1:
        if not missing:
            return Ignored(name, "it has the same value in every row")
        word = levels_of(_series(found.values))[0]
        return _category(name, Counter({word: found.n - found.missing}), found.missing)
    if not np.isfinite(found.reach):
        raise TableError(
            f"the numbers of {name!r} reach from {found.low:.3g} to {found.high:.3g}, further than "
            "a number can tell. Mend these cells, or choose another unit."
        )
    if not scaled:
        return Number(name, fill, 0.0, 1.0, missing)
    if len(found.values) == 2:
        low, high = found.values
        return Number(name, fill, low, high - low, missing, two=True)
    return Number(name, fill, found.mean, found.scale, missing)


def _series(values: Any) -> Any:
    import pandas as pd

    return pd.Series(values)


def _date(name: str, parts: Parts, pattern: str | None) -> Date:
    stream = _stream(parts, partial(as_years, pattern=pattern))
    found = Statistics.over(stream)
    season = found.reach >= SEASONS
    missing = found.missing > 0
    return Date(name, pattern, stream.median(), found.mean, found.scale, missing, season)


def _counted(parts: Parts) -> tuple[Counter[str], int]:
    """How often each text occurs, and how many are missing."""
    counts: Counter[str] = Counter()
    for part in parts():
        counts.update(levels_of(part).tolist())
        if len(counts) > MOST_TEXTS:  # free text: how often each occurs does not matter
            break
    return counts, counts.pop(MISSING, 0)


def _category(name: str, counts: Counter[str], missing: int) -> Category:
    """The frequent levels, commonest first; rare ones are one level together.

    Of levels with the same frequency the alphabetically last ones are kept, as scikit-learn's
    OneHotEncoder does, and the first of those that are kept comes first.
    """
    every = Counter(counts)
    if missing:
        every[MISSING] = missing
    fewest = min(FEWEST_ROWS, max(1, every.total() // 20))
    by_frequency = sorted(sorted(every), key=lambda level: every[level])
    frequent = [level for level in by_frequency if every[level] >= fewest]
    if len(frequent) + (len(frequent) < len(every)) > MOST_LEVELS + 1:  # with that of the others
        frequent = frequent[-MOST_LEVELS:]
    levels = sorted(frequent, key=lambda level: (-every[level], level))
    return Category(name, (*levels, *([OTHER] if len(levels) < len(every) else [])))


def date_pattern(name: str, texts: list[str]) -> str | None:
    """The format in which skrub reads these texts as dates; None if they are none."""
    if not texts or not re.search(r"\d[-/.: ]", texts[0]) or len(texts[0]) < 6:
        return None
    needs("skrub", f"a column of dates as text, {name!r},", "tables")
    from skrub import ToDatetime

    reader = ToDatetime()
    try:
        reader.fit_transform(_series(texts).rename(name))
    except ValueError:  # skrub rejects the column
        return None
    return reader.format_
