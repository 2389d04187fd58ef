"""Commands: what they read they never overwrite, and whoever reads them may leave."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from tables_of_tests import clinic
from typer.testing import CliRunner

from doublelogit import NaiveClassifier
from doublelogit.cli import app

ROLES = ["--label", "diagnosed", "--id", "patient", "--ignore", "sick", "--method", "joint"]


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    frame = clinic(200)
    frame.to_csv("t.csv", index=False)
    hidden = frame[frame["diagnosed"] != "yes"]
    sheet = hidden[["patient"]].rename(columns={"patient": "id"}).assign(chance=1.0)
    sheet.assign(**{"class": hidden["sick"]}).to_csv("a.csv", index=False)
    sheet[["id"]].assign(**{"class": hidden["sick"]}).to_csv("a-sheet.csv", index=False)
    Path("c.toml").write_text('label = "diagnosed"\n')

    def invoke(*arguments, code=0):
        result = CliRunner().invoke(app, list(map(str, arguments)))
        assert result.exit_code == code, result.output
        return " ".join(result.output.split())

    return invoke


def link(how, path):
    """Another name of a file that ends as tables do."""
    name = Path(f"{how}{path.suffix if path.suffix != '.toml' else '.csv'}")
    {"symbolic": name.symlink_to, "hard": name.hardlink_to}[how](path)
    return name


@pytest.mark.parametrize("read", ["t.csv", "a.csv", "a-sheet.csv", "c.toml", "m.dlm"])
@pytest.mark.parametrize("how", ["itself", "symbolic", "hard"])
@pytest.mark.parametrize("command", ["fit", "rank", "predict", "report", "audit"])
def test_no_result_is_written_onto_a_file_that_an_option_names(command, how, read, run):
    run("fit", "t.csv", *ROLES, "--out", "m.dlm") if read == "m.dlm" else None
    out = Path(read) if how == "itself" else link(how, Path(read))
    before = Path(read).read_bytes()
    arguments = {
        "fit": ["t.csv", *ROLES, "--audit", "x.csv, a.csv", "--config", "c.toml"],
        "rank": ["t.csv", *ROLES, "--audit", "a.csv", "--config", "c.toml"],
        "predict": ["m.dlm", "t.csv", "--config", "c.toml"],
        "report": ["t.csv", *ROLES, "--audit", "a.csv", "--config", "c.toml"],
        "audit": ["t.csv", *ROLES, "--audit", "a.csv", "--config", "c.toml", "--budget", 20],
    }[command]
    if read == "m.dlm":
        if command not in ("predict", "rank"):
            pytest.skip("this command reads no model")
        arguments = [*arguments, "--model", "m.dlm"] if command == "rank" else arguments
    elif command == "predict":
        pytest.skip("the audit is none of its options") if read.startswith("a") else None
        NaiveClassifier().fit([[0.0], [1.0]], [0, 1]).save("m.dlm")
    said = run(command, *arguments, "--out", out, code=2)
    assert "never written onto what was read" in said or "written as" in said, said
    assert Path(read).read_bytes() == before


def test_results_beside_the_one_that_is_named_are_no_inputs_either(run):
    Path("page.json").symlink_to("c.toml")  # the numbers of a page go beside it
    arguments = ["report", "t.csv", *ROLES, "--config", "c.toml", "--out", "page.html"]
    assert "never written onto what was read" in run(*arguments, code=2)
    Path("t-predictions.csv").symlink_to("t.csv")
    run("fit", "t.csv", *ROLES, "--out", "m.dlm")
    assert "never written onto what was read" in run("predict", "m.dlm", "t.csv", code=2)


@pytest.mark.parametrize("command", ["fit", "rank", "report", "diagnose"])
def test_a_directory_that_is_not_there_is_named_before_any_work(command, run):
    out = {"report": "x.html", "diagnose": "x.png"}.get(command, "x.csv")
    said = run(command, "t.csv", *ROLES, "--out", f"nodir/{out}", code=2)
    assert f"there is no directory 'nodir' to write '{out}' to" in said
    assert "partial" not in said


def test_python_names_the_directory_and_never_the_temporary_file(tmp_path, monkeypatch):
    model = NaiveClassifier().fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(FileNotFoundError, match="there is no directory") as caught:
        model.save(tmp_path / "nodir" / "m.dlm")
    assert "partial" not in str(caught.value)

    def refused(*_):
        raise PermissionError(13, "Permission denied", ".doublelogit-0.partial")

    monkeypatch.setattr(os, "open", refused)
    with pytest.raises(PermissionError, match=r"m\.dlm' cannot be written: Permission denied"):
        model.save(tmp_path / "m.dlm")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('lable = "diagnosed"', "there is no option 'lable'. Did you mean 'label'?"),
        ('propensity-feature = "age"', "Did you mean 'propensity-features'?"),
        ('Method = "em"', "Did you mean 'method'?"),
        ("[fti]\ntop = 3", "there is no command 'fti'. Did you mean 'fit'?"),
        ("[fit]\nlabel-modle = 3", "no option 'label-modle'. Did you mean 'label-model'?"),
        ("[fit]\ntop = 3", "the command fit has no option 'top'."),
        ("[fit.method]\ntop = 3", "method must be a value; got a table."),
        ('zzz = "x"', "there is no option 'zzz'."),
    ],
)
def test_a_typo_in_a_file_of_options_is_never_passed_over(text, sentence, run):
    Path("c.toml").write_text(text)
    assert sentence in run("fit", "t.csv", *ROLES, "--config", "c.toml", code=2)


def test_options_of_other_commands_may_stand_in_a_shared_file(run):
    Path("c.toml").write_text('top = 3\nbudget = 5\n[audit]\nwidth = 0.1\n[fit]\nout = "f.dlm"\n')
    run("fit", "t.csv", *ROLES, "--config", "c.toml")
    assert Path("f.dlm").exists()


@pytest.mark.parametrize("arguments", [["--help"], ["fit"], ["fit --json"]])
@pytest.mark.parametrize("where", ["pipe", "full"])
def test_a_reader_that_leaves_is_no_error_and_a_full_disk_is_one_sentence(arguments, where, run):
    words = arguments[0].split()
    arguments = [*words, "t.csv", *ROLES] if words[0] == "fit" else arguments
    if where == "pipe":
        reader, writer = os.pipe()
        os.close(reader)  # as if head had seen enough
    else:
        writer = os.open("/dev/full", os.O_WRONLY)
    code = "from doublelogit.cli import app; app()"
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        stdout=writer,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(writer)
    if where == "pipe":
        assert (done.returncode, done.stderr) == (141, "")
    else:
        assert done.returncode == 3
        assert done.stderr.count("\n") == 1
        assert "standard output takes no more (No space left on device)" in done.stderr


@pytest.mark.parametrize("code", [0, 2])
def test_closed_streams_are_as_if_nobody_listened(code, run):
    arguments = ["fit", "t.csv", *ROLES, "--out", "m.dlm" if code == 0 else "t.csv"]
    command = [sys.executable, "-c", "from doublelogit.cli import app; app()", *arguments]
    done = subprocess.run(["sh", "-c", '"$@" >&- 2>&-', "sh", *command], check=False)
    assert done.returncode == code
    assert Path("m.dlm").exists() == (code == 0)


def test_wrong_options_end_with_2_in_json_too(run):
    said = json.loads(run("fit", "t.csv", *ROLES, "--out", "t.csv", "--json", code=2))
    assert said["code"] == 2
    for command, out in (("rank", "l.doc"), ("simulate", "l.doc"), ("report", "r.doc")):
        more = ["--truth", "sick"] if command == "simulate" else ROLES
        assert "written as" in run(command, "t.csv", *more, "--out", out, code=2)
    assert pd.read_csv("t.csv").shape == (200, 7)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            ["rank", "t.csv", *ROLES, "--check-cost", "1", "--miss-cost", "inf"],
            "than or equal",
        ),
        (["rank", "t.csv", *ROLES, "--check-cost", "inf", "--budget", "1"], "than or equal"),
        (["audit", "t.csv", *ROLES, "--budget", "inf"], "than or equal"),
        (["simulate", "t.csv", "--truth", "sick", "--strength", "inf"], "than or equal"),
        (["fit", "t.csv", *ROLES, "--delimiter", ""], "must be one character"),
        (["fit", "t.csv", *ROLES, "--delimiter", "ab"], "must be one character"),
        (["fit", "t.csv", *ROLES, "--delimiter", '"'], "must be one character"),
        (["fit", "t.csv", *ROLES, "--decimal", "x"], "must be . or ,"),
        (["fit", "t.csv", *ROLES, "--delimiter", ",", "--decimal", ","], "not the delimiter"),
        (["fit", "t.csv", *ROLES, "--encoding", "morse"], "one that Python knows"),
        (["export", "m.dlm", "--out", "m.txt"], "written as .onnx"),
    ],
)
def test_values_that_no_option_can_have_are_usage_errors(arguments, sentence, run):
    Path("m.dlm").touch()
    assert sentence in run(*arguments, code=2)
