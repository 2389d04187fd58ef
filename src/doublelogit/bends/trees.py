"""Numbers cut into bins once, and a booster of bins as plain arrays that take numbers.

A booster would cut them anew whenever trees are added, with weights by hundreds of sorts.

Its nodes are private, and read here alone: a fitted booster would have to be pickled, or kept by
skops as objects of one release, and every tree grown here must still be read in ten years.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from doublelogit._types import Floats, Ints
from doublelogit.fitted.forest import LEAF, Forest

LEVELS = 256  # of a category, at most, that a booster tells apart
NUMBER_BINS = 128  # of a number
SAME_VALUE = 1e-9  # of the range of a column: values that are no further apart are one


@dataclass(frozen=True)
class Bins:
    """Some columns of X, cut: ``edges`` of a column are the upper ends of its bins but the last.

    ``categorical`` says which columns hold numbers of levels, which stay as they are.
    """

    columns: Ints
    categorical: Any
    edges: tuple[Floats, ...]

    @classmethod
    def learn(cls, X: Floats, columns: Ints, categorical: Any) -> "Bins":
        """Bins of about as many rows each, or of one value each where these are few."""
        edges = (
            np.empty(0) if levels else _edges(X[:, j])
            for j, levels in zip(columns, categorical, strict=True)
        )
        return cls(columns, categorical, tuple(edges))

    def cut(self, X: Floats) -> Floats:
        """The number of the bin of every value."""
        cells = X[:, self.columns].astype(np.float64)
        for j in np.flatnonzero(~self.categorical):
            cells[:, j] = np.searchsorted(self.edges[j], cells[:, j], side="left")
        return cells


def _edges(x: Floats) -> Floats:
    """Numbers halfway between values, so that rounding puts no value on the other side."""
    values = np.unique(x)
    values = values[np.diff(values, prepend=-np.inf) > SAME_VALUE * np.ptp(values)]
    last = np.arange(len(values) - 1)
    if len(values) > NUMBER_BINS:
        ends = np.quantile(x, np.linspace(0, 1, NUMBER_BINS + 1)[1:-1], method="lower")
        last = np.unique(np.searchsorted(values, ends, side="right") - 1)
        last = last[last < len(values) - 1]
    return np.asarray((values[last] + values[last + 1]) / 2)


def joined(forests: Sequence[Forest]) -> Forest:
    """All trees of some forests, whose values add up."""
    n_nodes = np.cumsum([0, *(len(forest.left) for forest in forests)])
    n_subsets = np.cumsum([0, *(len(forest.subsets) for forest in forests)])

    def shifted(name: str, by: Ints) -> Ints:
        pieces = zip((vars(forest)[name] for forest in forests), by, strict=False)
        return np.concatenate([np.where(piece < 0, piece, piece + n) for piece, n in pieces])

    plain = ("feature", "threshold", "value", "subsets")
    arrays: dict[str, Any] = {
        **{name: shifted(name, n_nodes) for name in ("roots", "left", "right")},
        **{name: np.concatenate([vars(forest)[name] for forest in forests]) for name in plain},
        "subset": shifted("subset", n_subsets),
    }
    return Forest(baseline=sum(forest.baseline for forest in forests), **arrays)


def forest(booster: Any, bins: Bins) -> Forest:
    """The trees of a booster that was fitted to bins, for the numbers that were cut."""
    order, levels = _read(booster)
    trees = [predictor for (predictor,) in booster._predictors]
    nodes = np.concatenate([tree.nodes for tree in trees])
    sizes = np.array([len(tree.nodes) for tree in trees])
    roots = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)
    shift = np.repeat(roots, sizes)
    leaf = nodes["is_leaf"] > 0
    subset, subsets = _subsets(trees, nodes, levels)
    place = np.where(leaf, 0, order[nodes["feature_idx"]])
    return Forest(
        baseline=float(booster._baseline_prediction.item()),
        roots=roots,
        feature=bins.columns[place].astype(np.int64),
        threshold=_thresholds(nodes, place, bins, leaf | (subset >= 0)),
        left=np.where(leaf, LEAF, nodes["left"] + shift).astype(np.int64),
        right=np.where(leaf, LEAF, nodes["right"] + shift).astype(np.int64),
        value=nodes["value"].astype(np.float64),
        subset=subset,
        subsets=subsets,
    )


def _thresholds(nodes: Any, place: Ints, bins: Bins, none: Any) -> Floats:
    """Upper ends of the last bins that go left; zero in nodes that have none."""
    last = np.floor(nodes["num_threshold"])
    ends = np.zeros(len(nodes))
    for i in np.flatnonzero(~none):
        ends[i] = bins.edges[place[i]][int(last[i])]
    return ends


def _read(booster: Any) -> tuple[Ints, list[Floats]]:
    """Features in the order of the booster, categories first, and the levels known of these."""
    if booster.is_categorical_ is None:
        return np.arange(booster.n_features_in_), []
    first, rest = np.flatnonzero(booster.is_categorical_), np.flatnonzero(~booster.is_categorical_)
    levels = booster._preprocessor.named_transformers_["encoder"].categories_
    return np.concatenate([first, rest]), list(levels)


def _subsets(trees: list[Any], nodes: Any, known: list[Floats]) -> tuple[Ints, Ints]:
    """For each node the number of its subset or -1, and the levels that go left in each subset."""
    subset = np.full(len(nodes), -1, dtype=np.int64)
    subsets: list[Ints] = []
    at = 0
    for tree in trees:
        bits = np.unpackbits(tree.raw_left_cat_bitsets.view(np.uint8), axis=-1, bitorder="little")
        for i in np.flatnonzero(tree.nodes["is_categorical"]):
            node = tree.nodes[i]
            levels = known[node["feature_idx"]].astype(int)
            # what no row of the fold had goes where missing values go
            left = np.full(LEVELS, int(node["missing_go_to_left"]), dtype=np.int64)
            left[levels] = bits[node["bitset_idx"]][: len(levels)]
            subset[at + i] = len(subsets)
            subsets.append(left)
        at += len(tree.nodes)
    return subset, np.array(subsets, dtype=np.int64).reshape(-1, LEVELS)
