"""Signs that rows which are said to be drawn at random were not.

Two tests hold whatever the model is worth: h is known of every row, so the audited rows can be
compared with all rows that they stand for,

    z = (sum over audited of h / pi - sum over unlabelled of h) / standard error by the design

and rows that were drawn must be in the file. A third sign is that everything is positive: nobody
records negatives, or only what was known was written down.
"""

from dataclasses import dataclass

import numpy as np
from scipy.stats import t

from doublelogit.audit.difference import Drawn
from doublelogit.common.thresholds import ALL_POSITIVE, MISUSE_LEVEL
from doublelogit.core.grouped import sum_by


@dataclass(frozen=True)
class Signs:
    """What speaks against a random draw: the p-value and means of h, rows lost, all positive."""

    p_value: float
    mean_drawn: float
    mean_all: float
    lost: int
    all_positive: bool
    answered: int

    @property
    def unlike(self) -> bool:
        """Whether audited rows differ from those that they should stand for."""
        return self.p_value < MISUSE_LEVEL

    @property
    def any(self) -> bool:
        """Whether there is a sign."""
        return self.unlike or self.all_positive or self.lost > 0


def signs(drawn: Drawn, lost: int) -> Signs:
    """Look for signs that the rows of an audit were not drawn as it says."""
    p, mean = _compared(drawn)
    positive = bool(drawn.binary and len(drawn.y) >= ALL_POSITIVE and (drawn.y == 1).all())
    every = drawn.all_h / max(drawn.all_rows, 1)
    return Signs(p, mean, every, lost, positive, len(drawn.y))


def _compared(drawn: Drawn) -> tuple[float, float]:
    """p-value of h of the first round against all rows, and its weighted mean."""
    first = drawn.round == 0
    used = np.bincount(drawn.stratum[first], minlength=len(drawn.size)) > 1
    first &= used[drawn.stratum]
    if not first.any() or not drawn.binary:
        return 1.0, float(drawn.h.mean()) if len(drawn.h) else 0.0
    _, stratum = np.unique(drawn.stratum[first], return_inverse=True)
    h, n = drawn.h[first], np.bincount(stratum).astype(float)
    weight = drawn.weight[used & (drawn.round_of == 0)]
    mean = sum_by(stratum, h) / n
    spread = sum_by(stratum, (h - mean[stratum]) ** 2) / (n - 1)
    variance = float(weight**2 * (1 - np.minimum(n / weight, 1)) / n @ spread)
    total = float(weight @ mean)
    if variance <= 0:
        return 1.0, total / float(weight.sum())
    z = (total - drawn.all_h * weight.sum() / drawn.all_rows) / np.sqrt(variance)
    return float(2 * t.sf(abs(z), max(n.sum() - len(n), 1))), total / float(weight.sum())
