"""A corpus of hostile files: each is refused with a sentence, or read as it should be."""

import tomllib
from pathlib import Path

import pandas as pd
import pytest
from typer.testing import CliRunner

import doublelogit
from doublelogit import Roles, TableClassifier, read_table
from doublelogit.cli import app
from doublelogit.studies.experiments import load_plan
from doublelogit.tables import Table
from tools.fuzz.contract import judge, proper
from tools.fuzz.run import TARGETS

HOSTILE = Path(__file__).parent / "hostile"
MANIFEST = tomllib.loads((HOSTILE / "manifest.toml").read_text("utf-8"))["file"]
FOUND = sorted(path for path in (HOSTILE / "found").glob("*") if path.suffix != ".md")
each_file = pytest.mark.parametrize("entry", MANIFEST, ids=lambda entry: entry["name"])


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def use(path, tmp_path):
    """What a user would do with such a file; the exit code of a command and what it says."""
    if path.suffix == ".dlm":
        return run("predict", path, HOSTILE / "padded_ids.csv", "--out", tmp_path / "out.csv")
    if path.name.endswith(".config.toml"):
        table = HOSTILE / "padded_ids.csv"
        return run("fit", table, "--config", path, "--out", tmp_path / "model.dlm")
    roles = ["--id", "id"] if "id" in path.name else []
    return run(
        "fit", path, "--label", "label", *roles, "--method", "naive", "--out", tmp_path / "m"
    )


@pytest.mark.filterwarnings("ignore:'day' is a copy of the label")
@each_file
def test_a_hostile_file_is_refused_with_a_sentence_or_read_as_it_should(entry, tmp_path):
    path = HOSTILE / entry["name"]
    assert set(entry) - {"name", "why", "note"}, "the manifest must say what comes of the file"
    for what, check in CHECKS.items():
        if what in entry:
            check(path, entry, tmp_path)


def refused(path, entry, tmp_path):
    if path.name.endswith(".plan.toml"):
        with pytest.raises(ValueError, match=entry["refused"]):
            load_plan(path)
        return
    result = use(path, tmp_path)
    said = " ".join(result.output.replace("│", " ").split())
    assert entry["refused"] in said
    assert result.exit_code in (2, 3, 4)
    assert "\x1b" not in result.output
    assert not list(tmp_path.iterdir())


def reads(path, entry, tmp_path):
    roles = Roles("label", id="id" if entry["reads"] == "id" else None)
    frame = read_table(path, text=roles.text_columns, verbatim=roles.verbatim_columns)
    found = frame[entry["reads"]].tolist()
    assert found[: len(entry["values"])] == entry["values"]
    assert entry.get("note", "") in " ".join(frame.attrs["notes"])


def fits(path, entry, tmp_path):
    rows = Table.from_frame(path, Roles("label"))
    model = TableClassifier(rows.roles, "naive").fit(rows)
    proper(model.predict(rows)["positive"])


def ids(path, entry, tmp_path):
    found = Table.from_frame(path, Roles("label", id="id")).ids.tolist()
    assert found[: len(entry["ids"])] == entry["ids"]


def exported(path, entry, tmp_path):
    out = tmp_path / "list.csv"
    result = run("rank", path, "--label", "label", "--id", "id", "--method", "naive", "--out", out)
    assert result.exit_code == 0
    assert pd.read_csv(out)["id"].str.startswith(entry["exported"]).all()


def ranked(path, entry, tmp_path):
    result = run("rank", path, "--label", "label", "--id", "id", "--method", "naive")
    assert result.exit_code == 0
    assert entry["ranked"] in result.output.replace("\n", "")
    assert "\x1b" not in result.output
    assert "\x07" not in result.output


def loads(path, entry, tmp_path):
    model = doublelogit.load(path)
    proper(model.predict_proba([[0.0] * model.n_features_in_]))


CHECKS = {
    "refused": refused,
    "reads": reads,
    "fits": fits,
    "ids": ids,
    "exported": exported,
    "ranked": ranked,
    "loads": loads,
}


def test_the_manifest_names_every_file():
    files = {path.name for path in HOSTILE.iterdir() if path.is_file()}
    assert files == {entry["name"] for entry in MANIFEST} | {"manifest.toml"}
    assert sum(path.stat().st_size for path in HOSTILE.rglob("*")) < 200_000


@pytest.mark.parametrize("path", FOUND, ids=lambda path: path.name)
def test_what_a_fuzzer_has_found_once_keeps_to_the_contract(path):
    target = next(t for t in TARGETS.values() if path.name.startswith(t.name.replace(" ", "_")))
    outcome = judge(target.check, path)
    assert not outcome.failed, outcome
