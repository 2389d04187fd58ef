"""One equation: the shift of logits at which probabilities average to a share."""

from collections.abc import Callable

import numpy as np
from scipy.special import expit

from doublelogit._types import Floats

MOST_STEPS = 50  # guard: Newton's method takes about five
SHARE_GUARD = 1e-12  # guard: shares of 0 and 1 have no logit
# Levels at which a table of averages is made, by one pass over the rows for any number of shares.
LEVELS = np.linspace(-15, 15, 61)


Average = tuple[Floats, Floats]  # mean probabilities at some levels, and their derivatives


def level_of(average: Callable[[Floats], Average], share: Floats, tolerance: float) -> Floats:
    """Levels at which averages are shares, all by Newton's method at once, from zero on."""
    level = np.zeros(np.shape(share))
    for _ in range(MOST_STEPS):
        mean, slope = average(level)
        short = share - mean
        if np.abs(short).max() < tolerance:
            break
        level = level + np.clip(short / np.maximum(slope, tolerance), -1.0, 1.0)
    return level


def average_at(logits: Floats, weight: Floats, level: Floats) -> Average:
    """Sums over rows of probabilities at a level, by the weights of the rows."""
    y = expit(logits + level)
    return weight @ y, weight @ (y * (1 - y))


def sums_of_table(logits: Floats, weight: Floats) -> Floats:
    """Sum of probabilities at every level of the table."""
    return np.array([weight @ expit(logits + level) for level in LEVELS])  # a matrix would be large


def level_from_table(averages: Floats, share: Floats) -> Floats:
    """Levels of some shares, interpolated in the table."""
    return np.asarray(np.interp(share, averages, LEVELS))
