"""Ensembles of trees as plain arrays, which a model file and a graph of ONNX can hold.

The nodes of scikit-learn's boosters are private, and read here alone: a fitted booster would have
to be pickled, or stored by skops as objects of one release.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit

from doublelogit._types import Floats, Ints
from doublelogit.fitted.forest import LEAF, Forest

LARGEST = float(np.finfo(np.float32).max)
NO_SUBSETS: Ints = np.zeros((0, 1), dtype=np.int32)  # no node splits by level


@dataclass(frozen=True)
class TreesPredictor:
    """P(S=1 | x) by trees whose values add up to a probability, or to its logit.

    ``single`` says that the trees compare features in single precision.
    """

    forest: Forest
    logit: bool
    single: bool

    def predict(self, X: Floats) -> Floats:
        """P(S=1 | x) of every row."""
        total = self.forest.predict(single_precision(X) if self.single else X)
        return np.asarray(expit(total)) if self.logit else np.clip(total, 0.0, 1.0)


def single_precision(X: Floats) -> Floats:
    """X as forests see it, with what is too large for that at its ends."""
    return np.clip(X, -LARGEST, LARGEST).astype(np.float32)


def boosted_trees(model: Any) -> TreesPredictor:
    """The trees of a fitted HistGradientBoostingClassifier of numbers, for two classes."""
    trees = [one.nodes for (one,) in model._predictors]
    nodes = np.concatenate(trees)
    leaf = nodes["is_leaf"] > 0
    forest = _forest(
        float(model._baseline_prediction.item()),
        np.array([len(tree) for tree in trees]),
        np.where(leaf, 0, nodes["feature_idx"]),
        np.where(leaf, 0.0, nodes["num_threshold"]),
        np.where(leaf, LEAF, nodes["left"].astype(np.int64)),
        np.where(leaf, LEAF, nodes["right"].astype(np.int64)),
        nodes["value"],
    )
    return TreesPredictor(forest, logit=True, single=False)


def random_forest(model: Any) -> TreesPredictor:
    """The trees of a fitted RandomForestClassifier for two classes, whose values are shares."""
    trees = [one.tree_ for one in model.estimators_]
    left = np.concatenate([tree.children_left for tree in trees])
    leaf = left < 0
    value = np.concatenate([tree.value[:, 0, :] for tree in trees])
    labelled = value[:, int(np.flatnonzero(model.classes_ == 1)[0])] / value.sum(axis=1)
    forest = _forest(
        0.0,
        np.array([tree.node_count for tree in trees]),
        np.where(leaf, 0, np.concatenate([tree.feature for tree in trees])),
        np.where(leaf, 0.0, np.concatenate([tree.threshold for tree in trees])),
        np.where(leaf, LEAF, left),
        np.where(leaf, LEAF, np.concatenate([tree.children_right for tree in trees])),
        labelled / len(trees),
    )
    return TreesPredictor(forest, logit=False, single=True)


def _forest(
    baseline: float,
    sizes: Ints,
    feature: Ints,
    threshold: Floats,
    left: Ints,
    right: Ints,
    value: Floats,
) -> Forest:
    """A forest of some trees, whose children are numbered from the root of each, in small types."""
    roots = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    shift = np.repeat(roots, sizes)
    return Forest(
        baseline=baseline,
        roots=roots.astype(np.int32),
        feature=feature.astype(np.int32),
        threshold=threshold.astype(np.float64),
        left=np.where(left == LEAF, LEAF, left + shift).astype(np.int32),
        right=np.where(left == LEAF, LEAF, right + shift).astype(np.int32),
        value=value.astype(np.float32),
        subset=np.full(len(left), -1, dtype=np.int32),
        subsets=NO_SUBSETS,
    )
