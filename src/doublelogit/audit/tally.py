"""What a plan asks of each block of rows: sums by class and bin of h, the list, and a sample."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np

from doublelogit._types import Floats, Ints
from doublelogit.audit.blocks import Block
from doublelogit.audit.draw import row_keys, smallest
from doublelogit.audit.strata import H_BINS, SWAP_APART, Strata, Sums, bin_of
from doublelogit.core.grouped import sum_by

# Group, whether on the list, whether the swapped model disagrees, power of two of the cost.
Key = tuple[str, bool, bool, int]
SUMMED = ("rows", "h", "spread", "cost")


@dataclass(frozen=True)
class Question:
    """What a plan wants to know: its goals, rows that are done with, and the length of a list."""

    goals: tuple[str, ...]
    done: Collection[str]
    top: int

    @property
    def fields(self) -> tuple[str, ...]:
        """Names of the sums."""
        return (*SUMMED, *self.goals)


@dataclass(frozen=True)
class Tally:
    """Sums of a block by class, and its likeliest rows, which may be on the list.

    Of these rows: h, number in the block, class, bin, and what they add to the sums.
    """

    rows: int
    tables: dict[Key, Floats]
    h: Floats
    row: Ints
    key: list[Key]
    bin: Ints
    values: Floats


def tally(question: Question, block: Block, start: int) -> Tally:
    """Sums over the rows of a block whose class is unknown."""
    rows = np.flatnonzero(wanted(question, block, start))
    values, keys, bins = _values(question, block, rows), _keys(block, rows), bin_of(block.h[rows])
    tables = {}
    for key in dict.fromkeys(keys):
        mine = np.array([k == key for k in keys]) if len(set(keys)) > 1 else slice(None)
        tables[key] = np.stack([sum_by(bins[mine], v[mine], H_BINS) for v in values])
    first = np.argsort(-block.h[rows], kind="stable")[: question.top]
    first_keys, h = [keys[i] for i in first], block.h[rows][first]
    return Tally(len(block), tables, h, rows[first], first_keys, bins[first], values[:, first])


def wanted(question: Question, block: Block, start: int) -> Any:
    """Whether each row may be drawn: its class is unknown, and nobody has looked at it."""
    if not question.done:
        return block.open
    return block.open & ~np.isin(block.ids(start), list(question.done))


def _keys(block: Block, rows: Ints) -> list[Key]:
    group = [""] * len(rows) if block.group is None else block.group[rows].tolist()
    apart = np.zeros(len(rows), dtype=bool)
    if block.swapped is not None:
        apart = np.abs(block.h - block.swapped)[rows] >= SWAP_APART
    dear = np.zeros(len(rows), dtype=int)
    if block.cost is not None:
        dear = np.floor(np.log2(block.cost[rows])).astype(int)
    each = zip(group, apart.tolist(), dear.tolist(), strict=True)
    return [(g, False, a, c) for g, a, c in each]


def _values(question: Question, block: Block, rows: Ints) -> Floats:
    """What each row adds to the sums, in the order of the fields."""
    h = block.h[rows]
    cost = np.ones(len(rows)) if block.cost is None else block.cost[rows]
    spread = h * (1 - h)
    teaches = {"prevalence": np.sqrt(spread), "list": np.zeros(len(rows))}  # a list is cut later
    if block.swapped is not None:
        teaches["orientation"] = np.abs(h - block.swapped[rows])
    return np.stack(
        [np.ones(len(rows)), h, spread, cost]
        + [teaches[goal] / np.sqrt(cost) for goal in question.goals]
    )


def listed_rows(question: Question, tallies: list[Tally]) -> list[Ints]:
    """Rows of each block that are on the list, the likeliest of all blocks."""
    owner = np.concatenate([np.full(len(t.h), i) for i, t in enumerate(tallies)])
    h = np.concatenate([t.h for t in tallies])
    listed = np.zeros(len(h), dtype=bool)
    listed[np.argsort(-h, kind="stable")[: question.top]] = True
    return [tally.row[listed[owner == i]] for i, tally in enumerate(tallies)]


def add_up(
    question: Question, tallies: list[Tally], listed: list[Ints] | None
) -> tuple[Sums, list[Key]]:
    """Sums of all blocks, rows of the list in classes of their own."""
    tables: dict[Key, Floats] = {}

    def at(key: Key) -> Floats:
        return tables.setdefault(key, np.zeros((len(question.fields), H_BINS)))

    for i, each in enumerate(tallies):
        for key, table in each.tables.items():
            at(key)[:] += table
        if listed is None:
            continue
        goal = question.fields.index("list")
        for j in np.flatnonzero(np.isin(each.row, listed[i])):
            key, column, value = each.key[j], each.bin[j], each.values[:, j]
            at(key)[:, column] -= value
            value = value.copy()
            value[goal] = np.sqrt(value[2] / value[3])
            at((key[0], True, *key[2:]))[:, column] += value
    keys = sorted(key for key, table in tables.items() if table[0].sum() > 0)
    stacked = dict(zip(question.fields, np.stack([tables[k] for k in keys], axis=1), strict=True))
    stacked = {name: np.maximum(table, 0) for name, table in stacked.items()}
    teaches = {goal: stacked[goal] for goal in question.goals}
    rows, h, spread, cost = (stacked[name] for name in SUMMED)
    return Sums(rows, h, spread, cost, teaches), keys


@dataclass(frozen=True)
class Chosen:
    """Rows of a sample: random key, number, stratum, id, h and group of each."""

    key: Any
    row: Ints
    stratum: Ints
    id: Any
    h: Floats
    group: Any

    def smallest(self, drawn: Ints) -> "Chosen":
        """Those with the smallest keys of each stratum."""
        return self.take(smallest(self.key, self.stratum, drawn))

    def take(self, at: Ints) -> "Chosen":
        """Some of the rows, in this order."""
        return Chosen(*(values[at] for values in vars(self).values()))

    @classmethod
    def joined(cls, choices: list["Chosen"]) -> "Chosen":
        """The rows of several parts."""
        return cls(
            *(
                np.concatenate(each)
                for each in zip(*(vars(p).values() for p in choices), strict=True)
            )
        )


def choose(
    question: Question,
    strata: Strata,
    numbers: dict[Key, int],
    drawn: Ints,
    seed: int,
    block: Block,
    start: int,
    listed: Ints,
) -> Chosen:
    """The rows of a block that may be drawn: those with the smallest keys of each stratum."""
    rows = np.flatnonzero(wanted(question, block, start))
    keys, on_list = _keys(block, rows), np.isin(rows, listed).tolist()
    classes = np.array(
        [numbers[g, on, a, c] for (g, _, a, c), on in zip(keys, on_list, strict=True)],
        dtype=np.intp,
    )
    stratum = strata.of[classes, bin_of(block.h[rows])] if len(rows) else classes
    random = row_keys(start + rows, seed)
    smallest_rows = smallest(random, stratum, drawn)
    few = rows[smallest_rows]
    group = np.array([keys[i][0] for i in smallest_rows], dtype=object)
    return Chosen(
        random[smallest_rows],
        start + few,
        stratum[smallest_rows],
        block.ids(start, few),
        block.h[few],
        group,
    )
