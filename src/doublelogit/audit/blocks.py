"""Rows of an audit, block by block: in memory, from Parquet files, on the workers of Dask.

Everything above asks a function of every block and puts the answers together, so that only sums
and the rows of a sample travel. A model is a :class:`TableClassifier` with a table, or a classifier
with features and labels.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import repeat
from typing import Any, TypeVar

import numpy as np

from doublelogit._types import Floats, Ints
from doublelogit.audit.calibration import Calibration
from doublelogit.engines.dask import dask_source, is_dask, one_sentence
from doublelogit.engines.scan import ParquetScan
from doublelogit.estimators.out_of_core import nameless
from doublelogit.exceptions import TableError
from doublelogit.table_models.table_model import FittedTable
from doublelogit.table_models.table_rows import may_be_hidden
from doublelogit.tables import Table, read_table
from doublelogit.tables.label_columns import labelled_rows
from doublelogit.tables.labels import code_audited, code_weights
from doublelogit.tables.read import from_arrow
from doublelogit.tables.table import row_groups
from doublelogit.tables.words import as_words

AUDIT_BLOCK = 2**17  # rows of a scan at once
T = TypeVar("T")


@dataclass(frozen=True)
class Request:
    """What is asked of every row beside h: columns of a table by name, or arrays.

    ``models`` are classifiers whose h is wanted instead of the model's own, such as those of
    cross-fitting; ``swapped`` asks for the h of the swapped model; ``line`` puts h right by what an
    earlier audit found.
    """

    by: Any = None
    cost: Any = None
    clusters: Any = None
    swapped: bool = False
    models: tuple[Any, ...] = ()
    line: Calibration | None = None

    @property
    def columns(self) -> dict[str, str]:
        """Columns of the table that are named."""
        given = {"by": self.by, "cost": self.cost, "clusters": self.clusters}
        return {role: name for role, name in given.items() if isinstance(name, str)}


@dataclass(frozen=True)
class Block:
    """Some rows: ``hidden`` is h, one column per model; ``open`` rows have an unknown class.

    ``positive`` rows are known to be positive. ``names`` are ids as they stand in the table; None
    where rows are numbered from 1.
    """

    hidden: Floats
    swapped: Floats | None
    open: Any
    positive: Any
    names: Any
    weight: Floats | None
    group: Any
    cost: Floats | None
    cluster: Any

    def __len__(self) -> int:
        return len(self.hidden)

    @property
    def h(self) -> Floats:
        """The model's h."""
        return np.asarray(self.hidden[:, 0])

    def ids(self, start: int, rows: Ints | None = None) -> Any:
        """Ids of rows as text; the block begins with the row of this number."""
        rows = np.arange(len(self)) if rows is None else rows
        if self.names is None:
            return np.array([str(start + row + 1) for row in rows.tolist()], dtype=object)
        return as_words(self.names.iloc[rows])


@dataclass(frozen=True)
class MemoryBlocks:
    """Rows in memory: one block."""

    block: Block

    def map(self, fn: Callable[..., T], *each: Iterable[Any]) -> list[T]:
        return [fn(self.block, *(next(iter(items)) for items in each))]

    numbered = False  # one block begins with the first row


