"""What is doubtful about a table before anything is fitted: leaks, far cells, too few labels."""

from collections.abc import Iterator
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
from doublelogit.findings import FINE, Finding
from doublelogit.findings import table as findings
from doublelogit.tables import Table, TableEncoding
from doublelogit.tables.columns import Category, ColumnEncoding, Date, Number, as_numbers, levels_of
from doublelogit.tables.expansion import plain


def doubts(table: Table, encoding: TableEncoding) -> list[Finding]:
    """What a user should know before a fit, most important first; nothing that is fine."""
    few = few_labels(int(table.s.sum()), encoding)
    found = [*leaks(table, encoding), *few, *shaped(table, encoding)]
    return [finding for finding in found if finding.level != FINE]


def few_labels(labelled: int, encoding: TableEncoding) -> list[Finding]:
    """Whether there are more coefficients than the labels can bear."""
    p = len(encoding.plain.names)
    return [findings.few_labels(labelled, p)] if labelled < FEW_LABELS * p else []


def shaped(table: Table, encoding: TableEncoding) -> Iterator[Finding]:
    """Columns that are transformed, cells that are capped or infinite."""
    columns = [plain(column) for column in encoding.used]
    numbers = [column for column in columns if isinstance(column, Number)]
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


def leaks(table: Table, encoding: TableEncoding) -> list[Finding]:
    """Columns that know the label: with it, because of it, or instead of it."""
    s = table.s == 1
    columns = [plain(column) for column in encoding.used]
    for column in columns:
        if column not in table.found:
            table.found[column] = _leak(column, table.features[column.name], s)
    return [table.found[column] for column in columns if table.found[column] is not None]


def _leak(column: ColumnEncoding, values: Any, s: Any) -> Finding | None:
    present = ~_absent(values)
    rows, labelled = int(present.sum()), int((present & s).sum())
    if rows < len(s) and _certain(rows, labelled, int(s.sum()), LEAK_RECALL_PRESENT):
        return findings.leak_present(column.name, rows, labelled)
    if isinstance(column, Category):
        rows, labelled = _by_level(levels_of(values), s)
    elif isinstance(column, Number | Date):
        rows, labelled = _by_threshold(column.encode(values).values[:, 0], s)
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
