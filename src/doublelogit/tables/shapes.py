"""The shape of a column of numbers: a monotone transform where they are skewed, and caps.

The rule looks at three numbers of a column alone, which can be selected from a file of any length:
the median m, the 90% quantile a of what lies above it and the 10% quantile b of what lies below::

    lopsidedness of f = |log (f(a) - f(m)) / (f(m) - f(b))|           0 if both sides reach as far
    f <- log(x + offset) where no x is negative, else sign(x) sqrt|x|
         but x itself unless that is lopsided by log SKEWED or more, and f at most half as much
    caps at f(m) + FENCE (f(a) - f(m)) and f(m) - FENCE (f(m) - f(b))  where values lie beyond

The constants were chosen on the learn half of the corpus (make -C benchmarks shapes).
"""

from dataclasses import dataclass

import numpy as np

from doublelogit._types import Floats
from doublelogit.common.thresholds import FENCE, GROSS, SKEWED
from doublelogit.tables.stream import MOST_VALUES, Statistics, Stream
from doublelogit.tables.words import short

TAIL = 0.9  # quantile of each half that tells how far it reaches


@dataclass(frozen=True)
class ColumnShape:
    """A monotone function of a number: capped, then transformed.

    ``transform`` is "", "root" (signed square root) or "log" (to base 2, of the number plus
    ``offset``); ``low`` and ``high`` are caps, None where there is none; ``below`` and ``above``
    count the cells of fit that lay beyond them.
    """

    transform: str = ""
    offset: float = 0.0
    low: float | None = None
    high: float | None = None
    below: int = 0
    above: int = 0

    @property
    def plain(self) -> bool:
        """Whether numbers stay as they are."""
        return self == PLAIN

    @property
    def caps(self) -> list[float]:
        """The caps beyond which cells of fit lay."""
        ends = ((self.low, self.below), (self.high, self.above))
        return [end for end, cells in ends if end is not None and cells]

    @property
    def words(self) -> str:
        """What is done to the numbers, for a reader of a report."""
        plus = f" of the number plus {short(self.offset)}" if self.offset else ""
        name = {"": "", "root": "square root", "log": f"logarithm{plus}"}[self.transform]
        capped = " and ".join(map(short, self.caps))
        return ", ".join(text for text in (name, f"capped at {capped}" if capped else "") if text)

    def apply(self, x: Floats) -> Floats:
        """The function of some numbers; missing ones stay missing."""
        if self.low is not None or self.high is not None:
            x = np.clip(x, self.low, self.high)
        return bend(x, self.transform, self.offset)


PLAIN = ColumnShape()


def bend(x: Floats, transform: str, offset: float = 0.0) -> Floats:
    """A transform by its name."""
    if transform == "log":
        return np.asarray(np.log2(x + offset))
    return np.sign(x) * np.sqrt(np.abs(x)) if transform == "root" else np.asarray(x)


def unbend(u: float, transform: str, offset: float) -> float:
    """The number that a transform turns into u."""
    if transform == "log":
        with np.errstate(over="ignore"):
            return float(np.exp2(u)) - offset
    return float(np.sign(u) * u * u) if transform == "root" else float(u)


@dataclass(frozen=True)
class HalfRanges:
    """Median of a column and how far its halves reach, b < m < a; None without a half."""

    b: float | None
    m: float
    a: float | None

    @classmethod
    def over(cls, stream: Stream, m: float) -> "HalfRanges":
        """The reach of the values about a number."""
        down, up = stream.within(-np.inf, m), stream.within(m, np.inf)
        return cls(
            down.quantile(1 - TAIL) if down.known else None,
            m,
            up.quantile(TAIL) if up.known else None,
        )

    def lopsidedness(self, transform: str, offset: float) -> float:
        """How differently far the halves reach under a transform; infinite if one is missing."""
        if self.a is None or self.b is None:
            return np.inf
        b, m, a = bend(np.array([self.b, self.m, self.a]), transform, offset)
        return float(abs(np.log((a - m) / (m - b)))) if b < m < a else np.inf

    def fences(self, transform: str, offset: float) -> tuple[float, float]:
        """Where values are further from the median than any number of their column should be."""
        ends = [self.m if end is None else end for end in (self.b, self.a)]
        low, m, high = bend(np.array([ends[0], self.m, ends[1]]), transform, offset)
        return (
            unbend(m - FENCE * (m - low), transform, offset) if low < m else self.m,
            unbend(m + FENCE * (high - m), transform, offset) if m < high else self.m,
        )


def learn_shape(stream: Stream, statistics: Statistics, median: float) -> ColumnShape:
    """The shape that the rule gives to a column."""
    reach = HalfRanges.over(stream, median)
    low = _least(stream, statistics, reach)
    if len(statistics.values) <= MOST_VALUES:  # marks or counts of a few: one step is one step
        return _capped(stream, statistics, reach, "", 0.0, low)
    judged = reach
    if reach.b is None:  # the median is the least value: judge what lies above it
        above = stream.within(median, np.inf)
        judged = HalfRanges.over(above, above.median())
    return _capped(stream, statistics, reach, *_chosen(judged, low, stream), low)


def _least(stream: Stream, statistics: Statistics, reach: HalfRanges) -> float:
    """The least value, but for corrupt ones far below all others."""
    if reach.b is None:
        return statistics.low
    limit = reach.m - GROSS * (reach.m - reach.b)
    return statistics.low if statistics.low > limit else stream.within(limit, np.inf).extent()[0]


def _chosen(reach: HalfRanges, low: float, stream: Stream) -> tuple[str, float]:
    """The transform and its offset."""
    as_it_is = reach.lopsidedness("", 0.0)
    if not np.log(SKEWED) <= as_it_is < np.inf:
        return "", 0.0
    transform, offset = ("log" if low >= 0 else "root"), 0.0
    if low == 0:
        offset = stream.within(0.0, np.inf).quantile(1 - TAIL)
    enough = reach.lopsidedness(transform, offset) <= as_it_is / 2
    return (transform, offset) if enough else ("", 0.0)


def _capped(
    stream: Stream,
    statistics: Statistics,
    reach: HalfRanges,
    transform: str,
    offset: float,
    low: float,
) -> ColumnShape:
    """The transform with caps where values lie beyond the fences."""
    least, most = reach.fences(transform, offset)
    least = max(least, low) if transform == "log" or low > statistics.low else least
    below, above = stream.within(-np.inf, least).known, stream.within(most, np.inf).known
    # later rows may hold what has no logarithm
    capped_below = below > 0 or transform == "log"
    return ColumnShape(
        transform,
        offset,
        least if capped_below else None,
        most if above else None,
        below,
        above,
    )
