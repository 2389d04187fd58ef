"""What an audit can be expected to tell, before anything is looked at.

Counts of positives are drawn under three truths, and the interval that they would lead to is
computed as after the audit; its median width is what to expect:

    the model holds          p_k = mean of h in the stratum
    the scores tell nothing  p_k = mean of h over all rows: as many positives, anywhere
    whatever is true         p_k = 1/2, the widest interval there is

For a later round the interval is that of all rounds together: what earlier ones found is known.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from doublelogit._types import Floats
from doublelogit.audit.difference import Total
from doublelogit.audit.interval import Cells, total_interval
from doublelogit.audit.strata import Strata
from doublelogit.common.thresholds import FEW_AUDITED

PLANNED_LEVEL = 0.95  # of the intervals
WIDTH_DRAWS = 15
BUDGET_RANGE = 2.0  # factor within which expected counts tell the budget
TIMES_FEW = 2  # times the number that is few: from there on one draw stands for all
TRUTHS = ("holds", "nothing", "worst")


@dataclass(frozen=True)
class Expected:
    """Rows of an audit, what they cost, and the width of the interval of the prevalence."""

    rows: int
    cost: float
    holds: float
    nothing: float
    worst: float


@dataclass(frozen=True)
class Earlier:
    """What earlier rounds found.

    Parameters
    ----------
    cells : Cells
        What was found in each stratum.
    ratio : float
        Share of the variance that the model left.
    stretch : float
        How much wider the interval is than theirs, for rows that nobody could tell and errors of
        reviewers.
    """

    cells: Cells
    ratio: float
    stretch: float

    @classmethod
    def from_total(cls, total: Total, rows: float) -> "Earlier":
        """What a number of positives among so many unlabelled rows rests on."""
        cells = total.cells.weighted(rows / total.cells.total)  # weights of rows do not matter here
        low, high, _ = total_interval(cells, cells.estimate, total.ratio, PLANNED_LEVEL)
        width = (total.high - total.low) * rows / total.cells.total
        return cls(cells, total.ratio, width / (high - low) if high > low else 1.0)

    def and_then(self, cells: Cells, ratio: float) -> tuple[Cells, float]:
        """All rounds together, each weighted by its precision, and what the model leaves."""
        mine, new = self.cells.steady_variance, cells.steady_variance
        share = mine / (mine + new) if mine + new > 0 else 1.0
        left = np.array([self.ratio, ratio]) @ (
            variances := np.array([(1 - share) ** 2 * mine, share**2 * new])
        )
        both = self.cells.weighted(1 - share) + cells.weighted(share)
        return both, float(left / variances.sum()) if variances.sum() > 0 else 1.0


def expect(
    strata: Strata, budget: float, population: float, earlier: Earlier | None = None
) -> Expected:
    """Median width of the 95% interval of the prevalence under each truth.

    Parameters
    ----------
    strata : Strata
        Of the rows whose class is unknown.
    budget : float
        What may be spent; a row costs 1 if nothing else was said.
    population : float
        Number of all rows, labelled ones too.
    earlier : Earlier, default=None
        What earlier rounds found.
    """
    drawn = strata.allocation(budget).astype(float)
    widths = {truth: expected_width(strata, drawn, truth, earlier) for truth in TRUTHS}
    shares = {truth: width / population for truth, width in widths.items()}
    return Expected(int(drawn.sum()), float(drawn @ strata.cost), **shares)


@dataclass(frozen=True)
class ExpectedOfList:
    """Rows of a list, how many of them are drawn, and the width of the interval of its precision.

    ``holds`` is the width if the model holds, ``worst`` whatever is true.
    """

    length: int
    rows: int
    holds: float
    worst: float


def expect_list(strata: Strata, budget: float) -> ExpectedOfList | None:
    """What the rows drawn from the list tell of its precision; None if there is no list."""
    if strata.listed is None:
        return None
    mine, drawn = strata.only(strata.listed), strata.allocation(budget)[strata.listed].astype(float)
    length = float(mine.rows.sum())
    holds, worst = (expected_width(mine, drawn, truth) / length for truth in ("holds", "worst"))
    return ExpectedOfList(int(length), int(drawn.sum()), holds, worst)


def expected_width(
    strata: Strata,
    drawn: Floats,
    truth: str,
    earlier: Earlier | None = None,
    *,
    roughly: bool = False,
) -> float:
    """Median width of the interval of the number of hidden positives, under a truth.

    ``roughly`` takes the width for the expected counts, which is off where these are small.
    """
    share, unseen = _shares(strata, truth), 1 - drawn / strata.rows
    ratio = _left(strata, drawn, share) if truth == "holds" else 1.0

    def width(ends: Floats) -> float:
        cells, left, stretch = Cells(strata.rows, drawn, ends, unseen), ratio, 1.0
        if earlier is not None:
            (cells, left), stretch = earlier.and_then(cells, ratio), earlier.stretch
        low, high, _ = total_interval(cells, cells.estimate, left, PLANNED_LEVEL)
        return stretch * (high - low)

    positive, number = float(drawn @ share), float(drawn.sum())
    if earlier is not None:
        positive += float(earlier.cells.positive.sum())
        number += float(earlier.cells.drawn.sum())
    if roughly or min(positive, number - positive) > TIMES_FEW * FEW_AUDITED:
        return width(drawn * share)  # widths hardly differ from draw to draw
    rng = np.random.default_rng(0)
    return float(np.median([width(_counts(rng, drawn, share)) for _ in range(WIDTH_DRAWS)]))


def _left(strata: Strata, drawn: Floats, share: Floats) -> float:
    """Share of the variance within strata that h leaves, if the model holds."""
    scale = strata.rows**2 * (1 - drawn / strata.rows) / drawn
    whole = float(scale @ (share * (1 - share)))
    return min(float(scale @ strata.spread) / whole, 1.0) if whole > 0 else 1.0


def _shares(strata: Strata, truth: str) -> Floats:
    if truth == "holds":
        return np.clip(strata.h, 0, 1)
    mean = float(strata.rows @ strata.h / strata.rows.sum())
    return np.full(len(strata), 0.5 if truth == "worst" else mean)


def _counts(rng: np.random.Generator, drawn: Floats, share: Floats) -> Floats:
    return rng.binomial(drawn.astype(int), share).astype(float)


def budget_for(
    strata: Strata,
    width: float,
    population: float,
    truth: str = "holds",
    earlier: Earlier | None = None,
) -> float:
    """The smallest budget for which the interval is expected to be at most so wide.

    A budget of all rows leaves nothing unknown, so there always is one.
    """
    least, most = 2.0 * float(strata.cost.max()), float(strata.rows @ strata.cost)

    def wide(budget: float, roughly: bool) -> bool:
        drawn = strata.allocation(budget).astype(float)
        computed = expected_width(strata, drawn, truth, earlier, roughly=roughly)
        return computed > width * population

    near = _smallest(lambda budget: wide(budget, True), least, most)
    low, high = max(near / BUDGET_RANGE, least), min(near * BUDGET_RANGE, most)
    return float(np.ceil(_smallest(lambda budget: wide(budget, False), low, high)))


def _smallest(wide: Callable[[float], bool], low: float, high: float) -> float:
    """The smallest budget in a range, to a row or a hundredth, that is not too small."""
    if low >= high or not wide(low):
        return low
    while high / low > 1.01 and high - low > 0.5:
        middle = float(np.sqrt(low * high))
        low, high = (middle, high) if wide(middle) else (low, middle)
    return high
