"""The bias battery: its mechanisms, what methods may be told, and methods beyond the paper's."""

import numpy as np
import pandas as pd
import pytest
from plans import SMALL_PLAN, shorter
from scipy import stats
from scipy.special import expit

from doublelogit.datasets import load_benchmark
from doublelogit.studies.datasets import make_half
from doublelogit.studies.experiments import Store, load_plan, run
from doublelogit.studies.experiments.cell import labelled_draw
from doublelogit.studies.experiments.summary import gain
from doublelogit.studies.experiments.tables import result_tables
from doublelogit.studies.labelling import (
    DirectedSar,
    GroupSar,
    InteractingSar,
    disjoint,
    interacting,
    opposed,
)

pytestmark = pytest.mark.usefixtures("one_signal")

HALF = make_half(6000, random_state=0)
X, Y = HALF.data, HALF.target


def test_the_class_of_half_depends_on_half_of_the_features():
    np.testing.assert_array_equal(HALF.coef, np.repeat([1.0, 0.0], 6))
    np.testing.assert_allclose(HALF.posterior, expit(X[:, :6].sum(axis=1) - 0.3))
    assert HALF.target.mean() == pytest.approx(HALF.posterior.mean(), abs=0.02)


def test_disjoint_labelling_leans_on_the_other_half_as_much_as_told():
    slopes = np.array(disjoint(X, Y))
    np.testing.assert_array_equal(slopes[:6], 0.0)
    assert np.std(X @ slopes) == pytest.approx(np.sqrt(6), rel=0.05)
    e_x = DirectedSar(tuple(slopes), 0.6).propensity(X)
    np.testing.assert_allclose(e_x, expit(0.6 * X @ slopes + 0.2))


def test_opposed_labelling_runs_against_the_class():
    slopes = np.array(opposed(X, Y))
    np.testing.assert_allclose(slopes[:6], -np.sqrt(0.5), atol=0.1)
    np.testing.assert_allclose(slopes[6:], np.sqrt(0.5), atol=0.1)


def test_classes_that_hardly_overlap_do_not_make_propensities_of_zero_and_one():
    table, y = load_benchmark("wdbc", return_X_y=True)
    table = (table - table.mean(axis=0)) / table.std(axis=0)
    assert np.std(table @ np.array(disjoint(table, y))) == pytest.approx(2.5)


def test_interacting_labelling_has_no_main_effect():
    a, b = interacting(X, Y)
    e_x = InteractingSar((a, b), 1.5).propensity(X)
    product = (X @ np.array(a)) * (X @ np.array(b))
    np.testing.assert_allclose(e_x, expit(1.5 * product + 0.2))
    for direction in (a, b):
        assert abs(np.corrcoef(X @ np.array(direction), e_x)[0, 1]) < 0.05


def test_a_group_is_seldom_labelled():
    slopes = tuple(np.eye(12)[3])
    e_x = GroupSar(slopes, low=0.1, high=0.7, share=0.25).propensity(X)
    assert (e_x == 0.1).mean() == pytest.approx(0.25, abs=0.001)
    assert X[e_x == 0.1, 3].min() > X[e_x == 0.7, 3].max()


@pytest.fixture(scope="module")
def plan():
    return load_plan("ecai2023")


@pytest.fixture(scope="module")
def rows(plan, tmp_path_factory):
    store = Store(tmp_path_factory.mktemp("bias"))
    run(shorter(plan), "bias", store, datasets=["heart-c"], repetitions=2)
    return store.frame()


def test_all_designs_and_methods_run(rows, plan):
    assert (rows["status"] == "ok").all()
    assert sorted(rows["scenario"].unique()) == [4, 5, 6, 7, 8, 9]
    assert set(rows["method"]) == {m.name for m in plan.methods_of("bias")}


def test_a_draw_knows_what_methods_may_be_told(plan):
    draws = {d.scenario.title: d for d in plan.draws("bias", ["heart-c"], 1)}
    known = {title: labelled_draw(d, plan.oracle("bias")) for title, d in draws.items()}
    assert len(known["disjoint"].columns) == 10  # of 19
    assert len(known["opposed"].columns) == 19
    assert known["tiny c"].columns == []
    assert known["tiny c"].frequency == pytest.approx(0.03)
    assert 0.3 < known["disjoint"].frequency < 0.8


def test_known_c_is_for_labelling_at_random(plan):
    named = {s: {m.name for m in plan.methods_of("as_published", s)} for s in (1, 2)}
    assert named[1] - named[2] == {"KNOWN_C"}


def test_methods_beyond_the_paper_stand_beside_its_tests_and_ranks(rows, plan):
    table = next(result_tables(rows, plan, "bias"))
    assert table.title == "Table 8: Accuracy, scenario 4 (disjoint), bias"
    numbers = table.numbers.set_index("method")
    beyond = ["AVERAGED", "AVERAGED_FEATURES", "AVERAGED_AUDIT"]
    assert not numbers["winner"].isin(beyond).any()
    assert numbers.loc[beyond, "average_rank"].isna().all()
    assert numbers.drop(beyond)["average_rank"].max() <= 7
    winner = numbers["winner"].iloc[0]
    wanted = numbers.loc["AVERAGED", "mean"] - numbers.loc[winner, "mean"]
    assert numbers.loc["AVERAGED", "gain"] == pytest.approx(wanted)
    assert "AVERAGED - best" in table.markdown


def test_a_gain_has_the_interval_of_its_repetitions():
    rng = np.random.default_rng(0)
    cells = pd.DataFrame(
        [
            {"value": v, "repetition": r, "method": m, "score": rng.normal()}
            for v in (0.1, 0.5)
            for r in range(10)
            for m in ("A", "B")
        ]
    )
    wide = cells.pivot(index=["value", "repetition"], columns="method", values="score")
    per_repetition = (wide["A"] - wide["B"]).groupby("repetition").mean()
    wanted = stats.ttest_1samp(per_repetition, 0).confidence_interval()
    found = gain(cells, "A", "B")
    np.testing.assert_allclose(found[1:], [wanted.low, wanted.high])
    assert found.mean == pytest.approx(per_repetition.mean())


def test_what_a_method_can_not_be_told_is_named(tmp_path):
    path = tmp_path / "plan.toml"
    plan = SMALL_PLAN.replace('given = "class"', 'given = "rumours"') + "[repetitions]\nquick = 1\n"
    path.write_text(plan)
    with pytest.raises(ValueError, match=r"given must be one of .*; got 'rumours'"):
        load_plan(path)
