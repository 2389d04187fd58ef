"""The difference estimator of a number of positives, from what was drawn and a model's h.

    T_hat = sum over unlabelled of lambda h + sum over audited of (y - lambda h) / pi

It is right whatever the model: h only takes away what it explains. With strata pi = n_k / N_k and
the second sum is sum_k N_k times the mean of y - lambda h in the stratum. lambda makes the
estimated variance smallest, between 0 and 1:

    lambda = sum_k v_k cov_k(y, h) / sum_k v_k var_k(h),    v_k = N_k^2 (1 - f_k) / n_k

Each later round estimates what the rounds before have left over, so it is right given them:

    T_hat = sum_r w_r (positives found before round r + estimate of the rest by round r)

with weights w_r in proportion to the precision of the rounds.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from doublelogit._types import Floats, Ints
from doublelogit.audit.interval import Cells, linear_interval, total_interval
from doublelogit.common.thresholds import FEW_AUDITED
from doublelogit.core.grouped import sum_by


@dataclass(frozen=True)
class Drawn:
    """Audited units of a domain, in strata of one or several rounds.

    ``y`` and ``h`` are the class and the model's probability, or their sums over a cluster;
    ``stratum`` counts over all rounds and ``round`` from 0. ``size`` is the number of units of
    each stratum, ``domain`` the share of the units drawn that are in the domain, and ``all_h`` and
    ``all_rows`` are sums over the unlabelled rows of the domain. ``binary`` units are rows that
    count once.
    """

    y: Floats
    h: Floats
    stratum: Ints
    round: Ints
    size: Floats
    round_of: Ints  # of each stratum
    domain: Floats
    all_h: float
    all_rows: float
    binary: bool = True

    @property
    def n(self) -> Floats:
        """Units drawn from each stratum."""
        return self._sum(np.ones(len(self.y)))

    def _sum(self, values: Floats) -> Floats:
        return sum_by(self.stratum, values, len(self.size))

    def summed(self, cluster: Any) -> "Drawn":
        """The clusters of the rows, each a unit with the sums of its rows."""
        pairs = [f"{k} {name}" for k, name in zip(self.stratum.tolist(), cluster, strict=True)]
        _, first, unit = np.unique(pairs, return_index=True, return_inverse=True)
        y, h = (sum_by(unit, values) for values in (self.y, self.h))
        return replace(self, y=y, h=h, stratum=self.stratum[first], round=self.round[first])

    def before(self, values: Floats) -> Floats:
        """Sum over what was found before each round."""
        rounds = np.arange(int(self.round_of.max()) + 1)
        return np.array([float(values[self.round < r].sum()) for r in rounds])

    @property
    def weight(self) -> Floats:
        """Units of the domain in each stratum, so that each round stands for all that was left.

        In strata that lie within the domain this is their size, N_k.
        """
        weight = np.where(self.n > 0, self.size * self.domain, 0.0)
        if not self.binary:
            return weight
        left = self.all_rows - self.before(np.ones(len(self.y)))
        for r, rows in enumerate(left):
            mine = self.round_of == r
            if weight[mine].sum() > 0:
                weight[mine] *= rows / weight[mine].sum()
        return np.maximum(weight, self.n)


@dataclass(frozen=True)
class Total:
    """An estimated number of positives with its interval, lambda, and how it was made.

    ``cells`` are what was found in each stratum and ``ratio`` the share of its variance that the
    model left; by them further rounds are planned.
    """

    value: float
    se: float
    low: float
    high: float
    lam: float
    how: str
    cells: Cells
    ratio: float


def difference(drawn: Drawn, level: float = 0.95) -> Total:
    """Estimate the number of positives among the unlabelled rows of a domain."""
    used = drawn.n > 0
    weight, n = drawn.weight[used], drawn.n[used]
    of = np.cumsum(used) - 1
    stratum, round_of = of[drawn.stratum], drawn.round_of[used]
    unseen = np.clip(1 - n / np.maximum(weight, n), 0, 1)
    share = _round_weights(drawn, stratum, weight, n, unseen, round_of)
    whole = weight * share[round_of]
    scale = whole**2 * unseen / n
    lam, ratio = _tuned(drawn, stratum, scale, n)
    residual = sum_by(stratum, drawn.y - lam * drawn.h) / n
    model = lam * (drawn.all_h - drawn.before(drawn.h))
    before = float(share @ drawn.before(drawn.y))
    value = before + float(share @ model) + float(whole @ residual)
    spread = sum_by(stratum, (drawn.y - lam * drawn.h - residual[stratum]) ** 2)
    variances = scale * spread / np.maximum(n - 1, 1)
    se = float(np.sqrt(variances.sum()))
    if drawn.binary:
        counts = whole > 0  # a round without weight says nothing
        cells = Cells(*(x[counts] for x in (whole, n, sum_by(stratum, drawn.y), unseen)))
        low, high, how = total_interval(cells, value - before, ratio, level)
        low, high = low + before, high + before
    else:
        low, high = linear_interval(value, variances, n - 1, level)
        cells, ratio, how = as_random(value, se, drawn.all_rows), 1.0, "Student's t"
    low, high, value = (float(np.clip(x, 0, drawn.all_rows)) for x in (low, high, value))
    return Total(value, se, low, high, lam, how, cells, ratio)


def as_random(total: float, se: float, rows: float) -> Cells:
    """The simple random audit that would have told a total with the same standard error."""
    share = float(np.clip(total / rows, 0.5 / rows, 1 - 0.5 / rows))
    drawn = min(rows, share * (1 - share) * (rows / se) ** 2) if se > 0 else rows
    unseen = float(se > 0)
    return Cells(*(np.array([x]) for x in (rows, drawn, share * drawn, unseen)))


def _round_weights(
    drawn: Drawn, stratum: Ints, weight: Floats, n: Floats, unseen: Floats, round_of: Ints
) -> Floats:
    """Weights of the rounds, by variances in which a stratum without positives has some too."""
    rounds = int(drawn.round_of.max()) + 1
    if rounds == 1:
        return np.ones(1)
    positive = sum_by(stratum, drawn.y)
    p = (positive + 1) / (n + 2)
    variance = sum_by(round_of, weight**2 * unseen * p * (1 - p) / n, rounds)
    here = np.bincount(round_of, minlength=rounds) > 0  # rounds that have units of the domain
    certain = here & (variance == 0)  # a round that has looked at all that was left
    with np.errstate(divide="ignore"):
        precision = certain.astype(float) if certain.any() else np.where(here, 1 / variance, 0.0)
    return np.asarray(precision / precision.sum())


def _tuned(drawn: Drawn, stratum: Ints, scale: Floats, n: Floats) -> tuple[float, float]:
    """lambda, and the share of the variance that it leaves.

    With few positives, or few negatives, lambda is 0 and the interval exact.
    """
    positives = float(drawn.y.sum())
    few = min(positives, float(len(drawn.y)) - positives) < FEW_AUDITED
    if drawn.binary and few:
        return 0.0, 1.0
    each = (scale / np.maximum(n - 1, 1))[stratum]

    def centred(values: Floats) -> Floats:
        return values - (sum_by(stratum, values) / n)[stratum]

    y, h = centred(drawn.y), centred(drawn.h)
    cross, square, whole = (float(each @ product) for product in (y * h, h * h, y * y))
    if square <= 0 or whole <= 0:
        return 0.0, 1.0
    lam = float(np.clip(cross / square, 0, 1))
    left = (whole - 2 * lam * cross + lam * lam * square) / whole
    freedom = max(float(n.sum()) - len(n), 2.0)
    return lam, float(min(1.0, left * freedom / (freedom - 1)))
