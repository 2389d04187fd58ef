"""How far an answer hangs on its method and its model: what a page claims, what others say."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from scipy.special import ndtri

from doublelogit.common.thresholds import (
    ANOTHER_LIST,
    ANOTHER_PRECISION,
    BEYOND,
    CLEARLY_BETTER,
    VAGUE_CLAIM,
)
from doublelogit.inference.misfit import Misfit, worst_misfit
from doublelogit.report.answers import Answer
from doublelogit.report.drivers import Coefficient, turned_round
from doublelogit.report.flexible import FLEXIBLE_ROWS, Flexible, curves_of
from doublelogit.report.opinions import FirstRows, Opinion, other_methods, sample_rows
from doublelogit.report.residuals import Residuals
from doublelogit.table_models.table_model import FittedTable
from doublelogit.tables import Table

CLAIM_LEVEL = 0.8  # of the claim
UNSEEN = 0.005  # variance that no spread of opinions shows


@dataclass(frozen=True)
class Claim:
    """The expected precision of the first rows: the page's, and the interval over all opinions.

    The interval lies about the mean opinion of the page's model, of the methods whose opinion
    counts and of the class that bends. Its width is the spread of their opinions and the chance of
    so few rows: an 80% interval, which held for 80% of the lists of 50 real tables that were used
    to choose it, and for 80% of 50 others (`make -C benchmarks doubt`).
    """

    length: int
    expected: float
    low: float
    high: float

    @property
    def vague(self) -> bool:
        """Whether opinions are too far apart for a claim."""
        return self.high - self.low > VAGUE_CLAIM


def claim_of(own: Opinion, others: Sequence[Opinion], length: int) -> Claim:
    """The claim of a model for the first rows, given what others say of them."""
    said = [own, *(o for o in others if o.counts)]
    precision = np.array([o.precision for o in said])
    centre = float(precision.mean())
    apart = precision.var(ddof=1) if len(said) > 1 else 0.0  # opinions are a few of many
    spread = np.sqrt(apart + centre * (1 - centre) / max(length, 1) + UNSEEN)
    reach = float(ndtri(0.5 + CLAIM_LEVEL / 2) * spread)
    ends = np.clip([centre - reach, centre + reach], 0.0, 1.0)
    return Claim(length, own.precision, *ends.tolist())


@dataclass(frozen=True)
class Doubt:
    """Opinions on the answer of a page."""

    main: Answer
    own: Opinion
    first: FirstRows
    methods: list[Opinion]
    flexible: list[Flexible]
    misfits: list[Misfit]
    residuals: Residuals | None
    drivers: list[Coefficient] = field(default_factory=list)  # of labelling, if settled

    @cached_property
    def claim(self) -> Claim:
        """The precision of the first rows, with an interval over methods and models."""
        others = [*self.methods, *(f.opinion for f in self.flexible)]
        return claim_of(self.own, others, len(self.first.rows))

    @property
    def bent(self) -> Flexible | None:
        """The flexible class that predicts labels best."""
        return max(self.flexible, key=lambda f: f.better, default=None)

    @property
    def broken(self) -> Flexible | None:
        """A flexible class that is clearly better and gives another answer."""
        better = [f for f in self.flexible if f.better > CLEARLY_BETTER and self.differs(f.opinion)]
        return max(better, key=lambda f: f.better, default=None)

    @property
    def survives(self) -> bool:
        """Whether a flexible class was tried and gives the same answer."""
        return self.broken is None and self.bent is not None and not self.differs(self.bent.opinion)

    @property
    def curves(self) -> Flexible | None:
        """The class of smooth curves, which has a labelling model of its own."""
        return next((f for f in self.flexible if f.labelling), None)

    @property
    def turned(self) -> list[str]:
        """Drivers of labelling whose direction a class of curves turns round."""
        return [] if self.curves is None else turned_round(self.drivers, self.curves.labelling)

    def differs(self, opinion: Opinion) -> bool:
        """Whether an opinion is another answer: another share, list or precision."""
        return (
            self._outside(opinion, 0.0)
            or opinion.overlap < ANOTHER_LIST
            or abs(opinion.precision - self.own.precision) > ANOTHER_PRECISION
        )

    @property
    def dissenters(self) -> list[Opinion]:
        """Cautious opinions whose prevalence is clearly beyond the interval."""
        opinions = [*self.methods, *(f.opinion for f in self.flexible)]
        return [o for o in opinions if o.contradicts and self._outside(o, BEYOND)]

    @property
    def worst_misfit(self) -> Misfit | None:
        """What of the model the labels speak against most."""
        return worst_misfit(self.misfits)

    def _outside(self, opinion: Opinion, margin: float) -> bool:
        if self.main.low is None or self.main.high is None:
            return abs(opinion.prevalence - self.main.value) > BEYOND + margin
        low, high = self.main.low - margin, self.main.high + margin
        return not low <= opinion.prevalence <= high


def list_claim(model: FittedTable, table: Table, length: int, random_state: int = 0) -> Claim:
    """The claim for a list of so many rows, by fits of those alone whose opinion counts."""
    said, rng = model.probabilities(table), np.random.default_rng(random_state)
    first = FirstRows.of(table, said.listed, length)
    own = first.opinion(model.method, said.positive, said.hidden)
    others = other_methods(model, first, rng, counting=True)
    curves = curves_of(model, first, sample_rows(table, FLEXIBLE_ROWS, rng))
    return claim_of(own, [*others, *([] if curves is None else [curves[0]])], length)
