"""Sums by group, as floats."""

from typing import Any

import numpy as np

from doublelogit._types import Floats


def sum_by(group: Any, values: Any, groups: int = 0) -> Floats:
    """Sum of values over the rows of each group, which are numbered from 0."""
    return np.asarray(np.bincount(group, weights=values, minlength=groups), dtype=np.float64)
