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
from typing import NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from doublelogit._types import Column, Floats
from doublelogit.core.rows import quantile

T = TypeVar("T")

FEW = 2**17  # rows that may travel and be sorted at once: two megabytes
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
    if count <= FEW:
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


class _Range(NamedTuple):
    """Numbers whose keys are from ``start`` on, ``2**width`` of them, and the weight below."""

    start: int
    width: int
    below: float


def _order_statistic(rows: Summable, column: Column, weight: Column, position: float) -> float:
    """The smallest value up to which there is more weight than position, or the largest one."""
    here, count = _Range(0, 64, 0.0), FEW + 1
    while count > FEW and here.width > 0:
        weights, counts = rows.sum_columns(partial(_parts, here), column, weight)
        cumulated = here.below + np.cumsum(weights)
        last = int(np.flatnonzero(counts)[-1])
        part = min(int(np.searchsorted(cumulated, position, side="right")), last)
        shift = max(here.width - BITS, 0)
        below = float(cumulated[part - 1]) if part else here.below
        here, count = _Range(here.start + (part << shift), shift, below), int(counts[part])
    values, weights = rows.collect(partial(_distinct, here), column, weight).T
    order = np.argsort(values, kind="stable")
    cumulated = here.below + np.cumsum(weights[order])
    at = int(np.searchsorted(cumulated, position, side="right"))
    return float(values[order][min(at, len(values) - 1)])


def _keys(values: Floats) -> NDArray[np.uint64]:
    """Integers in the order of the values."""
    bits = np.ascontiguousarray(values, dtype=np.float64).view(np.uint64)
    return np.where(bits & SIGN, ~bits, bits | SIGN)


def _inside(here: _Range, column: Floats, weight: Floats) -> NDArray[np.bool_]:
    keys, end = _keys(column), here.start + (1 << here.width) - 1
    return (keys >= np.uint64(here.start)) & (keys <= np.uint64(end)) & (weight > 0)


def _parts(here: _Range, column: Floats, weight: Floats) -> tuple[Floats, Floats]:
    """Weight and number of the rows in each part of a range."""
    inside = _inside(here, column, weight)
    shift = np.uint64(max(here.width - BITS, 0))
    part = ((_keys(column[inside]) - np.uint64(here.start)) >> shift).astype(np.intp)
    n = 1 << min(BITS, here.width)
    counts = np.bincount(part, minlength=n).astype(np.float64)
    return np.bincount(part, weight[inside], n).astype(np.float64), counts


def _distinct(here: _Range, column: Floats, weight: Floats) -> Floats:
    """The values in a range, each once, with the weight it has here."""
    inside = _inside(here, column, weight)
    values, index = np.unique(column[inside], return_inverse=True)
    return np.column_stack([values, np.bincount(index, weight[inside], len(values))])
