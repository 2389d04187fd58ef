"""The one writer: what it replaces, what it never touches, and who may look."""

import ast
import os
import stat
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from tables_of_tests import clinic
from typer.testing import CliRunner

import doublelogit
from doublelogit import NaiveClassifier
from doublelogit.cli import app
from doublelogit.common import files
from doublelogit.common.files import check_apart, write_text, written_together, written_whole
from doublelogit.studies.experiments import Store

SOURCE = Path(doublelogit.__file__).parent
posix = pytest.mark.skipif(os.name == "nt", reason="modes, links and locks of POSIX systems")


@pytest.fixture
def model():
    return NaiveClassifier().fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def partials(folder):
    return sorted(path.name for path in folder.glob(".*partial*"))


@posix
@pytest.mark.parametrize("permissions", [0o600, 0o640, 0o644, 0o400])
def test_a_file_that_is_replaced_keeps_its_mode(permissions, model, tmp_path):
    path = tmp_path / "model.dlm"
    path.touch()
    path.chmod(permissions)
    model.save(path)
    assert mode(path) == permissions
    assert doublelogit.load(path).predict([[3.0]]) == [1]


@posix
def test_nobody_else_may_read_a_private_file_while_it_is_written(tmp_path):
    path = tmp_path / "secret"
    path.touch(0o600)
    with written_whole(path):
        (partial,) = tmp_path.glob(".doublelogit-*")
        assert mode(partial) == 0o600


@posix
def test_a_new_file_has_the_mode_that_the_umask_says(tmp_path):
    before = os.umask(0o027)
    try:
        write_text(tmp_path / "new", "text")
    finally:
        os.umask(before)
    assert mode(tmp_path / "new") == 0o640


@posix
def test_a_link_is_replaced_and_what_it_leads_to_is_left_alone(model, tmp_path):
    victim, path = tmp_path / "victim", tmp_path / "model.dlm"
    victim.write_text("of another")
    path.symlink_to(victim)
    model.save(path)
    assert victim.read_text() == "of another"
    assert not path.is_symlink()


@posix
def test_a_hard_link_is_cut_and_the_other_name_keeps_its_content(model, tmp_path):
    other, path = tmp_path / "other", tmp_path / "model.dlm"
    other.write_text("of another")
    path.hardlink_to(other)
    model.save(path)
    assert other.read_text() == "of another"


@posix
def test_links_planted_under_names_of_temporary_files_are_not_followed(model, tmp_path):
    victim = tmp_path / "victim"
    victim.write_text("of another")
    names = [f".model.{os.getpid()}.partial.dlm", f".doublelogit-{'0' * 16}.partial"]
    for name in names:
        (tmp_path / name).symlink_to(victim)
    model.save(tmp_path / "model.dlm")
    assert victim.read_text() == "of another"
    assert all((tmp_path / name).is_symlink() for name in names)


def test_names_of_temporary_files_cannot_be_foretold(tmp_path):
    seen = set()
    for _ in range(50):
        with written_whole(tmp_path / "file"):
            seen.update(partials(tmp_path))
    assert len(seen) == 50
    assert not any(str(os.getpid()) == part for name in seen for part in name.split("."))


LEAVE = """
import os, sys
from doublelogit.common.files import written_whole
with written_whole(sys.argv[1]) as file:
    file.write(b"half")
    file.flush()
    os._exit(9)
"""


def test_what_a_killed_process_left_is_swept_by_the_next_that_writes(tmp_path):
    write_text(tmp_path / "file", "old")
    subprocess.run([sys.executable, "-c", LEAVE, tmp_path / "file"], check=False)
    assert len(partials(tmp_path)) == 1
    assert (tmp_path / "file").read_text() == "old"
    write_text(tmp_path / "another", "text")
    assert partials(tmp_path) == []


def test_what_a_living_process_is_writing_is_not_swept(tmp_path):
    with written_whole(tmp_path / "slow") as file:
        (partial,) = tmp_path.glob(".doublelogit-*")
        os.utime(partial, (0, 0))  # however long ago it was touched
        write_text(tmp_path / "quick", "text")
        assert partial.exists()
        file.write(b"all of it")
    assert (tmp_path / "slow").read_text() == "all of it"
    assert partials(tmp_path) == []


def test_files_of_others_are_not_swept(tmp_path):
    names = [".doublelogit-mine.partial", "x.partial", ".doublelogit-0123456789abcdef.partial2"]
    for name in names:
        (tmp_path / name).touch()
    write_text(tmp_path / "file", "text")
    assert all((tmp_path / name).exists() for name in names)


@posix
def test_age_decides_where_a_file_system_has_no_locks(tmp_path, monkeypatch):
    def without_locks(handle):
        raise OSError(files.NO_LOCKS[0], "no locks")

    monkeypatch.setattr(files, "lock", without_locks)
    old, new = (tmp_path / f".doublelogit-{digit * 16}.partial" for digit in "01")
    old.touch()
    new.touch()
    os.utime(old, (0, 0))
    write_text(tmp_path / "file", "text")
    assert (old.exists(), new.exists()) == (False, True)


