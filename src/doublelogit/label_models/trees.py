"""Ensembles of trees of scikit-learn as plain arrays, which say of each row what those say.

The nodes of boosted trees are private, and read here alone: a fitted booster would have to be
pickled, or kept by skops as objects of one release, and every tree must still be read in ten years.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from doublelogit._types import Bools, Floats, Ints
from doublelogit.fitted.forest import LEAF, Forest


def boosted_trees(booster: Any) -> Forest:
    """A fitted HistGradientBoosting of numbers; of a classifier, the logit of its second class."""
    if booster.is_categorical_ is not None:
        raise TypeError("trees that split categories cannot be read; give levels as indicators.")
    trees = [tree.nodes for (tree,) in booster._predictors]
    nodes = np.concatenate(trees)
    return _forest(
        float(booster._baseline_prediction.item()),
        [len(tree) for tree in trees],
        leaf=nodes["is_leaf"] > 0,
        feature=nodes["feature_idx"],
        threshold=nodes["num_threshold"],
        missing_left=nodes["missing_go_to_left"] > 0,
        left=nodes["left"],
        right=nodes["right"],
        value=nodes["value"],
    )


def averaged_trees(forest: Any, which: int = 1) -> Forest:
    """A fitted random forest classifier: the probability of one of its classes, by its number."""
    trees = [estimator.tree_ for estimator in forest.estimators_]
    counts = np.concatenate([tree.value[:, 0] for tree in trees])
    return _forest(
        0.0,
        [tree.node_count for tree in trees],
        leaf=np.concatenate([tree.children_left for tree in trees]) < 0,
        feature=np.concatenate([tree.feature for tree in trees]),
        threshold=_of_doubles(np.concatenate([tree.threshold for tree in trees])),
        missing_left=np.concatenate([tree.missing_go_to_left for tree in trees]) > 0,
        left=np.concatenate([tree.children_left for tree in trees]),
        right=np.concatenate([tree.children_right for tree in trees]),
        value=counts[:, which] / counts.sum(axis=1) / len(trees),
    )


def _forest(
    baseline: float,
    sizes: Sequence[int],
    *,
    leaf: Bools,
    feature: Ints,
    threshold: Floats,
    missing_left: Bools,
    left: Ints,
    right: Ints,
    value: Floats,
) -> Forest:
    """Trees of so many nodes, the numbers of children counted from the beginning of all."""
    roots = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)
    shift = np.repeat(roots, sizes)
    return Forest(
        baseline=baseline,
        roots=roots,
        feature=np.where(leaf, 0, feature).astype(np.int64),
        threshold=np.where(leaf, 0.0, threshold).astype(np.float64),
        missing_left=missing_left & ~leaf,
        left=np.where(leaf, LEAF, left + shift).astype(np.int64),
        right=np.where(leaf, LEAF, right + shift).astype(np.int64),
        value=np.where(leaf, value, 0.0).astype(np.float64),
    )


def _of_doubles(threshold: Floats) -> Floats:
    """Thresholds that part numbers as others part the same numbers in single precision.

    A number is rounded to the nearest one of single precision, so that the border is halfway
    between the last that goes left and the next; which of them halfway itself is rounded to depends
    on their last bits.
    """
    last = threshold.astype(np.float32)
    last = np.where(last > threshold, np.nextafter(last, np.float32(-np.inf)), last)
    following = np.nextafter(last, np.float32(np.inf))
    halfway = (last.astype(np.float64) + following.astype(np.float64)) / 2
    return np.where(halfway.astype(np.float32) == last, halfway, np.nextafter(halfway, -np.inf))
