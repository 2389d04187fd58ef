"""SPARSE: selection in wide tables, and what it says of all columns."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from doublelogit import (
    AveragedClassifier,
    Roles,
    SparseClassifier,
    TableClassifier,
    infer,
    load,
    to_onnx,
)
from doublelogit.engines.memory import memory_rows
from doublelogit.engines.scan import scan_parquet
from doublelogit.fitted import Selection
from doublelogit.methods.logistic import DENSE_LIMIT
from doublelogit.methods.path import SparseLoss, geometric, path
from doublelogit.methods.support import (
    EBIC,
    LOWEST,
    SCREENED,
    entering,
    rest_index,
    score_tests,
    screened,
)
from doublelogit.registry import METHODS, WIDEST

CLASS, LABELLING = (3, 40, 77, 110), (150, 199)


def wide(n=700, p=300, seed=0):
    """A class of four columns and a labelling of two others."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    y = rng.random(n) < expit(X[:, CLASS] @ [2.0, -2.0, 2.0, -2.0])
    e = expit(X[:, LABELLING] @ [1.5, -1.5])
    return X, y, (y & (rng.random(n) < e)).astype(int)


def quiet(model, *rows, **more):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(*rows, **more)


@pytest.fixture(scope="module")
def sample():
    return wide()


@pytest.fixture(scope="module")
def fitted(sample):
    X, _, s = sample
    return quiet(SparseClassifier(), X, s)


