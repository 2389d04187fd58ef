"""What an estimate asks of each block of rows: sums by group, and the rows that were audited."""

from collections.abc import Collection
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from doublelogit._types import Floats
from doublelogit.audit.blocks import Block, Blocks, first_rows
from doublelogit.audit.chances import places


@dataclass(frozen=True)
class Population:
    """Sums over the rows of a group: rows, known positives, rows of unknown class and their h."""

    rows: float
    positive: float
    open: float
    h: Floats  # one per model

    def __add__(self, other: "Population") -> "Population":
        return Population(*(mine + vars(other)[name] for name, mine in vars(self).items()))


@dataclass(frozen=True)
class Gathered:
    """Sums of rows by group, the audited ones among them, and the best h.

    Of all rows together the audited ones are in the order of the audit.
    """

    groups: dict[str, Population]
    ids: Any  # of the audited rows
    h: Floats  # one column per model
    weight: Floats
    group: Any
    closed: Any  # whether their class is known without the audit
    first: Floats  # h of the likeliest rows of unknown class
    weighted: bool
    open: int  # rows of unknown class, whatever their weight

    @property
    def population(self) -> Population:
        """Sums over all rows."""
        each = list(self.groups.values())
        return sum(each[1:], each[0])


def ask(ids: Collection[str], top: int, block: Block, start: int) -> Gathered:
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
    return Gathered(
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
    columns = {
        name: np.concatenate([vars(block)[name] for block in gathered])
        for name in ("ids", "h", "weight", "group", "closed", "first")
    }
    first = -np.sort(-columns.pop("first"))[:top]
    at = places(columns["ids"], ids, columns["closed"])
    return Gathered(
        dict(sorted(groups.items())),
        **{name: values[at] for name, values in columns.items()},
        first=first,
        weighted=gathered[0].weighted,
        open=sum(block.open for block in gathered),
    )
