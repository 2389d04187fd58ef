"""Where the probability of a label misses: residuals of s(x) summed along each numeric column.

Rows in the order of a column, the sum of s - s(x) should wander about zero. Its largest distance
from it, in the unit of its chance, has Kolmogorov's law at most, for the fit takes something away.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import kstwobign

from doublelogit._types import Floats
from doublelogit.tables import Table

BINS = 10
FEWEST_VALUES = 4


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
    found = {name: _largest_sum(frame[name], table.s, s_x) for name in names}
    worst = max(found, key=lambda name: found[name])
    known = frame[worst].notna().to_numpy()
    x, s, p = frame[worst].to_numpy(dtype=float)[known], table.s[known], s_x[known]
    bins = np.array_split(np.argsort(x, kind="stable"), min(BINS, len(x)))
    return Residuals(
        str(worst),
        min(1.0, float(kstwobign.sf(found[worst])) * len(names)),
        value=np.array([np.median(x[rows]) for rows in bins]),
        observed=np.array([s[rows].mean() for rows in bins]),
        predicted=np.array([p[rows].mean() for rows in bins]),
    )


def _largest_sum(column: Any, s: Floats, s_x: Floats) -> float:
    """Largest sum of residuals in the order of a column, ties taken together."""
    known = column.notna().to_numpy()
    x, residual = column.to_numpy(dtype=float)[known], (s - s_x)[known]
    order = np.argsort(x, kind="stable")
    last = np.append(np.diff(x[order]) > 0, True)
    sums = np.cumsum(residual[order])[last]
    chance = np.sqrt(max(float((s_x * (1 - s_x))[known].sum()), 1e-12))
    return float(np.abs(sums).max() / chance)
