"""Trees whose values add up, as plain arrays: a model file holds them for ever."""

from dataclasses import dataclass

import numpy as np

from doublelogit._types import Bools, Floats, Ints

LEAF = -1


@dataclass(frozen=True)
class Forest:
    """Nodes of all trees in one list; ``roots`` are where they begin.

    A row goes left where its feature is at most the threshold, and where it is missing in a node
    whose ``missing_left`` says so. Values are those of leaves, whose ``left`` is -1.
    """

    baseline: float
    roots: Ints
    feature: Ints
    threshold: Floats
    missing_left: Bools
    left: Ints
    right: Ints
    value: Floats

    def predict(self, X: Floats) -> Floats:
        """The sum of what the trees say of each row."""
        total = np.full(len(X), self.baseline)
        for root in self.roots:
            total += self.value[self._leaves(X, int(root))]
        return total

    def _leaves(self, X: Floats, root: int) -> Ints:
        at = np.full(len(X), root)
        going = np.arange(len(X))
        while len(going):
            inner = self.left[at[going]] != LEAF
            going = going[inner]
            here = at[going]
            x = X[going, self.feature[here]]
            lower = (x <= self.threshold[here]) | (np.isnan(x) & self.missing_left[here])
            at[going] = np.where(lower, self.left[here], self.right[here])
        return at
