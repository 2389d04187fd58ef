"""Findings about a table: its rows, columns and labels."""

from collections.abc import Mapping

from doublelogit.common.thresholds import CORRUPT, FEW_LABELS
from doublelogit.common.wording import counted, listed, percent
from doublelogit.findings import ATTENTION, FINE, PROBLEM, Finding
from doublelogit.tables.words import short


def size(rows: int, features: int, encoded: int) -> Finding:
    """How large a table is."""
    text = f"{counted(rows, 'row')}, {counted(features, 'feature')}, encoded as "
    text += f"{counted(encoded, 'number')}."
    return Finding(FINE, "data", text, {"rows": rows, "features": features, "encoded": encoded})


def ignored(column: str, reason: str) -> Finding:
    """A column that no model can use."""
    return Finding(ATTENTION, "data", f"{column!r} is ignored: {reason}.")


def missing(column: str, share: float) -> Finding:
    """A column with many missing values."""
    text = f"{share:.0%} of the values of {column!r} are missing."
    return Finding(ATTENTION, "data", text, {"share": share})


def labels(labelled: int, share: float, column: str, positive: str) -> Finding:
    """How many rows are labelled."""
    text = f"{counted(labelled, 'row')} ({percent(share)}) "
    text += f"{'is' if labelled == 1 else 'are'} labelled: {column!r} is {positive!r}."
    return Finding(FINE, "labels", text, {"labelled": labelled, "share": share})


def few_labels(labelled: int, coefficients: int) -> Finding:
    """Too few labels for so many coefficients."""
    each = labelled / coefficients
    text = (
        f"There are {each:.1f} labelled rows per coefficient ({labelled:,} for {coefficients:,}); "
        f"below {FEW_LABELS} estimates rest on the penalty. Name fewer `features`, or collect "
        "labels."
    )
    level = PROBLEM if each < 1 else ATTENTION
    return Finding(level, "labels", text, {"per_coefficient": each})


def maybe_id(column: str, rows: int) -> Finding:
    """A column that may name the rows, and would be a feature."""
    text = (
        f"{column!r} has another whole number in each of {counted(rows, 'row')}. If it names them, "
        "say so (`id`), or leave it out (`ignore`): it is a feature now."
    )
    return Finding(ATTENTION, "data", text, {"column": column})


KNOWN_BY = (
    "A column that is known because of the label tells nothing of unlabelled rows: leave it out "
    "(`ignore`)."
)


def leak_copy(column: str) -> Finding:
    """A column that is the label once more."""
    text = f"{column!r} is a copy of the label: it tells exactly the labelled rows. {KNOWN_BY}"
    return Finding(PROBLEM, "leak", text, {"column": column})


def leak_present(column: str, rows: int, labelled: int) -> Finding:
    """A column that has values for labelled rows alone."""
    text = (
        f"{column!r} exists only where labelled: of {counted(rows, 'row')} with a value "
        f"{labelled:,} are labelled. {KNOWN_BY}"
    )
    return Finding(PROBLEM, "leak", text, {"column": column, "rows": rows, "labelled": labelled})


def leak(column: str, rows: int, labelled: int, total: int) -> Finding:
    """A column that nearly decides the label."""
    text = (
        f"{column!r} alone nearly decides the label: of {counted(rows, 'row')} that it picks "
        f"{labelled:,} are labelled, {labelled / total:.0%} of all labels. If the label, or what "
        f"followed from it, is in this column, it leaks. {KNOWN_BY}"
    )
    return Finding(PROBLEM, "leak", text, {"column": column, "rows": rows, "labelled": labelled})


TRANSFORMS = {"log": "logarithms", "root": "square roots"}


def transformed(columns: Mapping[str, str]) -> Finding:
    """Skewed columns, by the transform that each has."""
    columns_by_transform = [
        f"{listed([repr(c) for c, used in columns.items() if used == name], 6)} as {words}"
        for name, words in TRANSFORMS.items()
        if name in columns.values()
    ]
    text = f"Skewed columns are transformed: {', '.join(columns_by_transform)}."
    return Finding(FINE, "data", text, {"transformed": dict(columns)})


def infinite(column: str, cells: int) -> Finding:
    """Cells that are no finite number."""
    taken = "is infinite and counts" if cells == 1 else "are infinite and count"
    text = f"{counted(cells, 'cell')} of {column!r} {taken} as missing. Mend the table."
    return Finding(ATTENTION, "data", text, {"column": column, "cells": cells})


def capped(column: str, cells: int, furthest: float, cap: float, times: float) -> Finding:
    """Cells far from all others, and what they are taken for."""
    text = (
        f"{counted(cells, 'cell')} of {column!r} {'lies' if cells == 1 else 'lie'} beyond any "
        f"other (as far as {short(furthest)}); taken for {short(cap)}."
    )
    level = ATTENTION if times > CORRUPT else FINE
    if level == ATTENTION:
        text += " Is that an error?" if cells == 1 else " Are those errors?"
    numbers = {"column": column, "cells": cells, "furthest": furthest, "cap": cap}
    return Finding(level, "data", text, numbers)


def note(text: str) -> Finding:
    """Something about how the label column was read."""
    return Finding(ATTENTION, "labels", text)
