"""Random numbers of rows: the same for a row whatever engine holds it, and however it is cut."""

import numpy as np

from doublelogit._types import Ints
from doublelogit.core.folds import GOLDEN_RATIO, Keys, mix


def row_keys(rows: Ints, seed: int) -> Keys:
    """A random number for each row number: SplitMix64 of the seed and the row."""
    mixed = np.asarray(rows, dtype=np.uint64) + np.uint64(1)
    with np.errstate(over="ignore"):
        start = mix(np.array([seed], dtype=np.uint64) + np.uint64(GOLDEN_RATIO))
        return mix(start ^ mix(mixed * np.uint64(GOLDEN_RATIO)))


def smallest(keys: Keys, stratum: Ints, drawn: Ints) -> Ints:
    """Positions of the rows with the smallest keys of each stratum, so many of each.

    They are a simple random sample of the stratum, and the smallest of two parts are among the
    smallest of each: parts can be looked at one by one.
    """
    order = np.lexsort((keys, stratum))
    sorted_stratum = stratum[order]
    first = np.searchsorted(sorted_stratum, np.arange(len(drawn)))
    rank = np.arange(len(order)) - first[sorted_stratum]
    return order[rank < drawn[sorted_stratum]]
