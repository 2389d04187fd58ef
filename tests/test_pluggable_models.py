"""Any scikit-learn classifier in the place of either model of TM and EM."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from scipy.special import expit
from sklearn.base import clone
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from doublelogit import EMClassifier, TwoModelsClassifier

PLUGGABLE = [TwoModelsClassifier(tol=0, max_iter=3), EMClassifier(tol=0, max_iter=3)]
pluggable = pytest.mark.parametrize("model", PLUGGABLE, ids=lambda m: type(m).__name__)


@pluggable
def test_any_classifier_may_be_plugged_in(model, sample):
    model = clone(model).set_params(
        outcome=HistGradientBoostingClassifier(max_iter=20), propensity=LogisticRegression()
    )
    model.fit(sample.X, sample.s, sample_weight=np.ones(1000))
    assert not hasattr(model, "coef_")
    assert not hasattr(model, "propensity_coef_")
    assert isinstance(model.outcome_, HistGradientBoostingClassifier)
    y = model.predict_positive(sample.X)
    assert ((y >= 0) & (y <= 1)).all()
    assert np.corrcoef(y, sample.y_x)[0, 1] > 0.5
    assert np.isfinite(model.predict_hidden(sample.X)).all()


@pluggable
def test_plugged_in_logistic_regression_is_the_built_in_one(model, sample):
    plain = clone(model).fit(sample.X, sample.s)
    regression = LogisticRegression(tol=1e-10, solver="newton-cholesky")
    plugged = clone(model).set_params(outcome=regression, propensity=regression)
    plugged.fit(sample.X, sample.s)
    np.testing.assert_allclose(
        plugged.predict_positive(sample.X), plain.predict_positive(sample.X), atol=1e-5
    )
    np.testing.assert_allclose(
        plugged.predict_propensity(sample.X), plain.predict_propensity(sample.X), atol=1e-5
    )


@pluggable
def test_one_model_may_stay_logistic(model, sample):
    model = clone(model).set_params(outcome=GaussianNB()).fit(sample.X, sample.s)
    assert model.propensity_coef_.shape == (1, 4)
    assert isinstance(model.outcome_, GaussianNB)


@pluggable
@pytest.mark.parametrize("routing", [False, True])
def test_pipelines_may_be_plugged_in_and_see_the_frame(model, sample, routing):
    frame = pd.DataFrame(sample.X, columns=list("abcd"))
    frame["group"] = np.where(sample.X[:, 0] > 0, "north", "south")
    # with routing on, weights must not be offered to the scaler, which could take them too
    encode = make_column_transformer(
        (OneHotEncoder(), make_column_selector(dtype_include=[object, "string"])),
        remainder="passthrough",
    )
    pipe = make_pipeline(encode, StandardScaler(), make_pipeline(LogisticRegression(max_iter=1000)))
    with sklearn.config_context(enable_metadata_routing=routing):
        fitted = clone(model).set_params(outcome=pipe, propensity=pipe).fit(frame, sample.s)
        y = fitted.predict_positive(frame)
    assert np.corrcoef(y, sample.y_x)[0, 1] > 0.5
    assert fitted.feature_names_in_.tolist() == [*"abcd", "group"]


@pluggable
def test_a_classifier_without_sample_weight_is_refused(model, sample):
    model = clone(model).set_params(outcome=KNeighborsClassifier(), propensity=GaussianNB())
    with pytest.raises(ValueError, match="fit takes sample_weight; KNeighborsClassifier does not"):
        model.fit(sample.X, sample.s)


@pluggable
def test_features_of_a_plugged_in_classifier_are_its_own_business(model, sample):
    model = clone(model).set_params(outcome=GaussianNB(), outcome_features=[0])
    with pytest.raises(ValueError, match="outcome_features restricts the logistic model"):
        model.fit(sample.X, sample.s)


def test_acceleration_needs_two_logistic_models(sample):
    with pytest.raises(ValueError, match="needs two logistic models"):
        TwoModelsClassifier(outcome=GaussianNB(), acceleration=True).fit(sample.X, sample.s)


def test_em_with_classifiers_has_one_start(sample):
    with pytest.raises(ValueError, match="init='balanced'"):
        EMClassifier(outcome=GaussianNB(), init="naive").fit(sample.X, sample.s)


@pytest.mark.parametrize("method", [EMClassifier, TwoModelsClassifier])
def test_folds_keep_a_flexible_class_from_memorising_labels(method):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 3))
    y = rng.random(600) < expit(2 * X[:, 0])
    s = y & (rng.random(600) < 0.4)
    trees = DecisionTreeClassifier(min_samples_leaf=3, random_state=0)
    errors = []
    for n_folds in (1, 3):
        model = method(outcome=trees, n_folds=n_folds, tol=0, max_iter=4)
        model.fit(X, s)
        errors.append(abs(model.predict_propensity(X).mean() - 0.4))
    assert errors[1] < errors[0]


def test_fewer_labels_than_folds_get_a_sentence():
    X, s = np.arange(20.0)[:, None], np.arange(20) > 17
    model = EMClassifier(outcome=DecisionTreeClassifier(), n_folds=3)
    with pytest.raises(ValueError, match="each of n_folds=3 parts needs a labelled"):
        model.fit(X, s)