@dataclass(frozen=True)
class ScanBlocks:
    """Rows of Parquet files, of which no more than a block is in memory, or pieces on workers."""

    scan: ParquetScan
    fitted: FittedTable
    request: Request

    def map(self, fn: Callable[..., T], *each: Iterable[Any]) -> list[T]:
        if self.scan.distributed:
            pieces = self.scan.files.pieces()
            work = partial(_of_piece, self, fn)
            return _on_workers(work, [[piece] for piece in pieces], each)
        rest = zip(*each, strict=False) if each else repeat(())
        return [
            fn(frame_block(self.fitted, frame, self.request), *items)
            for frame, items in zip(self._frames(), rest, strict=False)
        ]

    @property
    def numbered(self) -> bool:
        return self.fitted.roles.id is None

    def _frames(self, piece: Any = None) -> Iterator[Any]:
        for _, batch in self.scan.files.batches(self.columns, AUDIT_BLOCK, piece):
            yield from_arrow(batch)

    @cached_property
    def columns(self) -> list[str]:
        """Columns of the files that are needed."""
        roles, names = self.fitted.roles, list(self.scan.files.schema.names)
        used = [column.name for column in self.fitted.encoding.used]
        named = [
            *roles.labels,
            roles.id,
            roles.weight,
            roles.audited,
            *self.request.columns.values(),
        ]
        for name in self.request.columns.values():
            _check_column(name, names)
        return [name for name in names if name in {*used, *named}]


def _of_piece(blocks: ScanBlocks, fn: Callable[..., T], piece: Any, *each: Any) -> T:
    import pandas as pd

    frames = list(blocks._frames(piece)) or [pd.DataFrame(columns=blocks.columns)]
    frame = pd.concat(frames, ignore_index=True)
    return fn(frame_block(blocks.fitted, frame, blocks.request), *each)


@dataclass(frozen=True)
class DaskBlocks:
    """Partitions of Dask collections of features and labels."""

    classifier: Any
    X: Any
    y: Any
    request: Request

    def map(self, fn: Callable[..., T], *each: Iterable[Any]) -> list[T]:
        source = dask_source(self.X, self.y)
        work = partial(_of_partition, nameless(self.classifier), self.request, fn)
        partitions = [list(pair) for pair in zip(source.features, source.observed, strict=True)]
        return _on_workers(work, partitions, each)

    numbered = True


# Rows in blocks. ``map`` gives a function of every block one item of each iterable as well;
# ``numbered`` rows are named by their numbers, so that each block must know its first.
Blocks = MemoryBlocks | ScanBlocks | DaskBlocks


def first_rows(blocks: Blocks) -> Iterable[int]:
    """Number of the first row of each block, as far as names of rows depend on it."""
    if not blocks.numbered:
        return repeat(0)
    lengths = blocks.map(len)
    return (np.cumsum(lengths) - lengths).tolist()


def _of_partition(
    classifier: Any, request: Request, fn: Callable[..., T], X: Any, observed: Any, *each: Any
) -> T:
    return fn(array_block(classifier, np.asarray(X), np.asarray(observed.label), request), *each)


def _on_workers(work: Callable[..., T], partitions: list[list[Any]], each: Any) -> list[T]:
    import dask

    task = dask.delayed(work, pure=False, traverse=False)
    rest = zip(*each, strict=False) if each else repeat(())
    with one_sentence():
        tasks = [
            task(*partition, *items) for partition, items in zip(partitions, rest, strict=False)
        ]
        return list(dask.compute(*tasks, optimize_graph=False))


def fitted_table(model: Any) -> FittedTable | None:
    """The fitted table of a model; None if it is a classifier of features."""
    return model if isinstance(model, FittedTable) else vars(model).get("fitted_")


def blocks_of(model: Any, X: Any, y: Any, request: Request) -> Blocks:
    """The rows of a table and its model, or of features, labels and their classifier."""
    fitted = fitted_table(model)
    if fitted is None:
        if y is None:
            raise ValueError("a classifier of features needs the labels as well; got y=None.")
        if is_dask(X):
            return DaskBlocks(model, X, y, request)
        return MemoryBlocks(array_block(model, X, np.asarray(y), request))
    if isinstance(X, ParquetScan):
        return ScanBlocks(X, fitted, request)
    if isinstance(X, Table):
        return MemoryBlocks(table_block(fitted, X, request))
    roles = fitted.roles
    frame = read_table(X, text=roles.text_columns, verbatim=roles.verbatim_columns)
    if isinstance(request.by, str):  # many numbers become quarters, which takes all rows
        _check_column(request.by, list(frame.columns))
        request = replace(request, by=row_groups(frame[request.by]))
    return MemoryBlocks(frame_block(fitted, frame, request))


