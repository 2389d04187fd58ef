"""AVERAGED with more features than rows, in the span of the rows."""

from importlib import import_module

import numpy as np
import pytest
from scipy import sparse
from scipy.special import expit

from doublelogit import AveragedClassifier
from doublelogit.averaged.span import span_of
from doublelogit.engines.memory import memory_rows
from doublelogit.methods import Problem

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


@pytest.fixture(scope="module")
def wide():
    """Features in units of their own, more of them than rows; rows, labels, and other rows."""
    rng = np.random.default_rng(0)
    units = rng.uniform(0.5, 3.0, size=90)
    X = rng.normal(size=(60, 90)) * units + rng.normal(size=90)
    y = rng.random(60) < expit(X[:, :4] @ np.full(4, 0.5))
    s = (y & (rng.random(60) < 0.5)).astype(float)
    return X, s, rng.normal(size=(20, 90)) * units


def fitted(X, s, monkeypatch=None, **options):
    if monkeypatch is not None:
        monkeypatch.setattr(import_module("doublelogit.averaged"), "span_of", lambda _: None)
    return AveragedClassifier(shape="line", **options).fit(X, s)


@pytest.mark.parametrize("options", [{}, {"propensity_features": []}])
def test_the_span_of_the_rows_gives_the_posterior_of_all_features(wide, options, monkeypatch):
    X, s, others = wide
    inside = fitted(X, s, **options)
    outside = fitted(X, s, monkeypatch, **options)
    assert inside.prevalence_ == pytest.approx(outside.prevalence_, abs=0.003)
    ends = inside.prevalence_interval(), outside.prevalence_interval()
    np.testing.assert_allclose(*ends, atol=0.01)
    for rows in (X, others):
        for verb in ("predict_positive", "predict_propensity", "predict_hidden"):
            answers = [getattr(model, verb)(rows) for model in (inside, outside)]
            np.testing.assert_allclose(*answers, atol=0.02)
    deviations = [model.model_.outcome_model.deviation(others) for model in (inside, outside)]
    means = [d @ m.model_.weight for d, m in zip(deviations, (inside, outside), strict=True)]
    np.testing.assert_allclose(*means, rtol=0.03)


def test_sparse_rows_and_repeated_columns_have_a_span_too(wide):
    X, s, _ = wide
    dense = fitted(np.hstack([X, X]), s)
    lean = fitted(sparse.csr_array(np.hstack([X, X])), s)
    np.testing.assert_allclose(dense.predict_positive(np.hstack([X, X])).mean(), lean.prevalence_)


def test_features_that_are_named_for_labelling_are_not_turned(wide):
    X, s, _ = wide
    problem = Problem(memory_rows(X, s))
    span = span_of(problem)
    assert span.problem.rows.n_features == len(X) - 1  # centred rows
    named = AveragedClassifier(shape="line", propensity_features=[0, 1]).fit(X, s)
    assert np.flatnonzero(named.propensity_coef_).max() <= 1
    assert span_of(Problem(memory_rows(X.T, np.append(s, np.zeros(30))))) is None
