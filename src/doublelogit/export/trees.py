"""Trees as one ensemble of ONNX, which every runtime has; its sum is single precision."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from doublelogit.export.graph import ML, Value
from doublelogit.fitted import Forest
from doublelogit.fitted.forest import LEAF


def added_trees(forests: Sequence[Forest], X: Value) -> Value:
    """The mean of what some forests say of each row."""
    from onnx import TensorProto

    nodes = [_nodes(forest) for forest in forests]
    totals = X.node("TreeEnsembleRegressor", domain=ML, n_targets=1, **_ensemble(nodes))
    baseline = float(np.mean([forest.baseline for forest in forests]))
    return totals.node("Cast", to=TensorProto.DOUBLE) + baseline


def _nodes(forest: Forest) -> dict[str, Any]:
    """Every node of a forest, with the number of its tree and its own number in it."""
    leaf = forest.left == LEAF
    tree = np.searchsorted(forest.roots, np.arange(len(leaf)), side="right") - 1
    first = forest.roots[tree]
    return {
        "tree": tree,
        "node": np.arange(len(leaf)) - first,
        "leaf": leaf,
        "feature": forest.feature,
        "limit": forest.threshold,
        "missing_left": forest.missing_left,
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
        "nodes_missing_value_tracks_true": every["missing_left"].astype(int).tolist(),
        "nodes_truenodeids": every["left"].tolist(),
        "nodes_falsenodeids": every["right"].tolist(),
        "target_treeids": tree[leaf].tolist(),
        "target_nodeids": every["node"][leaf].tolist(),
        "target_ids": [0] * int(leaf.sum()),
        "target_weights_as_tensor": numpy_helper.from_array(every["value"][leaf] / len(nodes)),
    }
