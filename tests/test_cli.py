"""The command line: what it prints, writes and returns, and how it fails."""

import json
import subprocess
import sys

import pandas as pd
import pytest
from tables_of_tests import clinic
from typer.testing import CliRunner

from doublelogit.cli import app
from doublelogit.registry import suited

COMMANDS = [
    "demo",
    "check",
    "report",
    "fit",
    "predict",
    "export",
    "rank",
    "compare",
    "diagnose",
    "simulate",
    "reproduce",
]
ROLES = ["--label", "diagnosed", "--id", "patient", "--ignore", "sick"]
NAMED = [*ROLES, "--propensity-features", "distance"]


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    clinic().to_csv("clinic.csv", index=False)

    def invoke(*arguments, code=0):
        result = CliRunner().invoke(app, list(map(str, arguments)))
        assert result.exit_code == code, result.output
        assert "Traceback" not in result.output
        return result

    return invoke


def words(result):
    return " ".join(result.output.split())


@pytest.mark.parametrize("command", COMMANDS)
def test_help_shows_an_example(command, run):
    assert "Example" in run(command, "--help").output


def test_help_and_bad_options_need_neither_numpy_nor_scikit_learn():
    code = """
import sys
from doublelogit.cli import app
asked = [["--help"], ["--version"], ["report"], ["report", "none.csv"], ["nonsense"],
         ["report", __file__, "--label", "y", "--method", "foo"], ["report", __file__],
         ["check", __file__, "--seed", "x"], ["rank", __file__, "--budget", "5"],
         ["fit", __file__, "--label", "y", "--formula", "y ~ x"],
         ["diagnose", __file__, "--label", "y", "--out", "x.doc"]]
for arguments in asked + [[c, "--help"] for c in COMMANDS]:
    try:
        app(arguments)
    except SystemExit as end:
        helps = arguments[-1] in ("--help", "--version")
        assert end.code == (0 if helps else 2), (arguments, end.code)
heavy = {"numpy", "sklearn", "scipy", "pandas", "matplotlib"} & set(sys.modules)
assert not heavy, heavy
"""
    code = code.replace("__file__", repr(__file__)).replace("COMMANDS", repr(COMMANDS))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]


def test_a_model_is_fitted_saved_and_predicts(run):
    output = words(run("fit", "clinic.csv", *NAMED, "--out", "m.dlm"))
    assert "Averaged fitted to 600 rows" in output
    new = clinic(50, seed=1).drop(columns=["diagnosed", "bmi"])
    new.loc[0, "smoker"] = "sometimes"
    new.to_csv("new.csv", index=False)
    output = words(run("predict", "m.dlm", "new.csv", "--out", "p.csv"))
    assert "There is no column 'bmi'" in output
    assert "1 rows have values never seen (sometimes) in 'smoker'" in output
    found = pd.read_csv("p.csv")
    assert found["patient"].tolist() == new["patient"].tolist()
    assert found[["positive", "propensity", "label", "hidden"]].stack().between(0, 1).all()


def test_json_is_all_that_json_prints(run):
    fitted = json.loads(run("fit", "clinic.csv", *NAMED, "--out", "m.dlm", "--json").stdout)
    assert fitted["rows"] == 600
    found = json.loads(run("predict", "m.dlm", "clinic.csv", "--json").stdout)
    assert found["issues"] == []
    ranked = json.loads(run("rank", "clinic.csv", "--model", "m.dlm", "--top", 3, "--json").stdout)
    assert [line["rank"] for line in ranked["list"]] == [1, 2, 3]
    diagnosis = json.loads(run("diagnose", "clinic.csv", *NAMED, "--json").stdout)
    assert {line["level"] for line in diagnosis} <= {"fine", "attention"}
    error = json.loads(run("fit", "clinic.csv", "--label", "no", "--json", code=3).stdout)
    assert "no column" in error["error"]


def test_the_list_names_unlabelled_rows_and_what_speaks_for_them(run):
    run("rank", "clinic.csv", *NAMED, "--top", 30, "--out", "l.csv")
    ranked, table = pd.read_csv("l.csv"), clinic().set_index("patient")
    assert len(ranked) == 30
    assert (table.loc[ranked["id"], "diagnosed"] == "").all()
    assert ranked["probability"].is_monotonic_decreasing
    assert table.loc[ranked["id"], "sick"].mean() > 0.6  # of all unlabelled rows a third are
    assert ranked["reasons"].str.contains("age = ").mean() > 0.5


def test_costs_and_budgets_cut_the_list(run):
    output = words(run("rank", "clinic.csv", *NAMED, "--check-cost", 40, "--miss-cost", 100))
    assert "A check pays where the probability is at least 40.0%" in output
    budget = run("rank", "clinic.csv", *NAMED, "--check-cost", 40, "--budget", 410, "--json")
    assert len(json.loads(budget.stdout)["list"]) == 10


def test_formulas_of_exported_cells_are_neutralised(run):
    frame = clinic()
    frame["patient"] = ["=HYPERLINK(1)", "+1", "-2", "@x", *frame["patient"][4:]]
    frame.loc[frame.index[:4], "diagnosed"] = ""
    frame.to_csv("evil.csv", index=False)
    run("rank", "evil.csv", *NAMED, "--top", 600, "--out", "l.csv")
    ids = pd.read_csv("l.csv")["id"]
    assert not ids.str.startswith(("=", "+", "-", "@")).any()
    assert (ids == "'=HYPERLINK(1)").any()


def test_check_speaks_of_data_labels_bias_and_identifiability(run):
    output = words(run("check", "clinic.csv", *NAMED, "--resamples", 39))
    for said in (
        "Data",
        "600 rows, 4 features, encoded as 5 numbers",
        "'diagnosed' is 'yes'",
        "Bias or curvature?",
        "Whether labelling depends on the features is open",
        "told apart by the columns named",
    ):
        assert said in output


