"""Trees that bend the class of AVERAGED: what they move, what they leave, every door to them."""

import warnings

import numpy as np
import pytest
from scipy.special import expit
from sklearn.ensemble import HistGradientBoostingRegressor
from test_curves import bent_table, fitted
from test_learners import crossed, noise

from doublelogit import AveragedBoostedClassifier, AveragedClassifier, infer, load
from doublelogit.bends.boosting import BOUND, Growth, Trees
from doublelogit.bends.trees import Bins
from doublelogit.fitted import BentPosteriorSide
from doublelogit.registry import METHODS
from doublelogit.table_models.learners import Learners

QUICK = {"max_rounds": 8, "n_folds": 2}


def quiet(model, X, s, **rows):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X, s, **rows)


@pytest.fixture(scope="module")
def trees():
    X, y, s = crossed(2000)
    X[:, 2] += 9  # far from zero, so that rows are centred within
    model = AveragedBoostedClassifier(propensity_features=[2], max_rounds=30)
    return quiet(model, X, s), X, y, s


def test_trees_find_a_class_that_no_sum_of_curves_shows(trees):
    model, X, y, s = trees
    lines = quiet(AveragedClassifier(propensity_features=[2]), X, s)
    hidden = [m.predict_hidden(X[s == 0]) for m in (model, lines)]
    found = [y[s == 0][np.argsort(-p)[:100]].mean() for p in hidden]
    assert found[0] > found[1] + 0.25
    errors = [abs(m.prevalence_ - y.mean()) for m in (model, lines)]
    assert errors[0] < errors[1]


def test_the_posterior_has_one_more_feature_and_labelling_is_a_line(trees):
    model, X, *_ = trees
    (side,) = model.model_.outcome_model.sides
    assert isinstance(side, BentPosteriorSide)
    assert side.coef.shape[1] == X.shape[1] + 2
    assert side.lines.covariance.shape[1:] == (X.shape[1] + 1,) * 2
    assert model.propensity_coef_[0, 2] > 0.5
    assert not hasattr(model, "coef_")
    assert model.coef_interval().shape == (2, X.shape[1] + 1, 2)


def test_intervals_are_those_of_the_posterior(trees):
    model, X, _, s = trees
    assert model.prevalence_ == pytest.approx(model.predict_positive(X).mean())
    low, high = model.prevalence_interval(0.95)
    assert low < model.prevalence_ < high
    inference = infer(model, X, s)
    found = inference.prevalence()
    assert found.value == pytest.approx(model.prevalence_, abs=1e-6)
    assert (found.low, found.high) == pytest.approx((low, high), abs=0.02)
    assert "coefficients are of the lines" in str(inference.summary())
    ends = model.predict_interval(X[:20])
    assert (ends[:, 0] < model.predict_positive(X[:20])).all()
    assert (ends[:, 1] > model.predict_positive(X[:20])).all()


def test_where_no_tree_helps_the_answer_is_that_of_averaged():
    X, _, s = noise(seed=1)
    model = quiet(AveragedBoostedClassifier(tree_features=[3]), X, s)
    assert model.trace_.argmin() == 0
    lines = quiet(AveragedClassifier(), X, s)
    np.testing.assert_allclose(model.predict_hidden(X), lines.predict_hidden(X), atol=1e-9)
    none = quiet(AveragedBoostedClassifier(tree_features=[], **QUICK), X, s)
    np.testing.assert_allclose(none.predict_hidden(X), lines.predict_hidden(X), atol=1e-9)


def test_held_out_labels_are_no_likelier_than_by_the_truth():
    X, _, s = noise(900)
    model = quiet(AveragedBoostedClassifier(max_rounds=10, patience=0), X, s)
    truth = 0.5 * expit(0.7 * X[:, 0])
    assert model.held_out.mean() < np.where(s, np.log(truth), np.log1p(-truth)).mean()


def test_curves_are_taken_if_held_out_labels_ask_for_them():
    rng = np.random.default_rng(2)
    x, z = rng.normal(size=(2, 1200))
    y = rng.random(1200) < expit(2 * (1 - x**2))
    s = y & (rng.random(1200) < expit(z))
    X = np.column_stack([x, z, x**2])
    settings = {"propensity_features": [1], "tree_features": [], "smooth_features": [2], **QUICK}
    model = quiet(AveragedBoostedClassifier(**settings), X, s)
    straight = model.held_out_straight
    assert straight["curves"].mean() > straight["lines"].mean() + 0.01
    np.testing.assert_array_equal(model.held_out, straight["curves"])
    assert model.coef_[0, 2] < -0.5


