"""``scan_parquet``: which files, columns and rows a fit shall read, before it reads them."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from doublelogit._types import Floats
from doublelogit.engines.parquet_files import Files, found_files, plain
from doublelogit.exceptions import TableError
from doublelogit.tables.columns import Category, Number
from doublelogit.tables.encoding import TableEncoding, as_series
from doublelogit.tables.labels import LabelCoding, code_audited, code_weights, label_words
from doublelogit.tables.read import from_arrow
from doublelogit.tables.roles import Roles
from doublelogit.tables.survey import describe

BATCH = 2**17  # rows at once of a few columns


class ObservedColumns(NamedTuple):
    """What is known of some rows beside their features; None where a column was not named."""

    label: Any
    weight: Any
    audited: Any
    cluster: Any


@dataclass(frozen=True)
class ParquetScan:
    """Parquet files to be read by the roles of their columns; made by :func:`scan_parquet`.

    ``encoding`` is how columns become features, where that was learned before.
    """

    files: Files
    roles: Roles | None
    cache: bool | Path
    distributed: bool
    encoding: TableEncoding | None = None
    _coding: LabelCoding | None = None

    def with_roles(self, roles: Roles) -> "ParquetScan":
        """These files, their columns with other roles."""
        return replace(self, roles=roles, _coding=None)

    def encoded_by(self, encoding: TableEncoding) -> "ParquetScan":
        """These files, their columns encoded in a known way."""
        return replace(self, encoding=encoding)

    def learned_encoding(self, *, scaled: bool) -> TableEncoding:
        """How the columns become features, learned from the files column by column."""
        if self.encoding is not None:
            return self.encoding
        roles = self.named_roles
        if self.n_rows == 0:
            raise ValueError("a fit needs rows; got none, or none that pass the filter.")
        columns = roles.feature_columns(self.files.schema.names)
        self._check_types(columns)
        described = (
            describe(
                name,
                partial(self.parts, name),
                categorical=name in roles.categorical,
                scaled=scaled,
            )
            for name in columns
        )
        return TableEncoding(tuple(described))

    def parts(self, name: str) -> Iterator[Any]:
        """One column as pandas Series, part by part, of the rows that count."""
        weight = None if self.roles is None else self.roles.weight
        if weight is None:
            for _, batch in self.files.batches([name], BATCH):
                yield as_series(batch.column(name), name)
            return
        for _, batch in self.files.batches(list(dict.fromkeys([name, weight])), BATCH):
            part = as_series(batch.column(name), name)
            yield part[_counts(batch, weight)].reset_index(drop=True)

    @cached_property
    def coding(self) -> LabelCoding:
        """What the values of the label column mean."""
        if self._coding is not None:
            return self._coding
        roles = self.named_roles
        return LabelCoding.learn(self._label_counts, roles.positive, self._label)

    @property
    def _label(self) -> str:
        """Name of the label column; a scan has one."""
        roles = self.named_roles
        if roles.several:
            raise TableError(
                "label columns of several sources are read into memory; got a scan with "
                f"{roles.label_words}. Read the files first: pandas.read_parquet."
            )
        return roles.labels[0]

    @property
    def n_rows(self) -> int:
        """Number of rows that pass the filter."""
        return sum(self._label_counts.values())

    @property
    def n_labelled(self) -> int:
        """Number of them that are labelled."""
        return self._label_counts[self.coding.positive]

    @cached_property
    def _label_counts(self) -> Counter[str]:
        """How often each value of the label column occurs."""
        roles, counts = self.named_roles, Counter[str]()
        self.files.check(roles.used)
        roles.check(self.files.schema.names)
        for part in self.parts(self._label):
            counts.update(label_words(part).tolist())
        return counts

    def observed(self) -> Iterator[tuple[str, ObservedColumns]]:
        """Path of some rows after the other, and what is known of them beside their features."""
        first, last_path = 1, None
        for path, batch in self.files.batches(self._observed_names(), BATCH):
            first = first if path == last_path else 1
            try:
                yield path, self._observed(batch, first)
            except TableError as error:
                raise TableError(f"{path}: {error}") from None
            first, last_path = first + batch.num_rows, path

    def blocks(
        self, encoding: TableEncoding, block_rows: int, dtype: Any = np.float64
    ) -> Iterator[Floats]:
        """The features, so many rows at a time whatever the files and row groups are."""
        block, filled = np.empty((block_rows, len(encoding.names)), dtype), 0
        columns = [column.name for column in encoding.used]
        for path, batch in self.files.batches(columns, block_rows):
            taken = 0
            while taken < batch.num_rows:
                n = min(batch.num_rows - taken, block_rows - filled)
                encoding.write(batch.slice(taken, n), block[filled : filled + n], path)
                taken, filled = taken + n, filled + n
                if filled == block_rows:
                    yield block
                    block, filled = np.empty_like(block), 0
        if filled:
            yield block[:filled]

    def piece(
        self, piece: Any, encoding: TableEncoding, coding: LabelCoding | None
    ) -> tuple[Floats, ObservedColumns]:
        """Features of a piece of the files, as a worker reads it, and what is known of its rows."""
        import pyarrow as pa

        scan = self if coding is None else self._coded(coding)
        names = [column.name for column in encoding.used]
        observed = [] if coding is None else self._observed_names()
        columns = list(dict.fromkeys([*names, *observed]))
        batches = list(self.files.batches(columns, BATCH, piece))
        n = sum(batch.num_rows for _, batch in batches)
        X, at = np.empty((n, len(encoding.names)), self.dtype(encoding)), 0
        for path, batch in batches:
            encoding.write(batch, X[at : at + batch.num_rows], path)
            at += batch.num_rows
        if coding is None:
            return X, ObservedColumns(None, None, None, None)
        empty = pa.schema([self.files.schema.field(name) for name in columns]).empty_table()
        table = pa.Table.from_batches([b for _, b in batches]) if batches else empty
        return X, scan._observed(table.combine_chunks())

    def frame(self, columns: Sequence[str] | None = None) -> Any:
        """All rows in memory, as a pandas DataFrame."""
        import pandas as pd

        if columns is None:
            self.files.check()
        names = list(self.files.schema.names if columns is None else columns)
        batches = [from_arrow(batch) for _, batch in self.files.batches(names, BATCH)]
        return pd.concat(batches, ignore_index=True) if batches else pd.DataFrame(columns=names)

    def take(self, rows: Any, columns: Sequence[str]) -> Any:
        """Some rows, given by their numbers, as a pandas DataFrame in this order."""
        import pandas as pd

        order = np.argsort(rows, kind="stable")
        wanted, parts, start = rows[order], [], 0
        for _, batch in self.files.batches(list(columns), BATCH):
            stop = start + batch.num_rows
            inside = wanted[(wanted >= start) & (wanted < stop)] - start
            if len(inside):
                parts.append(from_arrow(batch.take(inside)))
            start = stop
        frame = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=columns)
        return frame.iloc[np.argsort(order, kind="stable")].reset_index(drop=True)

    def dtype(self, encoding: TableEncoding) -> Any:
        """Type of features that are kept: single precision if no column has more."""
        schema = self.files.schema
        kinds = {str(plain(schema.field(column.name).type)) for column in encoding.used}
        exact = all(
            isinstance(column, Category) or (isinstance(column, Number) and column.unscaled)
            for column in encoding.used
        )
        return np.float32 if exact and kinds <= SINGLE else np.float64

    @property
    def named_roles(self) -> Roles:
        """The roles of the columns; an error where none were named."""
        if self.roles is None:
            raise ValueError(
                "labels are needed: name their column, scan_parquet(path, Roles(label=...)); got "
                "no roles."
            )
        return self.roles

    def _observed_names(self) -> list[str]:
        roles = self.named_roles
        named = (self._label, roles.weight, roles.audited, roles.cluster)
        return list(dict.fromkeys(name for name in named if name is not None))

    def _observed(self, batch: Any, first: int = 1) -> ObservedColumns:
        """What is known of the rows of a batch, of which the first has this number."""
        roles = self.named_roles

        def column(name: str) -> Any:
            return as_series(batch.column(name), name)

        return ObservedColumns(
            self.coding.encode(column(self._label)),
            None if roles.weight is None else code_weights(column(roles.weight), first),
            None if roles.audited is None else code_audited(column(roles.audited), first),
            None if roles.cluster is None else column(roles.cluster),
        )

    def _coded(self, coding: LabelCoding) -> "ParquetScan":
        """The scan as a worker has it, which need not look at all labels again."""
        return replace(self, _coding=coding)

    def _check_types(self, columns: Sequence[str]) -> None:
        import pyarrow.types as t

        for name in columns:
            kind = plain(self.files.schema.field(name).type)
            if t.is_nested(kind) or t.is_binary(kind) or t.is_large_binary(kind):
                raise TableError(
                    f"features must be numbers, texts, dates or booleans; column {name!r} is "
                    f"{kind}. Name others as `features`."
                )


def _counts(batch: Any, weight: str) -> Any:
    """Rows of a batch whose weight is not zero."""
    return code_weights(as_series(batch.column(weight), weight)) > 0


SINGLE = {"float", "halffloat", "bool", "int8", "int16", "uint8", "uint16", "string"}


def scan_parquet(
    path: Any,
    roles: Roles | str | None = None,
    *,
    filter: Sequence[tuple[str, str, Any]] | None = None,  # noqa: A002
    cache: bool | str | Path = False,
    distributed: bool = False,
) -> ParquetScan:
    """Parquet files for ``fit``, ``predict`` and ``infer``, read as they need them.

    Nothing is read before, and never are all rows in memory. Columns become features as in
    :class:`TableEncoder`; :class:`TableClassifier` also standardises them, the other classifiers
    take numbers as they are.

    Parameters
    ----------
    path : str, Path or list of them
        A file, a directory, a glob such as ``"data/*.parquet"``, or an address that pyarrow knows
        (``"s3://..."``). A hive-partitioned directory has its keys as columns.
    roles : Roles or str, default=None
        What the columns are for; a text is the name of the label column, or a formula. Needed for
        fit.
    filter : list of (column, operator, value), default=None
        Rows to be read, all conditions met, as in ``pandas.read_parquet``; row groups whose
        statistics rule them out are not opened.
    cache : bool or path, default=False
        Keep the decoded features in a temporary file (in this directory, if one is named) which
        is read instead of the Parquet files in later passes; removed after the fit.
    distributed : bool, default=False
        Let the workers of the current Dask client read the files and keep the rows; predictions
        are lazy Dask arrays then.

    Returns
    -------
    scan : ParquetScan
    """
    if isinstance(cache, str | Path) and not Path(cache).is_dir():
        raise ValueError(f"cache must be True, False or a directory; got {str(cache)!r}.")
    return ParquetScan(
        Files(found_files(path), _conditions(filter)),
        None if roles is None else Roles.from_any(roles),
        cache if isinstance(cache, bool) else Path(cache),
        distributed,
    )


def _conditions(filter: Any) -> tuple[tuple[str, str, Any], ...]:  # noqa: A002
    conditions = tuple(filter or ())
    for condition in conditions:
        if not (isinstance(condition, tuple | list) and len(condition) == 3):
            raise ValueError(
                "filter must be a list of (column, operator, value), for example "
                f'[("year", ">=", 2020)]; got {condition!r}.'
            )
    return tuple((str(name), str(operator), value) for name, operator, value in conditions)
