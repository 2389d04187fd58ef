"""Comparisons over many data sets: what methods are judged by, and what is made of it."""

import numpy as np
import pandas as pd
import pytest

from doublelogit import JointClassifier, NaiveClassifier
from doublelogit.studies.experiments import Store, load_plan, run
from doublelogit.studies.experiments.cells import (
    AT_HALF,
    AT_SHARE,
    CELL,
    Cells,
    cells_of,
    with_cuts,
    with_intervals,
)
from doublelogit.studies.experiments.comparison import (
    TRIVIAL,
    by_family,
    comparison_tables,
    described,
    holm,
    intervals,
    over_families,
    pairwise,
)
from doublelogit.studies.experiments.comparison_figures import comparison_figures, joined
from doublelogit.studies.experiments.measures import MEASURES, Judged, measured
from doublelogit.studies.experiments.run import pending

pytestmark = pytest.mark.usefixtures("one_signal")

PLAN = """
name = "three tables"
kind = "comparison"
seed = 1
test_size = 0.25
measures = ["ranks", "decisions", "probabilities", "share", "list", "interval"]
[repetitions]
test = 2
[[collections]]
families = "plans:families"
load = "doublelogit.datasets:load_benchmark"
[[scenarios]]
id = 1
title = "SCAR"
mechanism = "doublelogit.labelling:Scar"
parameter = "c"
values = [0.3, 0.8]
[[scenarios]]
id = 2
title = "follows"
mechanism = "doublelogit.studies.labelling:FollowingSar"
parameter = "c"
values = [0.5]
slopes = "doublelogit.studies.labelling:class_coefficients"
[[methods]]
name = "ORACLE"
estimator = "doublelogit:NaiveClassifier"
given = "class"
[[methods]]
name = "NAIVE"
estimator = "doublelogit:NaiveClassifier"
[[methods]]
name = "JOINT"
estimator = "doublelogit:JointClassifier"
options = { n_starts = 1, propensity_features = [] }
interval = "delta"
[[methods]]
name = "AVERAGED"
estimator = "doublelogit:AveragedClassifier"
interval = "posterior"
"""


@pytest.fixture(scope="module")
def plan(tmp_path_factory):
    path = tmp_path_factory.mktemp("plan") / "plan.toml"
    path.write_text(PLAN)
    return load_plan(path)


@pytest.fixture(scope="module")
def rows(plan, tmp_path_factory):
    store = Store(tmp_path_factory.mktemp("store"))
    run(plan, "test", store)
    return store.frame()


@pytest.fixture(scope="module")
def cells(rows):
    return cells_of(rows)


@pytest.fixture(scope="module")
def done(cells, plan):
    return described(cells, plan, "test")


def judged(truth, s, y_x, model=None, interval=None):
    X = np.zeros((len(truth), 1))
    truth, s, y_x = map(np.asarray, (truth, s, y_x))
    return Judged(model, y_x, truth, X, s, truth, y_x, interval)


def test_a_collection_is_as_many_data_sets(plan):
    assert [(d.name, d.family) for d in plan.datasets] == [
        ("heart-c", "heart"),
        ("vote", "vote"),
        ("wdbc", "cells"),
        ("BreastCancer", "cells"),
    ]
    assert plan.datasets[0].options == {"name": "heart-c"}


def test_nothing_fails_and_every_measure_has_its_columns(rows):
    assert set(rows["status"]) == {"ok"}
    assert len(rows) == 4 * 3 * 2 * 4
    columns = ["auc", "balanced_accuracy", "f1", "brier", "log_loss", "share"]
    assert rows[columns].notna().all(axis=None)
    assert rows["low"].notna().groupby(rows["method"]).all().to_dict() == {
        "AVERAGED": True,
        "JOINT": True,
        "NAIVE": False,
        "ORACLE": False,
    }


def test_rare_positives_are_decided_by_the_cut_at_the_share():
    found = measured(("decisions",), judged([0, 1, 1, 0], [0, 1, 0, 0], [0.2, 0.45, 0.3, 0.1]))
    assert found["balanced_accuracy"] == 0.5  # nothing is above one half
    assert found["balanced_accuracy_at_share"] == 1.0  # the share is .2625


def test_measures_of_four_rows_by_hand():
    found = measured(tuple(MEASURES), judged([0, 1, 1, 0], [0, 1, 0, 0], [0.2, 0.9, 0.6, 0.7]))
    assert found["balanced_accuracy"] == 0.75  # both positives, one of two negatives
    assert found["f1"] == pytest.approx(0.8)
    assert found["auc"] == 0.75
    assert found["brier"] == pytest.approx((0.04 + 0.01 + 0.16 + 0.49) / 4)
    assert found["share"] == 0.5
    assert found["prevalence_error"] == pytest.approx(0.1)
    assert found["precision_at_50"] == pytest.approx(1 / 3)  # one of three unlabelled rows
    assert found["unlabelled_accuracy"] == pytest.approx(2 / 3)
    assert found["unlabelled_auc"] == 0.5
    assert "low" not in found


