"""Rows held in memory, dense or CSR, cut into cache-sized blocks.

The cut depends on the data alone and sums are taken in block order, so the same rows give the
same answer. Blocks are worked on one after the other: BLAS brings threads of its own to the
products, and Python threads over blocks lost to the interpreter lock what they won.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import itemgetter
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from doublelogit._types import Column, Floats, Ints, Matrix
from doublelogit.common.threads import paying_threads
from doublelogit.core.labels import Labels, labels_of
from doublelogit.core.rows import RowColumns, each_column, plus

T = TypeVar("T")

# A block fits the last-level cache, where it is used several times; smaller ones would spend
# their time in the interpreter and leave nothing for BLAS to share between threads.
BLOCK_BYTES = 2**23
# Columns of a block of so many rows are taken from the heap; longer ones would be mapped and zeroed
# by the system every time, which costs more than what is computed in them.
BLOCK_ROWS = 2**13
LEAST_THINNING = 3  # of rows, below which a part costs nearly as much as the whole
# Rows set aside are copied if they are at most this share of all. Up to a half it would save a
# tenth of TM's time, for a copy of half of X; to gather them in every pass saves nothing.
COPIED = 1 / 8


@dataclass(frozen=True)
class MemoryRows:
    """Rows in memory: their features, and columns that are arrays."""

    X: Matrix
    labels: Labels
    weight: Floats
    cluster: Ints | None = None
    block_rows: int = 0  # 0: by the size of the cache
    _blocks: tuple[slice, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        step = self.block_rows or _rows_per_block(self.X)
        starts = range(0, max(len(self), 1), step)  # of no rows, one block: sums need a first
        object.__setattr__(self, "_blocks", tuple(slice(i, i + step) for i in starts))

    def __len__(self) -> int:
        return len(self.weight)

    @property
    def n_features(self) -> int:
        return int(self.X.shape[1])

    @property
    def columns(self) -> RowColumns:
        """All that the rows carry beside their features."""
        return RowColumns(self.labels, self.weight, self.cluster)

    def sum_rows(self, fn: Callable[..., T], *columns: Column) -> T:
        with paying_threads(self.n_features):
            return reduce(plus, self._map(fn, columns))

    def sum_columns(self, fn: Callable[..., T], *columns: Column) -> T:
        return reduce(plus, (fn(*_cut(columns, b)) for b in self._blocks))

    def map_rows(self, fn: Callable[..., Floats], *columns: Column) -> Floats:
        with paying_threads(self.n_features):
            results = list(self._map(fn, columns))
        return results[0] if len(results) == 1 else np.concatenate(results)

    def map_columns(self, fn: Callable[..., Floats], *columns: Column) -> Floats:
        return fn(*columns)

    def collect(self, fn: Callable[..., Floats], *columns: Column) -> Floats:
        return fn(*columns)

    def scatter(self, values: NDArray[Any]) -> NDArray[Any]:
        return values

    def restrict(self, weight: Floats, *columns: Floats) -> tuple["MemoryRows", tuple[Floats, ...]]:
        inside = np.flatnonzero(weight)
        if len(inside) > COPIED * len(weight):
            return self, columns
        return self.some(inside), tuple(_cut(columns, inside))

    def some(self, rows: Any) -> "MemoryRows":
        """Some of the rows, by their numbers or as a slice."""
        columns = each_column(itemgetter(rows), self.columns)
        return replace(self, X=self.X[rows], **columns._asdict())

    def centred(self, centre: Floats) -> "MemoryRows | None":
        """The rows with another origin, which costs a copy; None where X is sparse."""
        if sparse.issparse(self.X):
            return None
        return replace(self, X=self.X - centre)

    def thinned(self, most: int) -> "MemoryRows | None":
        """Every so many-th row, as a view where X is dense; None if that is hardly fewer."""
        step = len(self) // most
        return None if step < LEAST_THINNING else self.some(slice(None, None, step))

    def _map(self, fn: Callable[..., T], columns: tuple[Column, ...]) -> Iterator[T]:
        return (fn(self._features(b), *_cut(columns, b)) for b in self._blocks)

    def _features(self, b: slice) -> Matrix:
        """The features of a block, in double precision, as a view wherever possible."""
        X = _csr_rows(self.X, b) if sparse.issparse(self.X) else self.X[b]
        return X if X.dtype == np.float64 else X.astype(np.float64)


def memory_rows(
    X: Matrix,
    s: Floats,
    *,
    weight: Floats | None = None,
    audited: Floats | None = None,
    certain: bool = True,
    block_rows: int = 0,
) -> MemoryRows:
    """Rows of plain arrays: audited ones as given, labelled ones positive if that is certain."""
    labels = labels_of(s, audited, certain)
    weight = np.ones(len(s)) if weight is None else np.asarray(weight, dtype=np.float64)
    return MemoryRows(X, labels, weight, block_rows=block_rows)


def _cut(columns: tuple[Column, ...], rows: Any) -> Iterator[Any]:
    cut = itemgetter(rows)
    # arrays first: this is done for every block of every pass
    return (cut(c) if isinstance(c, np.ndarray) else each_column(cut, c) for c in columns)


def _rows_per_block(X: Matrix) -> int:
    n, p = X.shape
    if not sparse.issparse(X):
        return min(rows_per_block(8 * p), BLOCK_ROWS)
    # a block's gradient is a dense vector: let the entries of a block outweigh it
    return rows_per_block(12 * X.nnz / max(n, 1) + 4, max(BLOCK_BYTES, 32 * p))


def rows_per_block(bytes_per_row: float, block_bytes: int = BLOCK_BYTES) -> int:
    """Rows that make a block, within reason."""
    return int(np.clip(block_bytes / max(bytes_per_row, 1), 1024, 2**17))


def _csr_rows(X: Any, b: slice) -> Any:
    """Some rows of a CSR matrix, sharing its memory."""
    start, stop = b.start, min(b.stop, X.shape[0])
    low, high = X.indptr[start], X.indptr[stop]
    rows = type(X)((stop - start, X.shape[1]), dtype=X.dtype)
    # set one by one: given to the constructor, slices would be copied
    rows.data, rows.indices = X.data[low:high], X.indices[low:high]
    rows.indptr = X.indptr[start : stop + 1] - low
    return rows
