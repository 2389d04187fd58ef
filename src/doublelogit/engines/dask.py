"""Rows on the workers of a Dask cluster, or in Dask's own threads where there is none.

Each partition becomes rows in memory where it is, and every verb is one task per partition.
Columns stay beside their partitions; statistics come to the caller and are added in the order of
the partitions. What a lost worker held is computed again by Dask from where it came.

Tasks are not named by content: hashing the data would cost more than the work.
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial, reduce
from operator import itemgetter
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from doublelogit._types import Column, Floats, Matrix
from doublelogit.common.extras import needs
from doublelogit.core.labels import Labels
from doublelogit.core.rows import Prepare, RowColumns, each_column, plus
from doublelogit.engines.memory import MemoryRows
from doublelogit.engines.parquet import CODED
from doublelogit.engines.scan import ObservedColumns, ParquetScan
from doublelogit.exceptions import ClusterLostError
from doublelogit.tables.encoding import TableEncoding
from doublelogit.tables.labels import LabelCoding

T = TypeVar("T")


@dataclass(frozen=True)
class DaskRows:
    """Partitions, each a delayed :class:`MemoryRows`; a column is a list of delayed arrays."""

    parts: list[Any]
    n_features: int
    is_sparse: bool
    labels: Labels
    weight: Column
    cluster: Column | None = None
    client: Any = None  # by which the partitions are kept on a cluster

    def sum_rows(self, fn: Callable[..., T], *columns: Column) -> T:
        return reduce(plus, self._gather("sum_rows", fn, columns))

    def sum_columns(self, fn: Callable[..., T], *columns: Column) -> T:
        return reduce(plus, self._gather("sum_columns", fn, columns))

    def collect(self, fn: Callable[..., Floats], *columns: Column) -> Floats:
        return np.concatenate(self._gather("collect", fn, columns))

    def map_rows(self, fn: Callable[..., Floats], *columns: Column) -> Column:
        return _persist(self._tasks("map_rows", fn, columns), self.client)

    def map_columns(self, fn: Callable[..., Floats], *columns: Column) -> Column:
        return _persist(self._tasks("map_columns", fn, columns), self.client)

    def scatter(self, values: NDArray[Any]) -> Column:
        import dask

        sizes = self._gather("sum_columns", len, (self.weight,))
        pieces = np.split(values, np.cumsum(sizes)[:-1])
        return [dask.delayed(piece) for piece in pieces]

    def restrict(self, weight: Column, *columns: Column) -> tuple["DaskRows", tuple[Column, ...]]:
        few = _persist(
            [
                _delayed(_restricted)(part, *cut)
                for part, *cut in self._partitions((weight, *columns))
            ],
            self.client,
        )
        forms = (RowColumns(self.labels, self.weight, self.cluster), *columns)
        parts = _persist(_items(few, 0), self.client)
        rows, *cut = (_split(_items(few, i + 1), form, self.client) for i, form in enumerate(forms))
        return replace(self, parts=parts, **rows._asdict()), tuple(cut)

    def centred(self, centre: Floats) -> "DaskRows | None":
        if self.is_sparse:
            return None
        work = _delayed(MemoryRows.centred)
        moved = _persist([work(part, centre) for part in self.parts], self.client)
        return replace(self, parts=moved)

    def thinned(self, most: int) -> None:
        """Rows that are elsewhere are met by a pass over all of them."""

    def _tasks(self, verb: str, fn: Callable[..., Any], columns: tuple[Column, ...]) -> list[Any]:
        work = _delayed(partial(_do, verb, fn))
        return [work(part, *cut) for part, *cut in self._partitions(columns)]

    def _partitions(self, columns: tuple[Column, ...]) -> Iterator[tuple[Any, ...]]:
        """Each partition with its share of the columns."""
        for i, part in enumerate(self.parts):
            yield part, *(each_column(itemgetter(i), column) for column in columns)

    def _gather(self, verb: str, fn: Callable[..., Any], columns: tuple[Column, ...]) -> list[Any]:
        import dask

        with one_sentence(self.client):
            return list(dask.compute(*self._tasks(verb, fn, columns), optimize_graph=False))


@contextmanager
def one_sentence(client: Any = None) -> Iterator[None]:
    """What Dask says in a dozen ways when its cluster is gone, as one error.

    Errors of the work itself, raised on a worker, pass through as they are.
    """
    try:
        yield
    except Exception as error:
        gone = client is not None and client.status != "running"
        if not (gone or isinstance(error, CancelledError) or _of_distributed(error)):
            raise
        raise ClusterLostError(
            "the scheduler or the workers of the Dask cluster were lost in the middle of the work "
            f"({type(error).__name__}); the model is as it was before. Connect a client to a "
            "cluster again and repeat the call."
        ) from error


def _of_distributed(error: BaseException) -> bool:
    """Whether an error, or the one that it was made of, is the cluster's own."""
    kinds = type(error).__mro__
    if any(kind.__module__.partition(".")[0] == "distributed" for kind in kinds):
        return True
    return error.__cause__ is not None and _of_distributed(error.__cause__)