def test_check_is_strict_where_there_is_a_problem(run):
    clinic(400).assign(billed=lambda rows: rows["diagnosed"]).to_csv("leak.csv", index=False)
    found = run("check", "leak.csv", *ROLES, "--resamples", 19, "--strict", "--json", code=6)
    levels = [line["level"] for part in json.loads(found.stdout).values() for line in part]
    assert "problem" in levels


def test_compare_never_recommends_a_scar_method_after_evidence_of_bias(run):
    clinic(1500, bias=3).to_csv("biased.csv", index=False)
    arguments = ["compare", "biased.csv", *NAMED, "--resamples", 39]
    found = json.loads(run(*arguments, "--json").stdout)
    assert {line["method"] for line in found["lines"]} == {
        *(m.name for m in suited(5)),
        "joint, SCAR",
    }
    assert found["recommended"] not in ("joint, SCAR", "naive")
    assert any("not to be used here" in finding["text"] for finding in found["findings"])


def test_simulate_sets_methods_beside_the_truth(run):
    arguments = ["clinic.csv", "--truth", "sick", "--ignore", "patient,diagnosed"]
    output = words(run("simulate", *arguments, "--drivers", "distance", "--out", "lab.csv"))
    assert "are labelled" in output
    assert "truth (oracle)" in output
    labelled = pd.read_csv("lab.csv")
    assert "sick" not in labelled
    assert not (labelled["label"] == "yes")[clinic()["sick"] == 0].any()
    scores = json.loads(run("simulate", *arguments, "--json").stdout)["methods"]
    assert {score["method"] for score in scores} == {"truth (oracle)", *(m.name for m in suited(5))}


def test_options_come_from_a_file(run, tmp_path):
    (tmp_path / "c.toml").write_text(
        'label = "diagnosed"\nid = "patient"\nignore = ["sick", "bmi"]\n[fit]\nout = "from.dlm"\n'
    )
    run("fit", "clinic.csv", "--config", "c.toml")
    assert (tmp_path / "from.dlm").exists()
    run("fit", "clinic.csv", "--config", "c.toml", "--out", "mine.dlm")
    assert (tmp_path / "mine.dlm").exists()
    (tmp_path / "c.toml").write_text('label = "diagnosed"\n[fit]\nnonsense = 1\n')
    assert "no option 'nonsense'" in words(run("fit", "clinic.csv", "--config", "c.toml", code=2))
    (tmp_path / "c.toml").write_text("label = ")
    assert "cannot be read" in words(run("fit", "clinic.csv", "--config", "c.toml", code=2))


def test_a_diagnosis_needs_a_likelihood_or_a_posterior(run):
    result = run("diagnose", "clinic.csv", *ROLES, "--method", "tm-simple", code=2)
    able = "averaged, sparse, joint, em"
    assert f"neither a likelihood nor a posterior; choose one of {able}" in words(result)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["report", "clinic.csv", "--label", "nowhere"], 3, "no column of the table"),
        (["report", "clinic.csv", "--label", "age"], 3, "not evident"),
        (["report", "clinic.csv", "--formula", "diagnosed ~ log(age)"], 3, "names of columns only"),
        (["predict", "clinic.csv", "clinic.csv"], 4, "not a model file"),
        (["report", "empty.csv", "--label", "y"], 3, "is empty"),
        (["report", "binary.parquet", "--label", "y"], 3, "cannot be read"),
        (["fit", "few.csv", "--label", "diagnosed"], 3, "at least 10 rows must be labelled"),
        (["simulate", "clinic.csv", "--truth", "nowhere"], 3, "no column"),
        (["fit", "clinic.csv", *ROLES, "--out", "nodir/m.dlm"], 2, "there is no directory"),
    ],
)
def test_errors_are_one_sentence_with_a_code_of_their_own(run, arguments, code, message, tmp_path):
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "binary.parquet").write_bytes(b"\x00\xff" * 100)
    few = clinic()
    few.loc[few.index[5:], "diagnosed"] = ""
    few.loc[few.index[:2], "diagnosed"] = "yes"
    few.to_csv(tmp_path / "few.csv", index=False)
    before = {path.name for path in tmp_path.iterdir()}
    result = run(*arguments, code=code)
    assert message in words(result)
    assert len(result.output.strip().splitlines()) <= 3
    assert {path.name for path in tmp_path.iterdir()} == before  # nothing half-written


def test_the_demo_ends_with_a_report_beside_the_truth(run, tmp_path):
    output = words(run("demo", "--rows", 800, "--resamples", 19, "--out", "demo"))
    for said in ("Beside the truth", "share of positives", "report.html", "on record"):
        assert said in output
    summary = json.loads((tmp_path / "demo" / "report.json").read_text())
    assert summary["truth"]["prevalence"] > summary["prevalence"]["by_assumption"][0]["value"]
    assert "truth (demonstration)" in (tmp_path / "demo" / "report.html").read_text()
    assert "on_record" in pd.read_csv(tmp_path / "demo" / "census.csv").columns


def test_a_terminal_is_told_what_each_stage_took(monkeypatch):
    from doublelogit.cli import terminal

    seconds = iter([0.0, 1.0, 3.0, 3.01, 3.5])
    monkeypatch.setattr(terminal, "monotonic", lambda: next(seconds))
    stages = terminal.Stages("reading")
    for stage in ("fitting", "reading", "fitting"):
        stages.enter(stage)
    assert str(stages) == "3.5 s: reading 1.0 s, fitting 2.5 s"
