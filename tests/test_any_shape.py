"""A class of any shape: s(x) divided into class and labelling, by models without the row."""

import numpy as np
import onnxruntime
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.special import expit
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

import doublelogit
from doublelogit import AveragedClassifier, Report, Roles, TableClassifier, infer, to_onnx
from doublelogit.averaged import frequency
from doublelogit.averaged.readings import linear
from doublelogit.averaged.shapes.divided import SURE, Division
from doublelogit.common.wording import percent

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
QUICK = ["logistic", "splines"]


def band(n=1200, seed=4, c=0.6):
    """A class in the middle of a feature, its labels given at random."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = rng.random(n) < expit(4 - 14 * np.abs(X[:, 0] - 0.8))
    return X, y, (y & (rng.random(n) < c)).astype(int)


@pytest.fixture(scope="module")
def sample():
    return band()


@pytest.fixture(scope="module")
def fitted(sample):
    X, _, s = sample
    return AveragedClassifier(label_model=QUICK).fit(X, s)


def shaped(model):
    """Whether each component is a class of any shape."""
    return ~linear(model.model_)


def same(model, other, X, **tolerance):
    for mine, its in zip(model.probabilities(X), other.probabilities(X), strict=True):
        np.testing.assert_allclose(mine, its, **{"atol": 1e-9, **tolerance})


def test_a_class_in_the_middle_of_a_feature_is_ranked_as_labels_rank_it(sample, fitted):
    X, y, s = sample
    line = AveragedClassifier(shape="line").fit(X, s)
    hidden = s == 0
    auc = [roc_auc_score(y[hidden], m.predict_hidden(X[hidden])) for m in (line, fitted)]
    assert auc[1] > max(0.9, auc[0] + 0.1)
    brier = [np.mean((m.predict_positive(X) - y) ** 2) for m in (line, fitted)]
    assert brier[1] < 0.6 * brier[0]
    low, high = fitted.prevalence_interval(0.9)
    assert low < y.mean() < high


@given(
    s=st.lists(st.floats(1e-6, 1 - 1e-6), min_size=2, max_size=20),
    level=st.floats(0, 12),
    cap=st.one_of(st.none(), st.floats(0.9, 1 - 1e-6)),
    slope=st.one_of(st.none(), st.floats(-5, 5)),
)
def test_a_division_keeps_the_label_model(s, level, cap, slope):
    s = np.array(s)
    X = np.linspace(-2, 2, len(s))[:, None]
    labelling = None if slope is None or cap is not None else np.array([slope, 0.3])
    division = Division("any", np.array([level]), cap, labelling)
    y = division.positive(s, division.along(X), division.level)[:, 0]
    assert (y >= s).all()
    assert (y <= 1).all()
    if labelling is None:
        assert (np.diff(y[np.argsort(s)]) >= 0).all()  # rows keep the order of s


@pytest.mark.parametrize("cap", [None, 0.999])
def test_levels_average_to_the_prevalence(cap):
    rng = np.random.default_rng(0)
    s, weight = expit(rng.normal(-2, 1, 500)), rng.random(500)
    share = np.array([0.25, 0.4, 0.8])
    division = Division("any", np.zeros(0), cap).levelled(s, np.zeros(500), weight, share)
    y = division.positive(s, np.zeros(500), division.level)
    np.testing.assert_allclose(np.average(y, axis=0, weights=weight), share, atol=1e-6)


def test_class_times_labelling_is_the_label_in_every_component_and_in_the_mixture(fitted):
    Z = band(400, seed=9)[0]
    mixture, some = fitted.model_, shaped(fitted)
    a, b = (one[:, some] for one in mixture.predictors(Z))
    side = mixture.outcome_model.sides[1]
    s = np.clip(side.labels.predict(Z), SURE, 1 - SURE)
    np.testing.assert_allclose(expit(a) * expit(b), np.repeat(s[:, None], some.sum(), 1), atol=1e-8)
    p = fitted.probabilities(Z)
    np.testing.assert_allclose(p.positive * p.propensity, p.label, atol=1e-12)
    np.testing.assert_allclose(p.hidden, (p.positive - p.label) / (1 - p.label), atol=1e-12)
    assert ((p.label <= p.positive) & (p.positive <= 1)).all()


def test_probabilities_average_to_the_prevalence(sample, fitted):
    X = sample[0]
    assert fitted.predict_positive(X).mean() == pytest.approx(fitted.prevalence_, abs=1e-6)


def test_rows_of_fit_are_predicted_by_models_without_them():
    X, _, s = band(2000)
    s = np.random.default_rng(3).permutation(s)
    model = AveragedClassifier(label_model="trees").fit(X, s)
    labels = model.model_.outcome_model.sides[1].labels
    assert roc_auc_score(s, labels.predict(X)) < 0.55
    assert roc_auc_score(s, model.predict_label_proba(X)) < 0.57  # three slopes have seen them
    assert roc_auc_score(s, labels.models[0][0].predict(X)) > 0.7


def test_order_weights_and_copies_change_nothing(sample):
    X, _, s = (one[:500] for one in sample)
    weight = np.random.default_rng(0).integers(0, 3, 500)
    model = AveragedClassifier(label_model=QUICK).fit(X, s, sample_weight=weight)
    rows = np.random.default_rng(1).permutation(np.repeat(np.arange(500), weight))
    other = AveragedClassifier(label_model=QUICK).fit(X[rows], s[rows])
    same(model, other, X, atol=1e-6)


def test_sparse_features_have_the_answer_of_dense_ones():
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(500, 4))) * (rng.random((500, 4)) < 0.5)
    s = (rng.random(500) < expit(X[:, 0] - 1)).astype(int)
    dense = AveragedClassifier(label_model=QUICK).fit(X, s)
    same(dense, AveragedClassifier(label_model=QUICK).fit(sparse.csr_matrix(X), s), X, atol=1e-6)


def test_origins_far_away_change_little(sample):
    X, _, s = sample
    far = X + np.array([0, 1000, 0])
    models = [AveragedClassifier(label_model=QUICK).fit(one, s) for one in (X, far)]
    mine, its = (m.predict_hidden(one) for m, one in zip(models, (X, far), strict=True))
    # folds follow from content, which has changed
    assert np.abs(mine - its).mean() < 0.03
    assert np.corrcoef(mine, its)[0, 1] > 0.99
    estimate = infer(models[1], far, s).prevalence(level=0.9)
    assert (estimate.low, estimate.high) == pytest.approx(models[1].prevalence_interval(0.9))


def test_audited_rows_count_whole_in_both_shapes(sample):
    X, y, s = sample
    rng = np.random.default_rng(5)
    audited = np.full(len(s), np.nan)
    looked = rng.choice(np.flatnonzero(s == 0), 100, replace=False)
    audited[looked] = y[looked]
    before = AveragedClassifier(label_model=QUICK).fit(X, s)
    after = AveragedClassifier(label_model=QUICK).fit(X, s, audited_y=audited)
    assert np.ptp(after.prevalence_interval()) < 0.6 * np.ptp(before.prevalence_interval())
    assert shaped(after).any()
    assert after.model_.weight[shaped(after)].sum() > 0.9  # lines give these classes no chance
    low, high = after.prevalence_interval()
    assert low < y.mean() < high


def test_what_is_believed_of_the_prevalence_weighs_both_shapes(sample):
    X, _, s = sample
    model = AveragedClassifier(label_model=QUICK, prevalence=(0.2, 0.01)).fit(X, s)
    low, high = model.prevalence_interval()
    assert 0.17 < low < 0.2 < high < 0.23
    by_label = AveragedClassifier(label_model=QUICK, label_frequency=(0.6, 0.02)).fit(X, s)
    assert by_label.prevalence_ == pytest.approx(s.mean() / 0.6, abs=0.02)


def test_named_features_divide_by_the_lines_that_they_draw():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 3))
    y = rng.random(2000) < expit(3 - 3 * X[:, 0] ** 2)
    s = (y & (rng.random(2000) < expit(1.5 * X[:, 1]))).astype(int)
    named = AveragedClassifier(label_model=QUICK, propensity_features=[1]).fit(X, s)
    told_nothing = AveragedClassifier(label_model=QUICK).fit(X, s)
    hidden = s == 0
    auc = [roc_auc_score(y[hidden], m.predict_hidden(X[hidden])) for m in (told_nothing, named)]
    assert auc[1] > auc[0] + 0.02
    assert {"named"} == set(named.model_.outcome_model.sides[1].division.mechanism.split())


def test_constant_columns_take_no_part_in_what_was_named(sample, tmp_path):
    X, _, s = (one[:600] for one in sample)
    wide = np.column_stack([np.ones(600), X])
    models = [
        AveragedClassifier(label_model=QUICK, propensity_features=named).fit(Z, s)
        for Z, named in ((X, [1]), (wide, [2]))
    ]
    mine, its = (m.predict_positive(Z) for m, Z in zip(models, (X, wide), strict=True))
    np.testing.assert_allclose(its, mine, atol=1e-6)
    Z = wide + 0.01
    session = onnxruntime.InferenceSession(to_onnx(models[1]).SerializeToString())
    answers = session.run(None, {session.get_inputs()[0].name: Z})
    np.testing.assert_allclose(np.ravel(answers[0]), models[1].predict_positive(Z), atol=1e-6)


def test_labelling_named_as_constant_is_constant_and_may_leave_nobody_hidden():
    X, y, _ = band(1500)
    model = AveragedClassifier(label_model=QUICK, propensity_features=[]).fit(X, y.astype(int))
    assert model.prevalence_interval(0.9)[0] <= 1.02 * y.mean()
    side = model.model_.outcome_model.sides[1]
    assert side.division.cap == pytest.approx(1 - 1 / 1500)


def test_few_labels_leave_a_reserve():
    X, _, s = band(300)
    few = np.where(np.cumsum(s) <= 9, s, 0)
    model = AveragedClassifier().fit(X, few)
    assert model.model_.outcome_model.sides[1].lines is not None
    assert shaped(model).any()


def test_a_file_and_a_graph_hold_the_label_model(sample, tmp_path):
    X, _, s = sample
    model = AveragedClassifier(label_model=["product", "splines", "trees", "forest"]).fit(X, s)
    model.save(tmp_path / "model.dlm")
    loaded = doublelogit.load(tmp_path / "model.dlm")
    same(model, loaded, X, atol=0)
    Z = band(200, seed=8)[0]
    session = onnxruntime.InferenceSession(to_onnx(model).SerializeToString())
    answers = session.run(None, {session.get_inputs()[0].name: Z})
    for mine, its in zip(model.probabilities(Z), answers, strict=True):
        np.testing.assert_allclose(np.ravel(its), mine, atol=1e-6)


def test_any_classifier_may_be_the_label_model(sample, tmp_path):
    X, _, s = sample
    model = AveragedClassifier(label_model=LogisticRegression()).fit(X, s)
    assert model.model_.outcome_model.sides[1].labels.names == ("LogisticRegression 1",)
    with pytest.raises(TypeError, match="label model of another library"):
        to_onnx(model)
    with pytest.raises(ValueError, match="label_model must be 'auto', one of logistic"):
        AveragedClassifier(label_model="magic").fit(X, s)
    with pytest.raises(ValueError, match="label_model must be 'auto'"):
        AveragedClassifier(shape="line", label_model="magic").fit(X, s)


def test_intervals_of_rows_and_groups_know_of_the_label_model(sample, fitted):
    X, y, s = sample
    ends = fitted.predict_interval(X, 0.9)
    p = fitted.predict_positive(X)
    assert ((ends[:, 0] <= p) & (p <= ends[:, 1])).mean() > 0.95
    groups = np.where(X[:, 0] > 0.8, "right", "left")
    by = infer(fitted, X, s).prevalence(by=groups, level=0.9)
    for name, estimate in by.items():
        assert estimate.low < y[groups == name].mean() < estimate.high
    squares = (fitted.model_.outcome_model.sides[1].features(X) ** 2).sum(axis=1)
    deviation = fitted.model_.outcome_model.sides[1].deviation(X)[:, 0]
    np.testing.assert_allclose(deviation**2, squares)


def test_evidence_names_the_shape(fitted):
    table = pd.DataFrame(fitted.evidence_)
    assert set(table["mechanism"][table["shape"] == "any"]) == {"following"}
    assert table["weight"].sum() == pytest.approx(1)


def test_the_law_of_the_label_frequency_is_a_law():
    rng = np.random.default_rng(0)
    p = expit(rng.normal(-2, 1, 2000))
    s = (rng.random(2000) < p).astype(float)
    law = frequency.law(p, s, np.ones(2000), np.log(0.5), 100)
    assert law.mass.sum() == pytest.approx(1)
    assert law.c[-1] == 1
    assert (np.diff(law.c) > 0).all()
    assert law.c[0] >= s.mean() / frequency.MOST * 0.99
    higher = frequency.law(p, s, np.ones(2000), np.log(0.9), 100)
    assert higher.c @ higher.mass > law.c @ law.mass


def test_the_lift_is_that_of_the_top_twentieth():
    s = np.linspace(0.9, 0.1, 200)
    labels = (np.arange(200) < 8).astype(float)
    lift = frequency.log_lift(s, labels, np.ones(200), labels.mean())
    assert lift == pytest.approx(np.log(8.5 / 11 / 0.04))


def test_a_page_says_what_a_nonlinear_class_assumes_and_did(sample):
    X, _, s = sample
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(s=s)
    model = TableClassifier(Roles("s")).fit(frame)
    shapes = {one.name: one for one in model.infer(frame).shapes}
    assert sum(one.weight for one in shapes.values()) == pytest.approx(1)
    mean = sum(one.weight * one.prevalence for one in shapes.values())
    assert mean == pytest.approx(model.classifier_.prevalence_)
    page = Report(model, frame, n_resamples=9, n_jobs=1).to_dict()
    texts = [one["text"] for one in page["verdict"] if one["topic"] == "shape"]
    assert len(texts) == 1
    assert f"a logistic class gives {percent(shapes['line'].prevalence)}" in texts[0]
    assert any("shape of the label probability" in one for one in page["assumptions"])


def test_reasons_compare_a_row_with_the_average_in_place_of_a_column(sample):
    X, _, s = sample
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(s=s)
    model = TableClassifier(Roles("s"), label_model="splines").fit(frame)
    first = model.rank(frame, top=20)
    assert first["reasons"].str.contains("a ").all()  # which alone tells of the class
