"""What may be claimed of the first rows of a list.

The claim is an interval about the mean opinion of the page's model, of the cautious methods and of
the class that bends. Its width is the spread of their opinions and the chance of so few rows: an
80% interval, which held for 80% of the lists of 50 real tables that were used to choose it, and
for 80% of 50 others (`make doubt`).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import norm

from doublelogit.common.thresholds import VAGUE_CLAIM
from doublelogit.registry import CAUTIOUS
from doublelogit.report.flexible import CURVES, MOST_ROWS, curves_of
from doublelogit.report.opinions import FirstRows, Opinion, other_methods, sample_rows
from doublelogit.table_models.table_model import FittedTable
from doublelogit.tables import Table

LEVEL = 0.8  # of the claim
UNSEEN = 0.005  # variance that no spread of opinions shows


@dataclass(frozen=True)
class Claim:
    """What is expected of the first rows, by the page, and within what methods and models say."""

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
    said = [own, *(o for o in others if o.name in (*CAUTIOUS, CURVES))]
    precision = np.array([o.precision for o in said])
    centre = float(precision.mean())
    apart = precision.var(ddof=1) if len(said) > 1 else 0.0  # opinions are a few of many
    spread = np.sqrt(apart + centre * (1 - centre) / max(length, 1) + UNSEEN)
    reach = float(norm.ppf(0.5 + LEVEL / 2) * spread)
    ends = np.clip([centre - reach, centre + reach], 0.0, 1.0)
    return Claim(length, own.precision, *ends.tolist())


def list_claim(model: FittedTable, table: Table, length: int, random_state: int = 0) -> Claim:
    """The claim for a list of so many rows, by fits of those alone whose opinion counts."""
    said, rng = model.probabilities(table), np.random.default_rng(random_state)
    first = FirstRows.of(table, said.listed, length)
    own = first.opinion(model.method, said.positive, said.hidden)
    others = other_methods(model, first, rng, names=CAUTIOUS)
    curves = curves_of(model, first, sample_rows(table, MOST_ROWS, rng))
    return claim_of(own, [*others, *([] if curves is None else [curves.opinion])], length)