def test_a_list_of_naive_is_ordered_by_its_class():
    X = np.arange(40.0)[:, None]
    truth, s = (np.arange(40) > 19).astype(float), (np.arange(40) > 29).astype(float)
    model = NaiveClassifier().fit(X, s)
    assert np.ptp(model.predict_hidden(X)) == 0
    here = Judged(model, None, None, X, s, truth, model.predict_positive(X), None)
    assert MEASURES["list"](here)["unlabelled_auc"] == 1.0


def test_an_interval_is_that_of_the_training_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 2))
    y = (rng.random(500) < 1 / (1 + np.exp(-3 * X[:, 0]))).astype(float)
    s = y * (rng.random(500) < 0.6)
    model = JointClassifier(propensity_features=[], n_starts=1).fit(X, s)
    ends = [
        MEASURES["interval"](Judged(model, None, None, X, s, y, None, how))
        for how in ("delta", "profile")
    ]
    assert all(0 < end["low"] < end["high"] <= 1 for end in ends)
    assert ends[0] != ends[1]


def test_siblings_count_as_one_family(done):
    means = over_families(done[done["mechanism"] == "follows"], "accuracy", ["mechanism"])
    here = done[(done["mechanism"] == "follows") & (done["method"] == "NAIVE")]
    by_set = here.groupby("dataset")["accuracy"].mean()
    cells = by_set[["wdbc", "BreastCancer"]].mean()
    expected = np.mean([by_set["heart-c"], by_set["vote"], cells])
    assert means.loc["follows", "NAIVE"] == pytest.approx(expected)
    assert list(by_family(done, "accuracy").index) == ["cells", "heart", "vote"]


def test_mechanisms_have_names_and_signals_thirds(done):
    assert set(done["mechanism"]) == {"SCAR c=0.3", "SCAR c=0.8", "follows"}
    order = done.groupby("strength")["signal"].mean()
    assert order["weak"] < order["middle"] < order["strong"]


def test_holm_is_that_of_the_textbook():
    np.testing.assert_allclose(holm(np.array([0.01, 0.04, 0.03, 0.005])), [0.03, 0.06, 0.06, 0.02])


def scores(values):
    """Rows of one mechanism: families by methods."""
    lines = [
        {"family": f"f{i}", "dataset": f"f{i}", "mechanism": "m", "method": name, "brier": value}
        for name, column in values.items()
        for i, value in enumerate(column)
    ]
    return pd.DataFrame(lines)


def test_methods_that_cannot_be_told_apart_are_tied():
    rng = np.random.default_rng(0)
    base = rng.random(30)
    noise = rng.normal(scale=0.01, size=30)
    values = {"A": base, "B": base + noise, "C": base + 1, "D": base + 1 + noise}
    found = pairwise(scores(values), "brier")
    assert set(found.ranks.index[:2]) == {"A", "B"}
    assert {frozenset(pair) for pair in found.ties} == {frozenset("AB"), frozenset("CD")}
    assert len(joined(found)) == 2
    assert found.p_friedman < 1e-6
    assert found.families == 30


def test_a_method_without_a_family_does_not_hide_it_from_the_others():
    frame = scores({"A": np.arange(9.0), "B": np.arange(9.0) + 1})
    frame["other"] = np.where(frame["method"] == "A", frame["brier"], np.nan)
    assert list(by_family(frame, "other").columns) == ["A"]


def test_cells_are_means_over_repetitions(rows, cells):
    assert len(cells) == len(rows) / 2
    assert set(cells["repetitions"]) == {2}
    errors = rows.groupby(CELL)["approximation_error"]
    ours = cells.set_index(CELL)
    np.testing.assert_allclose(ours["approximation_error"], errors.mean(), atol=5.1e-6)
    np.testing.assert_allclose(ours["approximation_error_sd"], errors.std(), atol=5.1e-4)
    seconds = rows.groupby(CELL)["seconds"]
    np.testing.assert_allclose(ours["seconds"], seconds.mean(), rtol=5.1e-3)


def test_stored_cells_of_more_repetitions_stay(rows, plan, tmp_path):
    store = Cells(tmp_path)
    both = store.add(rows, plan, "test")
    pd.testing.assert_frame_equal(store.add(rows[rows["repetition"] == 0], plan, "test"), both)
    one = Cells(tmp_path / "one")
    single = one.add(rows[rows["repetition"] == 0], plan, "test")
    assert set(single["repetitions"]) == {1}
    pd.testing.assert_frame_equal(one.add(rows, plan, "test"), both)


