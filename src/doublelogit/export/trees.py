"""Trees as one ensemble of ONNX, of the kind that every runtime has.

Its sum is single precision. It splits numbers only: of a level it is told, as a further column,
whether it goes right.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from doublelogit._types import Ints
from doublelogit.export.graph import ML, Value
from doublelogit.fitted import Forest
from doublelogit.fitted.forest import LEAF


def added_trees(forests: Sequence[Any], X: Value, width: int) -> Value:
    """The mean of what some forests say of each row of so many features."""
    from onnx import TensorProto

    columns, nodes = [X], []
    for forest in forests:
        if not isinstance(forest, Forest):
            raise TypeError(f"a graph cannot add a {type(forest).__name__} to a line.")
        feature = forest.feature.copy()
        for j, split in _by_level(forest):
            columns.append(_goes_right(forest, X, j, split))
            feature[split] = width + np.arange(len(split))
            width += len(split)
        nodes.append(_nodes(forest, feature))
    table = X.graph.node("Concat", *columns, axis=1)
    totals = table.node("TreeEnsembleRegressor", domain=ML, n_targets=1, **_ensemble(nodes))
    baseline = float(np.mean([forest.baseline for forest in forests]))
    return totals.node("Cast", to=TensorProto.DOUBLE) + baseline


def _by_level(forest: Forest) -> list[tuple[int, Ints]]:
    """Features that are split by level, and the nodes that do it."""
    split = np.flatnonzero(forest.subset >= 0)
    owner = forest.feature[split]
    return [(int(j), split[owner == j]) for j in np.unique(owner)]


def _goes_right(forest: Forest, X: Value, j: int, split: Ints) -> Value:
    """For each of some nodes, 1 where the level of a row is not among those that go left."""
    from onnx import TensorProto

    right = 1.0 - forest.subsets[forest.subset[split]].T
    level = X.node("Gather", np.array([j]), axis=1).node("Reshape", np.array([-1]))
    level = level.node("Max", 0.0).node("Min", len(right) - 1.0)
    return X.graph.node("Gather", right, level.node("Cast", to=TensorProto.INT64), axis=0)


def _nodes(forest: Forest, feature: Ints) -> dict[str, Any]:
    """Every node of a forest, with the number of its tree and its own number in it."""
    leaf = forest.left == LEAF
    tree = np.searchsorted(forest.roots, np.arange(len(leaf)), side="right") - 1
    first = forest.roots[tree]
    return {
        "tree": tree,
        "node": np.arange(len(leaf)) - first,
        "leaf": leaf,
        "feature": np.where(leaf, 0, feature),
        "limit": np.where(forest.subset >= 0, 0.5, forest.threshold),
        "left": np.where(leaf, 0, forest.left - first),
        "right": np.where(leaf, 0, forest.right - first),
        "value": forest.value.astype(np.float64),
    }


def _ensemble(nodes: list[dict[str, Any]]) -> dict[str, Any]:
    """Attributes of the ensemble, whose sum is the mean over forests."""
    from onnx import numpy_helper

    n_trees = np.cumsum([0, *(tree_nodes["tree"].max() + 1 for tree_nodes in nodes)])
    every = {name: np.concatenate([tree_nodes[name] for tree_nodes in nodes]) for name in nodes[0]}
    tree = np.concatenate(
        [tree_nodes["tree"] + n for tree_nodes, n in zip(nodes, n_trees, strict=False)]
    )
    leaf = every["leaf"]
    return {
        "nodes_treeids": tree.tolist(),
        "nodes_nodeids": every["node"].tolist(),
        "nodes_modes": np.where(leaf, "LEAF", "BRANCH_LEQ").tolist(),
        "nodes_featureids": every["feature"].tolist(),
        "nodes_values_as_tensor": numpy_helper.from_array(every["limit"]),
        "nodes_truenodeids": every["left"].tolist(),
        "nodes_falsenodeids": every["right"].tolist(),
        "target_treeids": tree[leaf].tolist(),
        "target_nodeids": every["node"][leaf].tolist(),
        "target_ids": [0] * int(leaf.sum()),
        "target_weights_as_tensor": numpy_helper.from_array(every["value"][leaf] / len(nodes)),
    }
