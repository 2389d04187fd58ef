"""The table: its columns, how they were used, and what is doubtful about them."""

from typing import Any

import numpy as np

from doublelogit.common.thresholds import MANY_MISSING
from doublelogit.findings import Finding
from doublelogit.findings import table as tables
from doublelogit.report.analysis import Analysis
from doublelogit.report.section import Checks, Numbers, Section, beside
from doublelogit.tables.columns import Category, ColumnEncoding, Ignored, Number


def compute(analysis: Analysis) -> Numbers:
    """The table's size, columns and labels."""
    table = analysis.table
    columns = analysis.model.encoding.columns
    numbers = {
        "rows": len(table),
        "labelled": int(table.s.sum()),
        "unlabelled": int((table.s == 0).sum()),
        "audited": 0 if table.audited is None else int((~np.isnan(table.audited)).sum()),
        "weighted": table.weight is not None,
        "label": table.roles.label_words,
        "positive": table.roles.positive,
        "encoded_columns": analysis.X.shape[1],
        "columns": [_column(column, table.features[column.name]) for column in columns],
        "notes": list(table.notes),
    }
    return {"data": numbers}


def _column(column: ColumnEncoding, values: Any) -> dict[str, Any]:
    return {
        "name": column.name,
        "kind": column.kind,
        "missing": float(values.isna().mean()),
        "distinct": int(values.nunique()),
        "unit": column.meaning,
        "note": _note(column, int(values.nunique())),
    }


def _note(column: ColumnEncoding, distinct: int) -> str:
    """Treatment of a column beyond what its kind tells."""
    if isinstance(column, Category) and distinct > len(column.levels):
        return f"the {len(column.levels) - 1} commonest levels; the others together"
    if isinstance(column, Ignored):
        return column.reason
    return column.shape.words if isinstance(column, Number) else ""


def findings(analysis: Analysis, _numbers: Numbers) -> list[Finding]:
    """Doubts about the table."""
    return list(analysis.doubts.serious)


def checks(analysis: Analysis) -> Checks:
    """Everything about rows, columns and labels, whether doubtful or fine."""
    return {"Data": _data(analysis), "Labels": _labels(analysis)}


def _data(analysis: Analysis) -> list[Finding]:
    table, encoding = analysis.table, analysis.model.encoding
    ignored = [column for column in encoding.columns if isinstance(column, Ignored)]
    missing = table.features.isna().mean()
    return [
        tables.size(len(table), len(encoding.used), analysis.X.shape[1]),
        *(tables.ignored(column.name, column.reason) for column in ignored),
        *(tables.missing(str(n), share) for n, share in missing.items() if share > MANY_MISSING),
        *analysis.doubts.ids,
        *analysis.doubts.shaped,
        *analysis.doubts.leaks,
    ]


def _labels(analysis: Analysis) -> list[Finding]:
    table, roles = analysis.table, analysis.table.roles
    labelled, share = int(table.s.sum()), float(table.s.mean())
    return [
        tables.labels(labelled, share, roles.label_words, str(roles.positive)),
        *analysis.doubts.few_labels,
        *(tables.note(text) for text in table.notes),
    ]


SECTION = Section("data", "Data", compute, findings, checks, fragment=beside(__file__), place=0)
