"""Trees that bend the class: guards, arrays, choice, and every door to them."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit
from sklearn.ensemble import HistGradientBoostingRegressor
from test_curves import ROLES, bent_table, fitted
from typer.testing import CliRunner

from doublelogit import BoostedClassifier, JointClassifier, Roles, TableClassifier, load
from doublelogit.bends.trees import NUMBER_BINS, Bins, forest, joined
from doublelogit.cli import app
from doublelogit.core.held_out import compared, simplest
from doublelogit.exceptions import TableError
from doublelogit.fitted import BentSide
from doublelogit.registry import METHODS
from doublelogit.report import comparison
from doublelogit.table_models.learners import Learners
from doublelogit.tables import Table


def crossed(n=3000, seed=0):
    """A class that depends on the product of two columns, which no sum of curves shows."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = rng.random(n) < expit(3 * X[:, 0] * X[:, 1])
    return X, y, y & (rng.random(n) < expit(0.5 + X[:, 2]))


def noise(n=600, seed=0):
    """A class that depends on its columns by a line, and hardly."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    y = rng.random(n) < expit(0.7 * X[:, 0])
    return X, y, y & (rng.random(n) < 0.5)


@pytest.fixture(scope="module")
def trees():
    X, y, s = crossed()
    model = BoostedClassifier(propensity_features=[2], max_rounds=12, start="constant")
    return model.fit(X, s), X, y, s


def test_trees_as_arrays_say_of_numbers_what_the_booster_says_of_bins():
    rng = np.random.default_rng(0)
    levels = rng.integers(0, 9, size=(900, 2))
    X = np.column_stack([rng.normal(size=(900, 2)), levels])
    target = X[:, 0] + np.sin(7 * X[:, 2]) + X[:, 1] * (X[:, 3] % 2)
    bins = Bins.learn(X, np.array([1, 2, 3]), np.array([False, True, True]))
    cut = bins.cut(X)
    assert len(np.unique(cut[:, 0])) == NUMBER_BINS
    seen = X[:, 2] != 5  # a level that the booster has never met
    booster = HistGradientBoostingRegressor(max_iter=8, categorical_features=bins.categorical)
    booster.fit(cut[seen], target[seen], sample_weight=rng.random(seen.sum()))
    found = forest(booster, bins)
    np.testing.assert_array_equal(found.predict(X), booster.predict(cut))
    assert found.used.tolist() == [1, 2, 3]
    np.testing.assert_allclose(joined([found, found]).predict(X), 2 * found.predict(X))


def test_trees_find_a_class_that_no_sum_of_curves_shows(trees):
    model, X, y, s = trees
    lines = JointClassifier(propensity_features=[2]).fit(X, s)
    hidden = [m.predict_hidden(X[s == 0]) for m in (model, lines)]
    found = [y[s == 0][np.argsort(-p)[:100]].mean() for p in hidden]
    assert found[0] > found[1] + 0.25


def test_trees_are_added_to_the_line_and_labelling_stays_one(trees):
    model, *_ = trees
    assert isinstance(model.model_.outcome_model, BentSide)
    assert model.propensity_coef_[0, 2] > 0.5
    assert not hasattr(model, "coef_")


def test_rows_are_judged_by_models_that_have_not_seen_them(trees):
    model, X, _, s = trees
    s_x = model.predict_label_proba(X)
    seen = np.where(s, np.log(s_x), np.log1p(-s_x)).mean()
    assert model.held_out.mean() < seen - 0.001
    assert model.held_out.mean() > -model.trace_[0] + 0.02
    assert -model.trace_.min() == pytest.approx(model.held_out.mean())


def test_where_no_tree_helps_the_answer_is_that_of_joint():
    X, _, s = noise(seed=8)
    model = BoostedClassifier(tree_features=[3], start="line").fit(X, s)
    assert model.trace_.argmin() == 0
    assert not isinstance(model.model_.outcome_model, BentSide)
    lines = JointClassifier().fit(X, s)  # its starts are shaken otherwise
    np.testing.assert_allclose(model.predict_positive(X), lines.predict_positive(X), atol=0.02)


def test_held_out_labels_are_no_likelier_than_by_the_truth():
    X, _, s = noise(900)
    model = BoostedClassifier(max_rounds=12, patience=0, start="constant").fit(X, s)
    truth = 0.5 * expit(0.7 * X[:, 0])
    assert model.held_out.mean() < np.where(s, np.log(truth), np.log1p(-truth)).mean()


def test_without_folds_trees_memorise_labels():
    X, _, s = noise()
    guarded = BoostedClassifier().fit(X, s)
    careless = BoostedClassifier(
        n_folds=1, cross_fit=False, patience=0, max_rounds=12, min_samples_leaf=5
    ).fit(X, s)
    gaps = [abs(m.predict_label_proba(X) - s).mean() for m in (guarded, careless)]
    assert gaps[1] < gaps[0] - 0.01


def test_rows_without_weight_do_not_count_in_trees():
    X, _, s = crossed(900)
    weight = np.r_[np.ones(600), np.zeros(300)]
    settings = {"n_folds": 1, "cross_fit": False, "max_rounds": 2, "start": "constant"}
    other = s.copy()
    other[600:] = ~s[600:]
    one, two = (BoostedClassifier(**settings).fit(X, z, sample_weight=weight) for z in (s, other))
    np.testing.assert_allclose(one.predict_positive(X), two.predict_positive(X), atol=1e-9)


def test_audited_rows_reach_trees():
    X, y, s = crossed(900)
    audited = np.where(np.arange(900) % 3 == 0, y, np.nan)
    audited[s] = 1
    settings = {"max_rounds": 8, "start": "constant"}
    plain, told = (BoostedClassifier(**settings).fit(X, s, audited_y=a) for a in (None, audited))
    errors = [abs(m.predict_positive(X).mean() - y.mean()) for m in (plain, told)]
    assert errors[1] < 0.06
    assert errors[1] <= errors[0]


def test_labelling_may_be_bent_too():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(2000, 2))
    y = rng.random(2000) < expit(2 * X[:, 0] + 1)
    s = y & (rng.random(2000) < np.where(np.abs(X[:, 1]) < 0.7, 0.9, 0.2))
    features = {"outcome_features": [0], "propensity_features": [1]}
    model = BoostedClassifier(trees_of="propensity", max_rounds=10, **features)
    e_x = model.fit(X, s).predict_propensity(np.array([[0.0, 0.0], [0.0, 2.0]]))
    assert e_x[0] > e_x[1] + 0.4
    assert model.coef_[0, 0] > 1


def test_a_boosted_model_is_kept_in_the_open_format(trees, tmp_path):
    model, X, *_ = trees
    model.save(tmp_path / "model.dlm")
    import zipfile

    with zipfile.ZipFile(tmp_path / "model.dlm") as file:
        assert not [name for name in file.namelist() if name.endswith(".skops")]
    again = load(tmp_path / "model.dlm")
    np.testing.assert_array_equal(again.predict_hidden(X), model.predict_hidden(X))


def test_sparse_features_and_too_few_labels_get_a_sentence():
    from scipy.sparse import csr_matrix

    X, _, s = noise(60)
    with pytest.raises(TypeError, match="BoostedClassifier needs dense features"):
        BoostedClassifier().fit(csr_matrix(X), s)
    few = np.zeros(60)
    few[:2] = 1
    with pytest.raises(ValueError, match="each of n_folds=3 parts needs two labelled"):
        BoostedClassifier().fit(X, few)


def test_levels_of_categories_are_split_into_sets():
    rng = np.random.default_rng(5)
    n, levels = 1000, list("abcdefgh")
    city = rng.choice(levels, n)
    y = rng.random(n) < np.where(np.isin(city, list("bdfh")), 0.85, 0.1)
    frame = pd.DataFrame({"city": city, "z": rng.normal(size=n), "y": y})
    frame["s"] = (y & (rng.random(n) < expit(frame["z"]))).astype(int)
    model = fitted(frame, "boosting")
    assert model.encoding_.codes == ("city (level)",)
    beta = model.classifier_.model_.outcome_model
    used = {model.encoding_.names[j] for t in getattr(beta, "additions", ()) for j in t.used}
    assert not [name for name in used if name.startswith("city: ")]
    assert "curve" not in " ".join(used)


def test_a_boosted_row_has_reasons():
    frame = bent_table(600)
    ranked = fitted(frame, "boosting").rank(frame.drop(columns="y"), top=5)
    assert ranked["reasons"].str.contains(" = ").all()


def test_auto_takes_lines_for_a_straight_class_and_more_for_a_bent_one():
    for straight in (True, False):
        model = fitted(bent_table(1200, seed=1, straight=straight), "auto")
        finding = model.findings_[-1]
        assert finding.topic == "learner"
        assert ("modelled by straight lines" in finding.text) == straight
        assert (model.fitted_.learners.outcome == "linear") == straight


def test_what_auto_chose_is_kept_in_the_file(tmp_path):
    model = fitted(bent_table(500), "auto", "averaged")
    model.save(tmp_path / "model.dlm")
    again = load(tmp_path / "model.dlm").fitted_
    assert again.choice == model.fitted_.choice
    assert again.learners == model.fitted_.learners


def test_auto_with_few_labels_says_that_they_do_not_tell():
    frame = bent_table(60)
    frame.loc[frame.index[20:], "s"] = 0
    model = fitted(frame, "auto")
    assert "fewer than 30 labels do not tell" in model.findings_[-1].text


def test_the_simplest_within_a_standard_error_of_the_best_is_chosen():
    rng = np.random.default_rng(6)
    base, weight = rng.normal(size=400), np.ones(400)
    near = base + rng.normal(0.001, 0.1, 400)
    far = base + rng.normal(0.1, 0.1, 400)
    assert simplest({"a": base, "b": near}, weight) == "a"
    assert simplest({"a": base, "b": near, "c": far}, weight) == "c"
    spread = rng.normal(0.0, 4.0, 400)
    worse = base - 0.01 + spread - spread.mean()  # within a standard error of anything
    assert simplest({"a": base, "b": worse, "c": far}, weight) == "c"
    mean, error = compared(far, base, weight)
    assert mean == pytest.approx((far - base).mean())
    assert error == pytest.approx((far - base).std() / 20)


def test_trees_need_a_likelihood():
    with pytest.raises(TableError, match="`method` must be one of averaged, joint, em; got 'tm'"):
        Learners("boosting").method(METHODS["tm"])


def test_auto_of_a_scan_gets_a_sentence(tmp_path):
    from doublelogit import scan_parquet

    frame = bent_table(100).drop(columns="y")
    frame.to_parquet(tmp_path / "rows.parquet")
    with pytest.raises(TableError, match="auto needs rows in memory"):
        TableClassifier(ROLES, learner="auto").fit(scan_parquet(tmp_path / "rows.parquet", ROLES))


def test_the_page_draws_class_and_labelling_beside_straight_lines():
    frame = bent_table(800)
    model = fitted(frame, "spline", parameters={"n_starts": 1})
    page = model.report(frame.drop(columns="y"), n_resamples=19)
    shapes = page.to_dict()["learner"]["shapes"]
    assert shapes["outcome"][0]["column"] == "x"
    along = shapes["outcome"][0]["share"]
    assert along[12] > max(along[0], along[-1]) + 0.3  # which no line shows
    assert [shape["column"] for shape in shapes["labelling"]] == ["z"]
    assert np.ptp(shapes["labelling"][0]["share"]) > 0.3
    assert "How labelling changes along the columns" in page._repr_html_()


def test_compare_shows_learners_beside_methods(monkeypatch):
    monkeypatch.setattr(comparison, "COMPARED", comparison.COMPARED[:1])
    monkeypatch.setattr(comparison, "CANDIDATES", ("linear", "spline"))
    table = Table.from_frame(bent_table(800).drop(columns="y"), ROLES)

    def compared(**asked):
        steps = []
        found = comparison.compare_methods(
            table,
            n_resamples=19,
            learners=Learners(**asked),
            progress=lambda _, share: steps.append(share),
        )
        assert steps[-1] == 1
        return found

    every = compared(outcome="auto")
    assert [line.method for line in every.lines] == ["averaged", "joint, spline"]
    assert every.recommended == "joint, spline"
    assert every.lines[1].difference > 0.01
    labelling = compared(propensity="spline").lines
    assert [line.method for line in labelling] == ["averaged", "joint, linear, labelling spline"]


def test_a_saved_learner_predicts_from_the_command_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = bent_table(400).drop(columns="y")
    frame.to_csv("rows.csv", index=False)
    asked = ["--label", "s", "--propensity-features", "z", "--learner", "spline"]
    for line in (
        ["fit", "rows.csv", *asked],
        ["predict", "rows.dlm", "rows.csv", "--out", "p.csv"],
    ):
        result = CliRunner().invoke(app, line)
        assert result.exit_code == 0, result.output
    expected = load("rows.dlm").predict(frame)["hidden"]
    np.testing.assert_allclose(pd.read_csv("p.csv")["hidden"], expected, rtol=1e-9)


def test_groups_have_a_prevalence_of_their_own_with_trees():
    frame = bent_table(500)
    frame["side"] = np.where(frame["noise"] > 0, "right", "left")
    roles = Roles(label="s", by="side", propensity_features=["z"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = fitted(frame, "boosting", roles=roles)
        page = model.report(frame.drop(columns="y"), n_resamples=19).to_dict()
    assert {line["group"] for line in page["prevalence"]["groups"]} == {"left", "right"}
