"""How far an answer depends on its method and its model, and the claim for the first rows."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import ndtri

from doublelogit.common import thresholds
from doublelogit.inference.misfit import Misfit
from doublelogit.report.answers import Answer
from doublelogit.report.drivers import Coefficient
from doublelogit.report.opinions import Opinion, curves_opinion, first_rows, other_methods
from doublelogit.report.residuals import Residuals
from doublelogit.table_models.table_model import FittedTable
from doublelogit.tables import Table

CLAIM_LEVEL = 0.8
SHARED_VARIANCE = 0.005  # of the precision, by errors that all opinions share


@dataclass(frozen=True)
class Claim:
    """The expected precision of the first rows: the page's, and the interval over all opinions.

    The interval lies about the mean opinion of the page's model, of the methods whose opinion
    counts and of the class of curves. Its width is the spread of their opinions and the chance of
    so few rows: an 80% interval, which held for 80% of the lists of 50 real tables that were used
    to choose it, and for 80% of 50 others (`make -C benchmarks doubt`).
    """

    length: int
    expected: float
    low: float
    high: float

    @classmethod
    def of(cls, page: Opinion, others: Sequence[Opinion], length: int) -> "Claim":
        """The claim of the page's model for the first rows, beside other opinions of them."""
        precision = np.array([page.precision, *(o.precision for o in others if o.counts)])
        centre = float(precision.mean())
        # opinions are a few of many
        variance = precision.var(ddof=1) if len(precision) > 1 else 0.0
        chance = centre * (1 - centre) / max(length, 1)
        reach = ndtri(0.5 + CLAIM_LEVEL / 2) * np.sqrt(variance + chance + SHARED_VARIANCE)
        ends = np.clip([centre - reach, centre + reach], 0.0, 1.0)
        return cls(length, page.precision, *ends.tolist())

    @property
    def vague(self) -> bool:
        """Whether opinions are too far apart for a claim."""
        return self.high - self.low > thresholds.VAGUE_CLAIM


@dataclass(frozen=True)
class Doubt:
    """Opinions on the answer of a page and on its first rows."""

    main: Answer
    page: Opinion
    first: Any
    methods: list[Opinion]
    flexible: list[Opinion]
    misfits: list[Misfit]
    residuals: Residuals | None
    drivers: list[Coefficient] = field(default_factory=list)  # of labelling, if settled

    @property
    def others(self) -> list[Opinion]:
        """Opinions of methods, then of flexible classes."""
        return [*self.methods, *self.flexible]

    @cached_property
    def claim(self) -> Claim:
        """The precision of the first rows, with an interval over methods and models."""
        return Claim.of(self.page, self.others, len(self.first))

    @property
    def best_flexible(self) -> Opinion | None:
        """The flexible class that predicts labels best."""
        return max(self.flexible, key=lambda o: o.better, default=None)

    @property
    def refuting(self) -> Opinion | None:
        """A flexible class that is clearly better and gives another answer."""
        better = [o for o in self.flexible if o.better > thresholds.CLEARLY_BETTER]
        return max(filter(self.differs, better), key=lambda o: o.better, default=None)

    @property
    def survives(self) -> bool:
        """Whether a flexible class was tried and gives the same answer."""
        best = self.best_flexible
        return self.refuting is None and best is not None and not self.differs(best)

    @property
    def curves(self) -> Opinion | None:
        """The class of smooth curves, which has a labelling model of its own."""
        return next((o for o in self.flexible if o.labelling), None)

    @property
    def reversed_drivers(self) -> list[str]:
        """Drivers of labelling whose direction is the opposite beside a class of curves."""
        other = {} if self.curves is None else self.curves.labelling
        return [t.term for t in self.drivers if t.coef * other.get(t.term, t.coef) < 0]

    def differs(self, opinion: Opinion) -> bool:
        """Whether an opinion is another answer: another share, list or precision."""
        return (
            self._is_outside(opinion, 0.0)
            or opinion.overlap < thresholds.ANOTHER_LIST
            or abs(opinion.precision - self.page.precision) > thresholds.ANOTHER_PRECISION
        )

    @property
    def dissenters(self) -> list[Opinion]:
        """Cautious opinions whose prevalence is clearly beyond the interval."""
        cautious = [o for o in self.others if o.contradicts]
        return [o for o in cautious if self._is_outside(o, thresholds.BEYOND)]

    def _is_outside(self, opinion: Opinion, margin: float) -> bool:
        low, high = self.main.low, self.main.high
        if low is None or high is None:
            return abs(opinion.prevalence - self.main.value) > thresholds.BEYOND + margin
        return not low - margin <= opinion.prevalence <= high + margin


def list_claim(model: FittedTable, table: Table, length: int, random_state: int = 0) -> Claim:
    """The claim for a list of so many rows, by fits of those alone whose opinion counts."""
    p, rng = model.probabilities(table), np.random.default_rng(random_state)
    first = first_rows(table, p.listed, length)
    page = Opinion.on(table, first, model.method, p.positive, p.hidden)
    others = other_methods(model, table, first, rng, counting=True)
    return Claim.of(page, [*others, *curves_opinion(model, table, first, rng)], length)
