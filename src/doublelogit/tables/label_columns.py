"""Label columns of several sources: yes, no, or not looked at, from words, counts and dates."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from doublelogit._types import Floats
from doublelogit.exceptions import TableError
from doublelogit.tables.labels import LabelCoding, label_words
from doublelogit.tables.roles import Roles
from doublelogit.tables.words import quoted


@dataclass(frozen=True)
class SourceColumns:
    """Labels of every source, (rows, sources), NaN where one did not look, and notes."""

    labels: Floats
    notes: tuple[str, ...]

    @property
    def any(self) -> Floats:
        """1 where some source labelled the row, else 0."""
        return np.asarray(np.fmax.reduce(self.labels, axis=1, initial=0.0))


def code_sources(frame: Any, roles: Roles, counted: Any = slice(None)) -> SourceColumns:
    """The labels of all sources; ``counted`` are the rows by which values are understood."""
    columns, notes = [], list[str]()
    for name in roles.labels:
        coded, said = _one_source(frame[name], roles, counted)
        columns.append(coded)
        notes += said
    labels = np.column_stack(columns)
    if np.fmax.reduce(labels, axis=1, initial=0.0).all():
        raise TableError(
            "the table must have labelled and unlabelled rows, but every row is labelled by some "
            f"source of {quoted(list(roles.labels))}. Name another value as `positive`."
        )
    return SourceColumns(labels, tuple(notes))


def labelled_rows(frame: Any, roles: Roles) -> Any:
    """Whether each row has a label, by a source or several whose values are understood already."""
    if roles.several:
        return code_sources(frame, roles).any == 1
    return label_words(frame[roles.labels[0]]) == roles.positive


def _one_source(column: Any, roles: Roles, counted: Any) -> tuple[Floats, list[str]]:
    """Labels of one source, and what a user must know of how they were read."""
    words, name = label_words(column), str(column.name)
    unseen = words == roles.unseen if roles.unseen is not None else np.zeros(len(words), dtype=bool)
    seen = words[counted][~unseen[counted]]
    labelled, notes = _meaning(column, words, seen, name, roles.positive)
    if not labelled[counted][~unseen[counted]].any():
        raise TableError(
            f"every source must have labelled some row; column {name!r} has no label. Leave it out "
            "of `label`."
        )
    return np.where(unseen, np.nan, labelled.astype(float)), notes


def _meaning(
    column: Any, words: Any, seen: Any, name: str, positive: str | None
) -> tuple[Any, list[str]]:
    """Which rows a source labelled, by the value that means so, or by counts or dates."""
    values, times = np.unique(seen, return_counts=True)
    counts = dict(zip(values.tolist(), times.tolist(), strict=True))
    if positive is None and len(values) > 2:
        amount = _amounts(column)
        if amount is not None:
            what, labelled = amount
            return labelled, [f"{what} in {name!r} count as labels; 0 and empty cells do not."]
    try:
        coding = LabelCoding.learn(counts, positive, name)
    except TableError:
        # a source may label every row at which it looked, or none of them twice
        if len(values) == 1 and positive is not None and values[0] == positive:
            return words == positive, []
        raise
    return words == coding.positive, list(coding.notes)


def _amounts(column: Any) -> tuple[str, Any] | None:
    """Counts from zero up, or dates: what they are, and where they mean a label."""
    import pandas as pd

    filled = column.notna() & (column.astype(str).str.strip() != "")
    numbers = pd.to_numeric(column.where(filled), errors="coerce")
    if numbers[filled].notna().all() and (numbers[filled] >= 0).all():
        return "Numbers above 0", (numbers > 0).to_numpy()
    with_dates = pd.to_datetime(column.where(filled), errors="coerce", format="ISO8601")
    if with_dates[filled].notna().all():
        return "Dates", filled.to_numpy()
    return None
