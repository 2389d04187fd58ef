"""Label models: honest about rows they were fitted to, and indifferent to how rows are written."""

import numpy as np
import pytest
from scipy import sparse
from scipy.special import expit
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from doublelogit.core.folds import FoldsError, cluster_keys
from doublelogit.label_models import AUTO, STACK, fit_label_model, kinds_of
from doublelogit.label_models.basis import Smooths, natural
from doublelogit.label_models.kinds import Splines
from doublelogit.label_models.sample import distinct_rows
from doublelogit.label_models.stack import calibrated, likelihoods, simplex_weights

QUICK = ["logistic", "splines", DecisionTreeClassifier(min_samples_leaf=20)]


def bump(n=900, p=3, seed=0):
    """Labels at random of a class that is commonest in the middle of a column."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    s_x = 0.5 * expit(2 - 2 * X[:, 0] ** 2)
    return X, (rng.random(n) < s_x).astype(float), s_x


@pytest.fixture(scope="module")
def stacked():
    X, s, s_x = bump()
    return fit_label_model(X, s), X, s, s_x


def test_a_stack_is_at_least_as_good_as_its_best_kind(stacked):
    model, *_ = stacked
    kinds = {name: value for name, value in model.held_out.items() if name != "stack"}
    assert tuple(kinds) == STACK
    assert model.held_out["stack"] >= max(kinds.values()) - 1e-6
    assert kinds["splines"] > kinds["logistic"] + 0.02
    assert model.weight.sum() == pytest.approx(1)
    assert model.weight.min() >= 0


def test_a_bend_is_noticed_and_new_rows_are_predicted_by_all_models(stacked):
    model = stacked[0]
    X, _, s_x = bump(seed=1)
    assert np.sqrt(np.mean((model.predict(X) - s_x) ** 2)) < 0.07
    several = [np.column_stack([m.predict(X) for m in models]) for models in model.models]
    everyone = model.line(np.mean(several, axis=0) @ model.weight)
    np.testing.assert_allclose(model.predict(X), everyone)


def test_rows_of_fit_are_predicted_by_models_that_have_not_seen_them(stacked):
    model, X, s, _ = stacked
    for k, outside, inside in splits_of(model, X):
        mine = np.column_stack([m.predict(X[inside]) for m in model.models[k]])
        np.testing.assert_allclose(model.predict(X[inside]), model.line(mine @ model.weight))
        assert len(outside) > len(inside)
    log = np.log(likelihoods(model.predict(X), s))
    assert log.mean() == pytest.approx(model.held_out["stack"])


def splits_of(model, X):
    fold = model.folds.of(model.groups[np.searchsorted(model.seen, keys(X))])
    for k in range(model.folds.n_folds):
        yield k, np.flatnonzero(fold != k), np.flatnonzero(fold == k)


def keys(X):
    from doublelogit.core.folds import content_keys

    return content_keys(X)


def test_permuted_labels_are_not_memorised():
    X, s, _ = bump(600)
    s = np.random.default_rng(3).permutation(s)
    model = fit_label_model(X, s, kinds=["logistic", "forest"])
    assert roc_auc_score(s, model.predict(X)) < 0.55
    seen_all = model.models[0][1].predict(X)
    assert roc_auc_score(s, seen_all) > 0.8


@pytest.mark.parametrize("kind", ["logistic", "product", "splines", "trees", "forest"])
def test_order_and_ways_to_write_weights_change_nothing(kind):
    X, s, _ = bump(300, 2)
    rng = np.random.default_rng(0)
    weight = rng.integers(0, 3, size=300)
    model = fit_label_model(X, s, weight, kinds=kind, n_folds=3)
    repeated = rng.permutation(np.repeat(np.arange(300), weight))
    other = fit_label_model(X[repeated], s[repeated], kinds=kind, n_folds=3)
    np.testing.assert_allclose(other.predict(X), model.predict(X), atol=1e-9)


def test_sparse_rows_have_the_dense_answer_of_unshifted_columns():
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(400, 5))) * (rng.random((400, 5)) < 0.5)
    s = (rng.random(400) < expit(X[:, 0] - 1)).astype(float)
    model = fit_label_model(sparse.csr_matrix(X), s)
    assert model.names == ("logistic",)
    dense = fit_label_model(X, s, kinds="logistic")
    np.testing.assert_allclose(model.predict(sparse.csr_matrix(X)), dense.predict(X), atol=1e-3)


def test_copies_never_meet_a_model_that_has_seen_one():
    X, s, _ = bump(300, 2)
    s[:30] = 1  # copies of labelled rows: one was seen, the others are to be predicted
    copies = np.concatenate([np.arange(300), np.repeat(np.arange(30), 5)])
    model = fit_label_model(X[copies], s[copies], kinds="forest")
    fold = model.folds.of(keys(X))
    for k, models in enumerate(model.models):
        rows = np.flatnonzero(fold == k)
        np.testing.assert_allclose(model.line(models[0].predict(X[rows])), model.predict(X[rows]))


def test_clusters_are_not_cut():
    X, s, _ = bump(400, 2)
    cluster = np.repeat(np.arange(40), 10)
    model = fit_label_model(X, s, cluster=cluster_keys(cluster), kinds="logistic")
    fold = model.folds.of(model.groups[np.searchsorted(model.seen, keys(X))])
    assert all(len(np.unique(fold[cluster == c])) == 1 for c in range(40))


def test_few_labels_grow_no_trees():
    X, s, _ = bump(200, 2)
    few = np.where(np.cumsum(s) <= 29, s, 0)
    assert fit_label_model(X, few, n_folds=3).names == ("logistic", "product", "splines")
    assert set(fit_label_model(X, s, n_folds=3).names) == set(STACK)


def test_any_classifier_or_a_list_of_them_is_a_label_model():
    X, s, _ = bump(300, 2)
    pipeline = make_pipeline(StandardScaler(), LogisticRegression())
    model = fit_label_model(X, s, kinds=pipeline)
    assert model.names == ("Pipeline 1",)
    several = fit_label_model(X, s, kinds=["splines", pipeline, DecisionTreeClassifier()])
    assert several.names == ("splines", "Pipeline 2", "DecisionTreeClassifier 3")
    again = fit_label_model(X, s, kinds=["splines", pipeline, DecisionTreeClassifier()])
    np.testing.assert_array_equal(several.predict(X), again.predict(X))


@pytest.mark.parametrize(
    ("wanted", "error", "match"),
    [
        ("tree", ValueError, "one of logistic, product"),
        ([], ValueError, "at least one"),
        (StandardScaler(), TypeError, "predict_proba; got StandardScaler"),
    ],
)
def test_what_is_no_classifier_is_refused(wanted, error, match):
    with pytest.raises(error, match=match):
        kinds_of(wanted)


def test_rows_that_are_all_alike_cannot_be_modelled():
    with pytest.raises(FoldsError):
        fit_label_model(np.ones((50, 2)), np.repeat([0.0, 1.0], 25), kinds=AUTO)


def test_thinned_samples_keep_all_labels_and_the_level():
    X, s, s_x = bump(6000)
    sample = distinct_rows(X, s, np.ones(6000)).thinned(1500)
    assert sample.s.sum() == 1500 < s.sum()
    assert len(sample) == 3000
    assert sample.n_labelled == pytest.approx(s.sum())
    assert sample.weight.sum() == pytest.approx(6000)
    model = fit_label_model(X, s, kinds=QUICK, most_rows=1500)
    assert model.predict(X).mean() == pytest.approx(s.mean(), abs=0.01)
    assert np.sqrt(np.mean((model.predict(X) - s_x) ** 2)) < 0.06


def test_simplex_weights_maximise_a_concave_likelihood():
    rng = np.random.default_rng(0)
    L, weight = rng.random((200, 3)), rng.random(200)
    mix = simplex_weights(L, weight)
    slope = (weight / weight.sum() / (L @ mix)) @ L
    assert slope.max() < 1 + 1e-5  # the condition of Kuhn and Tucker
    np.testing.assert_allclose(slope[mix > 1e-3], 1, atol=1e-3)
    repeated = simplex_weights(np.repeat(L, 2, axis=0), np.repeat(weight, 2))
    np.testing.assert_allclose(repeated, mix)


def test_predictions_are_recalibrated_only_if_held_out_labels_ask_for_it():
    X, s, _ = bump(2000)
    sample = distinct_rows(X, s, np.ones(2000))
    truth = 0.5 * expit(2 - 2 * sample.X[:, 0] ** 2)
    folds = sample.folds(5)
    assert calibrated(truth, sample, folds)[0](truth) is truth
    steep = expit(3 * np.log(truth / (1 - truth)) + 1)
    line, _ = calibrated(steep, sample, folds)
    assert line.slope == pytest.approx(1 / 3, abs=0.06)
    np.testing.assert_allclose(line(steep), truth, atol=0.05)


def test_smooth_terms_are_lines_beyond_their_knots():
    knots = np.array([-1.0, 0.0, 0.5, 2.0])
    x = np.linspace(2, 5, 7)
    for side in (x, -x):
        second = np.diff(natural(side, knots), 2, axis=0)
        np.testing.assert_allclose(second, 0, atol=1e-9)
    few = Smooths.learn(np.array([[0.0, 1.0], [1.0, 2.0], [0.0, 3.0]] * 4), np.ones(12))
    assert few.columns == ()
    assert few(np.zeros((4, 2))).shape == (4, 0)


def test_a_spline_that_is_hardly_allowed_to_bend_is_the_line():
    X, s, _ = bump(400)
    sample = distinct_rows(X, s, np.ones(400))
    straight = kinds_of("logistic")[0].fit(sample).predict(X)
    stiff = Splines(size=1e-4).fit(sample).predict(X)
    np.testing.assert_allclose(stiff, straight, atol=1e-4)
    assert abs(Splines().fit(sample).predict(X) - straight).max() > 0.2
