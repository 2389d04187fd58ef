"""From a raw frame to a numeric matrix and a class, by one rule for all tables.

Categories become indicators ``name: level`` with the commonest level left out; levels rarer than
2% of the rows, or 10 rows, are pooled as ``other``; a missing category is the level ``missing``.
A missing number takes the median of its column, and an indicator says where. Constant columns, and
columns that are a linear function of one to their left, are dropped.
"""

import hashlib
from fnmatch import fnmatch
from typing import Any

import numpy as np
import pandas as pd

RARE_SHARE, RARE_ROWS = 0.02, 10
MOST_LEVELS = 60  # a category with more is an id or a text, and must be dropped by declaration
LARGE_SHARE, LARGE_ROWS, MOST_CLASSES = 0.05, 50, 4  # classes that get a table of their own


def classes(table: Any, frame: pd.DataFrame) -> list[tuple[str, str, np.ndarray]]:
    """Tables that a declaration gives: name, meaning of class 1, and the class of every row."""
    outcome = frame[table.outcome]
    if table.each:
        counts = outcome.value_counts()
        enough = counts[(counts >= LARGE_ROWS) & (counts >= LARGE_SHARE * len(outcome))]
        order = sorted(enough.index, key=lambda level: (-enough[level], str(level)))
        return [
            (
                f"{table.name}-{_word(level)}".replace(" ", "-"),
                f"{table.means} {_word(level)}",
                (outcome == level),
            )
            for level in order[:MOST_CLASSES]
        ]
    return [(table.name, table.means, _positive(table, outcome))]


def _positive(table: Any, outcome: pd.Series) -> np.ndarray:
    if table.above is not None:
        return outcome.to_numpy(dtype=float) > table.above
    if table.below is not None:
        return outcome.to_numpy(dtype=float) < table.below
    wanted = table.positive if isinstance(table.positive, list) else [table.positive]
    absent = [value for value in wanted if not (outcome == value).any()]
    if absent:
        raise ValueError(f"{table.name}: no row has {absent} in {table.outcome}.")
    return outcome.isin(wanted).to_numpy()


def chosen_rows(table: Any, frame: pd.DataFrame) -> pd.DataFrame:
    """Rows that the declaration asks for, and whose outcome is known."""
    for column, value in table.where.items():
        frame = frame[frame[column].isin(value if isinstance(value, list) else [value])]
    frame = frame[frame[table.outcome].notna()].reset_index(drop=True)
    if frame[table.outcome].dtype == object:
        frame[table.outcome] = frame[table.outcome].map(
            lambda value: value.strip() if isinstance(value, str) else value
        )
    return frame


def features(table: Any, frame: pd.DataFrame) -> pd.DataFrame:
    """The encoded features of a table."""
    left = frame.drop(columns=table.outcome)
    patterns = list(table.drop)
    unused = [p for p in patterns if not any(fnmatch(str(c), p) for c in left.columns)]
    if unused:
        raise ValueError(f"{table.name}: no column matches {unused}, which it drops.")
    left = left[[c for c in left.columns if not any(fnmatch(str(c), p) for p in patterns)]]
    if table.keep:
        left = left[list(table.keep)]
    parts = [_encode(table, str(name), left[name]) for name in left.columns]
    return _independent(pd.concat(parts, axis=1))


def _encode(table: Any, name: str, column: pd.Series) -> pd.DataFrame:
    if pd.api.types.is_datetime64_any_dtype(column):
        raise ValueError(f"{table.name}: {name} is a date; drop it by declaration.")
    if pd.api.types.is_bool_dtype(column):
        return pd.DataFrame({name: column.astype(float)})
    if pd.api.types.is_numeric_dtype(column) and name not in table.categorical:
        return _numbers(name, column.astype(float))
    return _categories(table, name, column)


def _numbers(name: str, column: pd.Series) -> pd.DataFrame:
    column = column.where(np.isfinite(column))
    encoded = pd.DataFrame({name: column.fillna(column.median())})
    if column.isna().any():
        encoded[f"{name}: missing"] = column.isna().astype(float)
    return encoded


def _categories(table: Any, name: str, column: pd.Series) -> pd.DataFrame:
    words = column.map(_word, na_action="ignore").astype(object)
    words = words.where(column.notna(), "missing")
    counts = words.value_counts()
    if len(counts) > MOST_LEVELS:
        raise ValueError(
            f"{table.name}: {name} has {len(counts)} levels; drop it by declaration, or code it."
        )
    rare = counts.index[counts < max(RARE_ROWS, RARE_SHARE * len(words))]
    words = words.where(~words.isin(rare), "other")
    counts = words.value_counts()
    order = sorted(counts.index, key=lambda level: (-counts[level], level))
    return pd.DataFrame({f"{name}: {level}": (words == level).astype(float) for level in order[1:]})


def _independent(frame: pd.DataFrame) -> pd.DataFrame:
    """Columns that are neither constant nor a linear function of one before them."""
    seen: set[bytes] = set()
    kept = []
    for name in frame.columns:
        values = frame[name].to_numpy(dtype=float)
        spread = values.std()
        if not spread > 1e-12 * (1 + np.abs(values).max()):
            continue
        z = (values - values.mean()) / spread
        z = np.round(z * np.sign(z[np.argmax(np.abs(z) > 1e-6)]), 9) + 0.0
        digest = hashlib.sha256(z.tobytes()).digest()
        if digest not in seen:
            seen.add(digest)
            kept.append(name)
    return frame[kept].copy()


def _word(value: Any) -> str:
    """A level as people write it: 1.0 is 1, and no spaces around it."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value).strip()
