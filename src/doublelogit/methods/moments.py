"""Columns of the rows: totals, means, spreads, products and extremes, each computed once."""

from dataclasses import dataclass, field
from functools import cached_property, partial

import numpy as np

from doublelogit._types import Floats, Matrix
from doublelogit.core.design import Terms, column_extremes, pull_back, sandwich, squares_about
from doublelogit.core.objective import column_units
from doublelogit.core.rows import Extremes, Rows


@dataclass(frozen=True)
class Moments:
    """Weighted moments of the columns: they depend on features and weights, not on labels."""

    rows: Rows
    _grams: dict[tuple[int, ...] | None, Floats] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    @cached_property
    def n(self) -> float:
        """Total weight of the rows."""
        return float(self.rows.sum_columns(np.sum, self.rows.weight))

    @cached_property
    def units(self) -> Floats:
        """Root mean square of every column, one for the intercept."""
        return column_units(self.rows, self.n)

    @cached_property
    def centre(self) -> Floats:
        """Mean of each column."""
        return self.rows.sum_rows(pull_back, self.rows.weight)[:-1] / self.n

    @cached_property
    def spread(self) -> Floats:
        """Standard deviation of each column."""
        fn = partial(squares_about, centre=self.centre)
        return np.sqrt(self.rows.sum_rows(fn, self.rows.weight) / self.n)

    def gram(self, terms: Terms) -> Floats:
        """Mean of xx' over the rows, of some terms; computed once for all models that have them."""
        key = None if terms.columns is None else tuple(terms.columns)
        if key not in self._grams:
            total = self.rows.sum_rows(partial(_sandwich, terms), self.rows.weight)
            self._grams[key] = total / self.n
        return self._grams[key]


def _sandwich(terms: Terms, X: Matrix, weight: Floats) -> Floats:
    return sandwich(terms.select(X), weight)


def column_extremes_of(rows: Rows) -> Extremes:
    """Smallest and largest value of every column among rows with weight."""
    return rows.sum_rows(_extremes, rows.weight)


def everywhere(rows: Rows, extremes: Extremes) -> Extremes:
    """Smallest and largest value of every column, with rows that do not count.

    Nothing times a number that has overflowed is not nothing.
    """
    if rows.sum_columns(_without_weight, rows.weight) == 0:
        return extremes
    return rows.sum_rows(_all_extremes)


def _without_weight(weight: Floats) -> int:
    return int(np.count_nonzero(weight == 0))


def _all_extremes(X: Matrix) -> Extremes:
    return _extremes(X, np.ones(X.shape[0]))


def varying_columns(extremes: Extremes) -> Terms:
    """The columns that vary; a constant one is an intercept in disguise."""
    columns = np.flatnonzero(extremes.low < extremes.high)
    n_features = len(extremes.low)
    return Terms(n_features, None if len(columns) == n_features else columns)


def _extremes(X: Matrix, weight: Floats) -> Extremes:
    if not weight.all():
        X = X[np.flatnonzero(weight)]
    if X.shape[0] == 0:
        return Extremes(np.full(X.shape[1], np.inf), np.full(X.shape[1], -np.inf))
    return Extremes(*column_extremes(X))
