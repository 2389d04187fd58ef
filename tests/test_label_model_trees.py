"""Trees of scikit-learn as plain arrays: what they say of rows, in a file and in a graph."""

import numpy as np
import pytest
from scipy.special import expit
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier

from doublelogit.common import archive
from doublelogit.estimators.serialization import RECORDS
from doublelogit.export.graph import Graph
from doublelogit.export.trees import added_trees
from doublelogit.label_models.trees import averaged_trees, boosted_trees


def sample(n=900, missing=0.0, seed=0):
    """A label that depends on the middle of one column and the product of two others."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    s = rng.random(n) < expit(3 * X[:, 1] * X[:, 2] - 2 * X[:, 0] ** 2)
    X[rng.random(X.shape) < missing] = np.nan
    return X, s


def boosted(X, s):
    return HistGradientBoostingClassifier(max_iter=20, max_leaf_nodes=8, random_state=0).fit(X, s)


def averaged(X, s):
    return RandomForestClassifier(20, min_samples_leaf=5, random_state=0).fit(X, s)


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_arrays_say_of_rows_what_the_ensembles_say(missing):
    X, s = sample(missing=missing)
    new, _ = sample(seed=1, missing=missing)
    booster, forest = boosted(X, s), averaged(X, s)
    for rows in (X, new):
        np.testing.assert_array_equal(
            boosted_trees(booster).predict(rows), booster.decision_function(rows)
        )
        expected = forest.predict_proba(rows)
        np.testing.assert_allclose(averaged_trees(forest).predict(rows), expected[:, 1], atol=1e-12)
        np.testing.assert_allclose(
            averaged_trees(forest, 0).predict(rows), expected[:, 0], atol=1e-12
        )


def test_numbers_about_a_threshold_go_where_the_forest_sends_them_in_single_precision():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 1))
    forest = averaged(X, X[:, 0] > 0.1)
    limits = np.concatenate([tree.tree_.threshold for tree in forest.estimators_])
    steps = 2.0**-26 * np.arange(-8, 9)
    near = (limits[:, None] * (1 + steps)).reshape(-1, 1)
    ties = (
        limits.astype(np.float32).astype(float)
        + np.nextafter(limits.astype(np.float32), np.float32(9)).astype(float)
    ) / 2
    for rows in (near, ties[:, None]):
        expected = forest.predict_proba(rows)[:, 1]
        np.testing.assert_allclose(averaged_trees(forest).predict(rows), expected, atol=1e-12)


def test_trees_that_split_categories_are_refused():
    X, s = sample()
    X[:, 0] = X[:, 0] > 0
    booster = HistGradientBoostingClassifier(max_iter=2, categorical_features=[0]).fit(X, s)
    with pytest.raises(TypeError, match="give levels as indicators"):
        boosted_trees(booster)


def test_a_file_keeps_trees(tmp_path):
    X, s = sample()
    forest = averaged_trees(averaged(X, s))
    path = tmp_path / "trees.dlm"
    archive.write(path, "trees", {"forest": forest}, {})
    again = archive.read(path).state(RECORDS)["forest"]
    np.testing.assert_array_equal(again.predict(X), forest.predict(X))


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_a_graph_adds_trees_as_arrays_do(missing):
    pytest.importorskip("onnx", reason="onnx is not installed, so graphs are not run")
    onnxruntime = pytest.importorskip("onnxruntime", reason="graphs are not run")
    X, s = sample(missing=missing)
    forests = [boosted_trees(boosted(X, s)), boosted_trees(boosted(X[::2], s[::2]))]
    graph = Graph()
    added = added_trees(forests, graph.input("X", width=3))
    graph.output("added", added, "what trees add")
    session = onnxruntime.InferenceSession(graph.model("trees").SerializeToString())
    (found,) = session.run(None, {"X": X})
    expected = np.mean([forest.predict(X) for forest in forests], axis=0)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)  # single precision
