"""Rows to predict, of a frame or of a scan: probabilities, ids, and the features of some rows."""

import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from doublelogit._types import Floats
from doublelogit.engines.scan import ParquetScan
from doublelogit.exceptions import TableError, TableWarning
from doublelogit.fitted import Probabilities
from doublelogit.table_models.table_model import FittedTable
from doublelogit.tables import Roles, Table, read_table
from doublelogit.tables.label_columns import labelled_rows
from doublelogit.tables.labels import code_audited
from doublelogit.tables.table import row_ids

BLOCK = 2**16  # rows of a scan at once


@dataclass(frozen=True)
class FrameRows:
    """Rows in memory, encoded once: columns, features, ids, and which may be hidden positives."""

    model: FittedTable
    frame: Any
    X: Any
    ids: Any
    unlabelled: Any
    id_name: str | None  # of the column of ids

    @classmethod
    def of(cls, model: FittedTable, table: Table) -> "FrameRows":
        """Rows of a table, whose labels and audited classes are coded already."""
        X = table.encoded(model.encoding)
        return cls(model, table.features, X, table.ids, table.unlabelled, table.roles.id)

    @cached_property
    def probabilities(self) -> Probabilities:
        return self.model.classifier.probabilities(self.X)

    @property
    def mean(self) -> Floats:
        """Mean of every feature."""
        return np.asarray(self.X.to_numpy().mean(axis=0))

    def some(self, rows: Any) -> tuple[Any, Any]:
        """Columns and features of some rows, in this order."""
        return self.frame.iloc[rows], self.X.iloc[rows]


@dataclass(frozen=True)
class ScanRows:
    """Rows of Parquet files; no more than a block of features is in memory."""

    model: FittedTable
    scan: ParquetScan

    @property
    def id_name(self) -> str | None:
        """Name of the column of ids, if the files have it."""
        name = self.model.roles.id
        return name if name in self._names else None

    @property
    def _names(self) -> list[str]:
        return list(self.scan.files.schema.names)

    @cached_property
    def probabilities(self) -> Probabilities:
        four = self.model.classifier.probabilities(self.scan.encoded_by(self.model.encoding))
        if self.scan.distributed:
            import dask

            # together: each on its own would have the workers read the files four times
            four = Probabilities(*dask.compute(*four))
        if len(four.hidden) == 0:
            raise TableError("the table must have rows; got none, or none that pass the filter.")
        return four

    @property
    def ids(self) -> Any:
        """Ids of the rows, or their numbers from 1."""
        if self.id_name is None:
            return row_ids(range(len(self.probabilities.hidden)), None)
        return row_ids(self.scan.frame([self.id_name]), self.id_name)

    @property
    def unlabelled(self) -> Any:
        """Rows that may be hidden positives; all, if the files have no label column."""
        roles = self.model.roles
        named = [name for name in (*roles.labels, roles.audited) if name in self._names]
        if not named:
            return np.ones(len(self.probabilities.hidden), dtype=bool)
        return may_be_hidden(self.scan.frame(named), roles)

    @cached_property
    def mean(self) -> Floats:
        """Mean of every feature."""
        total, n = 0.0, 0
        for X in self.scan.blocks(self.model.encoding, BLOCK):
            total, n = total + X.sum(axis=0), n + len(X)
        return np.asarray(total / n)

    def some(self, rows: Any) -> tuple[Any, Any]:
        """Columns and features of some rows, in this order."""
        names = [column.name for column in self.model.encoding.columns]
        frame = self.scan.take(np.asarray(rows), names)
        return frame, self.model.encoding.encode(frame)[0]


AnyRows = FrameRows | ScanRows


def rows_of(model: FittedTable, table: Any) -> AnyRows:
    """The rows of a file, frame, table or scan; a TableWarning says what differs from fit."""
    if isinstance(table, ParquetScan):
        model.encoding.check_columns(table.files.schema.names)
        return ScanRows(model, table)
    if isinstance(table, Table):
        return FrameRows.of(model, table)
    roles = model.roles
    frame = read_table(table, text=roles.text_columns, verbatim=roles.verbatim_columns)
    X, issues = model.encoding.encode(frame)
    for issue in issues:
        warnings.warn(issue, TableWarning, stacklevel=4)
    name = roles.id if roles.id in frame.columns else None
    return FrameRows(model, frame, X, row_ids(frame, name), may_be_hidden(frame, roles), name)


def may_be_hidden(frame: Any, roles: Roles) -> Any:
    """Rows without a label and without an audited class, as far as the columns are there."""
    hidden = np.ones(len(frame), dtype=bool)
    if all(name in frame.columns for name in roles.labels):
        hidden &= ~labelled_rows(frame, roles)
    if roles.audited is not None and roles.audited in frame.columns:
        hidden &= np.isnan(code_audited(frame[roles.audited]))
    return hidden
