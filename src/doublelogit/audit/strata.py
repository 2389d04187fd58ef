"""Strata of an audit and how many rows each of them gets.

Rows are put into strata by the model's probability h = P(Y=1 | x, S=0), within classes that must
not be mixed (groups, the list or not, whether the swapped model disagrees). A row's share of
the audit is

    q = mean over goals of  u / N + (1 - u) a / sum a
    a = sqrt(h (1 - h))     goal prevalence: Neyman's allocation, if the model holds
        |h - h'|            goal orientation: what tells the model from the swapped one
        sqrt(h (1 - h))     goal list: of rows of the list alone

with u = UNIFORM, and LISTED for the list, which is worth little if few of its rows are drawn; each
divided by the square root of what the row costs. Strata are cut where equal shares are
reached, and n_k = budget sum_{i in k} q_i rows are drawn from each at random, so that every row has
the chance n_k / N_k, which is at least about u times that of a simple random audit. A model
that is wrong can therefore widen an interval by a factor of 1 / sqrt(u) at most.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from doublelogit._types import Floats, Ints
from doublelogit.core.grouped import sum_by

UNIFORM = 0.7  # of the audit is drawn without regard to the model
UNIFORM_LATER = 0.4  # of later rounds, when h was put right by what had been found
LISTED = 0.2  # of an audit of a list is drawn from all rows
H_BINS = 2048  # of h, from which strata are put together
SWAP_APART = 0.1  # distance of h from the swapped model's that makes a class of its own
FEWEST_PER_STRATUM = 2  # rows of a stratum: with one there is no variance


def bin_of(h: Floats) -> Ints:
    """Bin of each h, of equal widths in arcsin sqrt(h), where the variance of a draw is even."""
    angle = np.arcsin(np.sqrt(np.clip(h, 0, 1))) / (np.pi / 2)
    return np.minimum((angle * H_BINS).astype(np.intp), H_BINS - 1)


@dataclass(frozen=True)
class Sums:
    """Sums over the rows of each class (first axis) and bin of h (second).

    ``teaches`` has one table per goal: sums of a / sqrt(cost).
    """

    rows: Floats
    h: Floats
    spread: Floats  # sums of h (1 - h)
    cost: Floats
    teaches: dict[str, Floats]

    def __add__(self, other: "Sums") -> "Sums":
        return Sums(
            self.rows + other.rows,
            self.h + other.h,
            self.spread + other.spread,
            self.cost + other.cost,
            {goal: table + other.teaches[goal] for goal, table in self.teaches.items()},
        )

    def shares(self, uniform: float) -> Floats:
        """Share q of all rows of each class and bin."""
        cheap = np.divide(self.rows**1.5, np.sqrt(self.cost), where=self.rows > 0, out=0 * self.h)
        cheap /= cheap.sum()
        shares = []
        for goal, table in self.teaches.items():
            u = LISTED if goal == "list" else uniform
            shares.append(u * cheap + (1 - u) * table / table.sum() if table.any() else cheap)
        return np.asarray(np.mean(shares, axis=0))


@dataclass(frozen=True)
class Strata:
    """Strata: which class and bin belongs to which, and sums over their rows."""

    of: Ints  # stratum of each class and bin
    rows: Floats
    share: Floats
    h: Floats  # mean of h
    spread: Floats  # mean of h (1 - h)
    cost: Floats  # mean cost of a row
    listed: Any = None  # whether its rows are on the list; None if there is none

    def only(self, mask: Any) -> "Strata":
        """Some of the strata."""
        summed = ("rows", "share", "h", "spread", "cost")
        return replace(self, **{name: vars(self)[name][mask] for name in summed})

    def __len__(self) -> int:
        return len(self.rows)

    def allocation(self, budget: float) -> Ints:
        """Rows to draw from each stratum, of which all cost about the budget."""
        wanted = budget * self.share / float(self.share @ self.cost)
        least = np.minimum(FEWEST_PER_STRATUM, self.rows)
        drawn = np.clip(np.floor(wanted), least, self.rows)
        for k in np.argsort(np.floor(wanted) - wanted, kind="stable"):  # largest remainders first
            if drawn[k] < self.rows[k] and float(drawn @ self.cost) + self.cost[k] <= budget:
                drawn[k] += 1
        while drawn.sum() < self.rows.sum():  # strata that were full have left something over
            able = np.flatnonzero((drawn < self.rows) & (drawn @ self.cost + self.cost <= budget))
            if len(able) == 0:
                break
            drawn[able[np.argmin(drawn[able] / np.maximum(wanted[able], 1e-12))]] += 1
        return drawn.astype(np.intp)


def number_of_strata(draws: float) -> int:
    """Strata of a class: few, so that each of them has rows enough for its variance."""
    return max(1, round(draws ** (1 / 3)))


def make_strata(sums: Sums, budget: float, uniform: float = UNIFORM, listed: Any = None) -> Strata:
    """Cut every class where equal shares of the audit are reached.

    ``listed`` says of each class whether its rows are on the list.
    """
    share = sums.shares(uniform)
    mean_cost = float((share * _mean(sums.cost, sums.rows)).sum())
    draws = budget / mean_cost
    of = np.full(sums.rows.shape, -1, dtype=np.intp)
    count = 0
    for c, row in enumerate(share):
        if sums.rows[c].sum() == 0:
            continue
        pieces = number_of_strata(draws * float(row.sum()))
        before = np.cumsum(row) - row / 2
        cut = np.minimum((before / row.sum() * pieces).astype(np.intp), pieces - 1)
        used = np.unique(cut[sums.rows[c] > 0])
        of[c] = count + np.clip(np.searchsorted(used, cut), 0, len(used) - 1)
        count += len(used)

    def total(table: Floats) -> Floats:
        inside = of >= 0
        return sum_by(of[inside], table[inside], count)

    rows = total(sums.rows)
    return Strata(
        of,
        rows,
        total(share),
        total(sums.h) / rows,
        total(sums.spread) / rows,
        total(sums.cost) / rows,
        None if listed is None else total(listed[:, None] * sums.rows) > 0,
    )


def _mean(total: Floats, rows: Floats) -> Floats:
    return np.divide(total, rows, where=rows > 0, out=np.zeros_like(total))
