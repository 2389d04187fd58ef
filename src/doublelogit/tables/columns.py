"""How one column of a table becomes numbers: a small description that can be kept as JSON.

What is learned of a column is learned by scikit-learn (medians, scales, frequent levels) and skrub
(formats of dates). What is kept is a frozen description, so that a model saved today encodes the
same way in every later release, and a description read from a file can do nothing but encode.
"""

import re
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from doublelogit._types import Floats
from doublelogit.tables.labels import as_words

MISSING, OTHER = "(missing)", "(other)"
MOST_LEVELS = 30  # levels of a category that get a coefficient; the others share one
FEWEST_ROWS = 10  # of a level, to get one
SEASONS = 1.5  # years a date must span for a season to be more than its trend
YEAR = 365.25 * 24 * 3600


class Encoded(NamedTuple):
    """Columns of numbers, and what a user must know of how values were taken."""

    values: Floats
    issues: list[str]


@dataclass(frozen=True)
class Number:
    """A number, missing values at the median, scaled; 0/1 if it has two values."""

    name: str
    fill: float
    centre: float
    scale: float
    holes: bool
    two: bool = False
    kind: ClassVar[str] = "number"

    @classmethod
    def learn(cls, column: Any) -> "Number":
        """Median, mean and scale of a column."""
        from sklearn.impute import SimpleImputer
        from sklearn.preprocessing import StandardScaler

        x = as_numbers(column)[:, None]
        holes = bool(np.isnan(x).any())
        filler = SimpleImputer(strategy="median").fit(x)
        values = np.unique(x[~np.isnan(x)])
        fill = float(filler.statistics_[0])
        if len(values) == 2:
            low, high = float(values[0]), float(values[1])
            return cls(str(column.name), fill, low, high - low, holes, two=True)
        scaler = StandardScaler().fit(filler.transform(x))
        return cls(str(column.name), fill, float(scaler.mean_[0]), float(scaler.scale_[0]), holes)

    @property
    def names(self) -> tuple[str, ...]:
        return (self.name, f"{self.name} {MISSING}") if self.holes else (self.name,)

    @property
    def meaning(self) -> str:
        """Of the unit of its coefficient."""
        if self.two:
            return f"{short(self.centre + self.scale)} instead of {short(self.centre)}"
        return f"per {short(self.scale)} (one standard deviation)"

    def encode(self, column: Any) -> Encoded:
        x = as_numbers(column)
        return _with_holes(
            self, (np.where(np.isnan(x), self.fill, x) - self.centre) / self.scale, x
        )


@dataclass(frozen=True)
class Date:
    """A point in time: a trend in years, and the season if the dates span more than one."""

    name: str
    pattern: str | None
    fill: float
    centre: float
    scale: float
    holes: bool
    season: bool
    kind: ClassVar[str] = "date"

    @classmethod
    def learn(cls, column: Any, pattern: str | None) -> "Date":
        """Span and mean of dates in this pattern."""
        years = _years(column, pattern)
        known = years[~np.isnan(years)]
        return cls(
            str(column.name),
            pattern,
            float(np.median(known)),
            float(known.mean()),
            float(known.std()) or 1.0,
            bool(np.isnan(years).any()),
            bool(np.ptp(known) >= SEASONS),
        )

    @property
    def names(self) -> tuple[str, ...]:
        season = (f"{self.name} (season, sine)", f"{self.name} (season, cosine)")
        holes = (f"{self.name} {MISSING}",)
        return (self.name, *(season if self.season else ()), *(holes if self.holes else ()))

    @property
    def meaning(self) -> str:
        return f"per {self.scale:.2g} years (one standard deviation)"

    def encode(self, column: Any) -> Encoded:
        years = _years(column, self.pattern)
        filled = np.where(np.isnan(years), self.fill, years)
        parts = [(filled - self.centre) / self.scale]
        if self.season:
            known = ~np.isnan(years)
            parts += [known * wave(2 * np.pi * filled) for wave in (np.sin, np.cos)]
        return _with_holes(self, np.column_stack(parts), years)