@pytest.fixture(scope="module")
def dense_truth():
    """A class of two strong columns and of many weak ones, and new rows of it."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(1600, 150))
    slopes = np.append([3.0, -3.0], rng.normal(size=148) * 0.25)
    y = rng.random(1600) < expit(X @ slopes)
    s = (y & (rng.random(1600) < 0.7)).astype(int)
    return quiet(SparseClassifier(max_rounds=1), X[:800], s[:800]), X[800:], y[800:]


def test_the_columns_that_matter_are_selected_and_the_others_have_no_slope(sample, fitted):
    table = pd.DataFrame(fitted.selected_).set_index("feature")
    assert set(CLASS) <= set(table.index)
    assert set(LABELLING) <= set(table.index)
    assert len(table) <= 9
    assert (table.loc[list(CLASS), "role"] == "class").all()
    assert "class" not in set(table.loc[list(LABELLING), "role"])
    outside = np.setdiff1d(np.arange(300), table.index)
    assert fitted.coef_.shape == fitted.propensity_coef_.shape == (1, 300)
    assert not fitted.coef_[0, outside].any()
    assert not fitted.propensity_coef_[0, outside].any()
    assert table["coef"].to_numpy() == pytest.approx(fitted.coef_[0, table.index])
    finding = fitted.findings_[-1]
    assert (finding.topic, finding.numbers["selected"]) == ("selection", len(table))


def test_it_comes_nearer_to_the_class_than_regression_of_the_label(sample, fitted):
    X, y, s = sample
    truth = expit(X[:, CLASS] @ [2.0, -2.0, 2.0, -2.0])
    naive = LogisticRegression(C=0.1, l1_ratio=1, solver="saga", max_iter=5000).fit(X, s)
    far = np.abs(naive.predict_proba(X)[:, 1] - truth).mean()
    assert np.abs(fitted.predict_positive(X) - truth).mean() < far / 2
    low, high = fitted.prevalence_interval()
    assert low < y.mean() < high


def test_on_its_selection_the_posterior_is_that_of_averaged(sample, fitted):
    X, _, s = sample
    columns = fitted.selected_["feature"]
    assert not fitted.findings_[-1].numbers["rest"]
    plain = quiet(AveragedClassifier(shape="line"), X[:, columns], s)
    assert fitted.predict_hidden(X) == pytest.approx(plain.predict_hidden(X[:, columns]), abs=1e-9)
    assert fitted.prevalence_interval() == pytest.approx(plain.prevalence_interval())
    assert fitted.coef_interval()[:, columns] == pytest.approx(plain.coef_interval()[:, :-1])


def test_intervals_of_rows_are_wider_by_what_a_selection_misses(sample, fitted):
    X, _, s = sample
    columns = fitted.selected_["feature"]
    plain = quiet(AveragedClassifier(shape="line"), X[:, columns], s)
    inner, outer = plain.predict_interval(X[:, columns]), fitted.predict_interval(X)
    assert (outer[:, 0] < inner[:, 0]).all()
    assert (outer[:, 1] > inner[:, 1]).all()
    assert fitted.model_.outcome_model.sides[0].omitted > 0


@pytest.mark.parametrize("stored", [sparse.csr_matrix, sparse.csc_array])
def test_sparse_tables_have_the_answer_of_dense_ones_and_stay_sparse(stored, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.poisson(0.1, size=(500, 400)).astype(float)
    X[:, :4] = rng.poisson(1.0, size=(500, 4))
    y = rng.random(500) < expit(3 * (X[:, 0] - X[:, 1]))
    s = (y & (rng.random(500) < 0.6)).astype(int)
    dense = quiet(SparseClassifier(), X, s)
    widest = []

    for kind in (sparse.csr_matrix, sparse.csr_array, sparse.csc_matrix, sparse.csc_array):
        before = kind.toarray

        def recorded(self, *args, before=before, **kwargs):
            widest.append(self.shape[1])
            return before(self, *args, **kwargs)

        monkeypatch.setattr(kind, "toarray", recorded)
    model = quiet(SparseClassifier(), stored(X), s)
    assert model.selected_["feature"].tolist() == dense.selected_["feature"].tolist()
    answers = model.predict_hidden(stored(X))
    monkeypatch.undo()
    assert answers == pytest.approx(dense.predict_hidden(X), abs=1e-6)
    assert widest
    assert max(widest) < 200


def test_weights_are_repetitions_where_columns_are_selected():
    X, _, s = narrow()
    weight = np.random.default_rng(0).integers(0, 3, size=len(s))
    weighted = quiet(SparseClassifier(), X, s, sample_weight=weight)
    repeated = quiet(SparseClassifier(), np.repeat(X, weight, axis=0), np.repeat(s, weight))
    assert weighted.coef_ == pytest.approx(repeated.coef_, abs=1e-5)
    assert 0 < np.count_nonzero(weighted.coef_) < 60


def narrow(seed=3):
    X, _, _ = wide(n=400, p=200, seed=seed)
    X = X[:, :60]
    rng = np.random.default_rng(seed)
    y = rng.random(400) < expit(X[:, [3, 40]] @ [2.5, -2.5])
    return X, y, (y & (rng.random(400) < 0.5)).astype(int)


def test_audited_classes_count_in_selection_and_posterior():
    X, y, s = narrow()
    audited = np.where(np.arange(400) < 150, y, np.nan)
    plain = quiet(SparseClassifier(), X, s)
    helped = quiet(SparseClassifier(), X, s, audited_y=audited)
    assert np.ptp(helped.prevalence_interval()) < np.ptp(plain.prevalence_interval())
    assert {3, 40} <= set(helped.selected_["feature"].tolist())


def test_named_features_are_in_the_union_and_of_their_model_alone(sample):
    X, _, s = sample
    names = [f"g{j}" for j in range(300)]
    named = ["g150", "g199", "g7"]
    model = quiet(SparseClassifier(propensity_features=named), pd.DataFrame(X, columns=names), s)
    others = np.setdiff1d(np.arange(300), [150, 199, 7])
    assert not model.propensity_coef_[0, others].any()
    assert model.propensity_coef_[0, [150, 199, 7]].all()
    many = list(range(140, 240))
    model = quiet(SparseClassifier(propensity_features=many), X, s)
    assert model.propensity_coef_[0, many].any()


def test_labelling_at_random_may_be_said():
    X, _, s = narrow()
    model = quiet(SparseClassifier(propensity_features=[]), X, s)
    assert not model.propensity_coef_.any()


def test_tables_without_signal_have_a_model_too():
    rng = np.random.default_rng(0)
    X, s = rng.normal(size=(120, 200)), np.arange(120) % 4 == 0
    model = quiet(SparseClassifier(), X, s.astype(int))
    assert 1 <= len(model.selected_) <= 5
    assert np.isfinite(model.predict_proba(X)).all()


def test_columns_that_repeat_others_do_no_harm():
    X, _, s = narrow()
    model = quiet(SparseClassifier(), np.hstack([X, X, np.ones((400, 2))]), s)
    assert np.isfinite(model.coef_).all()
    assert not model.coef_[0, -2:].any()


def test_what_is_left_is_one_more_feature_where_held_out_labels_ask_for_it(dense_truth):
    model, X, y = dense_truth
    assert model.findings_[-1].numbers["rest"]
    side = model.model_.outcome_model
    selection = side.selection
    assert not np.isin(selection.rest_columns, selection.columns).any()
    Z = selection.features(X)
    index = X[:, selection.rest_columns] @ selection.rest_coef - selection.rest_level
    assert Z[:, -1] == pytest.approx(index)
    assert model.decision_function(X) == pytest.approx(
        side.sides[0].inner.mean_predictor(Z, model.model_.weight[: len(side.sides[0].share)])
        + sum(
            each.inner.mean_predictor(Z, part)
            for each, part in zip(side.sides[1:], side.split(model.model_.weight)[1:], strict=True)
        )
        + side.level
    )
    assert not model.coef_[0, selection.rest_columns].any()
    assert np.corrcoef(index, y)[0, 1] > 0.1


def test_files_and_graphs_say_what_the_classifier_says(dense_truth, fitted, sample, tmp_path):
    import onnxruntime

    for model, X in ((dense_truth[0], dense_truth[1]), (fitted, sample[0])):
        model.save(tmp_path / "model.dlm")
        assert (tmp_path / "model.dlm").stat().st_size < 400_000
        same = load(tmp_path / "model.dlm")
        np.testing.assert_array_equal(same.predict_hidden(X), model.predict_hidden(X))
        np.testing.assert_array_equal(same.predict_interval(X), model.predict_interval(X))
        assert same.selected_.tolist() == model.selected_.tolist()
        graph = to_onnx(model).SerializeToString()
        assert len(graph) < 100_000
        run = onnxruntime.InferenceSession(graph)
        names = [output.name for output in run.get_outputs()]
        answers = dict(zip(names, run.run(None, {"X": X}), strict=True))
        assert answers["positive"] == pytest.approx(model.predict_positive(X), abs=1e-10)
        assert answers["hidden"] == pytest.approx(model.predict_hidden(X), abs=1e-10)


def test_inference_is_of_the_rows_and_the_selection(sample, fitted):
    X, _, s = sample
    result = infer(fitted, X, s)
    columns = fitted.selected_["feature"]
    plain = infer(quiet(AveragedClassifier(shape="line"), X[:, columns], s), X[:, columns], s)
    for level in (0.5, 0.9):
        one, other = result.prevalence(level=level), plain.prevalence(level=level)
        assert (one.low, one.high) == pytest.approx((other.low, other.high))
    by = result.prevalence(by=np.where(X[:, 3] > 0, "high", "low"))
    assert by["high"].value > by["low"].value
    assert "prevalence" in str(result.diagnose())


def test_rows_far_from_zero_and_the_swapped_model(sample):
    X, _, s = sample
    near, far = (quiet(SparseClassifier(), rows, s) for rows in (X, X + 1000))
    assert far.coef_ == pytest.approx(near.coef_, abs=1e-6)
    assert far.predict_positive(X + 1000) == pytest.approx(near.predict_positive(X), abs=1e-7)
    if near.model_.symmetric:
        assert near.swapped().coef_ == pytest.approx(near.propensity_coef_)


def test_selection_frequency_is_high_for_the_columns_that_matter(sample, fitted):
    X, _, s = sample
    frequency = fitted.selection_frequency(X, s, n_subsamples=4)
    assert frequency.shape == (300,)
    assert frequency[list(CLASS)].mean() > 0.7 > 0.05 > frequency.mean()
    np.testing.assert_array_equal(frequency * 4, np.round(frequency * 4))
    with pytest.raises(ValueError, match="n_subsamples must be a positive integer; got 0"):
        fitted.selection_frequency(X, s, n_subsamples=0)


def test_a_score_test_is_that_of_the_full_information():
    rng = np.random.default_rng(0)
    n, p, support = 90, 30, np.array([1, 2])
    X, weight = rng.normal(size=(n, p)), rng.uniform(0.5, 2, n)
    y, e, s = rng.uniform(0.2, 0.8, n), rng.uniform(0.3, 0.9, n), rng.random(n) < 0.3
    loss = SparseLoss.of(memory_rows(X, s.astype(float), weight=weight), np.ones((1, p)))
    scores = score_tests(loss, support, y, e)
    q = y * e
    slopes = np.column_stack([q * (1 - y), q * (1 - e)])  # of s(x) in both predictors
    for j in (5, 29):
        columns = np.column_stack([X[:, [j]], X[:, support], np.ones(n)])
        D = np.hstack([slopes[:, :1] * columns, slopes[:, 1:] * columns])
        inside = (weight / (q * (1 - q)))[:, None] * D
        u, information = inside.T @ (s - q), D.T @ inside
        ours, others = np.array([0, 4]), np.array([1, 2, 3, 5, 6, 7])
        gain = np.linalg.solve(information[np.ix_(others, others)], information[others][:, ours])
        left = u[ours] - gain.T @ u[others]
        V = information[np.ix_(ours, ours)] - information[np.ix_(ours, others)] @ gain
        assert scores.statistic[j] == pytest.approx(left @ np.linalg.solve(V, left))
        assert scores.variance[j] == pytest.approx(np.linalg.inv(V)[0, 0] * X[:, j].var(), rel=0.1)
    assert not scores.statistic[support].any()


def test_score_tests_of_noise_are_chi_squared_and_let_little_in():
    X, _, s = wide(n=1500, p=400, seed=5)
    y, e = expit(X[:, CLASS] @ [2.0, -2.0, 2.0, -2.0]), expit(X[:, LABELLING] @ [1.5, -1.5])
    loss = SparseLoss.of(memory_rows(X, s.astype(float)), np.ones((1, 400)))
    union = np.array(sorted(CLASS + LABELLING))
    scores = score_tests(loss, union, y, e)
    noise = np.delete(scores.statistic, union)
    assert noise.mean() == pytest.approx(2.0, abs=0.3)
    assert len(entering(scores)) <= 2
    missing = score_tests(loss, union[1:], expit(X[:, CLASS[1:]] @ [-2.0, 2.0, -2.0]), e)
    assert entering(missing)[0] == union[0]


def test_the_screened_support_has_the_least_criterion_of_the_path():
    X, _, s = narrow()
    loss = SparseLoss.of(memory_rows(X, s.astype(float)), np.ones((1, 60)))
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    penalties = geometric(loss.largest_penalty(loss.empty), SCREENED, LOWEST)
    criteria = {}
    for point in path(loss, penalties, tol=1e-4, most_features=50):
        support = tuple(point.support.tolist())
        if support:
            refit = LogisticRegression(C=1.0, tol=1e-8).fit(Z[:, support], s)
            proba = refit.predict_proba(Z[:, support])[:, 1]
            deviance = -2 * np.log(np.where(s == 1, proba, 1 - proba)).sum()
            size = len(support) * (np.log(400) + 2 * EBIC * np.log(60))
            criteria[support] = deviance + size
    assert tuple(screened(loss).tolist()) == min(criteria, key=criteria.get)


def test_there_is_no_index_of_nothing():
    X, _, s = narrow()
    rows = memory_rows(X, s.astype(float))
    half = np.arange(400) < 200
    splits = [(np.flatnonzero(half), np.flatnonzero(~half))]
    splits += [splits[0][::-1]]
    everything = np.arange(60)
    assert rest_index(SparseLoss.of(rows, np.ones((1, 60))), everything, splits) is None


def test_a_selection_moves_with_the_origin_of_its_rows():
    X, shift = np.random.default_rng(0).normal(size=(5, 6)), np.arange(6.0)
    rest = (np.array([0, 5]), np.array([1.0, -2.0]), 0.3)
    selection = Selection(6, np.array([2, 4]), *rest)
    moved = selection.uncentred(shift).features(X + shift) - selection.moved(shift)
    assert moved == pytest.approx(selection.features(X))


def test_wide_tables_are_for_sparse_and_narrow_ones_for_averaged(tmp_path):
    assert WIDEST == DENSE_LIMIT - 1
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(150, 1000)), columns=[f"g{j}" for j in range(1000)])
    y = rng.random(150) < expit(4 * frame["g3"])
    frame["label"] = (y & (rng.random(150) < 0.7)).astype(int)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = TableClassifier("label").fit(frame)
        model.save(tmp_path / "wide.dlm")
        small = TableClassifier("label").fit(frame[["g1", "g3", "label"]])
    assert isinstance(model.classifier_, SparseClassifier)
    assert model.fitted_.method == "sparse"
    assert not isinstance(small.classifier_, SparseClassifier)
    again = load(tmp_path / "wide.dlm")
    pd.testing.assert_frame_equal(again.predict(frame), model.predict(frame))
    listed = model.rank(frame, top=3)
    assert "g3" in listed["reasons"].iloc[0]


def test_rows_in_files_are_refused_with_a_sentence(tmp_path):
    X, _, s = narrow()
    pd.DataFrame(X[:, :3], columns=list("abc")).assign(s=s).to_parquet(tmp_path / "rows.parquet")
    scan = scan_parquet(tmp_path / "rows.parquet", Roles(label="s"))
    with pytest.raises(ValueError, match=r"SparseClassifier needs rows in memory; .* averaged"):
        SparseClassifier().fit(scan)


def test_methods_suit_tables_by_their_width():
    averaged, other = METHODS["averaged"], METHODS["joint"]
    assert averaged.at_width(WIDEST) is averaged
    assert averaged.at_width(WIDEST + 1) is METHODS["sparse"]
    assert other.at_width(10**6) is other
    assert METHODS["sparse"].suits(WIDEST + 1)
    assert not METHODS["sparse"].suits(WIDEST)
