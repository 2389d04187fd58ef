"""``scan_parquet``: which files, columns and rows a fit shall read, before it reads them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from doublelogit._types import Floats
from doublelogit.engines.encoding import Encoding, numbers
from doublelogit.engines.parquet_files import Files, found_files, plain

LABEL_BATCH = 2**17  # rows at once of the few columns that are no features


class Told(NamedTuple):
    """What is told of some rows beside their features; None where a column was not named."""

    label: Any
    weight: Any
    audited: Any


@dataclass(frozen=True)
class ParquetScan:
    """Parquet files to be read; made by :func:`scan_parquet`."""

    files: Files
    label: str | None
    weight: str | None
    audited: str | None
    columns: tuple[str, ...] | None
    cache: bool | Path
    distributed: bool

    def chosen(self) -> tuple[str, ...]:
        """The columns that are features: as asked for, or all that are nothing else."""
        schema = self.files.schema
        told = [name for name in (self.label, self.weight, self.audited) if name]
        columns = self.columns
        if columns is None:
            columns = tuple(name for name in schema.names if name not in told)
        unknown = [name for name in (*told, *columns) if name not in schema.names]
        if unknown:
            raise ValueError(
                f"label, weight, audited and columns must name columns of the files; got "
                f"{unknown[0]!r}, and the columns are {', '.join(schema.names)}."
            )
        for name in columns:
            if kind_of(schema.field(name).type) is None:
                raise ValueError(
                    f"features must be numbers, booleans or words; column {name!r} is "
                    f"{schema.field(name).type}. Choose others by columns=."
                )
        self.files.check([*told, *columns])
        return columns

    def surveyed(self) -> tuple[Encoding, NDArray[Any]]:
        """Categories of the columns of words, and the distinct labels: a pass over these alone."""
        import pyarrow.compute as pc

        columns, schema = self.chosen(), self.files.schema
        words = [c for c in columns if kind_of(schema.field(c).type) == "words"]
        found: dict[str, set[Any]] = {name: set() for name in [*words, self.label] if name}
        for path, batch in self.files.batches(list(found), LABEL_BATCH):
            for name, seen in found.items():
                seen |= set(pc.unique(batch.column(name)).to_pylist())
                if name == self.label and None in seen:
                    raise ValueError(
                        f"every row must have a label; column {name!r} of {path} misses some."
                    )
        categories = {name: tuple(sorted(found[name] - {None})) for name in words}
        labels = np.array(sorted(found[self.label])) if self.label else np.array([])
        return Encoding(columns, categories), labels

    def told(self) -> Iterator[tuple[str, Told]]:
        """Path, label, weight and audited class of some rows after the other, without features."""
        names = [name for name in (self.label, self.weight, self.audited) if name]
        for path, batch in self.files.batches(names, LABEL_BATCH):
            yield path, self._told(batch)

    def blocks(
        self, encoding: Encoding, block_rows: int, dtype: Any = np.float64
    ) -> Iterator[Floats]:
        """The features, so many rows at a time whatever the files and row groups are."""
        block, filled = np.empty((block_rows, len(encoding.names)), dtype), 0
        for path, batch in self.files.batches(encoding.columns, block_rows):
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

    def piece(self, piece: Any, encoding: Encoding) -> tuple[Floats, Told]:
        """Features of a piece of the files, as a worker reads it, and what is told of its rows."""
        import pyarrow as pa

        told = [name for name in (self.label, self.weight, self.audited) if name]
        columns = list(dict.fromkeys([*encoding.columns, *told]))
        batches = list(self.files.batches(columns, LABEL_BATCH, piece))
        X = np.empty((sum(b.num_rows for _, b in batches), len(encoding.names)), self.dtype)
        at = 0
        for path, batch in batches:
            encoding.write(batch, X[at : at + batch.num_rows], path)
            at += batch.num_rows
        empty = pa.schema([self.files.schema.field(name) for name in columns]).empty_table()
        table = pa.Table.from_batches([b for _, b in batches]) if batches else empty
        return X, self._told(table.combine_chunks())

    @property
    def dtype(self) -> Any:
        """Of features that are kept: single precision if no column has more."""
        schema = self.files.schema
        kinds = {str(plain(schema.field(name).type)) for name in self.chosen()}
        return np.float32 if kinds <= SINGLE else np.float64

    def _told(self, batch: Any) -> Told:
        names = (self.label, self.weight, self.audited)
        return Told(*(None if name is None else numbers(batch.column(name)) for name in names))


SINGLE = {"float", "halffloat", "bool", "int8", "int16", "uint8", "uint16", "string"}


def kind_of(kind: Any) -> str | None:
    """Whether values of a type are numbers or words, or no features at all."""
    import pyarrow.types as t

    kind = plain(kind)
    if t.is_floating(kind) or t.is_integer(kind) or t.is_boolean(kind) or t.is_decimal(kind):
        return "numbers"
    return "words" if t.is_string(kind) or t.is_large_string(kind) else None


def scan_parquet(
    path: Any,
    *,
    label: str | None = None,
    weight: str | None = None,
    audited: str | None = None,
    columns: Sequence[str] | None = None,
    filter: Sequence[tuple[str, str, Any]] | None = None,  # noqa: A002
    cache: bool | str | Path = False,
    distributed: bool = False,
) -> ParquetScan:
    """Parquet files for ``fit``, ``predict`` and ``infer``, read as they need them.

    Nothing is read before, and never are all rows in memory.

    Parameters
    ----------
    path : str, Path or list of them
        A file, a directory, a glob such as ``"data/*.parquet"``, or an address that pyarrow knows
        (``"s3://..."``). A hive-partitioned directory has its keys as columns.
    label : str, default=None
        Column of the observed label; needed for fit.
    weight, audited : str, default=None
        Columns of ``sample_weight`` and ``audited_y`` (missing where a row was not audited).
    columns : list of str, default=None
        The features; None is every other column. Words become indicators of their categories.
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
    if isinstance(columns, str):
        raise ValueError(f"columns must be a list of names; got {columns!r}.")
    if isinstance(cache, str | Path) and not Path(cache).is_dir():
        raise ValueError(f"cache must be True, False or a directory; got {str(cache)!r}.")
    return ParquetScan(
        Files(found_files(path), _conditions(filter)),
        label,
        weight,
        audited,
        None if columns is None else tuple(columns),
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