@pytest.mark.parametrize("kind", ["directory", "pipe"])
def test_only_files_are_replaced(kind, tmp_path):
    path = tmp_path / "there"
    path.mkdir() if kind == "directory" else os.mkfifo(path)
    with pytest.raises(OSError, match="results are written to files"):
        write_text(path, "text")


def test_files_that_belong_together_stay_old_together(tmp_path):
    paths = [tmp_path / "one", tmp_path / "two"]
    for path in paths:
        write_text(path, "old")
    with suppress(KeyError), written_together(*paths) as (one, two):
        one.write(b"new")
        two.write(b"new")
        raise KeyError
    assert [path.read_text() for path in paths] == ["old", "old"]
    assert partials(tmp_path) == []


@posix
def test_a_lock_planted_as_a_link_is_refused(tmp_path):
    victim = tmp_path / "victim"
    victim.write_text("of another")
    (tmp_path / ".lock").symlink_to(victim)
    with pytest.raises(OSError, match=r"\.lock"), Store(tmp_path).locked():
        pass
    assert victim.read_text() == "of another"


LINKS = {
    "itself": lambda new, old: None,
    "a symbolic link": lambda new, old: new.symlink_to(old),
    "a hard link": lambda new, old: new.hardlink_to(old),
}


@posix
@pytest.mark.parametrize("link", LINKS)
def test_an_output_is_never_an_input_or_another_output(link, tmp_path):
    old, new = tmp_path / "old", tmp_path / "new"
    old.write_text("read")
    LINKS[link](new, old)
    new = new if new.exists() else tmp_path / "elsewhere" / ".." / "old"
    (tmp_path / "elsewhere").mkdir()
    with pytest.raises(ValueError, match="never written onto what was read"):
        check_apart([new], [old])
    with pytest.raises(ValueError, match="onto each other"):
        check_apart([old, new])


ROLES = ["--label", "diagnosed", "--id", "patient", "--ignore", "sick"]
COMMANDS = {
    "fit": ["fit", "clinic.csv", *ROLES],
    "predict": ["predict", "model.dlm", "clinic.csv"],
    "rank": ["rank", "clinic.csv", *ROLES],
    "rank, by a model": ["rank", "clinic.csv", "--model", "model.dlm"],
    "report": ["report", "clinic.csv", *ROLES],
    "diagnose": ["diagnose", "clinic.csv", *ROLES],
    "simulate": ["simulate", "clinic.csv", "--truth", "sick"],
}


@posix
@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("command", COMMANDS)
def test_no_command_writes_onto_its_table_or_model(command, link, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table, fitted = Path("clinic.csv"), Path("model.dlm")
    clinic(60).to_csv(table, index=False)
    fitted.write_bytes(b"not read before this is checked")
    for read in (table, fitted) if "model.dlm" in COMMANDS[command] else (table,):
        before, ending = read.read_bytes(), {"report": ".html", "diagnose": ".png"}.get(command, "")
        out = Path(f"{read.stem}-link{ending or read.suffix}")
        LINKS[link](out, read)
        out = out if out.exists() else read
        result = CliRunner().invoke(app, [*COMMANDS[command], "--out", str(out)])
        assert result.exit_code != 0
        assert read.read_bytes() == before
        if link != "itself" or not ending:
            assert "never written onto what was read" in " ".join(result.output.split())


def test_a_report_spares_files_of_another_kind(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    clinic(60).to_csv("clinic.csv", index=False)
    Path("r.json").write_text('{"mine": 1}')
    for out in ("r.html", "r.json"):
        result = CliRunner().invoke(app, ["report", "clinic.csv", *ROLES, "--out", out])
        assert result.exit_code == 2, result.output
    assert Path("r.json").read_text() == '{"mine": 1}'
    assert not Path("r.html").exists()


def writes(path):
    """Calls of a module that write to a path, not to a file which the one writer has opened."""
    for node in ast.walk(ast.parse(path.read_text())):
        if not isinstance(node, ast.Call):
            continue
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        texts = [a.value for a in node.args if isinstance(getattr(a, "value", None), str)]
        first = getattr(next(iter(node.args), None), "id", None)
        if (
            (name in ("write_bytes", "fdopen", "mkstemp") and path.name != "files.py")
            or (name in ("to_csv", "to_parquet", "savefig") and node.args and first not in OPENED)
            or (
                name == "open"
                and any(set(text) & set("wax+") for text in texts)
                and ast.unparse(node.args[0]) != "os.devnull"  # which keeps nothing
            )
        ):
            yield name


OPENED = ("file", "buffer")


def test_everything_is_written_by_the_one_writer():
    found = {path.name: list(writes(path)) for path in SOURCE.rglob("*.py")}
    assert {name: calls for name, calls in found.items() if calls} == {}
