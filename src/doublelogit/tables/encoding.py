"""How all columns of a table become features: a list of descriptions, for frames and files.

Descriptions are frozen dataclasses that JSON holds. A fitted transformer of another library would
have to be pickled, and would not load for ever.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from doublelogit._types import Floats
from doublelogit.common.wording import listed
from doublelogit.exceptions import TableError
from doublelogit.tables.columns import KINDS, ColumnEncoding, Number


@dataclass(frozen=True)
class TableEncoding:
    """Descriptions of the columns, in order."""

    columns: tuple[ColumnEncoding, ...]

    def __post_init__(self) -> None:
        names = self.names
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise TableError(f"two columns would be called {twice!r} when encoded. Rename one.")
        if not names:
            reasons = [f"{c.name!r} is ignored: {vars(c)['reason']}" for c in self.columns]
            raise TableError(
                f"no column of the table can be used as a feature. {listed(reasons, 3)}."
            )

    @classmethod
    def as_they_are(cls, names: Sequence[str]) -> "TableEncoding":
        """Columns of numbers, neither scaled nor filled."""
        return cls(tuple(Number(str(name), np.nan, 0.0, 1.0, missing=False) for name in names))

    @property
    def used(self) -> tuple[ColumnEncoding, ...]:
        """The descriptions of columns that become features."""
        return tuple(column for column in self.columns if column.names)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the features."""
        return tuple(name for column in self.columns for name in column.names)

    @property
    def sources(self) -> list[str]:
        """For every feature, the column of the table that it comes from."""
        return [column.name for column in self.columns for _ in column.names]

    def features_of(self, columns: Sequence[str], what: str) -> list[str]:
        """Names of the features that some columns of the table become."""
        features = {column.name: column.names for column in self.columns}
        for name in columns:
            if name not in features:
                raise TableError(
                    f"`{what}` must name columns of the table that are features; got {name!r}. "
                    f"They are {', '.join(map(repr, features))}."
                )
        return [name for column in dict.fromkeys(columns) for name in features[column]]

    def check_columns(self, columns: Sequence[str]) -> None:
        """Refuse a table that lacks columns of the model."""
        absent = [repr(c.name) for c in self.used if c.name not in columns]
        if absent:
            raise TableError(
                f"the table has {'none' if len(absent) == len(self.used) else 'not all'} of the "
                f"model's columns: it lacks {listed(absent)}; it has "
                f"{listed([*map(repr, columns)])}. Give a table with the columns of fit."
            )

    def encode(self, frame: Any) -> tuple[Any, list[str]]:
        """Features of a frame as a DataFrame, and in words what differs from the table of fit."""
        import pandas as pd

        absent = [c.name for c in self.used if c.name not in frame.columns]
        if len(absent) == len(self.used):
            self.check_columns(frame.columns)
        issues = [
            f"there is no column {name!r}; all its values are taken to be missing."
            for name in absent
        ]
        nothing = pd.Series(np.full(len(frame), np.nan))
        X, at = np.empty((len(frame), len(self.names))), 0  # one matrix, filled by column
        for column in self.used:
            here = column.name not in absent
            cells = frame[column.name] if here else nothing.rename(column.name)
            values, remarks = column.encode(cells)
            X[:, at : at + len(column.names)] = values
            at += len(column.names)
            issues += remarks if here else []
        names = np.array(self.names, dtype=object)
        return pd.DataFrame(X, columns=names, index=frame.index, copy=False), issues

    def write(self, batch: Any, out: Floats, path: str) -> None:
        """Features of an Arrow record batch, which comes from the file at path, into an array."""
        at = 0
        for column in self.used:
            width = len(column.names)
            _write(column, batch.column(column.name), out[:, at : at + width], path)
            at += width

    def to_dict(self) -> list[dict[str, Any]]:
        """The descriptions as JSON holds them."""
        return [{"kind": c.kind, **asdict(c)} for c in self.columns]  # type: ignore[call-overload]

    @classmethod
    def from_dict(cls, descriptions: list[dict[str, Any]]) -> "TableEncoding":
        """The encoding of such descriptions."""
        return cls(tuple(_column(**description) for description in descriptions))


def _column(kind: str, **fields: Any) -> ColumnEncoding:
    if "levels" in fields:
        fields["levels"] = tuple(fields["levels"])
    return KINDS[kind](**fields)


def _write(column: ColumnEncoding, values: Any, out: Floats, path: str) -> None:
    """The features of one column of a batch."""
    if isinstance(column, Number) and not column.missing and is_plain(values):
        x = arrow_numbers(values)
        # the sum is finite if all values are, or nearly always; it takes no time
        if np.isfinite(x.sum()) or np.isfinite(x).all():
            out[:, 0] = x if column.unscaled else column.numbers(x)
            return
    encoded = column.encode(as_series(values, column.name))[0]
    if np.isnan(encoded).any():
        raise ValueError(
            f"features must be finite numbers; column {column.name!r} of {path} has missing or "
            "infinite values, and the model has never seen any. Fill them in."
        )
    out[:] = encoded


def is_plain(values: Any) -> bool:
    """Whether an Arrow array holds numbers that numpy reads as they are."""
    import pyarrow.types as t

    return values.null_count == 0 and (
        t.is_floating(values.type) or t.is_integer(values.type) or t.is_boolean(values.type)
    )


def arrow_numbers(values: Any) -> Any:
    """An Arrow array as a NumPy array; missing values of a number become NaN."""
    import pyarrow as pa

    kind = values.type
    if pa.types.is_dictionary(kind):
        values = values.dictionary_decode()
    elif pa.types.is_decimal(kind):
        values = values.cast(pa.float64())
    return values.to_numpy(zero_copy_only=False)


def as_series(values: Any, name: str) -> Any:
    """An Arrow array as a pandas Series."""
    import pyarrow as pa

    if pa.types.is_decimal(values.type):
        values = values.cast(pa.float64())
    return values.to_pandas().rename(name)
