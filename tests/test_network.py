"""Networks that bend the class, and LBE as its authors fit it; they need PyTorch to be fitted."""

import warnings
import zipfile

import numpy as np
import pytest
from scipy.special import expit
from test_curves import ROLES, bent_table, fitted
from test_learners import crossed, noise

from doublelogit import JointClassifier, LBEClassifier, NetworkClassifier, load
from doublelogit.exceptions import TableError
from doublelogit.fitted import BentSide, Layer, Network
from doublelogit.registry import METHODS
from doublelogit.table_models.learners import Learners

needs_torch = "PyTorch is not installed, so that no network is fitted: pip install '.[network]'"


@pytest.fixture(scope="module")
def torch():
    return pytest.importorskip("torch", reason=needs_torch)


@pytest.fixture(scope="module")
def network(torch):
    X, y, s = crossed(2000)
    return NetworkClassifier(propensity_features=[2], max_rounds=12).fit(X, s), X, y, s


def test_a_network_of_arrays_is_what_its_formula_says():
    rng = np.random.default_rng(0)
    one, last = (Layer(rng.normal(size=(4, 2)), rng.normal(size=4)) for _ in range(2))
    last = Layer(one.weight[:1, :1] * np.ones((1, 4)), one.bias[:1])
    net = Network(np.array([2, 0]), np.array([1.0, -1.0]), np.array([2.0, 0.5]), (one, last))
    X = rng.normal(size=(5, 3))
    z = np.column_stack([(X[:, 2] - 1) / 2, (X[:, 0] + 1) / 0.5])
    expected = np.tanh(z @ one.weight.T + one.bias).sum(axis=1) * last.weight[0, 0] + last.bias[0]
    np.testing.assert_allclose(net.predict(X), expected)


def test_trees_do_not_go_with_networks():
    with pytest.raises(TableError, match="trees go with trees, networks with networks"):
        Learners("boosting", "network").method(METHODS["joint"])


def test_a_network_finds_a_class_that_no_sum_of_curves_shows(network):
    model, X, y, s = network
    lines = JointClassifier(propensity_features=[2]).fit(X, s)
    hidden = [m.predict_hidden(X[s == 0]) for m in (model, lines)]
    found = [y[s == 0][np.argsort(-p)[:100]].mean() for p in hidden]
    assert found[0] > found[1] + 0.25


def test_a_network_is_kept_in_the_open_format_and_predicts_without_torch(
    network, tmp_path, monkeypatch
):
    model, X, *_ = network
    assert isinstance(model.model_.outcome_model, BentSide)
    model.save(tmp_path / "model.dlm")
    with zipfile.ZipFile(tmp_path / "model.dlm") as file:
        assert not [name for name in file.namelist() if name.endswith(".skops")]
    monkeypatch.setitem(__import__("sys").modules, "torch", None)
    again = load(tmp_path / "model.dlm")
    np.testing.assert_array_equal(again.predict_hidden(X), model.predict_hidden(X))


def test_arrays_say_what_torch_has_fitted(network):
    model, X, _, s = network
    s_x = model.predict_label_proba(X)
    seen = np.where(s, np.log(s_x), np.log1p(-s_x)).mean()
    assert model.held_out.mean() < seen  # rows that were seen are better known
    assert model.held_out.mean() > seen - 0.05


def test_held_out_labels_are_no_likelier_by_a_network_than_by_the_truth(torch):
    X, _, s = noise(900)
    model = NetworkClassifier(max_rounds=6, patience=0, start="constant").fit(X, s)
    truth = 0.5 * expit(0.7 * X[:, 0])
    assert model.held_out.mean() < np.where(s, np.log(truth), np.log1p(-truth)).mean()


def test_fitting_a_network_leaves_no_trace_in_the_random_state_of_torch(torch):
    X, _, s = crossed(300)
    torch.manual_seed(5)
    before = torch.random.get_rng_state()
    one, two = (NetworkClassifier(max_rounds=2, patience=0).fit(X, s) for _ in range(2))
    assert torch.equal(before, torch.random.get_rng_state())
    np.testing.assert_array_equal(one.predict_positive(X), two.predict_positive(X))


def test_a_table_takes_a_network_as_its_learner(torch):
    frame = bent_table(600)
    model = fitted(frame, "network", parameters={"max_rounds": 3, "start": "constant"})
    assert model.classifier_.network_features == ["x", "noise"]
    assert model.predict(frame.drop(columns="y"))["positive"].between(0, 1).all()
    assert model.rank(frame.drop(columns="y"), top=3)["reasons"].str.contains(" = ").all()


def test_labelling_may_be_a_network_too(torch):
    frame = bent_table(600)
    # without folds it is judged by the rows of fit, which like anything that bends
    settings = {"max_rounds": 3, "start": "line", "n_folds": 1, "cross_fit": False}
    model = fitted(frame, "linear", propensity_learner="network", parameters=settings)
    assert isinstance(model.classifier_.model_.propensity_model, BentSide)
    assert model.roles_.propensity_features == ROLES.propensity_features


def test_lbe_with_networks_is_not_the_naive_fit(torch):
    X, y, s = crossed(1500)
    model = LBEClassifier(mode="mlp").fit(X, s)
    e_x, s_x = model.predict_propensity(X), model.predict_label_proba(X)
    assert e_x.mean() > s_x.mean() + 0.1  # two public codes made eta the naive s(x)
    lines = LBEClassifier().fit(X, s)
    right = [((m.predict_positive(X) > 0.5) == y).mean() for m in (model, lines)]
    assert right[0] > right[1]


def test_lbe_with_networks_is_kept_in_the_open_format(torch, tmp_path):
    X, _, s = crossed(300)
    model = LBEClassifier(mode="mlp", propensity_features=[2]).fit(X, s)
    model.save(tmp_path / "model.dlm")
    again = load(tmp_path / "model.dlm")
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    assert len(again.model_.propensity_model.additions[0].columns) == 1


def test_a_network_becomes_a_graph(network):
    onnx = pytest.importorskip("onnx", reason="onnx is not installed, so graphs are not run")
    assert onnx.__version__
    from test_export import same_answers

    model, X, *_ = network
    same_answers(model, X)


def test_rows_without_weight_do_not_count_in_networks(torch):
    X, _, s = crossed(400)
    weight = np.r_[np.ones(300), np.zeros(100)]
    other = s.copy()
    other[300:] = ~s[300:]
    settings = {"n_folds": 1, "cross_fit": False, "max_rounds": 2, "start": "constant"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        one, two = (
            NetworkClassifier(**settings).fit(X, z, sample_weight=weight) for z in (s, other)
        )
    np.testing.assert_allclose(one.predict_positive(X), two.predict_positive(X), atol=1e-9)