def test_what_is_known_of_the_prevalence_stays_known():
    X, _, s = crossed(900)
    settings = {"propensity_features": [2], "patience": 0, **QUICK}
    model = quiet(AveragedBoostedClassifier(prevalence=(0.5, 0.01), **settings), X, s)
    assert abs(model.prevalence_ - 0.5) < 0.05


def test_audits_and_weights_reach_trees():
    X, y, s = crossed(900)
    settings = {"propensity_features": [2], "patience": 0, **QUICK}
    audited = np.where(np.arange(900) % 3 == 0, y, np.nan)
    audited[s] = 1
    told = quiet(AveragedBoostedClassifier(**settings), X, s, audited_y=audited)
    assert abs(told.predict_positive(X).mean() - y.mean()) < 0.08
    weight = np.r_[np.ones(600), np.zeros(300)]
    other = s.copy()
    other[600:] = ~s[600:]
    settings["n_folds"] = 1
    one, two = (
        quiet(AveragedBoostedClassifier(**settings), X, z, sample_weight=weight) for z in (s, other)
    )
    np.testing.assert_allclose(one.predict_positive(X), two.predict_positive(X), atol=1e-6)


def test_it_is_kept_in_the_open_format(trees, tmp_path):
    model, X, *_ = trees
    model.save(tmp_path / "model.dlm")
    again = load(tmp_path / "model.dlm")
    np.testing.assert_array_equal(again.predict_hidden(X), model.predict_hidden(X))
    assert again.prevalence_interval() == model.prevalence_interval()


def test_trees_of_the_default_are_those_of_averaged_unless_labelling_is_bent_too():
    default = METHODS["averaged"]
    assert Learners("boosting").method(default).class_name == "AveragedBoostedClassifier"
    assert Learners("boosting").asked(default).name == "averaged"
    assert Learners("boosting", "boosting").asked(default).name == "joint"


def test_a_table_by_the_default_method_has_trees_intervals_and_a_page():
    frame = bent_table(800)
    model = fitted(frame, "boosting", "averaged")
    assert type(model.classifier_) is AveragedBoostedClassifier
    found = model.infer(frame.drop(columns="y")).prevalence()
    assert found.low < found.value < found.high
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        page = model.report(frame.drop(columns="y"), n_resamples=19).to_dict()
    assert page["prevalence"]["main"]["how"] == "posterior"


def test_auto_of_the_default_compares_by_the_default():
    model = fitted(bent_table(800, seed=1), "auto", "averaged").fitted_
    assert model.learners.outcome != "linear"
    assert model.method == "averaged"
    gains = {gain.learner: gain.gain for gain in model.choice.gains}
    assert gains["spline"] > 0.005
    assert gains["boosting"] >= gains["spline"]


def test_bins_are_cut_once_and_trees_are_those_of_boosters_that_cut_for_themselves():
    rng = np.random.default_rng(0)
    X = np.asfortranarray(rng.integers(0, 40, size=(300, 4)).astype(float))
    target, weight, train = rng.random(300), rng.uniform(0.5, 2.0, size=300), np.arange(200)
    bins = Bins.learn(X, np.arange(4), np.array([False, False, False, True]))

    def grown(forget):
        trees = Trees(bins.cut(X), bins, np.zeros(5), np.zeros(300), train, Growth(), 0)
        for _ in range(4):
            trees.grow(target, weight)
            if forget:  # the next one has nobody to take bins from
                trees.boosters = []
        return trees

    once, anew = grown(forget=False), grown(forget=True)
    assert len({id(booster._rows_cut) for booster in once.boosters}) == 1
    alone = HistGradientBoostingRegressor(**once.boosters[0].get_params())
    first = (target[train] - 0.5) / BOUND
    alone.fit(once.X[train], first, sample_weight=BOUND * weight[train])
    np.testing.assert_array_equal(once.boosters[0].predict(once.X), alone.predict(once.X))
    np.testing.assert_array_equal(once.bend, anew.bend)
