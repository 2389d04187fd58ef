"""What is doubtful about a table before anything is fitted: leaks, far cells, too few labels."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from doublelogit._types import Floats
from doublelogit.common.thresholds import (
    FEW_LABELS,
    FEWEST_LABELS,
    LEAK_PRECISION,
    LEAK_RECALL,
    LEAK_RECALL_PRESENT,
)
from doublelogit.engines.scan import ParquetScan
from doublelogit.findings import FINE, Finding
from doublelogit.findings import table as findings
from doublelogit.tables import Table, TableEncoding
from doublelogit.tables.columns import Category, ColumnEncoding, Date, Number, as_numbers, levels_of

FEWEST_IDS = 50  # rows: of fewer many a measurement has another value in each


@dataclass(frozen=True)
class TableDoubts:
    """Findings about a table before a fit, computed once: fit, ``check`` and report show them.

    Parameters
    ----------
    leaks : tuple of Finding
        Columns that know the label.
    few_labels : tuple of Finding
        More coefficients than the labels can bear.
    shaped : tuple of Finding
        Columns that are transformed, cells that are capped or infinite; some are fine.
    ids : tuple of Finding
        Columns that may name the rows.
    """

    leaks: tuple[Finding, ...] = ()
    few_labels: tuple[Finding, ...] = ()
    shaped: tuple[Finding, ...] = ()
    ids: tuple[Finding, ...] = ()

    @classmethod
    def of(cls, rows: Table | ParquetScan) -> "TableDoubts":
        """Doubts of a table; of a scan, whose rows are not in memory, of its labels alone."""
        if isinstance(rows, ParquetScan):
            encoding = rows.learned_encoding(scaled=True)
            return cls(few_labels=tuple(_few_labels(rows.n_labelled, encoding)))
        return cls(
            tuple(_leaks(rows)),
            tuple(_few_labels(int(rows.s.sum()), rows.encoding)),
            tuple(_shaped(rows)),
            tuple(_ids(rows)),
        )

    @property
    def serious(self) -> tuple[Finding, ...]:
        """Findings that a user should know before a fit, most important first."""
        every = (*self.leaks, *self.few_labels, *self.ids, *self.shaped)
        return tuple(finding for finding in every if finding.level != FINE)


def _few_labels(labelled: int, encoding: TableEncoding) -> list[Finding]:
    p = len(encoding.names)
    return [findings.few_labels(labelled, p)] if labelled < FEW_LABELS * p else []


def _ids(table: Table) -> Iterator[Finding]:
    """Whole numbers of which no two rows have the same, as those that name rows have."""
    for column in table.encoding.used:
        values = table.features[column.name]
        whole = values.dtype.kind in "iu" and len(values) >= FEWEST_IDS
        if whole and isinstance(column, Number) and values.is_unique:
            yield findings.maybe_id(column.name, len(values))


def _shaped(table: Table) -> Iterator[Finding]:
    numbers = [column for column in table.encoding.used if isinstance(column, Number)]
    bent = {c.name: c.transform for c in numbers if c.transform}
    if bent:
        yield findings.transformed(bent)
    for column in numbers:
        x = _raw(table.features[column.name])
        infinite = int(np.isinf(x).sum())
        if infinite:
            yield findings.infinite(column.name, infinite)
        yield from _capped(column, x[np.isfinite(x)])


def _capped(column: Number, x: Floats) -> Iterator[Finding]:
    """The cells of a column beyond its caps, on each side."""
    for cap, beyond in (
        (column.low, x < _or(column.low, -np.inf)),
        (column.high, x > _or(column.high, np.inf)),
    ):
        if cap is not None and beyond.any():
            furthest = float(x[beyond][np.argmax(np.abs(x[beyond] - cap))])
            times = abs(furthest - column.fill) / max(abs(cap - column.fill), np.finfo(float).tiny)
            yield findings.capped(column.name, int(beyond.sum()), furthest, cap, times)


def _or(cap: float | None, otherwise: float) -> float:
    return otherwise if cap is None else cap


def _raw(column: Any) -> Floats:
    """Numbers of a column, infinite ones as they are."""
    import pandas as pd

    if column.dtype.kind == "m":
        return as_numbers(column)
    return np.asarray(pd.to_numeric(column, errors="coerce").to_numpy(dtype=float, na_value=np.nan))


def _leaks(table: Table) -> list[Finding]:
    s, columns = table.s == 1, table.encoding.used
    suspects = [_leak(column, table.features[column.name], s) for column in columns]
    return [leak for leak in suspects if leak is not None]


def _leak(column: ColumnEncoding, values: Any, s: Any) -> Finding | None:
    present = ~_absent(values)
    rows, labelled = int(present.sum()), int((present & s).sum())
    if rows < len(s) and _certain(rows, labelled, int(s.sum()), LEAK_RECALL_PRESENT):
        return findings.leak_present(column.name, rows, labelled)
    if isinstance(column, Category):
        rows, labelled = _by_level(levels_of(values), s)
    elif isinstance(column, Number | Date):
        rows, labelled = _by_threshold(column.encode(values)[0][:, 0], s)
    if not _certain(rows, labelled, int(s.sum()), LEAK_RECALL):
        return None
    if rows == labelled == int(s.sum()):
        return findings.leak_copy(column.name)
    return findings.leak(column.name, rows, labelled, int(s.sum()))


def _absent(values: Any) -> Any:
    """Cells without a value, or with an empty text."""
    gone = values.isna().to_numpy()
    return gone | (values == "").to_numpy(dtype=bool) if values.dtype == object else gone


def _certain(rows: int, labelled: int, total: int, recall: float) -> bool:
    """Whether nearly all of so many rows are labelled, and they are many of the labelled."""
    enough = labelled >= max(recall * total, FEWEST_LABELS)
    return enough and labelled >= LEAK_PRECISION * rows


def _by_level(words: Any, s: Any) -> tuple[int, int]:
    """Rows, and labelled rows, of the levels that are nearly always labelled."""
    _, codes = np.unique(words, return_inverse=True)
    rows = np.bincount(codes)
    labelled = np.bincount(codes, weights=s)
    sure = labelled >= LEAK_PRECISION * rows
    return int(rows[sure].sum()), int(labelled[sure].sum())


def _by_threshold(x: Floats, s: Any) -> tuple[int, int]:
    """Rows, and labelled rows, of the longest end of a column that is nearly always labelled."""
    best = (0, 0)
    for values in (x, -x):
        order = np.argsort(values, kind="stable")
        last = np.append(np.diff(values[order]) > 0, True)  # of rows with one value
        rows = np.arange(1, len(x) + 1)[last]
        labelled = np.cumsum(s[order])[last]
        sure = np.flatnonzero(labelled >= LEAK_PRECISION * rows)
        if len(sure) and labelled[sure[-1]] > best[1]:
            best = int(rows[sure[-1]]), int(labelled[sure[-1]])
    return best
