"""Where the probability of a label misses: residuals of s(x) along each numeric column.

Rows in the order of a column, the sum of s - s(x) should wander about zero. Its largest distance
from it, in the unit of its chance, has Kolmogorov's law at most, for the fit takes something away:
so labels that stray one way for long are found. Those that stray one way and then the other are
found in bins of about as many rows each, whose squared residuals have chi-square's law at most.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.stats import chi2, kstwobign

from doublelogit._types import Floats
from doublelogit.core.grouped import sum_by
from doublelogit.tables import Table

RESIDUAL_BINS = 10
FEWEST_DISTINCT = 4
FEWEST_EXPECTED = 4.0  # labels, about, by which a bin has the law of chi-square


@dataclass(frozen=True)
class Residuals:
    """A column along which labels stray from their probability.

    Parameters
    ----------
    column : str
        The column.
    p_value : float
        Small if labels stray further than chance.
    value, observed, predicted : ndarray
        Median of the column, labelled share and mean s(x) in bins of as many rows each.
    """

    column: str
    p_value: float
    value: Floats
    observed: Floats
    predicted: Floats

    @classmethod
    def along(cls, column: Any, s: Floats, s_x: Floats) -> "Residuals":
        """Residuals along a column, where it has values."""
        present, numbers = column.notna().to_numpy(), column.to_numpy(dtype=float)
        order = np.argsort(numbers[present], kind="stable")
        x, s, s_x = (v[present][order] for v in (numbers, s, s_x))
        # ties stay together
        edges = np.unique(np.quantile(x, np.arange(1, RESIDUAL_BINS) / RESIDUAL_BINS))
        bins = np.unique(np.searchsorted(edges, x), return_inverse=True)[1]
        variance, residual = np.maximum(s_x * (1 - s_x), 1e-12), s - s_x
        last = np.append(np.diff(x) > 0, True)
        largest = np.abs(np.cumsum(residual)[last]).max() / np.sqrt(variance.sum())
        rows, spread = np.bincount(bins), sum_by(bins, variance)
        enough = spread >= FEWEST_EXPECTED
        squares = (sum_by(bins, residual) ** 2 / spread)[enough].sum()
        binned = chi2.sf(squares, enough.sum()) if enough.any() else 1.0
        return cls(
            str(column.name),
            # of the larger of two tests, corrected for there being two
            min(1.0, 2 * min(float(kstwobign.sf(largest)), float(binned))),
            value=np.array([np.median(x[bins == k]) for k in range(len(rows))]),
            observed=sum_by(bins, s) / rows,
            predicted=sum_by(bins, s_x) / rows,
        )

    @property
    def gap(self) -> float:
        """Largest distance of the labelled share from its prediction in a bin."""
        return float(np.abs(self.observed - self.predicted).max())


def worst_residuals(table: Table, s_x: Floats) -> Residuals | None:
    """Residuals along the worst numeric column, corrected for their number; None without one."""
    frame = table.features.select_dtypes("number")
    columns = [frame[name] for name in frame if frame[name].nunique() >= FEWEST_DISTINCT]
    if not columns:
        return None
    worst = min((Residuals.along(c, table.s, s_x) for c in columns), key=lambda r: r.p_value)
    return replace(worst, p_value=min(1.0, worst.p_value * len(columns)))
