"""What the values of a label column mean: labelled or not, positive or not, unknown."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np

from doublelogit._types import Floats
from doublelogit.exceptions import TableError
from doublelogit.tables.words import as_word, distinct_words, is_missing, quoted

YES = {"1", "yes", "y", "true", "t", "positive", "pos", "labelled", "labeled", "x"}
WHOLE = re.compile(r"-?\d+\.0+")
NO = {"0", "-1", "no", "n", "false", "f", "negative", "neg", "unlabelled", "unlabeled", "unknown"}


@dataclass(frozen=True)
class LabelCoding:
    """The value that means labelled; every other value, and no value, is unlabelled.

    ``notes`` say what a user must know of how values were taken.
    """

    positive: str
    notes: tuple[str, ...] = ()

    @classmethod
    def learn(cls, counts: Mapping[str, int], positive: str | None, name: str) -> "LabelCoding":
        """The coding that the values of a column ask for.

        Parameters
        ----------
        counts : mapping of str to int
            How often each value occurs, as text; "" is a missing one.
        positive : str or None
            The value that means labelled; needed unless the values say so themselves.
        name : str
            Name of the column.
        """
        values = sorted(value for value in counts if value != "")
        blank, notes = counts.get("", 0), list[str]()
        if positive is None:
            positive = _evident(values, blank > 0, name)
        else:
            positive = _among(positive, values, name)
            if len(values) > 2:
                notes.append(
                    f"Of the {len(values)} values of {name!r} only {positive!r} means labelled; "
                    "every other one is unlabelled."
                )
        if blank and len(values) > 1:
            notes.append(f"{blank} empty cells of {name!r} count as unlabelled.")
        if counts[positive] == sum(counts.values()):
            raise TableError(
                f"the table must have labelled and unlabelled rows, but by column {name!r} every "
                f"row is labelled. Labelled is {positive!r}; name another value as `positive`."
            )
        return cls(positive, tuple(notes))

    def encode(self, column: Any) -> Floats:
        """1 for labelled rows and 0 for others."""
        return (label_words(column) == self.positive).astype(np.float64)


def label_words(column: Any) -> Any:
    """Values of a label column as text; "1.0" in a text is the number 1."""
    words, of_row = distinct_words(column)
    for i, word in enumerate(words):
        if WHOLE.fullmatch(word):
            words[i] = word.partition(".")[0]
    return words[of_row]


def code_labels(column: Any, positive: str | None = None) -> tuple[Floats, LabelCoding]:
    """Labels of a column of a table, and what its values mean.

    Parameters
    ----------
    column : pandas.Series
        1/0, yes/no, true/blank or any two values.
    positive : str, default=None
        The value that means labelled.
    """
    values, times = np.unique(label_words(column), return_counts=True)
    counts = dict(zip(values.tolist(), times.tolist(), strict=True))
    coding = LabelCoding.learn(counts, positive, str(column.name))
    return coding.encode(column), coding


def code_audited(column: Any, first: int = 1) -> Floats:
    """1 positive, 0 negative, NaN for rows that nobody looked at; rows count from ``first``."""
    words = label_words(column)
    coded = np.full(len(words), np.nan)
    for i, word in enumerate(words):
        if word.lower() in YES:
            coded[i] = 1.0
        elif word.lower() in NO:
            coded[i] = 0.0
        elif word:
            raise TableError(
                f"the audited column {column.name!r} must hold 1/0, yes/no or nothing; got "
                f"{word!r} in row {i + first}."
            )
    return coded


def code_weights(column: Any, first: int = 1) -> Floats:
    """Number of times each row counts; rows are numbered from ``first``."""
    import pandas as pd

    weight = pd.to_numeric(column, errors="coerce").to_numpy(dtype=float, na_value=np.nan)
    bad = ~(np.isfinite(weight) & (weight >= 0))
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        value = column.iloc[row]
        value = value.item() if isinstance(value, np.generic) else value
        raise TableError(
            f"weights must be numbers from 0 up; got {value!r} in row {row + first} of "
            f"{column.name!r}."
        )
    return weight


def cluster_codes(values: Any) -> Floats:
    """The cluster of each row as a whole number, by its name alone: the same on every engine."""
    words = [_cluster(value, row) for row, value in enumerate(np.asarray(values).tolist(), 1)]
    names, codes = np.unique(np.array(words, dtype=str), return_inverse=True)
    # 53 bits: engines read columns in double precision
    numbers = [
        int.from_bytes(blake2b(name.encode(), digest_size=8).digest(), "big") >> 11
        for name in names.tolist()
    ]
    return np.array(numbers, dtype=np.float64)[codes]


def _cluster(value: Any, row: int) -> str:
    if is_missing(value) or not (word := as_word(value)):
        raise TableError(f"every row must have a cluster; row {row} has none.")
    return word


def evident_positive(values: list[str]) -> str | None:
    """The one value that means yes beside values that mean no; None if it is not evident."""
    yes = [v for v in values if v.lower() in YES]
    no = [v for v in values if v.lower() in NO]
    return yes[0] if len(yes) == 1 and len(yes) + len(no) == len(values) else None


def _evident(values: list[str], has_blanks: bool, name: str) -> str:
    positive = evident_positive(values)
    if positive is not None:
        return positive
    if len(values) == 1 and has_blanks and values[0].lower() not in NO:  # a mark, or nothing
        return values[0]
    raise TableError(
        f"which value of {name!r} means labelled is not evident: it holds {quoted(values)}. "
        "Name it as `positive`."
    )


def _among(positive: str, values: list[str], name: str) -> str:
    """The value that a user means: the same text, in other case, or with the same meaning."""
    wanted = positive.lower()
    same = [v for v in values if v == positive] or [v for v in values if v.lower() == wanted]
    for meaning in (YES, NO):
        if not same and wanted in meaning:
            same = [v for v in values if v.lower() in meaning]
    if len(same) != 1:
        raise TableError(
            f"{positive!r} is no value of the label column {name!r}: it holds {quoted(values)}. "
            "Name one of them as `positive`."
        )
    return same[0]
