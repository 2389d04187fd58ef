"""Random numbers of rows: the same for a row whatever engine holds it, and however it is cut."""

import numpy as np
from numpy.typing import NDArray

from doublelogit._types import Ints

Keys = NDArray[np.uint64]


def row_keys(rows: Ints, seed: int) -> Keys:
    """A random number for each row number: SplitMix64 of the seed and the row."""
    mixed = np.asarray(rows, dtype=np.uint64) + np.uint64(1)
    with np.errstate(over="ignore"):
        start = _mix(np.array([seed], dtype=np.uint64) + np.uint64(0x9E3779B97F4A7C15))
        return _mix(start ^ _mix(mixed * np.uint64(0x9E3779B97F4A7C15)))


def _mix(z: Keys) -> Keys:
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


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