def _do(verb: str, fn: Callable[..., Any], rows: MemoryRows, *columns: Floats) -> Any:
    return getattr(rows, verb)(fn, *columns)


def _restricted(rows: MemoryRows, weight: Floats, *columns: Any) -> tuple[Any, ...]:
    few, cut = rows.restrict(weight, *columns)
    return (few, few.columns, *cut)


def _delayed(fn: Callable[..., Any]) -> Any:
    import dask

    # not by content: a hash of the data would cost more than the work
    return dask.delayed(fn, pure=False, traverse=False)


def _client() -> Any:
    """The client of the cluster that work goes to; None where there is none."""
    distributed = sys.modules.get("distributed")
    try:
        return None if distributed is None else distributed.default_client()
    except ValueError:  # Dask's own threads
        return None


def _persist(tasks: Sequence[Any], client: Any) -> list[Any]:
    import dask

    with one_sentence(client):
        return list(dask.persist(*tasks, optimize_graph=False))


def _items(values: Sequence[Any], i: int | str) -> list[Any]:
    """One item, or attribute, of what every partition has."""
    return [_delayed(_item)(each, i) for each in values]


def _item(values: Any, i: int | str) -> Any:
    return getattr(values, i) if isinstance(i, str) else values[i]


def _split(values: list[Any], form: Any, client: Any) -> Column:
    """A column from what every partition has; a named tuple of columns if ``form`` is one."""
    if form is None:
        return None
    if isinstance(form, tuple):
        columns = (_split(_items(values, i), each, client) for i, each in enumerate(form))
        return type(form)(*columns)
    return _persist(values, client)


@dataclass(frozen=True)
class DaskSource:
    """Delayed partitions of features (arrays, frames) and of what is known of the rows."""

    features: list[Any]
    observed: list[Any]
    lengths: Sequence[float]
    n_features: int
    names: tuple[str, ...] | None
    is_sparse: bool = False
    encoding: TableEncoding | None = None
    known_labels: NDArray[Any] | None = None  # without a look at the partitions
    clustered: bool = False

    def labels(self) -> NDArray[Any]:
        import dask

        if self.known_labels is not None:
            return self.known_labels
        with one_sentence():
            values = dask.compute(*(_delayed(_distinct)(observed) for observed in self.observed))
        return np.unique(np.concatenate(values))

    def rows(self, prepare: Prepare) -> DaskRows:
        work = _delayed(partial(_part, prepare))
        pairs = zip(self.features, self.observed, strict=True)
        client = _client()
        parts = _persist([work(i, X, observed) for i, (X, observed) in enumerate(pairs)], client)
        form = RowColumns(Labels(True, True), True, True if self.clustered else None)
        columns = _split(_items(parts, "columns"), form, client)
        return DaskRows(parts, self.n_features, self.is_sparse, **columns._asdict(), client=client)

    def map(self, fn: Callable[[Matrix], NDArray[Any]]) -> Any:
        import dask.array as da

        like = fn(np.zeros((1, self.n_features)))
        work = _delayed(partial(_predicted, fn))
        return da.concatenate(
            [
                da.from_delayed(work(i, X), (n, *like.shape[1:]), like.dtype)
                for i, (X, n) in enumerate(zip(self.features, self.lengths, strict=True))
            ],
            allow_unknown_chunksizes=True,
        )


def _distinct(observed: ObservedColumns) -> NDArray[Any]:
    return np.unique(np.asarray(observed.label))


def _part(prepare: Prepare, i: int, X: Any, observed: ObservedColumns) -> MemoryRows:
    X = _numbers(X, i)
    if len(observed.label) != X.shape[0]:
        raise ValueError(
            "X and y must have the same rows in each partition; partition "
            f"{i} has {X.shape[0]} rows of X and {len(observed.label)} labels."
        )
    try:
        return MemoryRows(X, *prepare(*observed))
    except ValueError as error:
        raise ValueError(f"partition {i}: {error}") from None


def _predicted(fn: Callable[[Matrix], NDArray[Any]], i: int, X: Any) -> NDArray[Any]:
    X = _numbers(X, i)
    return fn(X) if X.shape[0] else fn(np.zeros((1, X.shape[1])))[:0]


def _numbers(X: Any, i: int) -> Matrix:
    """A partition's features as a matrix of finite numbers."""
    if sparse.issparse(X):
        X, values = X.tocsr(), X.data
    else:
        X = values = np.ascontiguousarray(X)
    if values.dtype.kind not in "fiub":
        raise ValueError(f"features must be numbers; partition {i} holds {values.dtype}.")
    if not np.isfinite(values).all():
        raise ValueError(f"features must be finite numbers; partition {i} has others.")
    return X if X.dtype in (np.float32, np.float64) else X.astype(np.float64)


