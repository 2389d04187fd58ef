"""Confidence intervals of a stratified total, from what was found in each stratum.

    T     = sum_k W_k p_k                 p_k: share of positives in stratum k
    T_hat = sum_k W_k ybar_k              n_k rows of it were drawn, each with the same chance
    V(p)  = r sum_k W_k^2 (1 - f_k) p_k (1 - p_k) / n_k

The interval holds every T that a test does not reject. Under a hypothesis T the shares are those
that make the counts likeliest among all with sum_k W_k p_k = T:

    y_k / p_k - (n_k - y_k) / (1 - p_k) = mu W_k        one multiplier mu for every T

so that a stratum where nothing was found does not pass for one where nothing is. With many
positives and negatives the test is the score test, |T_hat - T| <= c sqrt(V(p(T))): in one stratum
it is Wilson's interval. With few it is the tail of the exact distribution of T_hat: in one stratum
it is Clopper and Pearson's.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import betaln, xlog1py, xlogy
from scipy.stats import t

from doublelogit._types import Floats
from doublelogit.common.thresholds import FEW_AUDITED

MULTIPLIERS = np.geomspace(1e-7, 1e7, 240)  # multipliers, in units of the largest n_k / W_k
HALVINGS = 40
Excess = Callable[[Floats], tuple[Floats, Floats]]
GRAIN = 12  # steps of the exact distribution's grid in the smallest weight of a row


@dataclass(frozen=True)
class Cells:
    """What was drawn from each stratum of each round, and found there.

    ``weight`` W_k is the number of rows that the stratum stands for, ``drawn`` n_k, ``positive``
    y_k, and ``unseen`` 1 - f_k the share of the stratum that was not drawn.
    """

    weight: Floats
    drawn: Floats
    positive: Floats
    unseen: Floats

    @property
    def total(self) -> float:
        """Number of rows that the strata stand for."""
        return float(self.weight.sum())

    @property
    def estimate(self) -> float:
        """T_hat = sum_k W_k ybar_k."""
        return float(self.weight @ (self.positive / self.drawn))

    def variance(self, share: Floats) -> Floats:
        """V(p) without the factor r."""
        return (share * (1 - share)) @ (self.weight**2 * self.unseen / self.drawn)

    @property
    def steady_variance(self) -> float:
        """V(p) in which a stratum where nothing was found has some variance too."""
        return float(self.variance((self.positive + 1) / (self.drawn + 2)))

    def weighted(self, share: float) -> "Cells":
        """The same with a share of the weight."""
        return replace(self, weight=share * self.weight)

    def __add__(self, other: "Cells") -> "Cells":
        """The cells of both."""
        return Cells(*(np.append(mine, vars(other)[name]) for name, mine in vars(self).items()))

    def mirrored(self) -> "Cells":
        """The same with negatives for positives."""
        return replace(self, positive=self.drawn - self.positive)

    def shares(self, mu: Floats) -> Floats:
        """The likeliest shares for each multiplier: mu W p^2 - (n + mu W) p + y = 0."""
        m = np.multiply.outer(mu, self.weight)
        b = self.drawn + m
        root = np.sqrt(np.maximum(b * b - 4 * m * self.positive, 0))
        with np.errstate(invalid="ignore", divide="ignore"):  # the branch that is not taken
            share = np.where(b > 0, 2 * self.positive / (b + root), (b - root) / (2 * m))
        return np.clip(share, 0, 1)


def total_interval(
    cells: Cells, estimate: float, ratio: float, level: float
) -> tuple[float, float, str]:
    """Interval of the total, and how it was made.

    Parameters
    ----------
    cells : Cells
        What was found.
    estimate : float
        T_hat, which may have been helped by a model.
    ratio : float
        r, the share of the variance that the model left; 1 without its help.
    level : float
        Of the interval.
    """
    if not cells.unseen.any():  # everything was looked at
        return estimate, estimate, "complete"
    few = min(cells.positive.sum(), (cells.drawn - cells.positive).sum()) < FEW_AUDITED
    whole = np.array_equal(cells.positive, np.round(cells.positive))
    if few and whole:
        return *exact_interval(cells, level), "exact"
    freedom = max(float(cells.drawn.sum()) - len(cells.drawn), 1.0)
    return *score_interval(cells, estimate, ratio, t.ppf((1 + level) / 2, freedom)), "score"


def score_interval(cells: Cells, estimate: float, ratio: float, c: float) -> tuple[float, float]:
    """Totals T with (T_hat - T)^2 <= c^2 r V(p(T))."""

    def excess(mu: Floats) -> tuple[Floats, Floats]:
        share = cells.shares(mu)
        total = share @ cells.weight
        return total, (total - estimate) ** 2 - c * c * ratio * cells.variance(share)

    scale = float((cells.drawn / cells.weight).max())
    low, high = (_last_kept(excess, estimate, sign * scale * MULTIPLIERS) for sign in (1.0, -1.0))
    return min(low, estimate), max(high, estimate)


def _last_kept(excess: Excess, estimate: float, mu: Floats) -> float:
    """The total farthest from the estimate that the test keeps, on one side."""
    total, above = excess(mu)
    beyond = total < estimate if mu[0] > 0 else total > estimate
    within = np.flatnonzero(~beyond | (above <= 0))
    if len(within) == 0:
        return estimate
    if within[-1] + 1 == len(mu):
        return float(total[-1])
    inside, outside = mu[within[-1]], mu[within[-1] + 1]
    for _ in range(HALVINGS):
        middle = np.sign(inside) * np.sqrt(inside * outside)
        total, above = excess(np.array([middle]))
        beyond = total[0] < estimate if middle > 0 else total[0] > estimate
        if not beyond or above[0] <= 0:
            inside = middle
        else:
            outside = middle
    return float(excess(np.array([inside]))[0][0])


def exact_interval(cells: Cells, level: float) -> tuple[float, float]:
    """Totals T under which T_hat is not too far in a tail of its exact distribution."""
    if cells.positive.sum() > (cells.drawn - cells.positive).sum():
        low, high = exact_interval(cells.mirrored(), level)
        return cells.total - high, cells.total - low
    step = cells.weight / cells.drawn
    steps = np.maximum(np.round(step * GRAIN / step.min()), 1).astype(int)
    at, tail = int(steps @ cells.positive), (1 - level) / 2
    scale = float((cells.drawn / cells.weight).max())

    whole, below = (_cumulative(cells.drawn, steps, limit) for limit in (at, at - 1))

    def at_most(mu: float, probability: Callable[[Floats], float]) -> float:
        return probability(cells.shares(np.array([mu]))[0])

    def total(mu: float) -> float:
        return float(cells.shares(np.array([mu]))[0] @ cells.weight)

    low = 0.0
    if at > 0:  # P(T_hat >= what was found) falls as T does
        low = total(_crossing(lambda mu: 1 - at_most(mu, below) - tail, scale, 1.0))
    return low, total(_crossing(lambda mu: at_most(mu, whole) - tail, scale, -1.0))


def _crossing(above: Callable[[float], float], scale: float, sign: float) -> float:
    """Multiplier beyond which a tail is too small."""
    inside, outside = sign * scale * MULTIPLIERS[0], sign * scale * MULTIPLIERS[-1]
    if above(outside) > 0:
        return outside
    for _ in range(HALVINGS):
        middle = sign * np.sqrt(inside * outside)
        if above(middle) > 0:
            inside = middle
        else:
            outside = middle
    return float(np.sqrt(inside * outside) * sign)


def _cumulative(drawn: Floats, steps: Floats, limit: int) -> Callable[[Floats], float]:
    """P(sum_k steps_k Y_k <= limit) for independent binomial counts Y_k, given their shares."""
    if limit < 0:
        return lambda _: 0.0
    strata = []  # with logarithms of the binomial coefficients, which depend on no share
    for n, step in zip(drawn, steps, strict=True):
        counts = np.arange(min(int(n), limit // int(step)) + 1.0)
        ways = -np.log(n + 1) - betaln(n - counts + 1, counts + 1)
        strata.append((n, counts, (counts * step).astype(int), ways))

    def probability(share: Floats) -> float:
        mass = np.zeros(limit + 1)
        mass[0] = 1.0
        for p, (n, counts, sums, ways) in zip(share, strata, strict=True):
            chances = np.exp(ways + xlogy(counts, p) + xlog1py(n - counts, -p))
            before, mass = mass, np.zeros(limit + 1)
            for at, chance in zip(sums, chances, strict=True):
                mass[at:] += chance * before[: limit + 1 - at]
        return float(min(mass.sum(), 1.0))

    return probability


def linear_interval(
    estimate: float, variances: Floats, freedom: Floats, level: float
) -> tuple[float, float]:
    """Interval by Student's t of a total whose units are no zeros and ones.

    ``parts`` are the strata's contributions to the variance, each with its degrees of freedom;
    Satterthwaite's rule gives those of the sum.
    """
    variance = float(variances.sum())
    if variance == 0:
        return estimate, estimate
    effective = variance**2 / float((variances**2 / np.maximum(freedom, 1)).sum())
    half = float(t.ppf((1 + level) / 2, effective)) * np.sqrt(variance)
    return estimate - half, estimate + half