def frame_block(fitted: FittedTable, frame: Any, request: Request) -> Block:
    """The block of some rows of a table."""
    roles = fitted.roles
    X = (
        fitted.encoding.encode(frame)[0]
        if len(frame)
        else np.zeros((0, len(fitted.encoding.names)))
    )
    positive = labelled_rows(frame, roles)
    if roles.audited is not None:
        positive |= code_audited(frame[roles.audited]) == 1
    block = _scored(fitted.classifier, X, request)
    return replace(
        block,
        open=may_be_hidden(frame, roles),
        positive=positive,
        names=None if roles.id is None else frame[roles.id].reset_index(drop=True),
        weight=None if roles.weight is None else code_weights(frame[roles.weight]),
        **_named(frame, request),
    )


def table_block(fitted: FittedTable, table: Table, request: Request) -> Block:
    """The block of a table in memory; rows of an audit file are open, those of a column are not."""
    import pandas as pd

    closed, positive = np.zeros(len(table), dtype=bool), table.s == 1
    if table.roles.audited is not None and table.audited is not None:
        closed, positive = ~np.isnan(table.audited), positive | (table.audited == 1)
    if isinstance(request.by, str):
        group = (
            table.group if request.by == table.roles.by else row_groups(table.features[request.by])
        )
        request = replace(request, by=group)
    block = _scored(fitted.classifier, table.encoded(fitted.encoding), request)
    return replace(
        block,
        open=(table.s == 0) & ~closed,
        positive=positive,
        names=None if table.roles.id is None else pd.Series(table.ids),
        weight=table.weight,
        **_named(table.features, request),
    )


def array_block(classifier: Any, X: Any, y: Any, request: Request) -> Block:
    """The block of features and labels."""
    positive = y == classifier.classes_[1]
    block = _scored(classifier, X, request)
    return replace(block, open=~positive, positive=positive, **_named({}, request))


def _scored(classifier: Any, X: Any, request: Request) -> Block:
    """Probabilities of some rows, and nothing else yet."""
    models = request.models or (classifier,)
    n = X.shape[0]
    hidden = [np.asarray(m.predict_hidden(X), float) if n else np.zeros(0) for m in models]
    swapped = None
    if request.swapped:
        swapped = np.asarray(classifier.swapped().predict_hidden(X)) if n else np.zeros(0)
    if request.line is not None:
        hidden = [request.line.recalibrate(h) for h in hidden]
    nothing = np.zeros(n, dtype=bool)
    return Block(np.column_stack(hidden), swapped, nothing, nothing, None, None, None, None, None)


def _named(frame: Any, request: Request) -> dict[str, Any]:
    """Group, cost and cluster of every row."""

    def column(role: Any) -> Any:
        if not isinstance(role, str):
            return role
        _check_column(role, list(getattr(frame, "columns", [])))
        return frame[role].reset_index(drop=True)

    by, cost, clusters = column(request.by), column(request.cost), column(request.clusters)
    return {
        "group": None if by is None else _words(by),
        "cost": None if cost is None else _checked_cost(cost),
        "cluster": None if clusters is None else _words(clusters),
    }


def _words(column: Any) -> Any:
    import pandas as pd

    return as_words(column if isinstance(column, pd.Series) else pd.Series(np.asarray(column)))


def _checked_cost(column: Any) -> Floats:
    cost = np.asarray(column, dtype=float)
    if not (np.isfinite(cost) & (cost > 0)).all():
        bad = cost[~(np.isfinite(cost) & (cost > 0))][0]
        raise TableError(f"costs must be numbers above 0; got {bad}.")
    return cost


def _check_column(name: str, columns: list[str]) -> None:
    if name not in columns:
        raise TableError(
            f"the column {name!r} is not in the table. It has {', '.join(map(repr, columns[:12]))}."
        )
