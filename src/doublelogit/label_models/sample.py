"""The rows that a label model is fitted to: each content once, in an order of its own.

What is fitted to them cannot depend on the order of rows, on rows without weight, or on whether a
weight of two was written as two rows, whatever classifier it is.
"""

from dataclasses import dataclass

import numpy as np

from doublelogit._types import Floats, Ints, Matrix
from doublelogit.core.folds import Folds, Keys, content_keys, hold_out, mix

DRAWN = np.uint64(0x5EED)  # a mixing of keys that is independent of the folds'


@dataclass(frozen=True)
class Sample:
    """Distinct rows with their labels and total weights; rows of one ``group`` share a fold."""

    X: Matrix
    s: Floats
    weight: Floats
    key: Keys
    group: Keys

    def __len__(self) -> int:
        return len(self.s)

    @property
    def n_labelled(self) -> float:
        """Total weight of the labelled rows."""
        return float(self.weight @ self.s)

    def some(self, rows: Ints) -> "Sample":
        """Rows by their positions."""
        numbers = self.s[rows], self.weight[rows]
        return Sample(self.X[rows], *numbers, self.key[rows], self.group[rows])

    def folds(self, n_folds: int) -> Folds:
        """Folds by content that leave both labels outside of each."""
        return hold_out(self.group, self.s, n_folds, self.weight)

    def thinned(self, most: int) -> "Sample":
        """At most about so many labelled rows, and so many others, drawn by content.

        Those that stay stand for the weight of all: a model of the label keeps its level.
        """
        chosen = [self._thinned(self.s == label, most) for label in (1, 0)]
        if sum(len(rows) for rows, _ in chosen) == len(self):
            return self
        rows = np.concatenate([rows for rows, _ in chosen])
        factor = np.concatenate([np.full(len(rows), factor) for rows, factor in chosen])
        order = np.argsort(rows)
        part = self.some(rows[order])
        return Sample(part.X, part.s, part.weight * factor[order], part.key, part.group)

    def _thinned(self, kind: Floats, most: int) -> tuple[Ints, float]:
        rows = np.flatnonzero(kind)
        if len(rows) <= most:
            return rows, 1.0
        drawn = mix(self.key[rows] ^ DRAWN)
        kept = rows[drawn <= np.partition(drawn, most - 1)[most - 1]]
        return kept, float(self.weight[rows].sum() / self.weight[kept].sum())


def distinct_rows(X: Matrix, s: Floats, weight: Floats, cluster: Keys | None = None) -> Sample:
    """The sample of some rows; ``cluster`` has a key per row, if rows are held out by cluster."""
    key = content_keys(X)
    group = key if cluster is None else cluster
    order = np.lexsort((s, group, key))
    order = order[weight[order] > 0]
    columns = [column[order] for column in (key, group, s)]
    new = np.ones(len(order), dtype=bool)
    new[1:] = np.any([column[1:] != column[:-1] for column in columns], axis=0)
    first = np.flatnonzero(new)
    total = np.add.reduceat(weight[order], first) if len(first) else weight[:0]
    rows = order[first]
    return Sample(X[rows], s[rows], total, key[rows], group[rows])
