"""``bind``: the problem that a classifier solves on some rows."""

from dataclasses import fields

import numpy as np
import pandas as pd
import pytest
from classifiers import CLASSIFIERS
from sklearn.base import clone

from doublelogit import AveragedClassifier, JointClassifier
from doublelogit.inference import bootstrap


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal([0.0, 50.0, 0.0], size=(300, 3))  # the second column is centred by a fit
    y = rng.random(300) < 1 / (1 + np.exp(-2 * X[:, 0]))
    return X, (y & (rng.random(300) < 0.6)).astype(int)


def same(one, other):
    """Whether two values of a problem are equal, whatever they are made of."""
    if isinstance(one, np.ndarray):
        return np.array_equal(one, other, equal_nan=True)
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if hasattr(one, "__dataclass_fields__"):
        pairs = [(getattr(one, f.name), getattr(other, f.name)) for f in fields(one) if f.compare]
        return type(one) is type(other) and all(same(*pair) for pair in pairs)
    return one == other


@pytest.mark.parametrize("model", CLASSIFIERS, ids=lambda model: type(model).__name__)
def test_the_problem_is_that_of_fit(model, rows, monkeypatch):
    solved = []

    def stop(self, problem, X):
        solved.append(problem)
        raise KeyboardInterrupt

    monkeypatch.setattr(type(model), "_fit", stop)
    with pytest.raises(KeyboardInterrupt):
        clone(model).fit(*rows)
    bound = clone(model).bind(*rows)
    assert all(same(getattr(bound, f.name), getattr(solved[0], f.name)) for f in fields(bound))


def test_weights_and_audited_classes_are_in_it(rows):
    X, s = rows
    audited = np.where(np.arange(300) < 20, 1.0 * s, np.nan)
    problem = JointClassifier().bind(X, s, np.full(300, 2.0), audited_y=audited)
    assert problem.n == 600
    assert problem.audited
    assert not JointClassifier().bind(X, s).audited


def test_its_likelihood_is_the_one_that_was_maximised(rows):
    model = JointClassifier(tol=1e-9).fit(*rows)
    problem = model.bind(*rows)
    theta = problem.theta(model.model_.uncentred(-problem.shift))
    value, grad = problem.likelihood.value_grad(theta)
    assert value == pytest.approx(model.trace_[-1], abs=1e-10)
    assert np.abs(grad / problem.likelihood.unit).max() < 1e-8


def test_a_classifier_does_not_change(rows):
    X, s = rows
    model = AveragedClassifier()
    model.bind(X, s)
    assert vars(model) == vars(AveragedClassifier())
    model = JointClassifier(n_starts=1).fit(pd.DataFrame(X, columns=["a", "b", "c"]), s)
    before = dict(vars(model))
    model.bind(X, s)
    assert vars(model) == before


def test_features_named_at_fit_are_known_where_rows_have_no_names(rows):
    X, s = rows
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    model = JointClassifier(n_starts=1, propensity_features=["b"]).fit(frame, s)
    assert list(model.bind(X, s).propensity.columns) == [1]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (["a", "b"], "features of its fit, in their order: 'a', 'b', 'c'; got 'a', 'b'."),
        (["a", "c", "b"], "'a', 'b', 'c'; got 'a', 'c', 'b'."),
        ([0, 1], "'a', 'b', 'c'; got 2 columns."),
    ],
)
def test_other_features_are_refused(rows, columns, message):
    X, s = rows
    model = JointClassifier(n_starts=1).fit(pd.DataFrame(X, columns=["a", "b", "c"]), s)
    data = {"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], 0: X[:, 0], 1: X[:, 1]}
    frame = pd.DataFrame(data)[columns]
    with pytest.raises(ValueError, match=message):
        model.bind(frame.to_numpy() if columns == [0, 1] else frame, s)


def test_joint_may_start_from_a_fitted_pair(rows):
    model = JointClassifier(tol=1e-9).fit(*rows)
    again = JointClassifier(tol=1e-9, init=model.model_, n_starts=1).fit(*rows)
    assert again.n_iter_ <= 1
    np.testing.assert_allclose(again.coef_, model.coef_, atol=1e-7)


def test_refits_of_the_bootstrap_start_from_the_fit(rows):
    X, s = rows
    model = JointClassifier().fit(X, s)

    def start(refitted, weight):
        return np.append(refitted.init.coefficients().beta, refitted.n_starts)

    starts = bootstrap(model, X, s, start, n_resamples=2, n_jobs=1)
    np.testing.assert_array_equal(starts, [[*model.coef_[0], *model.intercept_, 1]] * 2)
