"""Rows in Parquet files, streamed block by block; nothing of the size of X is held.

A thread reads and decodes the blocks to come while this one is worked on. Blocks have a fixed
number of rows, whatever the files and row groups are, so the same rows give the same answer.
"""

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import reduce
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from joblib import cpu_count
from numpy.typing import NDArray

from doublelogit._types import Column, Floats
from doublelogit.common.threads import paying_threads
from doublelogit.core.labels import Labels
from doublelogit.core.rows import Prepare, each_column, plus
from doublelogit.engines.column_buffer import ColumnBuffer, StoredRows, buffered
from doublelogit.engines.memory import rows_per_block
from doublelogit.engines.scan import ParquetScan
from doublelogit.tables.encoding import TableEncoding

T = TypeVar("T")

CODED = np.array([0.0, 1.0])  # labels of a scan, which its roles have coded
AHEAD = 2  # blocks decoded before they are asked for
USING = max(cpu_count() // 2, 1)  # threads that work on a block; the other cores decode


class ParquetSource:
    """The rows of a scan, to be streamed."""

    def __init__(self, scan: ParquetScan, encoding: TableEncoding) -> None:
        self._scan, self.encoding = scan, encoding

    @property
    def names(self) -> tuple[str, ...]:
        return self.encoding.names

    @property
    def n_features(self) -> int:
        return len(self.names)

    def labels(self) -> NDArray[Any]:
        return CODED

    def rows(self, prepare: Prepare) -> "ParquetRows":
        scan = self._scan
        # label and class of a row take five bytes, and eight more only if rows have weights
        labelled, known, weight = ColumnBuffer(np.int8), ColumnBuffer(np.float32), ColumnBuffer()
        cluster = ColumnBuffer()
        n, roles = 0, scan.named_roles
        for path, observed in scan.observed():
            try:
                columns = prepare(*observed)
            except ValueError as error:
                raise ValueError(f"{path}: {error}") from None
            labelled.append(columns.labels.any)
            known.append(columns.labels.known)
            if roles.weight is not None:
                weight.append(columns.weight)
            if columns.cluster is not None:
                cluster.append(columns.cluster)
            n += len(columns.weight)
        blocks = ParquetBlocks(scan, self.encoding, rows_per_block(8 * self.n_features), n)
        return ParquetRows(
            blocks.cached(scan.cache) if scan.cache else blocks,
            Labels(labelled.finish(), known.finish()),
            np.broadcast_to(1.0, n) if roles.weight is None else weight.finish(),
            None if roles.cluster is None else cluster.finish(),
        )

    def map(self, fn: Callable[[Floats], NDArray[Any]]) -> NDArray[Any]:
        size = rows_per_block(8 * self.n_features)
        blocks = [fn(X) for X in read_ahead(self._scan.blocks(self.encoding, size))]
        return np.concatenate(blocks) if blocks else fn(np.zeros((1, self.n_features)))[:0]


@dataclass(frozen=True)
class ParquetBlocks:
    """The features of n rows, block by block, as many times as they are asked for."""

    scan: ParquetScan
    encoding: TableEncoding
    block_rows: int
    n: int
    centre: Floats | None = None
    store: StoredRows | NDArray[Any] | None = None

    @property
    def slices(self) -> list[slice]:
        """The rows of each block."""
        starts = range(0, self.n, self.block_rows)
        return [slice(i, min(i + self.block_rows, self.n)) for i in starts]

    def __iter__(self) -> Iterator[tuple[slice, Floats]]:
        slices = deque(self.slices)
        for X in read_ahead(self._decoded()):
            if not slices or len(X) != slices[0].stop - slices[0].start:
                break
            yield slices.popleft(), X
        else:
            if not slices:
                return
        raise OSError(
            f"the files must stay as they are during a fit; they had {self.n} rows at first and "
            "have another number now."
        )

    def _decoded(self) -> Iterator[Floats]:
        if self.store is None:
            blocks: Iterator[Any] = self.scan.blocks(self.encoding, self.block_rows)
        else:
            blocks = (self.store[b] for b in self.slices)
        for X in blocks:
            wide = X.astype(np.float64, copy=False)
            yield wide if self.centre is None else wide - self.centre

    def cached(self, where: bool | Path) -> "ParquetBlocks":
        """The blocks, decoded once and kept in a temporary file."""
        dtype = self.scan.dtype(self.encoding)
        buffer = ColumnBuffer(dtype, None if isinstance(where, bool) else where)
        blocks = self.scan.blocks(self.encoding, self.block_rows, dtype)
        for X in read_ahead(blocks):
            buffer.append(X)
        return replace(self, store=buffer.finish())


@dataclass(frozen=True)
class ParquetRows:
    """Rows in files; their columns are arrays, or temporary files where they are long."""

    blocks: ParquetBlocks
    labels: Labels
    weight: Column
    cluster: Column | None = None

    @property
    def n_features(self) -> int:
        return len(self.blocks.encoding.names)

    def sum_rows(self, fn: Callable[..., T], *columns: Column) -> T:
        with paying_threads(self.n_features, USING):
            return reduce(plus, self._map(fn, columns))

    def sum_columns(self, fn: Callable[..., T], *columns: Column) -> T:
        return reduce(plus, self._map_columns(fn, columns))

    def map_rows(self, fn: Callable[..., Floats], *columns: Column) -> Column:
        with paying_threads(self.n_features, USING):
            return buffered(self._map(fn, columns))

    def map_columns(self, fn: Callable[..., Floats], *columns: Column) -> Column:
        return buffered(self._map_columns(fn, columns))

    def collect(self, fn: Callable[..., Floats], *columns: Column) -> Floats:
        return np.concatenate(list(self._map_columns(fn, columns)))

    def scatter(self, values: NDArray[Any]) -> NDArray[Any]:
        return values

    def restrict(
        self, weight: Column, *columns: Column
    ) -> tuple["ParquetRows", tuple[Column, ...]]:
        """All the rows: to read some of a file takes as long as to read it."""
        return self, columns

    def centred(self, centre: Floats) -> "ParquetRows":
        """The rows with another origin, subtracted whenever a block is read."""
        return replace(self, blocks=replace(self.blocks, centre=centre))

    def thinned(self, most: int) -> None:
        """Rows that are elsewhere are met by a pass over all of them."""

    def _map(self, fn: Callable[..., T], columns: tuple[Column, ...]) -> Iterator[T]:
        return (fn(X, *_cut(columns, b)) for b, X in self.blocks)

    def _map_columns(self, fn: Callable[..., T], columns: tuple[Column, ...]) -> Iterator[T]:
        return (fn(*_cut(columns, b)) for b in self.blocks.slices)


def _cut(columns: tuple[Column, ...], b: slice) -> Iterator[Any]:
    """The values of a block, in double precision, whatever they are kept in."""

    def values(column: Column) -> Floats:
        return np.ascontiguousarray(column[b], dtype=np.float64)

    return (each_column(values, column) for column in columns)


def read_ahead(blocks: Iterator[T]) -> Iterator[T]:
    """Blocks made by a thread ahead of their use."""
    with ThreadPoolExecutor(1) as reader:
        coming = deque(reader.submit(next, blocks, None) for _ in range(AHEAD))
        while (block := coming.popleft().result()) is not None:
            coming.append(reader.submit(next, blocks, None))
            yield block
