"""Exact quantiles of a column that may be too long to sort or to bring to the caller.

Algorithm::

    an order statistic lies in some range of floating-point numbers, at first in that of all of them
    repeat until few rows are left in the range
        weigh the rows of each of 4096 equal parts of the range      one pass over the column
        range <- the part in which the weight sought for is passed
    sort what is left

Floating-point numbers, read as integers with the negative ones reversed, have the order of their
values; 64 bits are used up after six passes, so that any number of ties ends the search too.
"""

from collections.abc import Callable
from functools import partial
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from doublelogit._types import Column, Floats
from doublelogit.core.rows import quantile

T = TypeVar("T")

FEW_ROWS = 2**17  # rows that may travel and be sorted at once: two megabytes
BITS = 12  # of the numbers, settled in each pass
SIGN = np.uint64(1 << 63)


class Summable(Protocol):
    """Columns that can be summed over and collected: rows, or a stream of numbers."""

    def sum_columns(self, fn: Callable[..., T], *columns: Column) -> T: ...
    def collect(self, fn: Callable[..., Floats], *columns: Column) -> Floats: ...


def quantile_over(
    rows: Summable,
    column: Column,
    weight: Column,
    q: float,
    to: Callable[[Floats], Floats] = np.asarray,
) -> float:
    """:func:`doublelogit.core.rows.quantile` of ``to(column)``, an increasing function of it."""
    count, total = rows.sum_columns(_size, weight)
    if count <= FEW_ROWS:
        values, weights = rows.collect(_present, column, weight).T
        return quantile(to(values), weights, q)
    position = q * max(total - 1, 0.0)
    low = np.floor(position)
    pair = [_order_statistic(rows, column, weight, low + i) for i in (0, 1)]
    first, second = to(np.array(pair))
    return float(first + (second - first) * (position - low))


def _size(weight: Floats) -> tuple[int, float]:
    return int(np.count_nonzero(weight)), float(weight.sum())


def _present(column: Floats, weight: Floats) -> Floats:
    """The values with weight, and their weights beside them."""
    inside = weight > 0
    return np.column_stack([column[inside], weight[inside]])


KeyRange = tuple[int, int]  # numbers whose keys are from the first on, two to the second of them


def _order_statistic(rows: Summable, column: Column, weight: Column, position: float) -> float:
    """The smallest value up to which there is more weight than position, or the largest one."""
    start, width, below, count = 0, 64, 0.0, FEW_ROWS + 1
    while count > FEW_ROWS and width > 0:
        weights, counts = rows.sum_columns(partial(_weighed, (start, width)), column, weight)
        cumulated = below + np.cumsum(weights)
        last = int(np.flatnonzero(counts)[-1])
        i = min(int(np.searchsorted(cumulated, position, side="right")), last)
        width = max(width - BITS, 0)
        below = float(cumulated[i - 1]) if i else below
        start, count = start + (i << width), int(counts[i])
    values, weights = rows.collect(partial(_distinct, (start, width)), column, weight).T
    order = np.argsort(values, kind="stable")
    cumulated = below + np.cumsum(weights[order])
    at = int(np.searchsorted(cumulated, position, side="right"))
    return float(values[order][min(at, len(values) - 1)])


def _keys(values: Floats) -> NDArray[np.uint64]:
    """Integers in the order of the values."""
    bits = np.ascontiguousarray(values, dtype=np.float64).view(np.uint64)
    return np.where(bits & SIGN, ~bits, bits | SIGN)


def _inside(here: KeyRange, column: Floats, weight: Floats) -> NDArray[np.bool_]:
    keys, (start, width) = _keys(column), here
    end = start + (1 << width) - 1
    return (keys >= np.uint64(start)) & (keys <= np.uint64(end)) & (weight > 0)


def _weighed(here: KeyRange, column: Floats, weight: Floats) -> tuple[Floats, Floats]:
    """Weight and number of the rows in each of the equal pieces of a range."""
    inside, (start, width) = _inside(here, column, weight), here
    shift = np.uint64(max(width - BITS, 0))
    piece = ((_keys(column[inside]) - np.uint64(start)) >> shift).astype(np.intp)
    n = 1 << min(BITS, width)
    counts = np.bincount(piece, minlength=n).astype(np.float64)
    return np.bincount(piece, weight[inside], n).astype(np.float64), counts


def _distinct(here: KeyRange, column: Floats, weight: Floats) -> Floats:
    """The values in a range, each once, with the weight it has here."""
    inside = _inside(here, column, weight)
    values, index = np.unique(column[inside], return_inverse=True)
    return np.column_stack([values, np.bincount(index, weight[inside], len(values))])
