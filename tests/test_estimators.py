"""The classifiers: scikit-learn's contract, the meaning of each prediction, what they accept."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from classifiers import PENALISED, each, each_with_propensity
from contract import contract
from scipy import sparse
from scipy.special import expit
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from doublelogit import (
    AveragedClassifier,
    EMClassifier,
    JointClassifier,
    LabelOrderWarning,
    LBEClassifier,
    NaiveClassifier,
    SparseClassifier,
    TwoModelsClassifier,
    TwoModelsSimpleClassifier,
)

pytestmark = pytest.mark.usefixtures("one_signal")


@pytest.mark.filterwarnings("ignore::doublelogit.LabelOrderWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@contract(
    in_full=[NaiveClassifier(), JointClassifier(n_starts=2), AveragedClassifier()],
    others=[
        TwoModelsSimpleClassifier(),
        TwoModelsClassifier(),
        TwoModelsClassifier(variant="literal"),
        JointClassifier(solver="mm", n_starts=1, max_iter=100),
        EMClassifier(max_iter=100),
        LBEClassifier(max_iter=100),
        SparseClassifier(),
    ],
)
def test_scikit_learns_contract(estimator, check):
    check(estimator)


@each
def test_predictions_mean_what_they_say(model, fit_once, sample):
    model = fit_once(model, sample.X, sample.s)
    y, e = model.predict_positive(sample.X), model.predict_propensity(sample.X)
    proba = model.predict_proba(sample.X)
    assert proba.shape == (1000, 2)
    assert ((proba >= 0) & (proba <= 1)).all()
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    np.testing.assert_array_equal(proba[:, 1], y)
    np.testing.assert_allclose(expit(model.decision_function(sample.X)), y)
    np.testing.assert_array_equal(model.predict(sample.X), (y > 0.5).astype(float))
    s = model.predict_label_proba(sample.X)
    if not isinstance(model, AveragedClassifier):  # a mean of products is no product of means
        np.testing.assert_allclose(s, y * e)
    np.testing.assert_allclose(model.predict_hidden(sample.X), (y - s) / (1 - s), atol=1e-12)
    assert model.coef_.shape == (1, 4)
    assert model.intercept_.shape == (1,)
    assert model.n_iter_ >= 1
    assert isinstance(model.converged_, bool)
    assert np.isfinite(model.trace_).all()


@pytest.mark.parametrize("model", PENALISED[2:], ids=lambda m: type(m).__name__)
def test_propensity_is_logistic_with_its_coefficients(model, fit_once, sample):
    model = fit_once(model, sample.X, sample.s)
    b = sample.X @ model.propensity_coef_[0] + model.propensity_intercept_
    np.testing.assert_allclose(model.predict_propensity(sample.X), expit(b))


def test_methods_without_a_propensity_model_have_no_propensity_coefficients(sample):
    naive = NaiveClassifier().fit(sample.X, sample.s)
    simple = TwoModelsSimpleClassifier().fit(sample.X, sample.s)
    assert not hasattr(naive, "propensity_coef_")
    assert not hasattr(simple, "propensity_coef_")
    assert (naive.predict_propensity(sample.X) == 1).all()
    assert (naive.predict_hidden(sample.X) == 0).all()
    s_naive = naive.predict_positive(sample.X)
    np.testing.assert_allclose(simple.predict_propensity(sample.X), (s_naive + 1) / 2, atol=1e-6)


@each
def test_score_is_the_likelihood_of_the_labels(model, fit_once, sample):
    model = fit_once(model, sample.X, sample.s)
    s_x = model.predict_label_proba(sample.X)
    wanted = np.mean(np.where(sample.s == 1, np.log(s_x), np.log1p(-s_x)))
    assert model.score(sample.X, sample.s) == pytest.approx(wanted)


def test_score_prefers_the_better_model_where_accuracy_does_not(double_logistic_sample):
    """Against the observed label NAIVE is the most accurate; the score is not fooled."""
    sample = double_logistic_sample(n=20_000)
    naive = NaiveClassifier().fit(sample.X, sample.s)
    joint = JointClassifier().fit(sample.X, sample.s)
    fresh = double_logistic_sample(n=20_000, seed=1)
    accuracy = [(m.predict(fresh.X) == fresh.s).mean() for m in (naive, joint)]
    score = [m.score(fresh.X, fresh.s) for m in (naive, joint)]
    true_accuracy = [(m.predict(fresh.X) == fresh.y).mean() for m in (naive, joint)]
    assert accuracy[0] > accuracy[1]
    assert score[0] < score[1]
    assert true_accuracy[0] < true_accuracy[1]


@each
@pytest.mark.parametrize("coding", [bool, int, float, lambda s: np.where(s == 1, 1, -1)])
def test_evident_codings_of_the_label_are_the_same(model, fit_once, sample, coding):
    coded = clone(model).fit(
        sample.X,
        np.asarray(
            coding(sample.s)
            if callable(coding) and coding not in (bool, int, float)
            else sample.s.astype(coding)
        ),
    )
    plain = fit_once(model, sample.X, sample.s)
    np.testing.assert_array_equal(coded.coef_, plain.coef_)
    assert coded.classes_[1] == 1


@each
def test_pos_label_names_the_labelled_value(model, fit_once, sample):
    words = np.where(sample.s == 1, "labelled", "unlabelled")
    named = clone(model).set_params(pos_label="labelled").fit(sample.X, words)
    plain = fit_once(model, sample.X, sample.s)
    np.testing.assert_array_equal(named.coef_, plain.coef_)
    assert named.classes_.tolist() == ["unlabelled", "labelled"]
    np.testing.assert_array_equal(
        named.predict(sample.X) == "labelled", plain.predict(sample.X) == 1
    )
    np.testing.assert_array_equal(named.predict_proba(sample.X), plain.predict_proba(sample.X))
    assert named.score(sample.X, words) == plain.score(sample.X, sample.s)


def test_words_without_pos_label_warn(sample):
    words = np.where(sample.s == 1, "ill", "other")
    with pytest.warns(LabelOrderWarning, match="taking 'other', the last in order"):
        model = NaiveClassifier().fit(sample.X, words)
    assert model.classes_.tolist() == ["ill", "other"]


@each
@pytest.mark.parametrize("make", [pd.DataFrame, lambda X, columns: pl.DataFrame(X, schema=columns)])
def test_frames_keep_their_names(model, fit_once, sample, make):
    names = ["age", "bmi", "visits", "income"]
    frame = make(sample.X, columns=names)
    named = clone(model).fit(frame, sample.s)
    plain = fit_once(model, sample.X, sample.s)
    assert named.feature_names_in_.tolist() == names
    np.testing.assert_allclose(named.coef_, plain.coef_, atol=1e-6)
    np.testing.assert_allclose(named.predict_positive(frame), plain.predict_positive(sample.X))
    with pytest.raises(ValueError, match="feature names"):
        named.predict(make(sample.X, columns=[*names[:-1], "other"]))


@each
def test_sparse_input_gives_the_same_answer(model, double_logistic_sample):
    sample = double_logistic_sample(n=500)
    X = np.where(np.abs(sample.X) > 0.8, sample.X, 0.0)
    dense = clone(model).fit(X, sample.s)
    for kind in (sparse.csr_matrix, sparse.csr_array, sparse.csc_array):
        thin = clone(model).fit(kind(X), sample.s)
        np.testing.assert_allclose(thin.coef_, dense.coef_, atol=1e-6)
        hidden = thin.predict_hidden(kind(X))
        np.testing.assert_allclose(hidden, dense.predict_hidden(X), atol=1e-6)


@each
def test_the_four_probabilities_at_once_are_those_one_by_one(model, sample):
    fitted = clone(model).fit(sample.X, sample.s)
    one_by_one = (
        fitted.predict_positive,
        fitted.predict_propensity,
        fitted.predict_label_proba,
        fitted.predict_hidden,
    )
    for column, predict in zip(fitted.probabilities(sample.X), one_by_one, strict=True):
        np.testing.assert_allclose(column, predict(sample.X), rtol=1e-12, atol=1e-15)


@each
def test_single_precision_input_stays_as_it_is(model, sample):
    X = sample.X.astype(np.float32)
    single = clone(model).fit(X, sample.s)
    double = clone(model).fit(X.astype(np.float64), sample.s)
    np.testing.assert_allclose(single.coef_, double.coef_, atol=1e-7)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # of a fold of EM's
@pytest.mark.filterwarnings("ignore::doublelogit.WeakIdentificationWarning")  # of a fold, too
@each
def test_pipelines_grids_and_cross_validation(model, double_logistic_sample):
    sample = double_logistic_sample(n=400)
    pipe = make_pipeline(StandardScaler(), clone(model))
    step = pipe.steps[-1][0]
    choice = (
        {"C": [0.01, 1.0]} if "C" in model.get_params() else {"propensity_features": [None, []]}
    )
    choice = {f"{step}__{name}": values for name, values in choice.items()}
    grid = GridSearchCV(pipe, choice, cv=2).fit(sample.X, sample.s)
    assert np.isfinite(grid.cv_results_["mean_test_score"]).all()
    assert grid.best_score_ < 0  # a log-likelihood
    assert len(cross_val_score(pipe, sample.X, sample.s, cv=2)) == 2
    out_of_fold = cross_val_predict(pipe, sample.X, sample.s, cv=2, method="predict_proba")
    assert out_of_fold.shape == (400, 2)


@each
def test_set_output_of_a_pipeline_reaches_the_classifier(model, sample):
    pipe = make_pipeline(StandardScaler(), clone(model)).set_output(transform="pandas")
    frame = pd.DataFrame(sample.X, columns=list("abcd"))
    pipe.fit(frame, sample.s)
    assert pipe[-1].feature_names_in_.tolist() == list("abcd")


@each
def test_sample_weights_are_routed(model, sample):
    weight = np.random.default_rng(0).integers(1, 4, size=1000)
    with sklearn.config_context(enable_metadata_routing=True):
        routed = clone(model).set_fit_request(sample_weight=True, audited_y=False)
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        pipe = make_pipeline(scaler, routed).fit(sample.X, sample.s, sample_weight=weight)
    X = StandardScaler().fit_transform(sample.X)
    plain = clone(model).fit(X, sample.s, sample_weight=weight)
    np.testing.assert_allclose(pipe[-1].coef_, plain.coef_, atol=1e-8)


@each
def test_integer_weights_are_repetitions(model, sample):
    weight = np.random.default_rng(0).integers(0, 4, size=1000)
    weighted = clone(model).fit(sample.X, sample.s, sample_weight=weight)
    repeated = clone(model).fit(np.repeat(sample.X, weight, 0), np.repeat(sample.s, weight))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-5)


@each
def test_audited_rows(model, fit_once, sample):
    audited = np.where(np.arange(1000) < 200, sample.y, np.nan)
    if isinstance(model, NaiveClassifier):
        with pytest.raises(ValueError, match="models the label, not the class"):
            clone(model).fit(sample.X, sample.s, audited_y=audited)
        return
    with_audit = clone(model).fit(sample.X, sample.s, audited_y=audited)
    plain = fit_once(model, sample.X, sample.s)
    none = clone(model).fit(sample.X, sample.s, audited_y=np.full(1000, np.nan))
    assert np.abs(with_audit.coef_ - plain.coef_).max() > 1e-3
    np.testing.assert_array_equal(none.coef_, plain.coef_)


@pytest.mark.parametrize("value", [np.nan, None])
def test_audited_values_may_be_nan_or_none(sample, value):
    audited = [value] * 999 + [1 if sample.s[-1] else 0]
    EMClassifier(tol=0, max_iter=2).fit(sample.X, sample.s, audited_y=audited)


@each_with_propensity
@pytest.mark.parametrize("features", [["a", "c"], [0, 2], [-4, 2]])
def test_features_restrict_either_model(model, sample, features):
    frame = pd.DataFrame(sample.X, columns=list("abcd"))
    narrow = clone(model).set_params(propensity_features=features).fit(frame, sample.s)
    assert (narrow.propensity_coef_[0, [1, 3]] == 0).all()
    assert (narrow.propensity_coef_[0, [0, 2]] != 0).all()
    assert (narrow.coef_ != 0).all()
    narrow = clone(model).set_params(outcome_features=features).fit(frame, sample.s)
    assert (narrow.coef_[0, [1, 3]] == 0).all()
    assert (narrow.propensity_coef_ != 0).all()


def test_features_may_be_a_mask(sample):
    mask = JointClassifier(propensity_features=[True, False, False, True]).fit(sample.X, sample.s)
    index = JointClassifier(propensity_features=[0, 3]).fit(sample.X, sample.s)
    np.testing.assert_array_equal(mask.propensity_coef_, index.propensity_coef_)
    with pytest.raises(ValueError, match="got True"):
        JointClassifier(propensity_features=[True]).fit(sample.X, sample.s)


def test_naming_all_features_is_naming_none(sample):
    named = JointClassifier(outcome_features=[0, 1, 2, 3], propensity_features=[0, 1, 2, 3])
    np.testing.assert_allclose(
        named.fit(sample.X, sample.s).coef_, JointClassifier().fit(sample.X, sample.s).coef_
    )


@each
def test_score_refuses_labels_that_fit_has_not_seen(model, fit_once, sample):
    fitted = fit_once(model, sample.X, sample.s)
    with pytest.raises(
        ValueError, match=r"y must hold the labels of fit, 0\.0, 1\.0; got 7\.0, 8\.0"
    ):
        fitted.score(sample.X, sample.s + 7)


def test_a_second_fit_forgets_the_first(sample):
    model = TwoModelsClassifier(tol=0, max_iter=2).fit(sample.X, sample.s)
    model.set_params(outcome=GaussianNB())
    assert model.predict(sample.X).shape == (1000,)  # still the first fit
    model.fit(sample.X, sample.s)
    assert not hasattr(model, "coef_")
    model.set_params(outcome=None).fit(sample.X, sample.s)
    assert not hasattr(model, "outcome_")


def test_two_values_of_any_kind_are_labels(sample):
    for values in ([0.5, 1.5], [1, 0]):
        y = np.array(values, dtype=object)[(sample.s == 1).astype(int)]
        model = NaiveClassifier(pos_label=values[1]).fit(sample.X, y)
        assert model.classes_.tolist() == values


@each_with_propensity
def test_no_propensity_features_is_a_constant_propensity(model, sample):
    scar = clone(model).set_params(propensity_features=[]).fit(sample.X, sample.s)
    assert (scar.propensity_coef_ == 0).all()
    assert np.ptp(scar.predict_propensity(sample.X)) == 0


def test_separate_penalties(sample):
    loose = JointClassifier(propensity_C=1.0).fit(sample.X, sample.s)
    tight = JointClassifier(propensity_C=1e-4).fit(sample.X, sample.s)
    assert np.abs(tight.propensity_coef_).max() < 0.01 < np.abs(loose.propensity_coef_).max()


def test_no_penalty_is_infinite_c(sample):
    free = NaiveClassifier(C=np.inf, tol=1e-10).fit(sample.X, sample.s)
    wanted = LogisticRegression(C=np.inf, tol=1e-10).fit(sample.X, sample.s)
    np.testing.assert_allclose(free.coef_, wanted.coef_, atol=1e-4)


def test_zero_tolerance_makes_exactly_max_iter_rounds(sample):
    for model in (
        TwoModelsClassifier(tol=0, max_iter=7),
        EMClassifier(tol=0, max_iter=7),
        LBEClassifier(tol=0, max_iter=7),
        JointClassifier(solver="mm", n_starts=1, tol=0, max_iter=7),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("error", ConvergenceWarning)
            assert model.fit(sample.X, sample.s).n_iter_ == 7
    for model in (NaiveClassifier(tol=0), TwoModelsSimpleClassifier(tol=0), JointClassifier(tol=0)):
        with warnings.catch_warnings():
            warnings.simplefilter("error", ConvergenceWarning)
            assert model.fit(sample.X, sample.s).converged_


@pytest.mark.parametrize(
    "model",
    [
        NaiveClassifier(max_iter=1),
        TwoModelsClassifier(max_iter=1, tol=1e-12),
        EMClassifier(max_iter=2),
        LBEClassifier(max_iter=2, tol=1e-9),
        JointClassifier(max_iter=2),
        JointClassifier(solver="mm", max_iter=2),
    ],
    ids=lambda m: type(m).__name__,
)
def test_non_convergence_is_never_silent(model, sample):
    with pytest.warns(ConvergenceWarning, match="did not meet its stopping rule"):
        model.fit(sample.X, sample.s)
    assert not model.converged_


def test_stopping_by_the_objective_is_the_papers_rule(sample):
    early = EMClassifier(stopping="objective", tol=1e-3).fit(sample.X, sample.s)
    late = EMClassifier(stopping="gradient", tol=1e-6).fit(sample.X, sample.s)
    assert early.n_iter_ < 50
    assert early.trace_[-1] > late.trace_[-1]
    mm = JointClassifier(solver="mm", stopping="objective", n_starts=1).fit(sample.X, sample.s)
    assert mm.converged_
    lbe = LBEClassifier(stopping="objective", tol=1e-5).fit(sample.X, sample.s)
    assert lbe.n_iter_ < 1000


def test_seeds_decide_the_starts_of_joint(sample):
    fits = [JointClassifier(n_starts=5, random_state=1).fit(sample.X, sample.s) for _ in range(2)]
    np.testing.assert_array_equal(fits[0].coef_, fits[1].coef_)
