"""Models as graphs of ONNX: what another runtime says of rows is what the model says."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest
from classifiers import CLASSIFIERS
from scipy.special import expit
from sklearn.base import clone
from sklearn.tree import DecisionTreeClassifier
from tables_of_tests import bent_table
from test_sources import sources
from typer.testing import CliRunner

from doublelogit import (
    AveragedClassifier,
    EMClassifier,
    JointClassifier,
    Roles,
    TableClassifier,
    to_onnx,
)
from doublelogit.cli import app
from doublelogit.studies.rivals import DETMClassifier
from doublelogit.tables.columns import Category, Date

# DETM is a rival of studies, whose softmax a graph refuses
EXPORTED = [model for model in CLASSIFIERS if not isinstance(model, DETMClassifier)]

needs_onnx = "onnx and onnxruntime are not installed, so graphs are not run"
onnx = pytest.importorskip("onnx", reason=needs_onnx)
onnxruntime = pytest.importorskip("onnxruntime", reason=needs_onnx)
ANSWERS = ("positive", "propensity", "label", "hidden")


def run(graph, given):
    session = onnxruntime.InferenceSession(graph.SerializeToString())
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(None, given), strict=True))


def sample(n=300, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = rng.random(n) < expit(2 * X[:, 0] - X[:, 1])
    return X, (y & (rng.random(n) < expit(1 + X[:, 2]))).astype(int)


def quiet(model, X, s):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X, s)


def same_answers(model, X, rtol=1e-9, atol=1e-12):
    said, expected = run(to_onnx(model), {"X": X}), model.probabilities(X)
    assert tuple(said) == ANSWERS
    for name in ANSWERS:
        np.testing.assert_allclose(said[name], getattr(expected, name), rtol, atol, err_msg=name)


@pytest.mark.parametrize("model", EXPORTED, ids=lambda m: type(m).__name__)
def test_a_runtime_says_what_the_classifier_says(model):
    X, s = sample()
    fitted_model = quiet(clone(model), X, s)
    X = X + 0.01  # rows of fit are predicted by models without them, which a graph cannot know
    same_answers(fitted_model, X)
    same_answers(fitted_model, 40 * X, rtol=1e-6)  # far rows: nothing overflows, no 0 / 0


def test_a_softmax_is_refused():
    X, s = sample()
    with pytest.raises(TypeError, match="a graph cannot hold a SoftmaxPair"):
        to_onnx(quiet(DETMClassifier(n_starts=1), X, s))


def test_a_probit_is_single_precision():
    X, s = sample()
    same_answers(quiet(JointClassifier(link="probit", n_starts=1), X, s), X, rtol=1e-5, atol=1e-6)


def test_false_labels_are_allowed_for():
    X, s = sample()
    same_answers(quiet(JointClassifier(false_label_rate=0.03, n_starts=1), X, s), X)


def messy_table(n=500):
    """Numbers, skewed ones, dates and categories, some of each missing."""
    rng = np.random.default_rng(4)
    frame = bent_table(n)
    frame["income"] = np.exp(2 * rng.normal(size=n))
    frame["city"] = rng.choice(["Łódź", "Oslo", "Rome", "Lima"], n, p=[0.5, 0.3, 0.15, 0.05])
    frame["since"] = pd.Timestamp("2015-01-01") + pd.to_timedelta(rng.integers(0, 2500, n), "D")
    for name in ("noise", "city", "since"):
        frame.loc[rng.random(n) < 0.1, name] = None
    return frame


def as_inputs(model, frame):
    """The columns of a table as its graph takes them."""
    given = {}
    for column in model.encoding_.used:
        values = frame[column.name]
        if isinstance(column, Category):
            values = values.fillna("").astype(object)
        elif isinstance(column, Date):
            seconds = (values - pd.Timestamp(0)).dt.total_seconds()
            values = seconds.astype(float)
        given[column.name] = values.to_numpy()[:, None]
    return given


def fitted(frame, roles):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return TableClassifier(roles, "joint").fit(frame.drop(columns="y"))


def test_the_graph_of_a_table_takes_its_columns_as_they_are():
    frame = messy_table()
    model = fitted(frame, Roles(label="s", propensity_features=["z", "city"]))
    new = frame.copy()
    new.loc[0, "city"], new.loc[1, "x"], new.loc[2, "x"] = "Atlantis", 90.0, -90.0
    new.loc[3, "income"] = np.inf
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = model.predict(new.drop(columns="y"))
    said = run(to_onnx(model), as_inputs(model, new))
    for name in ANSWERS:
        np.testing.assert_allclose(said[name], expected[name], rtol=1e-5, atol=1e-12)


def test_the_command_writes_the_graph_of_a_saved_model(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = messy_table()
    model = fitted(frame, Roles(label="s", propensity_features=["z"]))
    model.save("model.dlm")
    done = CliRunner().invoke(app, ["export", "model.dlm", "--json"])
    assert done.exit_code == 0, done.output
    said = json.loads(done.stdout)
    assert said["outputs"] == list(ANSWERS)
    assert "income" in said["inputs"]
    found = run(onnx.load(said["graph"]), as_inputs(model, frame))
    expected = model.predict(frame.drop(columns="y"))["hidden"]
    np.testing.assert_allclose(found["hidden"], expected, rtol=1e-8)


def test_a_classifier_of_another_library_gets_a_sentence():
    X, s = sample()
    model = quiet(EMClassifier(outcome=DecisionTreeClassifier(max_depth=2)), X, s)
    with pytest.raises(TypeError, match=r"cannot hold a PluggedSide.*skl2onnx"):
        to_onnx(model)


@pytest.mark.parametrize("model", [JointClassifier(), AveragedClassifier()])
@pytest.mark.parametrize("m", [2, 3])
def test_labels_of_several_sources_make_a_graph(model, m):
    X, S, _ = sources(n=600, m=m, effort=1.0)
    same_answers(quiet(clone(model), X, S), X)
