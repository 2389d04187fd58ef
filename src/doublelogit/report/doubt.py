"""How far an answer depends on its method and on lines, and the claim for the first rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import ndtri

from doublelogit.common import thresholds
from doublelogit.inference.misfit import Misfit
from doublelogit.report.answers import Answer
from doublelogit.report.opinions import LabelGain, Opinion, first_rows, other_methods
from doublelogit.report.residuals import Residuals
from doublelogit.table_models.table_model import FittedTable
from doublelogit.tables import Table

CLAIM_LEVEL = 0.8
SHARED_VARIANCE = 0.015  # of the precision, by errors that all opinions share


@dataclass(frozen=True)
class Claim:
    """The expected precision of the first rows: the page's, and the interval over all opinions.

    The interval lies about the mean opinion of the page's model and of the methods whose opinion
    counts. Its width is the spread of their opinions and the chance of so few rows: an 80%
    interval, which held for 78% of the lists of 50 real tables that were used to choose it, and for
    88% of 50 others (`make -C benchmarks doubt`).
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
    label_gain: LabelGain | None
    bends: bool  # whether the class of the answer may have any shape
    misfits: list[Misfit]
    residuals: Residuals | None

    @cached_property
    def claim(self) -> Claim:
        """The precision of the first rows, with an interval over methods."""
        return Claim.of(self.page, self.methods, len(self.first))

    @property
    def refuted(self) -> bool:
        """Whether the answer takes lines for granted, and the labels are clearly against them."""
        return self.label_gain is not None and self.label_gain.clear and not self.bends

    @property
    def dissenters(self) -> list[Opinion]:
        """Cautious opinions whose prevalence is clearly beyond the interval."""
        cautious = [o for o in self.methods if o.contradicts]
        return [o for o in cautious if self._is_outside(o)]

    def _is_outside(self, opinion: Opinion) -> bool:
        low, high = self.main.low, self.main.high
        if low is None or high is None:
            return abs(opinion.prevalence - self.main.value) > 2 * thresholds.BEYOND
        return not low - thresholds.BEYOND <= opinion.prevalence <= high + thresholds.BEYOND


def list_claim(model: FittedTable, table: Table, length: int, random_state: int = 0) -> Claim:
    """The claim for a list of so many rows, by fits of those alone whose opinion counts."""
    p, rng = model.probabilities(table), np.random.default_rng(random_state)
    first = first_rows(table, p.listed, length)
    page = Opinion.on(table, first, model.method, p.positive, p.hidden)
    others = other_methods(model, table, first, rng, counting=True)
    return Claim.of(page, others, length)
