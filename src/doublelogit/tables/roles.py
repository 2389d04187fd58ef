"""What the columns of a table are for, and the table taken apart accordingly."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from doublelogit._types import Floats
from doublelogit.exceptions import TableError
from doublelogit.tables.formula import parse_formula
from doublelogit.tables.labels import as_words, code_audited, code_labels

MOST_GROUPS = 12  # more are no table that anyone reads


@dataclass(frozen=True)
class Roles:
    """Which column is what; every other column is a feature.

    Parameters
    ----------
    label : str
        Whose values tell labelled rows.
    positive : str, default=None
        The value that means labelled.
    id : str, default=None
        Names the row; no feature.
    weight : str, default=None
        How many times a row counts.
    audited : str, default=None
        The class of rows where it was found out.
    by : str, default=None
        Groups for which the prevalence is wanted as well; stays a feature.
    outcome_features, propensity_features : tuple of str, default=None
        Columns that the models may use; None is all.
    categorical : tuple of str, default=()
        Columns whose numbers are codes.
    ignore : tuple of str, default=()
        Columns that are no features.
    """

    label: str
    positive: str | None = None
    id: str | None = None
    weight: str | None = None
    audited: str | None = None
    by: str | None = None
    outcome_features: tuple[str, ...] | None = None
    propensity_features: tuple[str, ...] | None = None
    categorical: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()

    @classmethod
    def of_formula(cls, formula: str, **others: Any) -> "Roles":
        """Roles of ``label ~ outcome features | labelling features``."""
        label, outcome, propensity = parse_formula(formula)
        return cls(label, outcome_features=outcome, propensity_features=propensity, **others)

    @property
    def reserved(self) -> set[str]:
        """Columns that are no features."""
        roles = (self.label, self.id, self.weight, self.audited, *self.ignore)
        return {name for name in roles if name is not None}


@dataclass(frozen=True)
class Table:
    """A table taken apart: features, labels and whatever else was named, one entry per row."""

    features: Any
    s: Floats
    ids: Any
    weight: Floats | None
    audited: Floats | None
    group: Any
    roles: Roles
    notes: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.s)


def prepare(frame: Any, roles: Roles) -> Table:
    """A table by the roles of its columns; an error names the first that does not fit."""
    _check(frame, roles)
    labels = code_labels(frame[roles.label], roles.positive)
    features = feature_columns(frame, roles)
    if features.shape[1] == 0:
        raise TableError(
            f"the table must have a column besides {', '.join(sorted(roles.reserved))}: "
            "there is no feature."
        )
    return Table(
        features=features,
        s=labels.s,
        ids=row_ids(frame, roles.id),
        weight=None if roles.weight is None else _weights(frame[roles.weight]),
        audited=None if roles.audited is None else code_audited(frame[roles.audited]),
        group=None if roles.by is None else groups(frame[roles.by]),
        roles=replace(roles, positive=labels.positive),
        notes=(*labels.notes, *_id_notes(frame, roles.id)),
    )


def feature_columns(frame: Any, roles: Roles) -> Any:
    """The columns that a model may use."""
    named = (roles.outcome_features, roles.propensity_features)
    if None not in named:  # both models say what they use, so nothing else is read
        wanted = {*(named[0] or ()), *(named[1] or ())}
        return frame[[name for name in frame.columns if name in wanted]]
    return frame[[name for name in frame.columns if name not in roles.reserved]]


def row_ids(frame: Any, name: str | None) -> Any:
    """The ids, or the numbers of the rows from 1."""
    if name is None or name not in frame.columns:
        return np.array([str(i + 1) for i in range(len(frame))], dtype=object)
    return as_words(frame[name])


def groups(column: Any) -> Any:
    """The group of each row as text; many numbers are cut at their quartiles."""
    import pandas as pd

    if pd.api.types.is_numeric_dtype(column.dtype) and column.nunique() > MOST_GROUPS:
        column = pd.qcut(column, 4, duplicates="drop").astype(str).where(column.notna())
    words = as_words(column)
    words[words == ""] = "(missing)"
    values, times = np.unique(words, return_counts=True)
    if len(values) > MOST_GROUPS:
        keep = values[np.argsort(-times, kind="stable")[: MOST_GROUPS - 1]]
        words[~np.isin(words, keep)] = "(other)"
    return words


def _check(frame: Any, roles: Roles) -> None:
    named: dict[str, Sequence[str | None]] = {
        "label": [roles.label],
        "id": [roles.id],
        "weight": [roles.weight],
        "audited": [roles.audited],
        "by": [roles.by],
        "ignore": roles.ignore,
        "categorical": roles.categorical,
        "outcome-features": roles.outcome_features or (),
        "propensity-features": roles.propensity_features or (),
    }
    for option, names in named.items():
        for name in names:
            if name is not None and name not in frame.columns:
                raise TableError(
                    f"--{option} names {name!r}, which is no column of the table. The columns are "
                    f"{_columns(frame)}."
                )
            if option.endswith("features") and name in roles.reserved:
                raise TableError(
                    f"--{option} names {name!r}, which is no feature: it has another role."
                )


def _columns(frame: Any, most: int = 12) -> str:
    names = [repr(name) for name in frame.columns]
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def _weights(column: Any) -> Floats:
    import pandas as pd

    weight = pd.to_numeric(column, errors="coerce").to_numpy(dtype=float, na_value=np.nan)
    bad = ~(np.isfinite(weight) & (weight >= 0))
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        raise TableError(
            f"weights must be numbers from 0 up; got {column.iloc[row]!r} in row {row + 1} of "
            f"{column.name!r}."
        )
    return weight


def _id_notes(frame: Any, name: str | None) -> list[str]:
    if name is None:
        return []
    repeated = int(frame[name].duplicated().sum())
    if not repeated:
        return []
    return [f"{repeated} rows repeat an id of another row of {name!r}; rows count as independent."]
