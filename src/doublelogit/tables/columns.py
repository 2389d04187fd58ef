"""How one column of a table becomes numbers: a small description that JSON can hold.

A description is learned from a survey of the column (see survey.py) and frozen, so that a model
saved today encodes the same way in every later release, and a description read from a file can do
nothing but encode. It encodes pandas columns and, block by block, Arrow columns of Parquet files.
"""

from dataclasses import dataclass, fields
from typing import Any, ClassVar, Protocol

import numpy as np

from doublelogit._types import Floats
from doublelogit.tables.shapes import ColumnShape
from doublelogit.tables.words import distinct_words, quoted, short

MISSING, OTHER = "(missing)", "(other)"
SEASONS = 1.5  # years a date must span for a season to be more than its trend
YEAR = 365.25 * 24 * 3600


# Columns of numbers, and what a user must know of how values were taken.
Encoded = tuple[Floats, list[str]]


class ColumnEncoding(Protocol):
    """The description of one column."""

    kind: ClassVar[str]

    @property
    def name(self) -> str:
        """Name of the column."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the numbers that it becomes."""

    @property
    def meaning(self) -> str:
        """The unit in which its effect is told."""

    @property
    def step(self) -> float:
        """How far that unit moves the feature."""

    def encode(self, column: Any) -> Encoded:
        """The numbers of a pandas Series."""


@dataclass(frozen=True)
class Number:
    """A number, missing values at the median, scaled; 0/1 if it has two values.

    A skewed one is transformed and one with outliers capped before (see shapes.py).
    """

    name: str
    fill: float
    centre: float
    scale: float
    missing: bool  # whether fit has seen missing values, which then have an indicator
    two: bool = False
    transform: str = ""
    offset: float = 0.0
    low: float | None = None
    high: float | None = None
    below: int = 0
    above: int = 0
    kind: ClassVar[str] = "number"

    @property
    def shape(self) -> ColumnShape:
        """What is done to the number before it is scaled."""
        return ColumnShape(*(vars(self)[field.name] for field in fields(ColumnShape)))

    @property
    def unscaled(self) -> bool:
        """Whether values are taken as they are."""
        return self.centre == 0.0 and self.scale == 1.0 and self.shape.plain

    @property
    def names(self) -> tuple[str, ...]:
        return (self.name, f"{self.name} {MISSING}") if self.missing else (self.name,)

    @property
    def meaning(self) -> str:
        if self.two:
            return f"{short(self.centre + self.scale)} instead of {short(self.centre)}"
        if self.unscaled:
            return "per unit"
        if self.transform == "log":
            return (
                f"per doubling of it plus {short(self.offset)}" if self.offset else "per doubling"
            )
        unit = " of its square root" if self.transform == "root" else ""
        return f"per {short(self.scale)}{unit} (one standard deviation)"

    @property
    def step(self) -> float:
        """How far the unit that ``meaning`` names moves the feature."""
        return 1 / self.scale if self.transform == "log" else 1.0

    def numbers(self, x: Floats) -> Floats:
        """Numbers as the model takes them; missing ones stay missing."""
        return (self.shape.apply(x) - self.centre) / self.scale

    def encode(self, column: Any) -> Encoded:
        x = as_numbers(column)
        values = self.numbers(np.where(np.isnan(x), self.fill, x))
        columns, issues = _with_indicator(self, values, x)
        return columns, [*issues, *self._issues(x)]

    def _issues(self, x: Floats) -> list[str]:
        """What a user must know of values that fit has not seen in a column of two values."""
        span = (self.centre, self.centre + self.scale)
        new = x[~np.isnan(x) & ~np.isin(x, span)] if self.two else x[:0]
        if len(new) == 0:
            return []
        values = listed([short(value) for value in np.unique(new).tolist()])
        return [
            f"{len(new)} rows have values never seen ({values}) in {self.name!r}, where fit saw "
            f"{short(span[0])} and {short(span[1])} alone; they are taken as numbers on that line."
        ]


