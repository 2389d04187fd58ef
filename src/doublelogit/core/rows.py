"""Rows of a PU sample, wherever they are.

A sample is rows: features X, labels (any label, the class where it is certain), a weight, and
the cluster of each row where rows belong together.
Methods reach it by these verbs and so run unchanged on every engine:

    sum_rows     sum a statistic over X and columns    fn(X, *columns) -> anything that adds up
    sum_columns  sum a statistic over columns alone    fn(*columns) -> anything that adds up
    map_rows     make a column from X and columns      fn(X, *columns) -> one value per row
    map_columns  make a column from columns alone      fn(*columns) -> one value per row
    collect      bring values to the caller            fn(*columns) -> values of some rows
    scatter      make a column of the caller's values
    restrict     keep the rows that have weight        for many passes over few rows
    centred      move the origin of the features
    thinned      some of the rows, for a first look

Columns live on the engine, cut like the rows; only statistics travel. A named tuple of columns,
such as the labels, is passed like one column and reaches ``fn`` as that named tuple.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from doublelogit._types import Column, Floats, Matrix
from doublelogit.core.labels import Labels

T = TypeVar("T")


class RowColumns(NamedTuple):
    """All that rows carry beside their features."""

    labels: Labels
    weight: Column
    cluster: Column | None = None


# What the estimators make of the labels, weights, audited classes and clusters of some rows, the
# last three None where there are none.
Prepare = Callable[[Any, Any, Any, Any], RowColumns]


class Source(Protocol):
    """Rows that are not in memory, before a fit has looked at their labels."""

    @property
    def names(self) -> tuple[str, ...] | None:
        """Names of the features, where they have any."""

    @property
    def n_features(self) -> int: ...
    @property
    def encoding(self) -> Any:
        """How columns of a table became features; None for features that are numbers already."""

    def labels(self) -> NDArray[Any]:
        """The distinct values of the label."""

    def rows(self, prepare: Prepare) -> "Rows":
        """The rows, their labels made into columns by ``prepare``."""

    def map(self, fn: Callable[[Matrix], NDArray[Any]]) -> Any:
        """``fn(X)`` of all rows, in order: an array, or a lazy one where X was lazy too."""


class Rows(Protocol):
    """What an engine offers.

    ``weight`` is a column of ones when no weights were given, ``cluster`` None when no row belongs
    to others.
    """

    @property
    def n_features(self) -> int: ...
    @property
    def labels(self) -> Labels: ...
    @property
    def weight(self) -> Column: ...
    @property
    def cluster(self) -> Column | None: ...

    def sum_rows(self, fn: Callable[..., T], *columns: Column) -> T:
        """Sum of ``fn(X, *columns)`` over blocks of rows, added in block order."""

    def sum_columns(self, fn: Callable[..., T], *columns: Column) -> T:
        """Sum of ``fn(*columns)`` over blocks of rows, in block order, without a look at X."""

    def map_rows(self, fn: Callable[..., Floats], *columns: Column) -> Column:
        """A new column, ``fn(X, *columns)`` of every block."""

    def map_columns(self, fn: Callable[..., Floats], *columns: Column) -> Column:
        """A new column, ``fn(*columns)``, without a look at X."""

    def collect(self, fn: Callable[..., Floats], *columns: Column) -> Floats:
        """``fn(*columns)`` of every block, concatenated where the caller is."""

    def scatter(self, values: NDArray[Any]) -> Column:
        """A column of values that the caller has, one per row."""

    def restrict(self, weight: Column, *columns: Column) -> "tuple[Rows, tuple[Column, ...]]":
        """The rows with weight, and the columns cut to them: for many passes over few rows.

        An engine may answer with itself and the columns as they are, if the rows without
        weight are too few, or too far away, to be worth setting aside.
        """

    def centred(self, centre: Floats) -> "Rows | None":
        """The rows with ``centre`` subtracted from their features, where that can be done."""

    def thinned(self, most: int) -> "Rows | None":
        """Evenly spread rows, about ``most``; None where they are hardly fewer, or not at hand."""


def each_column(fn: Callable[[Any], Any], column: Any) -> Any:
    """``fn`` of a column, or of each column of a named tuple; an absent one stays absent."""
    if isinstance(column, tuple):
        return type(column)(*[each_column(fn, each) for each in column])
    return None if column is None else fn(column)


def plus(left: T, right: T) -> T:
    """Sum of two statistics: numbers, arrays, or tuples of statistics."""
    total: Any
    if isinstance(left, tuple) and isinstance(right, tuple):
        parts = map(plus, left, right)
        total = type(left)(*parts) if hasattr(left, "_fields") else tuple(parts)
    else:
        total = left + right  # type: ignore[operator]
    return total


@dataclass(frozen=True)
class Extremes:
    """Smallest and largest values; the sum of two is that of all their rows."""

    low: Floats
    high: Floats

    def __add__(self, other: "Extremes") -> "Extremes":
        return Extremes(np.minimum(self.low, other.low), np.maximum(self.high, other.high))


def row_count(rows: Rows) -> int:
    """Number of rows, with weight or without."""
    return rows.sum_columns(len, rows.weight)


def labelled_share(rows: Rows) -> float:
    """Share of the rows with a label, under the sample weights."""
    return weighted_mean(rows, rows.labels.any)


def weighted_mean(rows: Rows, column: Column) -> float:
    """Mean of a column under the sample weights."""
    total, weight = rows.sum_columns(_sum_and_weight, column, rows.weight)
    return float(total / weight)


def _sum_and_weight(column: Floats, weight: Floats) -> tuple[float, float]:
    return float(weight @ column), float(weight.sum())


def quantile(values: Floats, weights: Floats, q: float) -> float:
    """Linear quantile, as numpy's default, of each value repeated ``weight`` times.

    The repeated sample has order statistics at positions 0..W-1, W the sum of the weights, and
    the quantile lies at position q(W-1), interpolated between its two neighbours.
    """
    order = np.argsort(values, kind="stable")
    values, cumulated = values[order], np.cumsum(weights[order])
    position = q * max(float(cumulated[-1]) - 1, 0.0)
    low = np.floor(position)
    at = np.searchsorted(cumulated, [low, low + 1], side="right")
    first, second = values[np.minimum(at, len(values) - 1)]
    return float(first + (second - first) * (position - low))
