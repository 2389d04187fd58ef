"""Extreme but finite samples: a finite answer by few steps, or a sentence that names the column."""

import warnings

import numpy as np
import pytest
from classifiers import each
from sklearn.base import clone

from doublelogit import (
    AveragedClassifier,
    EMClassifier,
    LBEClassifier,
    NaiveClassifier,
    TwoModelsClassifier,
)
from doublelogit.core.solvers.adam import Adam
from doublelogit.methods import logistic
from tools.fuzz.contract import proper

pytestmark = pytest.mark.filterwarnings("ignore")
RNG = np.random.default_rng(0)
X = RNG.standard_normal((60, 3))
S = (X[:, 0] + RNG.standard_normal(60) > 0.3).astype(int)


def with_cell(value):
    spoiled = X.copy()
    spoiled[3, 1] = value
    return spoiled


SAMPLES = {
    "a column of 1e90": X * [1, 1e90, 1],
    "a column of 1e-90": X * [1, 1e-90, 1],
    "a cell of 1e8": with_cell(1e8),
    "a cell of 1e15": with_cell(1e15),
    "a cell of 1e99": with_cell(1e99),
    "constant": np.ones((60, 2)),
    "a constant column": np.c_[X, np.full(60, 7.0)],
    "zeros": np.zeros((60, 2)),
    "collinear": np.c_[X, X[:, 0], 2 * X[:, 1] - X[:, 2]],
    "more columns than rows": RNG.standard_normal((60, 65)),
    "duplicated rows": np.repeat(X[:6], 10, axis=0),
    "far from zero": X + 1e12,
}


def quick(model):
    """A clone of the model, EM with fewer rounds."""
    fewer = {"max_iter": 100} if isinstance(model, EMClassifier) else {}
    return clone(model).set_params(**fewer)


@each
@pytest.mark.parametrize("sample", SAMPLES.values(), ids=SAMPLES)
def test_every_classifier_answers_extreme_samples(model, sample):
    with np.errstate(all="raise", under="ignore"):
        fitted = quick(model).fit(sample, S)
    proper(fitted.predict_proba(sample))
    proper(fitted.predict_label_proba(sample))


@each
@pytest.mark.parametrize("weight", [1e-9, 1e12])
def test_every_classifier_takes_weights_of_any_size(model, weight):
    fitted = clone(model).fit(X, S, sample_weight=np.full(60, weight))
    proper(fitted.predict_proba(X))


@each
@pytest.mark.parametrize(
    ("sample", "size"),
    [(X * [1, 1e200, 1], "large"), (X * [1, 1e-200, 1], "small"), (with_cell(1e160), "large")],
)
def test_numbers_whose_squares_are_none_are_named_by_column(model, sample, size):
    with pytest.raises(ValueError, match=f"those of column 1 are too {size}"):
        clone(model).fit(sample, S)


@each
def test_labels_lost_to_rounding_are_refused(model):
    weight = np.where(S == 1, 1.0, 1e-300)
    with pytest.raises(ValueError, match=r"the unlabelled ones have 2\.8e-300"):
        clone(model).fit(X, S, sample_weight=weight)


@pytest.mark.parametrize("value", [1e8, 1e15, 1e99])
@pytest.mark.parametrize("cell", [3, 5])
def test_one_huge_cell_does_not_hold_back_the_fits_of_em(value, cell, monkeypatch):
    """Fits inside EM took a hundred steps each, a thousand times."""
    steps = []

    def counted(*arguments, solve=logistic.newton, **options):
        solution = solve(*arguments, **options)
        steps.append(solution.n_iter)
        return solution

    monkeypatch.setattr(logistic, "newton", counted)
    spoiled = X.copy()
    spoiled[cell, 1] = value
    EMClassifier(max_iter=100).fit(spoiled, S)
    assert np.mean(steps) < 10


UNPENALISED = [
    NaiveClassifier(C=np.inf),
    TwoModelsClassifier(C=np.inf, propensity_C=np.inf),
    EMClassifier(C=np.inf, propensity_C=np.inf),
    LBEClassifier(C=np.inf, propensity_C=np.inf),
    AveragedClassifier(shape="line"),
]


@pytest.mark.parametrize("model", UNPENALISED, ids=lambda m: type(m).__name__)
@pytest.mark.parametrize("unit", [1e9, 1e-9, 1e60, 1e-60])
def test_the_unit_of_a_column_changes_nothing_where_no_penalty_has_one(model, unit):
    rng = np.random.default_rng(1)
    Z = rng.standard_normal((300, 3))
    y = 2 * Z[:, 0] + Z[:, 1] > rng.logistic(size=300)
    s = (y & (rng.random(300) < 1 / (1 + np.exp(-Z[:, 2])))).astype(int)
    scaled = Z * [1, unit, 1]
    here = clone(model).fit(Z, s).predict_positive(Z)
    there = clone(model).fit(scaled, s).predict_positive(scaled)
    np.testing.assert_allclose(there, here, atol=1e-6)


def test_adam_takes_gradients_whose_squares_overflow():
    adam, theta = Adam(), np.zeros(2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(3):
            theta = adam.step(theta, np.array([1e200, -1e-200]))
    assert np.isfinite(theta).all()
    np.testing.assert_allclose(theta[0], -3e-3)
