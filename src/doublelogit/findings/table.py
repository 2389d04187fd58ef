"""Findings about a table: its rows, columns and labels."""

from doublelogit.findings import ATTENTION, FINE, Finding
from doublelogit.thresholds import FEW_LABELS
from doublelogit.wording import counted, percent


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


def few_labels(per_coefficient: float) -> Finding:
    """Too few labels for so many coefficients."""
    text = (
        f"That is {per_coefficient:.1f} labelled rows per coefficient; below {FEW_LABELS} "
        "estimates rest on the penalty. Name fewer features, or collect labels."
    )
    return Finding(ATTENTION, "labels", text, {"per_coefficient": per_coefficient})


def note(text: str) -> Finding:
    """Something about how the label column was read."""
    return Finding(ATTENTION, "labels", text)
