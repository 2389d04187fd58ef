"""Values of a column as text, and a list of texts for a message."""

import sys
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np


def as_words(column: Any) -> Any:
    """Values of a column as text: 1.0 and True are "1", a missing value is "".

    What a value is called depends on the value alone, not on what else the column holds.
    """
    missing = column.isna().to_numpy()
    words = [
        "" if gone else as_word(value) for value, gone in zip(column.tolist(), missing, strict=True)
    ]
    return np.array(words, dtype=object)


def distinct_words(column: Any) -> tuple[Any, Any]:
    """The texts of a column, each value once, and the place of each row's among them."""
    import pandas as pd

    codes, values = pd.factorize(column)
    words = as_words(pd.Series(values, name=column.name))
    return np.append(words, ""), codes  # missing values have the code -1: the last place


def pattern(*words: str) -> str:
    """Regular expression of every text that is one of some words, spaces about it or not.

    Runtimes of graphs have RE2, whose own class of spaces is smaller than Python's.
    """
    alternatives = "|".join("".join(map(_literal, word)) for word in words)
    return f"[{_spaces()}]*(?:{alternatives})[{_spaces()}]*"


@cache
def _spaces() -> str:
    """All characters that ``str.strip`` removes, as members of a class."""
    return "".join(_literal(c) for c in map(chr, range(sys.maxunicode + 1)) if c.isspace())


def _literal(character: str) -> str:
    plain = character.isascii() and character.isalnum()
    return character if plain else f"\\x{{{ord(character):x}}}"


def as_word(value: Any) -> str:
    """One value as text."""
    if isinstance(value, bool | int | np.bool_ | np.integer):
        return str(int(value))
    if isinstance(value, float | np.floating):
        return str(int(value)) if float(value).is_integer() else repr(float(value))
    return str(value).strip()


def is_missing(value: Any) -> bool:
    """Whether a value is None, NaN or pandas' sign of a missing value."""
    # the last differs from everything, and from itself, undecidedly
    return value is None or type(value).__name__ == "NAType" or bool(value != value)


def quoted(values: Sequence[str], most: int = 6) -> str:
    """The first values in quotes, long ones cut, and how many more there are."""
    shown = ", ".join(repr(shortened(v, 40)) for v in values[:most])
    rest = f" and {len(values) - most} more" if len(values) > most else ""
    return (shown + rest) or "nothing"


def shortened(text: str, longest: int) -> str:
    """A text cut to a length."""
    return text if len(text) <= longest else text[: longest - 1] + "…"


def short(x: float) -> str:
    """A number in a few digits, large ones as people write them."""
    text = f"{x:.4g}"
    return f"{float(text):,.0f}" if 1e4 <= abs(x) < 1e13 else text
