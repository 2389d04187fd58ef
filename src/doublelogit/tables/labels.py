"""What the words of a label column mean: labelled or not, positive or not, not known."""

from typing import Any, NamedTuple

import numpy as np

from doublelogit._types import Floats
from doublelogit.exceptions import TableError

YES = {"1", "yes", "y", "true", "t", "positive", "pos", "labelled", "labeled", "x"}
NO = {"0", "-1", "no", "n", "false", "f", "negative", "neg", "unlabelled", "unlabeled", "unknown"}


class Labels(NamedTuple):
    """1 for labelled rows and 0 for others, the value that meant labelled, and notes on it."""

    s: Floats
    positive: str
    notes: list[str]


def code_labels(column: Any, positive: str | None = None) -> Labels:
    """Labels of a column of a table.

    Parameters
    ----------
    column : pandas.Series
        1/0, yes/no, true/blank or any two values.
    positive : str, default=None
        The value that means labelled; needed unless the values say so themselves. Every other
        value, and no value, is then unlabelled.
    """
    words = as_words(column)
    present = words[words != ""]
    values = sorted(set(present.tolist()))
    name, notes = column.name, []
    if positive is None:
        positive = _evident(values, bool((words == "").any()), name)
    else:
        positive = _among(positive, values, name)
        if len(values) > 2:
            notes.append(
                f"Of the {len(values)} values of {name!r} only {positive!r} means labelled; "
                "every other one is unlabelled."
            )
    s = (words == positive).astype(float)
    if (words == "").any() and len(values) > 1:
        notes.append(f"{int((words == '').sum())} empty cells of {name!r} count as unlabelled.")
    if not 0 < s.sum() < len(s):
        which = "no row is" if not s.any() else "every row is"
        raise TableError(
            f"the table must have labelled and unlabelled rows, but by column {name!r} {which} "
            f"labelled. Labelled is {positive!r}; name another value by --positive."
        )
    return Labels(s, positive, notes)


def code_audited(column: Any) -> Floats:
    """1 positive, 0 negative, NaN for rows that nobody looked at."""
    words = as_words(column)
    coded = np.full(len(words), np.nan)
    for i, word in enumerate(words):
        if word.lower() in YES:
            coded[i] = 1.0
        elif word.lower() in NO:
            coded[i] = 0.0
        elif word:
            raise TableError(
                f"the audited column {column.name!r} must hold 1/0, yes/no or nothing; got "
                f"{word!r} in row {i + 1}."
            )
    return coded


def as_words(column: Any) -> Any:
    """Values of a column as text: 1.0 is "1", True is "true", nothing is ""."""
    if column.dtype == bool:
        column = column.astype(int)
    missing = column.isna().to_numpy()
    numeric = column.dtype.kind in "iuf"
    words = [
        "" if gone else _number(value) if numeric else str(value).strip()
        for value, gone in zip(column.tolist(), missing, strict=True)
    ]
    return np.array(words, dtype=object)


def _number(value: float) -> str:
    return str(int(value)) if float(value).is_integer() else repr(value)


def _evident(values: list[str], has_blanks: bool, name: Any) -> str:
    yes = [v for v in values if v.lower() in YES]
    no = [v for v in values if v.lower() in NO]
    if len(yes) == 1 and len(yes) + len(no) == len(values):
        return yes[0]
    if len(values) == 1 and has_blanks and not no:  # a mark, or nothing
        return values[0]
    raise TableError(
        f"which value of {name!r} means labelled is not evident: it holds {_listed(values)}. "
        "Name it by --positive."
    )


def _among(positive: str, values: list[str], name: Any) -> str:
    same = [v for v in values if v == positive] or [
        v for v in values if v.lower() == positive.lower()
    ]
    if len(same) != 1:
        raise TableError(
            f"{positive!r} is no value of the label column {name!r}: it holds {_listed(values)}. "
            "Name one of them by --positive."
        )
    return same[0]


def _listed(values: list[str], most: int = 6) -> str:
    shown = ", ".join(repr(v if len(v) <= 40 else v[:39] + "…") for v in values[:most])
    rest = f" and {len(values) - most} more" if len(values) > most else ""
    return (shown + rest) or "nothing"
