"""What is learned of a column before it is encoded: from a frame at once, from a file in parts.

A column is shown part by part, as often as it takes, so that the same rows give the same
description whichever door they come through. Formats of dates are skrub's.

Medians come by selection, means and scales from moments that add up: a file gives the same model
whether it is read or scanned.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from typing import Any

import numpy as np

from doublelogit._types import Floats
from doublelogit.common.extras import needs
from doublelogit.exceptions import TableError
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
from doublelogit.tables.shapes import learn_shape
from doublelogit.tables.stream import Statistics, Stream

MOST_LEVELS = 30  # levels of a category that get a coefficient; the others share one
FEWEST_IN_LEVEL = 10  # of a level, to get one
MOST_TEXTS = 200_000  # different texts beyond which a column is free text, however long it is
NUMERIC_OBJECTS = ("integer", "floating", "mixed-integer-float", "decimal")

# Parts of one column as pandas Series, from the beginning whenever it is called.
Parts = Callable[[], Iterator[Any]]


def describe(
    name: str, batches: Parts, *, categorical: bool = False, scaled: bool = True
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
    kind = _kind(batches)
    if kind is None:
        return Ignored(name, "it is empty")
    if kind == "time" and not categorical:
        return _date(name, batches, None)
    if kind == "number" and not categorical:
        return _number(name, batches, scaled)
    counts, missing = _counted(batches)
    if len(counts) == 1 and not missing:
        return Ignored(name, "it has the same value in every row")
    pattern = None if categorical else date_pattern(name, list(counts))
    if pattern is not None:
        return _date(name, batches, pattern)
    n = counts.total() + missing
    if not categorical and len(counts) > max(MOST_LEVELS, min(n / 2, MOST_TEXTS)):
        return Ignored(name, f"nearly every row has a text of its own ({len(counts)} values)")
    return _category(name, counts, missing)


def _kind(batches: Parts) -> str | None:
    """Whether a column holds times, numbers or texts; None if it is empty."""
    import pandas as pd

    for batch in batches():
        if not batch.isna().all():
            if pd.api.types.is_datetime64_any_dtype(batch.dtype):
                return "time"
            return "number" if _is_numeric(batch) else "text"
    return None


def _is_numeric(batch: Any) -> bool:
    import pandas as pd

    if pd.api.types.is_numeric_dtype(batch.dtype) or batch.dtype.kind == "m":
        return True
    return batch.dtype == object and pd.api.types.infer_dtype(batch) in NUMERIC_OBJECTS


def _stream(batches: Parts, convert: Callable[[Any], Floats]) -> Stream:
    """A column as numbers; one that comes in one part is converted once."""
    first = list(islice(batches(), 2))
    if len(first) == 1:
        values = convert(first[0])
        return Stream(lambda: iter((values,)))
    return Stream(lambda: map(convert, batches()))


def _number(name: str, batches: Parts, scaled: bool) -> ColumnEncoding:
    """A number, or what is left of one: a single value beside missing ones, or nothing."""
    stream = _stream(batches, as_numbers)
    if not stream.known:
        return Ignored(name, "it holds no finite number")
    fill = stream.median()
    statistics = Statistics.over(stream, fill)
    missing = statistics.missing > 0
    if len(statistics.values) == 1:
        if not missing:
            return Ignored(name, "it has the same value in every row")
        word = levels_of(_series(statistics.values))[0]
        return _category(
            name, Counter({word: statistics.n - statistics.missing}), statistics.missing
        )
    if not np.isfinite(statistics.reach):
        raise TableError(
            f"the numbers of {name!r} reach from {statistics.low:.3g} to {statistics.high:.3g}, "
            "further than a number can tell. Mend these cells, or choose another unit."
        )
    if not scaled:
        return Number(name, fill, 0.0, 1.0, missing)
    if len(statistics.values) == 2:
        low, high = statistics.values
        return Number(name, fill, low, high - low, missing, two=True)
    shape = learn_shape(stream, statistics, fill)
    if shape.plain:
        return Number(name, fill, statistics.mean, statistics.scale, missing)
    bent = Statistics.over(stream.mapped(shape.apply), float(shape.apply(np.array([fill]))[0]))
    return Number(name, fill, bent.mean, bent.scale, missing, **vars(shape))


def _series(values: Any) -> Any:
    import pandas as pd

    return pd.Series(values)


def _date(name: str, batches: Parts, pattern: str | None) -> Date:
    stream = _stream(batches, partial(as_years, pattern=pattern))
    statistics = Statistics.over(stream)
    season = statistics.reach >= SEASONS
    missing = statistics.missing > 0
    return Date(name, pattern, stream.median(), statistics.mean, statistics.scale, missing, season)


def _counted(batches: Parts) -> tuple[Counter[str], int]:
    """How often each text occurs, and how many are missing."""
    counts: Counter[str] = Counter()
    for batch in batches():
        counts.update(levels_of(batch).tolist())
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
    fewest = min(FEWEST_IN_LEVEL, max(1, every.total() // 20))
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