@dataclass(frozen=True)
class Date:
    """A point in time: a trend in years, and the season if the dates span more than one."""

    name: str
    pattern: str | None
    fill: float
    centre: float
    scale: float
    missing: bool
    season: bool
    kind: ClassVar[str] = "date"
    step: ClassVar[float] = 1.0

    @property
    def names(self) -> tuple[str, ...]:
        season = (f"{self.name} (season, sine)", f"{self.name} (season, cosine)")
        indicator = (f"{self.name} {MISSING}",)
        return (self.name, *(season if self.season else ()), *(indicator if self.missing else ()))

    @property
    def meaning(self) -> str:
        return f"per {self.scale:.2g} years (one standard deviation)"

    def encode(self, column: Any) -> Encoded:
        years = as_years(column, self.pattern)
        filled = np.where(np.isnan(years), self.fill, years)
        columns = [(filled - self.centre) / self.scale]
        if self.season:
            present = ~np.isnan(years)
            columns += [present * wave(2 * np.pi * filled) for wave in (np.sin, np.cos)]
        return _with_indicator(self, np.column_stack(columns), years)


@dataclass(frozen=True)
class Category:
    """One of some levels; the first, the commonest, is the baseline of the others."""

    name: str
    levels: tuple[str, ...]
    kind: ClassVar[str] = "category"
    step: ClassVar[float] = 1.0

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(f"{self.name}: {level}" for level in self.levels[1:])

    @property
    def meaning(self) -> str:
        return f"compared with {self.levels[0]}"

    def encode(self, column: Any) -> Encoded:
        import pandas as pd

        words, of_row = _distinct_levels(column)
        codes = pd.Index(self.levels).get_indexer(words)
        unknown = codes < 0
        instead = OTHER if OTHER in self.levels else self.levels[0]
        codes[unknown] = self.levels.index(instead)
        issues = self._issues(words[of_row[unknown[of_row]]], instead)
        indicators = np.eye(len(self.levels))[:, 1:]
        return indicators[codes[of_row]], issues

    def _issues(self, unknown: Any, instead: str) -> list[str]:
        if len(unknown) == 0 or OTHER in self.levels:
            return []
        new = sorted(set(unknown.tolist()))
        what = "empty cells" if new == [MISSING] else f"values never seen ({listed(new)})"
        return [
            f"{len(unknown)} rows have {what} in {self.name!r}; they are taken for {instead!r}."
        ]


@dataclass(frozen=True)
class Ignored:
    """A column that no model can use, and why."""

    name: str
    reason: str
    kind: ClassVar[str] = "ignored"
    names: ClassVar[tuple[str, ...]] = ()
    meaning: ClassVar[str] = ""
    step: ClassVar[float] = 1.0

    def encode(self, column: Any) -> Encoded:
        return np.empty((len(column), 0)), []


KINDS: dict[str, Any] = {cls.kind: cls for cls in (Number, Date, Category, Ignored)}


def as_numbers(column: Any) -> Floats:
    """Values as floats; what is no finite number is NaN."""
    import pandas as pd

    if column.dtype.kind == "m":
        return np.asarray(column.dt.total_seconds(), dtype=float)
    x = pd.to_numeric(column, errors="coerce").to_numpy(dtype=float, na_value=np.nan)
    return np.where(np.isfinite(x), x, np.nan)


def as_years(column: Any, pattern: str | None) -> Floats:
    """Years since 1970, NaN where there is no date."""
    import pandas as pd

    times = pd.to_datetime(column, format=pattern, errors="coerce", utc=True)
    # in microseconds, which reach the year 9999; nanoseconds end in 2262
    moments = times.dt.tz_localize(None).to_numpy().astype("datetime64[us]")
    seconds = moments.astype(np.int64) / 1e6
    return np.where(np.isnat(moments), np.nan, seconds) / YEAR


def levels_of(column: Any) -> Any:
    """Values as levels of a category."""
    words, of_row = _distinct_levels(column)
    return words[of_row]


def _distinct_levels(column: Any) -> tuple[Any, Any]:
    """Levels as texts, computed once for each value that occurs, and the place of each row's."""
    words, of_row = distinct_words(column)
    words[words == ""] = MISSING
    return words, of_row


def _with_indicator(column: Number | Date, values: Floats, x: Floats) -> Encoded:
    """Values with the indicator of missing ones, if fit has seen any."""
    gone = np.isnan(x)
    if column.missing:
        return np.column_stack([values, gone]), []
    issues = []
    if gone.any():
        issues.append(
            f"{int(gone.sum())} rows have no {column.kind} in {column.name!r}, where fit saw none "
            "missing; they are taken for the median."
        )
    return values.reshape(len(x), -1), issues


def listed(values: list[str]) -> str:
    """The first of some levels, without quotes."""
    return quoted(values, most=3).replace("'", "")
