"""Bad input and hard samples: a clear sentence, or an answer that can be relied on."""

import numpy as np
import pandas as pd
import pytest
from classifiers import LINEAR, each, each_penalised
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from doublelogit import (
    JointClassifier,
    LBEClassifier,
    NaiveClassifier,
    SeparationWarning,
    TwoModelsClassifier,
    TwoModelsSimpleClassifier,
)

BAD = {
    "nan": (lambda X, s: (np.where(X > 2, np.nan, X), s), "NaN"),
    "infinite": (lambda X, s: (np.where(X > 2, np.inf, X), s), "infinity"),
    "no labelled row": (lambda X, s: (X, 0 * s), "no row is labelled"),
    "no unlabelled row": (lambda X, s: (X, 0 * s + 1), "every row is labelled"),
    "three classes": (lambda X, s: (X, np.arange(len(s)) % 3), "got 3 classes, 0, 1, 2"),
    "length": (lambda X, s: (X, s[:-1]), "inconsistent numbers of samples"),
    "text": (lambda X, s: (np.full(X.shape, "a"), s), "could not convert string"),
    "one-dimensional": (lambda X, s: (X[:, 0], s), "Expected 2D array"),
}


@each
@pytest.mark.parametrize(("spoil", "message"), BAD.values(), ids=BAD)
def test_bad_input_gets_a_clear_sentence(model, sample, spoil, message):
    with pytest.raises(ValueError, match=message):
        clone(model).fit(*spoil(sample.X, sample.s))


WRONG_AUDIT = {
    "clash": (lambda s: np.where(np.arange(1000) == np.flatnonzero(s)[0], 0.0, np.nan), "in row"),
    "value": (lambda s: np.where(np.arange(1000) == 3, 2.0, np.nan), "got 2 in row 3"),
    "length": (lambda s: np.zeros(3), "got 3 for 1000 rows"),
    "text": (lambda s: ["yes"] * 1000, "audited_y must be 1, 0 or NaN for each row"),
}


@pytest.mark.parametrize(("make", "message"), WRONG_AUDIT.values(), ids=WRONG_AUDIT)
def test_wrong_audits_are_named(sample, make, message):
    with pytest.raises(ValueError, match=message):
        JointClassifier().fit(sample.X, sample.s, audited_y=make(sample.s))


WRONG_PARAMETERS = {
    "C": ({"C": 0}, "'C' parameter"),
    "tol": ({"tol": -1}, "'tol' parameter"),
    "max_iter": ({"max_iter": 0}, "'max_iter' parameter"),
    "stratum_quantile": ({"stratum_quantile": 2}, "'stratum_quantile' parameter"),
    "unknown name": ({"propensity_features": ["z"]}, "got 'z', but X has no feature names"),
    "index": ({"propensity_features": [9]}, "below the number of features 4; got 9"),
    "string": ({"propensity_features": "abc"}, "propensity_features"),
    "pos_label": ({"pos_label": 7}, "pos_label must be one of the classes of y"),
}


@pytest.mark.parametrize(("parameters", "message"), WRONG_PARAMETERS.values(), ids=WRONG_PARAMETERS)
def test_wrong_parameters_are_named(sample, parameters, message):
    with pytest.raises(ValueError, match=message):
        TwoModelsClassifier(**parameters).fit(sample.X, sample.s)


def test_a_wrong_feature_name_lists_the_right_ones(sample):
    frame = pd.DataFrame(sample.X, columns=list("abcd"))
    with pytest.raises(ValueError, match="the features are 'a', 'b', 'c', 'd'"):
        JointClassifier(outcome_features=["z"]).fit(frame, sample.s)


@each
def test_weights_that_leave_one_class_are_refused(model, sample):
    with pytest.raises(ValueError, match=r"every labelled row \(class .*1.*\) has weight zero"):
        clone(model).fit(sample.X, sample.s, sample_weight=1 - sample.s)


def unpenalised(model):
    names = {"C", "propensity_C"} & set(model.get_params())
    return clone(model).set_params(**dict.fromkeys(names, np.inf))


@each
def test_constant_columns_are_kept_with_coefficient_zero(model, sample):
    X = np.insert(sample.X, 2, 3.0, axis=1)
    with_constant = unpenalised(model).fit(X, sample.s)
    without = unpenalised(model).fit(sample.X, sample.s)
    assert with_constant.coef_.shape == (1, 5)
    assert with_constant.coef_[0, 2] == 0
    np.testing.assert_allclose(
        with_constant.predict_positive(X), without.predict_positive(sample.X), atol=5e-3
    )


@pytest.mark.parametrize("model", LINEAR, ids=lambda m: type(m).__name__)
@pytest.mark.parametrize("offset", [1e3, 1e5])
def test_adding_a_constant_to_a_feature_changes_nothing(model, sample, offset):
    """The intercept is free, so slopes and predictions do not know where zero is."""
    shift = np.array([offset, 0.0, -offset, 0.0])
    here = clone(model).fit(sample.X, sample.s)
    there = clone(model).fit(sample.X + shift, sample.s)
    np.testing.assert_allclose(
        there.predict_positive(sample.X + shift), here.predict_positive(sample.X), atol=1e-3
    )


@pytest.mark.parametrize(
    "model",
    [NaiveClassifier(tol=1e-10), TwoModelsSimpleClassifier(tol=1e-10), LBEClassifier(max_iter=200)],
    ids=lambda m: type(m).__name__,
)
def test_the_unit_of_a_feature_changes_nothing_without_a_penalty(model, sample):
    unit = np.array([1e-4, 1.0, 1e3, 1.0])
    here, there = unpenalised(model), unpenalised(model)
    y = here.fit(sample.X, sample.s).predict_positive(sample.X)
    moved = there.fit(sample.X * unit, sample.s).predict_positive(sample.X * unit)
    np.testing.assert_allclose(moved, y, atol=1e-5)


@each
def test_duplicate_columns_without_a_penalty_are_no_obstacle(model, sample):
    X = np.column_stack([sample.X, sample.X[:, 0]])
    twice = unpenalised(model).fit(X, sample.s)
    assert np.isfinite(twice.coef_).all()


@each
def test_more_features_than_rows(model):
    rng = np.random.default_rng(0)
    X, s = rng.normal(size=(40, 100)), (rng.random(40) < 0.4).astype(int)
    fitted = clone(model).fit(X, s)
    assert np.isfinite(fitted.coef_).all()
    assert np.isfinite(fitted.predict_hidden(X)).all()


@each_penalised
def test_separable_data_without_a_penalty_warn_and_stay_finite(model):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    s = (X[:, 0] > 0).astype(int)
    free = unpenalised(model)
    with pytest.warns(SeparationWarning, match="perfectly separable"):
        free.fit(X, s)
    assert np.isfinite(free.coef_).all()
    assert np.isfinite(free.predict_proba(X)).all()


@each
def test_predicting_before_fitting_is_refused(model, sample):
    for method in ("predict", "predict_proba", "predict_propensity", "predict_hidden", "score"):
        arguments = (sample.X, sample.s) if method == "score" else (sample.X,)
        with pytest.raises(NotFittedError):
            getattr(clone(model), method)(*arguments)
