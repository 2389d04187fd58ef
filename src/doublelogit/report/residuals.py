"""Where the probability of a label misses: residuals of s(x) along each numeric column.

Rows in the order of a column, the sum of s - s(x) should wander about zero. Its largest distance
from it, in the unit of its chance, has Kolmogorov's law at most, for the fit takes something away:
so labels that stray one way for long are found. Those that stray one way and then the other are
found in bins of about as many rows each, whose squared residuals have chi-square's law at most.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import chi2, kstwobign

from doublelogit._types import Floats, Ints
from doublelogit.audit.grouped import sum_by
from doublelogit.tables import Table

BINS = 10
FEWEST_VALUES = 4
FEWEST_EXPECTED = 4.0  # labels, about, by which a bin has the law of chi-square


@dataclass(frozen=True)
class Residuals:
    """The column along which labels stray furthest from their probability.

    Parameters
    ----------
    column : str
        The column.
    p_value : float
        Small if labels stray further than chance, corrected for the number of columns.
    value, observed, predicted : ndarray
        Median of the column, labelled share and mean s(x) in bins of as many rows each.
    """

    column: str
    p_value: float
    value: Floats
    observed: Floats
    predicted: Floats

    @property
    def gap(self) -> float:
        """Largest distance of the labelled share from its prediction in a bin."""
        return float(np.abs(self.observed - self.predicted).max())


def worst_residuals(table: Table, s_x: Floats) -> Residuals | None:
    """Residuals along the worst numeric column; None if there is none."""
    frame = table.features.select_dtypes("number")
    names = [name for name in frame if frame[name].nunique() >= FEWEST_VALUES]
    if not names:
        return None
    found = {name: _Column.of(frame[name], table.s, s_x) for name in names}
    worst = min(found, key=lambda name: found[name].p_value)
    column = found[worst]
    return Residuals(
        str(worst),
        min(1.0, column.p_value * len(names)),
        value=np.array([np.median(column.x[column.bin == k]) for k in np.unique(column.bin)]),
        observed=column.mean(column.s),
        predicted=column.mean(column.s_x),
    )


@dataclass(frozen=True)
class _Column:
    """Labels and their probabilities along a column, where it has values, in its order."""

    x: Floats
    s: Floats
    s_x: Floats
    bin: Ints

    @classmethod
    def of(cls, column: Any, s: Floats, s_x: Floats) -> "_Column":
        known = column.notna().to_numpy()
        order = np.argsort(column.to_numpy(dtype=float)[known], kind="stable")
        x, s, s_x = (v[known][order] for v in (column.to_numpy(dtype=float), s, s_x))
        edges = np.unique(np.quantile(x, np.arange(1, BINS) / BINS))  # ties stay together
        bins = np.unique(np.searchsorted(edges, x), return_inverse=True)[1]
        return cls(x, s, s_x, bins)

    def mean(self, values: Floats) -> Floats:
        """Mean of each bin."""
        return sum_by(self.bin, values) / np.bincount(self.bin)

    @property
    def p_value(self) -> float:
        """Of the larger of two tests, corrected for there being two."""
        variance = np.maximum(self.s_x * (1 - self.s_x), 1e-12)
        residual = self.s - self.s_x
        last = np.append(np.diff(self.x) > 0, True)  # ties are taken together
        largest = np.abs(np.cumsum(residual)[last]).max() / np.sqrt(variance.sum())
        squares = sum_by(self.bin, residual) ** 2 / sum_by(self.bin, variance)
        enough = sum_by(self.bin, variance) >= FEWEST_EXPECTED
        binned = chi2.sf(squares[enough].sum(), enough.sum()) if enough.any() else 1.0
        return min(1.0, 2 * min(float(kstwobign.sf(largest)), float(binned)))
