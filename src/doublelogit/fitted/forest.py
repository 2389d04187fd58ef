"""Trees whose values add up, as plain arrays: a model file holds them for ever."""

from dataclasses import dataclass

import numpy as np

from doublelogit._types import Floats, Ints

LEAF = -1


@dataclass(frozen=True)
class Forest:
    """Nodes of all trees in one list; ``roots`` are where they begin.

    A row goes left where its feature is at most the threshold or, in a node with a ``subset``,
    where that line of ``subsets`` has its level. Values are those of leaves, whose ``left`` is -1.
    """

    baseline: float
    roots: Ints
    feature: Ints
    threshold: Floats
    left: Ints
    right: Ints
    value: Floats
    subset: Ints
    subsets: Ints

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
            lower = x <= self.threshold[here]
            chosen = self.subset[here]
            by_level = np.flatnonzero(chosen >= 0)
            level = np.clip(x[by_level], 0, self.subsets.shape[1] - 1).astype(int)
            lower[by_level] = self.subsets[chosen[by_level], level] > 0
            at[going] = np.where(lower, self.left[here], self.right[here])
        return at

    @property
    def used(self) -> Ints:
        """Features that some node asks for."""
        return np.unique(self.feature[self.left != LEAF])
