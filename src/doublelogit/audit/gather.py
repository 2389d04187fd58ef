"""What an estimate asks of each block of rows: sums by group, and the rows that were audited."""

from collections.abc import Collection
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from doublelogit._types import Floats
from doublelogit.audit.blocks import Block, Blocks, first_rows
from doublelogit.exceptions import SheetError, TableError


@dataclass(frozen=True)
class Population:
    """Sums over the rows of a group: rows, known positives, rows of unknown class and their h."""

    rows: float
    positive: float
    open: float
    h: Floats  # one per model

    def __add__(self, other: "Population") -> "Population":
        return Population(
            self.rows + other.rows,
            self.positive + other.positive,
            self.open + other.open,
            self.h + other.h,
        )


@dataclass(frozen=True)
class Gathered:
    """Sums of all rows by group, the audited rows in the order of the audit, and the best h."""

    groups: dict[str, Population]
    h: Floats  # of the audited rows, one column per model
    weight: Floats
    group: Any
    first: Floats  # h of the likeliest rows of unknown class
    weighted: bool
    open: int  # rows of unknown class, whatever their weight

    @property
    def population(self) -> Population:
        """Sums over all rows."""
        each = list(self.groups.values())
        return sum(each[1:], each[0])


@dataclass(frozen=True)
class Part:
    """What one block has."""

    groups: dict[str, Population]
    ids: Any
    h: Floats
    weight: Floats
    group: Any
    closed: Any
    first: Floats
    weighted: bool
    open: int


def ask(ids: Collection[str], top: int, block: Block, start: int) -> Part:
    """Sums over the rows of a block, and its audited rows."""
    weight = np.ones(len(block)) if block.weight is None else block.weight
    group = np.full(len(block), "", dtype=object) if block.group is None else block.group
    groups = {}
    for name in dict.fromkeys(group.tolist()):
        mine = group == name
        hidden = mine & block.open
        groups[name] = Population(
            float(weight[mine].sum()),
            float(weight[mine & block.positive].sum()),
            float(weight[hidden].sum()),
            weight[hidden] @ block.hidden[hidden],
        )
    names = block.ids(start)
    rows = np.flatnonzero(np.isin(names, list(ids)))
    first = -np.sort(-block.h[block.open])[:top]
    return Part(
        groups,
        names[rows],
        block.hidden[rows],
        weight[rows],
        group[rows],
        ~block.open[rows],
        first,
        block.weight is not None,
        int(np.count_nonzero(block.open)),
    )


def gather(blocks: Blocks, ids: Any, top: int) -> Gathered:
    """Ask every block, and put the audited rows in the order of their ids."""
    gathered = blocks.map(partial(ask, set(ids.tolist()), top), first_rows(blocks))
    groups: dict[str, Population] = {}
    for block in gathered:
        for name, sums in block.groups.items():
            groups[name] = groups[name] + sums if name in groups else sums
    names = np.concatenate([block.ids for block in gathered])
    at = _places(names, ids, np.concatenate([block.closed for block in gathered]))
    first = -np.sort(-np.concatenate([block.first for block in gathered]))[:top]
    return Gathered(
        dict(sorted(groups.items())),
        np.concatenate([block.h for block in gathered])[at],
        np.concatenate([block.weight for block in gathered])[at],
        np.concatenate([block.group for block in gathered])[at],
        first,
        gathered[0].weighted,
        sum(block.open for block in gathered),
    )


def _places(names: Any, ids: Any, closed: Any) -> Any:
    """Where each id of the audit is among the rows found."""
    place = {name: i for i, name in enumerate(names.tolist())}
    if len(place) < len(names):
        twice = next(n for n in names if (names == n).sum() > 1)
        raise TableError(
            f"ids must name one row each; {twice!r} is the id of several. Name an `id`."
        )
    for name in ids.tolist():
        if name not in place:
            raise SheetError(
                f"the audit has a row {name!r} that is not in the table. Rows are joined by `id`; "
                "it must be the column that the audit was planned with."
            )
        if closed[place[name]]:
            raise SheetError(
                f"the audit has a row {name!r} that is labelled. Only unlabelled rows are audited; "
                "give the table that the audit was planned with."
            )
    return np.array([place[name] for name in ids.tolist()], dtype=np.intp)