@dataclass(frozen=True)
class Category:
    """One of some levels; the first, the commonest, is what the others are compared with."""

    name: str
    levels: tuple[str, ...]
    kind: ClassVar[str] = "category"

    @classmethod
    def learn(cls, column: Any) -> "Category":
        """The frequent levels of a column, commonest first; rare ones are one level together."""
        from sklearn.preprocessing import OneHotEncoder

        words = _words(column)
        encoder = OneHotEncoder(
            min_frequency=min(FEWEST_ROWS, max(1, len(words) // 20)),
            max_categories=MOST_LEVELS + 1,  # counts the level of the others
            handle_unknown="infrequent_if_exist",
        ).fit(words[:, None])
        rare = encoder.infrequent_categories_[0]
        found, times = np.unique(words, return_counts=True)
        keep = [
            (-int(n), str(level))
            for level, n in zip(found, times, strict=True)
            if rare is None or level not in set(rare)
        ]
        levels = [level for _, level in sorted(keep)]
        return cls(str(column.name), (*levels, *([OTHER] if rare is not None else [])))

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(f"{self.name}: {level}" for level in self.levels[1:])

    @property
    def meaning(self) -> str:
        return f"compared with {self.levels[0]}"

    def encode(self, column: Any) -> Encoded:
        from sklearn.preprocessing import OneHotEncoder

        words = _words(column)
        unknown = ~np.isin(words, self.levels)
        instead = OTHER if OTHER in self.levels else self.levels[0]
        issues = []
        if unknown.any() and OTHER not in self.levels:
            new = sorted(set(words[unknown].tolist()))
            what = "empty cells" if new == [MISSING] else f"values never seen ({listed(new)})"
            issues.append(
                f"{int(unknown.sum())} rows have {what} in {self.name!r}; they are taken for "
                f"{instead!r}."
            )
        words[unknown] = instead
        encoder = OneHotEncoder(categories=[list(self.levels)], drop="first", sparse_output=False)
        return Encoded(encoder.fit_transform(words[:, None]), issues)


@dataclass(frozen=True)
class Ignored:
    """A column that no model can use, and why."""

    name: str
    reason: str
    kind: ClassVar[str] = "ignored"
    names: ClassVar[tuple[str, ...]] = ()
    meaning: ClassVar[str] = ""

    def encode(self, column: Any) -> Encoded:
        return Encoded(np.empty((len(column), 0)), [])


Column = Number | Date | Category | Ignored
KINDS: dict[str, Any] = {cls.kind: cls for cls in (Number, Date, Category, Ignored)}


def learn(column: Any, category: bool = False) -> Column:
    """The description of a column that its values ask for."""
    import pandas as pd

    name, known = str(column.name), column.dropna()
    distinct = known.nunique()
    if distinct == 0:
        return Ignored(name, "it is empty")
    if distinct == 1 and not column.isna().any():
        return Ignored(name, "it has the same value in every row")
    if category:
        return Category.learn(column)
    if pd.api.types.is_datetime64_any_dtype(column.dtype):
        return Date.learn(column, None)
    if pd.api.types.is_numeric_dtype(column.dtype) or column.dtype.kind == "m":
        return Number.learn(column) if distinct > 1 else Category.learn(column)
    pattern = date_pattern(known)
    if pattern is not None:
        return Date.learn(column, pattern)
    if distinct > max(MOST_LEVELS, len(column) / 2):
        return Ignored(name, f"nearly every row has a text of its own ({distinct} values)")
    return Category.learn(column)


def date_pattern(known: Any) -> str | None:
    """The format in which skrub reads these texts as dates; None if they are none."""
    first = str(known.iloc[0])
    if not re.search(r"\d[-/.: ]", first) or len(first) < 6:
        return None
    try:
        from skrub import ToDatetime
    except ImportError:
        raise ImportError(f"dates as text, in {known.name!r}, need: pip install skrub") from None
    reader = ToDatetime()
    try:
        reader.fit_transform(known.astype(str))
    except ValueError:  # skrub rejects the column
        return None
    return reader.format_


def as_numbers(column: Any) -> Floats:
    """Values as floats; what is no finite number is NaN."""
    import pandas as pd

    if column.dtype.kind == "m":
        return np.asarray(column.dt.total_seconds(), dtype=float)
    x = pd.to_numeric(column, errors="coerce").to_numpy(dtype=float, na_value=np.nan)
    return np.where(np.isfinite(x), x, np.nan)


def _years(column: Any, pattern: str | None) -> Floats:
    """Years since 1970, NaN where there is no date."""
    import pandas as pd

    times = pd.to_datetime(column, format=pattern, errors="coerce", utc=True)
    seconds = (times - pd.Timestamp(0, tz="UTC")).dt.total_seconds()
    return np.asarray(seconds, dtype=float) / YEAR


def _words(column: Any) -> Any:
    """Values as text, computed once for each that occurs."""
    import pandas as pd

    codes, values = pd.factorize(column)
    words = as_words(pd.Series(values, name=column.name))
    return np.where(codes < 0, MISSING, np.append(words, MISSING)[codes]).astype(object)


def _with_holes(spec: Number | Date, values: Floats, x: Floats) -> Encoded:
    """Values with the indicator of missing ones, if fit has seen any."""
    gone = np.isnan(x)
    if spec.holes:
        return Encoded(np.column_stack([values, gone]), [])
    issues = []
    if gone.any():
        issues.append(
            f"{int(gone.sum())} rows have no {spec.kind} in {spec.name!r}, where fit saw none "
            "missing; they are taken for the median."
        )
    return Encoded(values.reshape(len(x), -1), issues)


def short(x: float) -> str:
    """A number in a few digits."""
    return f"{x:.4g}"


def listed(values: list[str], most: int = 3) -> str:
    """The first of some texts."""
    shown = ", ".join(v if len(v) <= 30 else v[:29] + "…" for v in values[:most])
    return shown + (f" and {len(values) - most} more" if len(values) > most else "")