def is_dask(X: Any) -> bool:
    """Whether X is a Dask collection; if Dask was never imported, it is none."""
    dask = sys.modules.get("dask")
    return dask is not None and bool(dask.is_dask_collection(X))


def dask_source(
    X: Any, y: Any = None, weight: Any = None, audited: Any = None, groups: Any = None
) -> DaskSource:
    """Rows of Dask arrays or data frames."""
    columns = {"y": y, "sample_weight": weight, "audited_y": audited, "groups": groups}
    source = _from_frame(X, columns) if hasattr(X, "columns") else _from_array(X, columns)
    return replace(source, clustered=groups is not None)


def _from_array(X: Any, given: dict[str, Any]) -> DaskSource:
    X = X.rechunk({1: X.shape[1]})
    lengths = X.chunks[0]
    columns = [_cut(name, column, lengths) for name, column in given.items()]
    features = X.to_delayed().ravel().tolist()
    parts = [_delayed(ObservedColumns)(*each) for each in zip(*columns, strict=True)]
    return DaskSource(features, parts, lengths, X.shape[1], None, sparse.issparse(X._meta))


def _from_frame(X: Any, columns: dict[str, Any]) -> DaskSource:
    """One frame of all columns: Dask may cut two frames of the same files differently."""
    names = tuple(map(str, X.columns))
    given = {f"__{name}": column for name, column in columns.items() if column is not None}
    if not all(map(is_dask, given.values())):
        with one_sentence():
            lengths = X.map_partitions(len).compute().tolist()
        given = {name: _as_dask(name, column, lengths) for name, column in given.items()}
    parts = X.assign(**given).to_delayed()
    features = [_delayed(_columns)(part, list(X.columns)) for part in parts]
    cut = [
        [_delayed(_columns)(part, f"__{name}") if f"__{name}" in given else None for part in parts]
        for name in columns
    ]
    pieces = [_delayed(ObservedColumns)(*each) for each in zip(*cut, strict=True)]
    return DaskSource(features, pieces, (np.nan,) * len(parts), len(names), names)


def _columns(frame: Any, names: Any) -> Any:
    return frame[names]


def _as_dask(name: str, column: Any, lengths: Sequence[float]) -> Any:
    """Values that are here, cut like the partitions of X."""
    import dask.array as da

    if is_dask(column):
        return column
    values = np.asarray(column)
    _check_length(name, len(values), lengths)
    return da.from_array(values, chunks=(tuple(lengths),))


def _check_length(name: str, n: float, lengths: Sequence[float]) -> None:
    if n != sum(lengths):
        name = name.removeprefix("__")
        raise ValueError(f"{name} must have one value per row; got {n} for {sum(lengths)} rows.")


def _cut(name: str, column: Any, lengths: Sequence[float]) -> list[Any]:
    """A column in the partitions of a Dask array."""
    if column is None:
        return [None] * len(lengths)
    if not is_dask(column) and np.isnan(lengths).any():
        raise ValueError(
            f"{name} must be a Dask array if X is one of unknown chunk sizes; got "
            f"{type(column).__name__}. Or call X.compute_chunk_sizes() first."
        )
    column = _as_dask(name, column, lengths)
    if hasattr(column, "rechunk") and not np.isnan([*lengths, *column.chunks[0]]).any():
        _check_length(name, len(column), lengths)
        column = column.rechunk((tuple(lengths),))
    parts = np.ravel(column.to_delayed()).tolist()
    if len(parts) != len(lengths):
        raise ValueError(f"{name} must have the partitions of X, {len(lengths)}; got {len(parts)}.")
    return parts


def scan_source(scan: ParquetScan, encoding: TableEncoding) -> DaskSource:
    """Rows of Parquet files that the workers read."""
    needs("dask", "distributed=True", "dask")
    coding = None if scan.roles is None else scan.coding
    read = _delayed(partial(_read, scan, encoding, coding))
    pieces = [read(piece) for piece in scan.files.pieces()]
    features, observed = ([_delayed(_item)(piece, i) for piece in pieces] for i in (0, 1))
    names, lengths = encoding.names, (np.nan,) * len(pieces)
    return DaskSource(
        features,
        observed,
        lengths,
        len(names),
        names,
        encoding=encoding,
        known_labels=CODED,
        clustered=scan.roles is not None and scan.roles.cluster is not None,
    )


def _read(
    scan: ParquetScan, encoding: TableEncoding, coding: LabelCoding | None, piece: Any
) -> tuple[Floats, ObservedColumns]:
    return scan.piece(piece, encoding, coding)
