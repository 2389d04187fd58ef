"""From result rows to tables and figures, and the command that does it all."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from plans import SMALL_PLAN, shorter
from scipy import stats
from typer.testing import CliRunner

from doublelogit.cli import app
from doublelogit.studies.experiments import Store, load_plan, run
from doublelogit.studies.experiments.figures import COLOURS, colour, figures
from doublelogit.studies.experiments.run import current, pending
from doublelogit.studies.experiments.summary import (
    average_ranks,
    long,
    summarise,
    time_shares,
    winner_against_second,
)
from doublelogit.studies.experiments.tables import Printed, data_table, result_tables

PLAN = (
    SMALL_PLAN
    + """
[repetitions]
first = 3
[quick]
repetitions = 1
every = 2
[[methods]]
name = "MINE"
estimator = "doublelogit:TwoModelsSimpleClassifier"
"""
)


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "plan.toml"
    path.write_text(PLAN)
    return path


@pytest.fixture(scope="module")
def first_rows(tmp_path_factory):
    """The rows of the plan, run once."""
    folder = tmp_path_factory.mktemp("first")
    (folder / "plan.toml").write_text(PLAN)
    store = Store(folder / "rows")
    run(load_plan(folder / "plan.toml"), "first", store)
    return store.frame()


@pytest.fixture
def rows(first_rows):
    return first_rows.copy()


def scored(**scores):
    """Rows of one data set with these accuracies."""
    lines = [
        {
            "mode": "m",
            "scenario": 1,
            "dataset": "d",
            "method": method,
            "value": 0.5,
            "repetition": i,
            "accuracy": accuracy,
            "approximation_error": 1 - accuracy,
            "status": "ok",
            "seconds": 1.0,
        }
        for method, accuracies in scores.items()
        for i, accuracy in enumerate(accuracies)
    ]
    return pd.DataFrame(lines)


def test_means_and_their_deviations():
    rows = scored(A=[0.5, 0.7, 0.9], B=[0.6, 0.6, 0.6])
    rows.loc[5, "status"] = "failed"
    table = summarise(rows).set_index(["metric", "method"])
    assert table.loc[("accuracy", "A"), "mean"] == pytest.approx(0.7)
    assert table.loc[("accuracy", "A"), "sd_of_mean"] == pytest.approx(0.2 / np.sqrt(3))
    assert table.loc[("approximation_error", "A"), "mean"] == pytest.approx(0.3)
    assert table.loc[("accuracy", "B"), "cells"] == 2
    assert table.loc[("accuracy", "B"), "failed"] == 1


def test_the_winner_is_tested_against_the_second_and_the_oracle_left_out():
    rng = np.random.default_rng(0)
    a, b = rng.normal(0.8, 0.02, 20), rng.normal(0.79, 0.02, 20)
    cells = long(scored(ORACLE=a + 0.1, A=a, B=b, C=b - 0.3))
    test = winner_against_second(cells[cells["metric"] == "accuracy"], "ORACLE")
    assert (test.winner, test.second) == ("A", "B")
    assert test.p_value == pytest.approx(stats.ttest_ind(a, b, equal_var=False).pvalue)
    assert test.p_value_paired == pytest.approx(stats.ttest_rel(a, b).pvalue)
    error = winner_against_second(cells[cells["metric"] == "approximation_error"], "ORACLE")
    assert (error.winner, error.second) == ("A", "B")


def test_our_ranks_of_the_printed_means_are_the_printed_ranks():
    printed = Printed.from_plan("ecai2023")
    means = printed.results.assign(mode="printed")
    oracle = means[means["method"] == "NAIVE"].assign(method="ORACLE")
    oracle["mean"] = np.where(oracle["metric"] == "accuracy", 1.0, 0.0)
    ours = average_ranks(pd.concat([means, oracle]))
    both = ours.merge(printed.ranks, on=["scenario", "metric", "method"])
    assert len(both) == 36
    # printed means are rounded, which makes ties that were none
    assert (both["rank"] - both["average_rank"]).abs().max() < 0.21


def test_one_method_alone_has_no_second():
    cells = long(scored(ORACLE=[0.9, 0.9], A=[0.5, 0.6]))
    test = winner_against_second(cells[cells["metric"] == "accuracy"], "ORACLE")
    assert (test.winner, test.second) == ("A", "")
    assert np.isnan(test.p_value)


def test_time_shares_add_up(rows):
    shares = time_shares(rows)
    assert shares["share"].sum() == pytest.approx(1)
    assert set(shares["method"]) == {"ORACLE", "NAIVE", "MINE"}


def test_a_table_has_the_winner_in_bold_the_ranks_and_the_repetitions(rows, path):
    plan = load_plan(path)
    accuracy, error = result_tables(rows, plan, "first")
    assert (accuracy.name, error.name) == ("table2_first", "table3_first")
    line = next(li for li in accuracy.markdown.splitlines() if li.startswith("| heart-c"))
    means = summarise(rows).query("metric == 'accuracy' and dataset == 'heart-c'")
    best = means[means["method"] != "ORACLE"].sort_values("mean").iloc[-1]
    assert re.findall(r"\*\*\.(\d+)", line) == [f"{best['mean']:.3f}"[2:]]
    assert line.endswith("| 3 |")
    assert "average rank" in accuracy.markdown
    assert set(accuracy.numbers["method"]) == {"ORACLE", "NAIVE", "MINE"}
    assert "printed" not in accuracy.numbers  # this plan belongs to no paper


def test_the_paper_s_tables_stand_beside_the_printed_ones(tmp_path):
    plan = shorter(load_plan("ecai2023").shortened())
    store = Store(tmp_path / "paper")
    run(plan, "as_published", store, datasets=["heart-c"], repetitions=1)
    tables = list(result_tables(store.frame(), plan, "as_published"))
    assert [t.name[:6] for t in tables] == [f"table{i}" for i in range(2, 8)]
    numbers = tables[0].numbers.set_index("method")
    assert numbers.loc["NAIVE", "printed"] == 0.638
    gap = numbers.loc["NAIVE", "mean"] - 0.638
    assert numbers.loc["NAIVE", "difference"] == pytest.approx(gap)
    assert numbers.loc["NAIVE", "in_printed_sd"] == pytest.approx(gap / 0.018)
    assert "Beside the printed table" in tables[0].markdown


def test_the_first_table_describes_the_data(path):
    table = data_table(load_plan(path), "first").numbers.set_index("dataset")
    assert table.loc["heart-c", ["n", "p"]].tolist() == [303, 19]
    assert table.loc["heart-c", "r2_unpenalised"] == pytest.approx(0.55, abs=0.01)  # printed: .55


def test_figures_are_written_twice_the_same_and_a_method_keeps_its_colour(rows, path, tmp_path):
    plan = load_plan(path)
    for folder in ("a", "b"):
        for figure in figures(rows, plan, "first"):
            figure.write(tmp_path / folder)
    names = sorted(p.name for p in (tmp_path / "a").glob("*.svg"))
    assert len(names) == 6
    assert len(list((tmp_path / "a").iterdir())) == 6  # in one format
    for name in names:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    order = ["ORACLE", "NAIVE", "MINE", "YOURS"]
    assert len({colour(method, order) for method in order}) == 4
    assert colour("TM", ["TM"]) == colour("TM", ["NAIVE", "MINE", "TM"]) == COLOURS["TM"]
    assert colour("TRUTH", ["TRUTH", "MINE"]) == COLOURS["ORACLE"]


def test_a_plan_may_call_its_oracle_and_scenarios_as_it_likes(path, tmp_path):
    text = PLAN.replace('"ORACLE"', '"TRUTH"').replace("id = 1", "id = 7")
    truth = 'estimator = "sklearn.ensemble:RandomForestClassifier"\noptions = { random_state = 0 }'
    text = text.replace('estimator = "doublelogit:NaiveClassifier"\ngiven', f"{truth}\ngiven")
    path.write_text(text)
    plan, store = load_plan(path), Store(tmp_path / "named")
    run(plan, "first", store, repetitions=1)
    names = [figure.name for figure in figures(store.frame(), plan, "first")]
    assert "effect_of_c_first" in names
    table = next(result_tables(store.frame(), plan, "first"))
    assert "TRUTH" in table.markdown
    assert "r2_unpenalised" not in data_table(plan, "first").numbers


def test_a_changed_oracle_changes_what_others_are_measured_against(path, tmp_path):
    store = Store(tmp_path / "oracle")
    run(load_plan(path), "first", store)
    path.write_text(PLAN.replace('given = "class"', 'given = "class"\noptions = { C = 0.1 }'))
    left = pending(load_plan(path), "first", store)
    assert {m.name for t in left for m in t.methods if t.draw.dataset.name == "heart-c"} == {
        "ORACLE",
        "NAIVE",
        "MINE",
    }


def test_a_changed_setting_is_run_again_and_replaces_the_old_rows(path, tmp_path):
    store = Store(tmp_path / "changed")
    run(load_plan(path), "first", store)
    before = store.frame()
    path.write_text(PLAN.replace('TwoModelsSimpleClassifier"', 'NaiveClassifier"'))
    plan = load_plan(path)
    assert {m.name for task in pending(plan, "first", store) for m in task.methods} == {"MINE"}
    run(plan, "first", Store(store.directory))
    after = Store(store.directory).frame()
    assert len(after) == len(before)
    scores = after.pivot_table(
        index=["dataset", "value", "repetition"], columns="method", values="accuracy"
    )
    assert (scores["MINE"] == scores["NAIVE"]).all()


def test_rows_of_a_method_that_the_plan_has_dropped_or_changed_are_not_shown(path, rows):
    assert len(current(rows, load_plan(path), "first")) == len(rows)
    path.write_text(PLAN.replace('"MINE"', '"OTHER"'))
    assert set(current(rows, load_plan(path), "first")["method"]) == {"ORACLE", "NAIVE"}
    path.write_text(PLAN.replace('TwoModelsSimpleClassifier"', 'NaiveClassifier"'))
    assert set(current(rows, load_plan(path), "first")["method"]) == {"ORACLE", "NAIVE"}


def test_a_plan_whose_names_moved_to_another_module_computes_the_same(path, tmp_path):
    store = Store(tmp_path / "moved")
    run(load_plan(path), "first", store, datasets=["heart-c"])
    path.write_text(PLAN.replace("doublelogit:TwoModels", "doublelogit.estimators:TwoModels"))
    assert not pending(load_plan(path), "first", store, ["heart-c"])
    assert len(current(store.frame(), load_plan(path), "first")) == len(store.frame())


def test_a_row_says_what_it_was_made_with(rows):
    assert rows["versions"].str.contains(r"doublelogit .*, numpy .*, scipy").all()
    assert rows["parameters"].str.contains("labelling:Scar").all()
    seeds = rows.groupby(["dataset", "value", "repetition"])["seed"].nunique()
    assert (seeds == 1).all()
    assert rows["seed"].nunique() == len(seeds)


def test_two_runs_do_not_share_a_store(tmp_path):
    with (
        Store(tmp_path / "one").locked(),
        pytest.raises(OSError, match="another run is writing to"),
        Store(tmp_path / "one").locked(),
    ):
        pass
    with Store(tmp_path / "one").locked():
        pass


def test_the_command_runs_resumes_and_writes_tables_and_figures(path, tmp_path):
    out = tmp_path / "out"
    arguments = ["reproduce", "--plan", str(path), "--out", str(out), "--jobs", "1"]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    assert "54 cells to run" in result.output
    assert "Average rank" in result.output
    assert "Time per method" in result.output
    assert (out / "tables" / "table2_first.md").exists()
    assert (out / "figures" / "time_first.svg").exists()
    table = (out / "tables" / "table2_first.csv").read_bytes()
    again = CliRunner().invoke(app, arguments)
    assert "0 cells to run" in again.output
    (out / "results.parquet").unlink()  # as after a clone
    some = CliRunner().invoke(app, [*arguments, "--datasets", "heart-c"])
    assert "Tables and figures stay" in some.output
    assert (out / "tables" / "table2_first.csv").read_bytes() == table


def test_the_quick_part_is_small(path, tmp_path):
    arguments = ["reproduce", "--plan", str(path), "--out", str(tmp_path / "q"), "--quick"]
    result = CliRunner().invoke(app, [*arguments, "--jobs", "1", "--datasets", "heart-c"])
    assert result.exit_code == 0, result.output
    assert "6 cells to run" in result.output  # two of the three values, one repetition


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--plan", "nowhere"],
            "a plan must be a TOML file or one of ecai2023, tables2026; got 'nowhere'",
        ),
        (["--mode", "mine"], "mode must be among as_published, as_written"),
        (["--datasets", "iris"], "datasets must be among Artif1"),
        (["--repetitions", "0"], "repetitions must be at least 1; got 0"),
    ],
)
def test_wrong_options_get_a_sentence(arguments, message, tmp_path):
    out = ["--out", str(tmp_path / "out")]
    result = CliRunner().invoke(app, ["reproduce", *arguments, *out])
    assert result.exit_code == 2
    assert message in result.output
    assert "Traceback" not in result.output
    assert not (tmp_path / "out").exists()


def test_an_interrupt_keeps_what_is_done_with_an_estimator_of_a_module_beside_the_plan(
    path, tmp_path
):
    (path.parent / "of_mine.py").write_text("from sklearn.linear_model import LogisticRegression")
    text = PLAN.replace("doublelogit:TwoModelsSimpleClassifier", "of_mine:LogisticRegression")
    path.write_text(text.replace("first = 3", "first = 200"))
    out = tmp_path / "out"
    # what a shell runs in the background ignores interrupts, and so would all that it starts
    listen = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
    command = [sys.executable, "-c", f"{listen}; from doublelogit.cli import app; app()"]
    command += ["reproduce", "--plan", str(path), "--out", str(out), "--jobs", "2"]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    while process.poll() is None and Store(out).frame().empty:
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to the workers as well
    output, errors = process.communicate(timeout=120)
    assert process.returncode == 130, errors
    assert "run the same command again to go on" in " ".join(output.split())
    assert "Traceback" not in output + errors
    rows = Store(out).frame()
    assert (rows["status"] == "ok").all()
    draw = ["dataset", "value", "repetition"]
    scores = rows.pivot_table(index=draw, columns="method", values="accuracy").dropna()
    assert np.allclose(scores["MINE"], scores["NAIVE"])
    kept = len(rows)
    assert 0 < kept < 200 * 2 * 3 * 3
    assert f"{kept} cells were added" in " ".join(output.split())


def test_the_plan_in_papers_is_the_one_that_ships():
    papers = Path(__file__).parent.parent / "papers" / "ecai2023"
    assert load_plan(papers / "plan.toml") == load_plan("ecai2023")
