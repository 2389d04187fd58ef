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

RESIDUAL_BINS = 10
FEWEST_DISTINCT = 4
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
    names = [name for name in frame if frame[name].nunique() >= FEWEST_DISTINCT]
    if not names:
        return None
    columns = {name: _along(frame[name], table.s, s_x) for name in names}
    p_values = {name: _p_value(*columns[name]) for name in names}
    worst = min(p_values, key=lambda name: p_values[name])
    x, s, s_x, bins = columns[worst]
    return Residuals(
        str(worst),
        min(1.0, p_values[worst] * len(names)),
        value=np.array([np.median(x[bins == k]) for k in np.unique(bins)]),
        observed=sum_by(bins, s) / np.bincount(bins),
        predicted=sum_by(bins, s_x) / np.bincount(bins),
    )


def _along(column: Any, s: Floats, s_x: Floats) -> tuple[Floats, Floats, Floats, Ints]:
    """Values of a column in their order, labels and their probabilities there, and the bins."""
    present = column.notna().to_numpy()
    order = np.argsort(column.to_numpy(dtype=float)[present], kind="stable")
    x, s, s_x = (v[present][order] for v in (column.to_numpy(dtype=float), s, s_x))
    # ties stay together
    edges = np.unique(np.quantile(x, np.arange(1, RESIDUAL_BINS) / RESIDUAL_BINS))
    return x, s, s_x, np.unique(np.searchsorted(edges, x), return_inverse=True)[1]


def _p_value(x: Floats, s: Floats, s_x: Floats, bins: Ints) -> float:
    """Of the larger of two tests, corrected for there being two."""
    variance, residual = np.maximum(s_x * (1 - s_x), 1e-12), s - s_x
    last = np.append(np.diff(x) > 0, True)  # ties are taken together
    largest = np.abs(np.cumsum(residual)[last]).max() / np.sqrt(variance.sum())
    squares = sum_by(bins, residual) ** 2 / sum_by(bins, variance)
    enough = sum_by(bins, variance) >= FEWEST_EXPECTED
    binned = chi2.sf(squares[enough].sum(), enough.sum()) if enough.any() else 1.0
    return min(1.0, 2 * min(float(kstwobign.sf(largest)), float(binned)))