def test_cells_of_an_earlier_plan_are_replaced(rows, plan, tmp_path):
    store = Cells(tmp_path)
    earlier = rows.assign(parameters=rows["parameters"].str.replace("n_starts", "starts"))
    assert set(store.add(earlier, plan, "test")["method"]) == {"ORACLE", "NAIVE", "AVERAGED"}
    now = store.add(rows[rows["repetition"] == 0], plan, "test")
    assert now.groupby("method")["repetitions"].max().to_dict() == {
        "AVERAGED": 2,
        "JOINT": 1,
        "NAIVE": 2,
        "ORACLE": 2,
    }


def test_a_comparison_resumes_from_its_cells(rows, plan, tmp_path):
    counts = Cells(tmp_path / "cells")
    counts.add(rows[rows["dataset"] != "vote"], plan, "test")
    left = pending(plan, "test", Store(tmp_path), summarised=counts.repetitions(plan, "test"))
    assert {task.draw.dataset.name for task in left} == {"vote"}
    assert len(left) == 3 * 2
    more = {"repetitions": 3, "summarised": counts.repetitions(plan, "test")}
    assert len(pending(plan, "test", Store(tmp_path), **more)) == 4 * 3 * 3


def test_cuts_are_compared_on_draws_that_have_both(rows):
    partly = rows.copy()
    partly.loc[(rows["method"] == "JOINT") & (rows["repetition"] == 1), AT_SHARE] = np.nan
    found = with_cuts(partly)
    assert found.loc[found["repetition"] == 1, [AT_SHARE, AT_HALF]].isna().all(axis=None)
    first = found[found["repetition"] == 0]
    assert (first[AT_HALF] == first["balanced_accuracy"]).all()


def test_intervals_are_scored(rows):
    found = with_intervals(rows)
    assert found["covered"].notna().equals(rows["low"].notna())
    missed = found[found["covered"] == 0]
    gap = np.maximum(missed["low"] - missed["share"], missed["share"] - missed["high"])
    np.testing.assert_allclose(missed["winkler"], missed["width"] + 20 * gap)


def test_beside_intervals_stands_the_one_that_needs_no_model(done):
    found = intervals(done)
    trivial = found[found["method"] == TRIVIAL]
    assert (trivial["covered"] == 1).all()
    np.testing.assert_allclose(trivial["width"], 1 - trivial["labelled"])
    np.testing.assert_allclose(trivial["winkler"], trivial["width"])
    assert len(trivial) == 4 * 3


def test_tables_and_figures_are_written(cells, plan, tmp_path):
    tables = {table.name: table for table in comparison_tables(cells, plan, "test")}
    assert set(tables) == {
        "overall_test",
        "by_mechanism_test",
        "by_strength_test",
        "intervals_test",
    }
    assert (
        "3 families, 4 tables, 3 mechanisms, 2 repetitions, 96 cells"
        in tables["overall_test"].markdown
    )
    for table in tables.values():
        table.write(tmp_path)
    names = []
    for figure in comparison_figures(cells, plan, "test"):
        figure.write(tmp_path)
        names.append(figure.name)
    assert "ranks_approximation_error_test" in names
    assert "cover_against_signal_test" in names
    assert len(list(tmp_path.iterdir())) == 2 * len(tables) + len(names)


def test_failures_are_listed_with_their_reasons(rows, plan):
    broken = rows.copy()
    broken.loc[[0, 1], ["status", "reason"]] = ["failed", "ValueError: no"]
    tables = {table.name: table for table in comparison_tables(cells_of(broken), plan, "test")}
    failures = tables["failures_test"].numbers
    assert set(failures["reason"]) == {"ValueError: no"}
    assert failures["cells"].sum() == 2


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"ranks", ', '"ranks", "charm", ', "measures must be among ranks, .*; got charm"),
        ('kind = "comparison"', 'kind = "essay"', "kind must be among paper, comparison"),
        ('interval = "delta"', 'interval = "guess"', "interval must be one of"),
    ],
)
def test_mistakes_in_a_comparison_are_named(old, new, message, tmp_path):
    path = tmp_path / "plan.toml"
    path.write_text(PLAN.replace(old, new))
    with pytest.raises(ValueError, match=message):
        load_plan(path)


def test_a_design_that_some_methods_have_not_been_run_on_is_not_compared(rows, plan):
    joint = (rows["method"] == "JOINT") & (rows["dataset"] == "vote")
    for lacking in (joint, joint & (rows["repetition"] == 1)):
        found = described(cells_of(rows[~lacking]), plan, "test")
        assert set(found["dataset"]) == {"heart-c", "wdbc", "BreastCancer"}
