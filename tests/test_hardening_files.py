"""Results never go onto what was read; model files are models, and small ones stay small."""

import hashlib
import io
import json
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pytest
from tables_of_tests import clinic
from typer.testing import CliRunner

import doublelogit
from doublelogit import JointClassifier, ModelFileError, NaiveClassifier
from doublelogit.cli import app
from doublelogit.studies.experiments import load_plan

ROLES = ["--label", "diagnosed", "--id", "patient", "--method", "naive"]


@pytest.fixture
def table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    clinic(80).drop(columns="sick").to_csv("t.csv", index=False)
    return tmp_path / "t.csv"


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.mark.parametrize("command", ["fit", "rank", "report", "check"])
@pytest.mark.parametrize("other_name", ["t.csv", "./t.csv", "hard.csv", "soft.csv"])
def test_no_command_writes_onto_its_table(command, other_name, table):
    before = table.read_bytes()
    Path("hard.csv").hardlink_to(table)
    Path("soft.csv").symlink_to(table)
    options = ROLES if command != "check" else ROLES[:4]
    result = run(command, table, *options, "--out", other_name)
    assert result.exit_code in (2, 3)
    assert table.read_bytes() == before


def test_predictions_go_neither_onto_the_table_nor_onto_the_model(table):
    assert run("fit", table, *ROLES, "--out", "m.dlm").exit_code == 0
    for target in (table, table.with_name("m.dlm")):
        before = target.read_bytes()
        result = run("predict", "m.dlm", table, "--out", target)
        assert result.exit_code == 2
        assert "never written onto what was read" in " ".join(result.output.split())
        assert target.read_bytes() == before


def test_a_report_does_not_replace_numbers_of_another_kind(table):
    other = table.with_name("r.json")
    other.write_text('{"mine": 1}')
    result = run("report", table, *ROLES, "--out", "r.html")
    assert result.exit_code == 2
    assert "a file of another kind" in " ".join(result.output.split())
    assert other.read_text() == '{"mine": 1}'
    assert not table.with_name("r.html").exists()


@pytest.mark.parametrize("name", ["x.json", "x", "t.csv", "x.txt"])
def test_a_report_is_a_page(name, table):
    result = run("report", table, *ROLES, "--out", name)
    assert result.exit_code == 2
    assert sorted(p.name for p in table.parent.iterdir()) == ["t.csv"]


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 2))
    s = (X[:, 0] + rng.standard_normal(60) > 0.5).astype(int)
    path = tmp_path_factory.mktemp("saved") / "model.dlm"
    JointClassifier(n_starts=1).fit(X, s).save(path)
    return path


def forged(saved, tmp_path, change):
    """The file after a change of its header and members, with seals that are right again."""
    with zipfile.ZipFile(saved) as file:
        members = {name: file.read(name) for name in file.namelist()}
    header = json.loads(members["model.json"])
    change(header, members)
    arrays = {k: v for k, v in members.items() if "/" in k}
    header["members"] = {k: hashlib.sha256(v).hexdigest() for k, v in arrays.items()}
    text = json.dumps(header).encode()
    seal = f"{hashlib.sha256(text).hexdigest()}  model.json\n".encode()
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as file:
        for name, content in {"SHA256": seal, "model.json": text, **arrays}.items():
            file.writestr(name, content)
    path = tmp_path / "forged.dlm"
    path.write_bytes(packed.getvalue())
    return path


def one_array_many_times(header, members):
    members["arrays/9"] = b"\0" * 800_000
    reference = {"$array": "arrays/9", "dtype": "<f8", "shape": [100_000]}
    header["state"]["fitted"]["x_"] = {"$tuple": [reference] * 4000}


def one_long_word(header, members):
    words = ["a" * 100_000, *["b"] * 10_000]
    header["state"]["fitted"]["x_"] = {"$items": words, "object": False}


@pytest.mark.parametrize("bomb", [one_array_many_times, one_long_word])
def test_a_small_file_cannot_ask_for_a_large_machine(bomb, saved, tmp_path):
    path = forged(saved, tmp_path, bomb)
    tracemalloc.start()
    try:
        with pytest.raises(ModelFileError, match="far more memory"):
            doublelogit.load(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 150 * 2**20


def not_finite(header, members):
    for name in [n for n in members if n.startswith("arrays/")]:
        if len(members[name]) == 24:
            members[name] = np.full(3, np.nan).tobytes()


FORGERIES = {
    "infinite format": lambda header, members: header.update(format=float("inf")),
    "format of a word": lambda header, members: header.update(format="two"),
    "coefficients that are not finite": not_finite,
    "no coefficients": lambda header, members: header["state"]["fitted"].pop("model_"),
    "state of nothing": lambda header, members: header.update(state=None),
    "state of a list": lambda header, members: header.update(state=[1, 2]),
    "a parameter that is none": lambda header, members: header["state"]["params"].update(tol=-1),
}


@pytest.mark.parametrize("change", FORGERIES.values(), ids=FORGERIES)
def test_a_forged_file_is_refused_when_it_is_loaded_and_not_later(change, saved, tmp_path):
    with pytest.raises(ModelFileError):
        doublelogit.load(forged(saved, tmp_path, change))


def test_a_file_cut_anywhere_is_a_model_file_error(saved, tmp_path):
    content, path = saved.read_bytes(), tmp_path / "cut.dlm"
    for end in range(0, len(content), 97):
        path.write_bytes(content[:end])
        with pytest.raises(ModelFileError):
            doublelogit.load(path)


def test_a_subclass_is_refused_when_it_is_saved_not_when_it_is_loaded(saved, tmp_path):
    class Mine(NaiveClassifier):
        pass

    model = Mine().fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    with pytest.raises(TypeError, match="got Mine, whose code it cannot hold"):
        model.save(tmp_path / "m.dlm")
    assert not (tmp_path / "m.dlm").exists()


PLANS = {
    "no table": ("datasets = 'x'", "a DataSet of the plan must be a table; got 'x'"),
    "wrong type": ("datasets = []\nseed = 'one'", "seed of a Plan .* must be a whole number"),
    "too many": ("datasets = []\nrepetitions = {a = 10000000}", "from 1 to 100000; got 10000000"),
    "no TOML": ("datasets = [", "cannot be read as TOML"),
    "deep": ("datasets = " + "[" * 3000, "cannot be read as TOML"),
    "share": ("datasets = []\ntest_size = 1.5", r"test_size in \(0, 1\); got 1 and 1.5"),
}


@pytest.mark.parametrize(("lines", "message"), PLANS.values(), ids=PLANS)
def test_a_plan_that_is_wrong_says_what_of_it(lines, message, tmp_path):
    given = {"name": "'a'", "seed": "1", "test_size": "0.3", "repetitions": "{a = 1}"}
    given |= {"scenarios": "[]", "methods": "[]"}
    rest = [f"{k} = {v}" for k, v in given.items() if f"{k} =" not in lines]
    (tmp_path / "plan.toml").write_text("\n".join([*rest, lines]))
    with pytest.raises(ValueError, match=message):
        load_plan(tmp_path / "plan.toml")


def test_options_of_a_command_that_are_no_table_are_refused(table):
    table.with_name("o.toml").write_text("fit = 3\n")
    result = run("fit", table, *ROLES, "--config", "o.toml")
    assert result.exit_code == 2
    assert "must be a table of options" in " ".join(result.output.replace("│", " ").split())
