"""What an audit can be expected to tell, before anything is looked at.

Counts of positives are drawn under three truths, and the interval that they would lead to is
computed as after the audit; its median width is what to expect:

    the model holds          p_k = mean of h in the stratum
    the scores tell nothing  p_k = mean of h over all rows: as many positives, anywhere
    whatever is true         p_k = 1/2, the widest interval there is
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from doublelogit._types import Floats
from doublelogit.audit.interval import Cells, total_interval
from doublelogit.audit.strata import Strata
from doublelogit.thresholds import FEW_AUDITED

DRAWS = 15
NEAR = 2.0  # factor within which expected counts tell the budget
MANY = 2  # times the number that is few: from there on one draw stands for all
TRUTHS = ("holds", "nothing", "worst")


@dataclass(frozen=True)
class Expected:
    """Rows of an audit, what they cost, and the width of the interval of the prevalence."""

    rows: int
    cost: float
    holds: float
    nothing: float
    worst: float

    def after(self, width: float | None) -> "Expected":
        """Widths together with those of earlier rounds: precisions, 1 / width^2, add up."""
        if width is None:
            return self
        both = (combined(vars(self)[name], width) for name in TRUTHS)
        return Expected(self.rows, self.cost, *both)


def combined(width: float, earlier: float) -> float:
    """Width of an interval that two independent audits lead to."""
    return width * earlier / float(np.hypot(width, earlier)) if min(width, earlier) > 0 else 0.0


def remaining(width: float, earlier: float | None) -> float:
    """Width that a further round must have, so that it has this width with the earlier ones."""
    if earlier is None:
        return width
    left = earlier**2 - width**2  # nearly nothing, where little is missing
    return width * earlier / float(np.sqrt(left)) if left > (width / 10) ** 2 else 10 * width


def expect(strata: Strata, budget: float, population: float, level: float = 0.95) -> Expected:
    """Median width of the interval of the prevalence under each truth.

    Parameters
    ----------
    strata : Strata
        Of the rows whose class is unknown.
    budget : float
        What may be spent; a row costs 1 if nothing else was said.
    population : float
        Number of all rows, labelled ones too.
    level : float, default=0.95
        Of the interval.
    """
    drawn = strata.allocation(budget).astype(float)
    widths = {truth: expected_width(strata, drawn, truth, level) for truth in TRUTHS}
    shares = {truth: width / population for truth, width in widths.items()}
    return Expected(int(drawn.sum()), float(drawn @ strata.cost), **shares)


def expected_width(
    strata: Strata, drawn: Floats, truth: str, level: float, *, roughly: bool = False
) -> float:
    """Median width of the interval of the number of hidden positives, under a truth.

    ``roughly`` takes the width for the expected counts, which is off where these are small.
    """
    share, unseen = _shares(strata, truth), 1 - drawn / strata.rows
    ratio = 1.0
    if truth == "holds":  # then h explains a part of what differs within strata
        scale = strata.rows**2 * unseen / drawn
        whole = float(scale @ (share * (1 - share)))
        ratio = float(scale @ strata.spread) / whole if whole > 0 else 1.0

    def width(found: Floats) -> float:
        cells = Cells(strata.rows, drawn, found, unseen)
        low, high, _ = total_interval(cells, cells.estimate, min(ratio, 1.0), level)
        return high - low

    positive = float(drawn @ share)
    if roughly or min(positive, float(drawn.sum()) - positive) > MANY * FEW_AUDITED:
        return width(drawn * share)  # widths hardly differ from draw to draw
    rng = np.random.default_rng(0)
    return float(np.median([width(_counts(rng, drawn, share)) for _ in range(DRAWS)]))


def _shares(strata: Strata, truth: str) -> Floats:
    if truth == "holds":
        return np.clip(strata.h, 0, 1)
    mean = float(strata.rows @ strata.h / strata.rows.sum())
    return np.full(len(strata), 0.5 if truth == "worst" else mean)


def _counts(rng: np.random.Generator, drawn: Floats, share: Floats) -> Floats:
    return rng.binomial(drawn.astype(int), share).astype(float)


def budget_for(
    strata: Strata, width: float, population: float, truth: str = "holds", level: float = 0.95
) -> float:
    """The smallest budget for which the interval is expected to be at most so wide.

    A budget of all rows leaves nothing unknown, so there always is one.
    """
    least, most = 2.0 * float(strata.cost.max()), float(strata.rows @ strata.cost)

    def wide(budget: float, roughly: bool) -> bool:
        drawn = strata.allocation(budget).astype(float)
        found = expected_width(strata, drawn, truth, level, roughly=roughly)
        return found > width * population

    near = _smallest(lambda budget: wide(budget, True), least, most)
    low, high = max(near / NEAR, least), min(near * NEAR, most)
    return float(np.ceil(_smallest(lambda budget: wide(budget, False), low, high)))


def _smallest(wide: Callable[[float], bool], low: float, high: float) -> float:
    """The smallest budget in a range, to a row or a hundredth, that is not too small."""
    if low >= high or not wide(low):
        return low
    while high / low > 1.01 and high - low > 0.5:
        middle = float(np.sqrt(low * high))
        low, high = (middle, high) if wide(middle) else (low, middle)
    return high
