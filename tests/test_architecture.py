"""The architecture page is true: its walks are walked, its picture shows every room."""

import re
import shutil
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from plans import SMALL_PLAN
from typer.testing import CliRunner

import doublelogit
from doublelogit import AveragedClassifier
from doublelogit.cli import app
from tools.draw_architecture import PICTURE, floors, picture

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "architecture.md").read_text()
SOURCE = Path(doublelogit.__file__).parent
FUNCTION = 1  # flag of the code of functions; modules and bodies of classes have none


def fit():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    AveragedClassifier().fit(X, rng.random(300) < 0.5 / (1 + np.exp(-X[:, 0])))


def report():
    shutil.copy(ROOT / "examples" / "clinic.csv", ".")
    options = "--label diagnosed --ignore sick,patient --method naive --resamples 19"
    run("report clinic.csv", options)


def reproduce():
    Path("plan.toml").write_text(SMALL_PLAN + "[repetitions]\nfirst = 1\n")
    run("reproduce --plan plan.toml", "--datasets heart-c --jobs 1")


def run(*words):
    result = CliRunner().invoke(app, " ".join(words).split())
    assert result.exit_code == 0, result.output


def files_entered(action):
    """Files of the library in the order in which a function of each is first called."""
    entered = {}

    def note(frame, event, _):
        code = frame.f_code
        if event == "call" and code.co_flags & FUNCTION and code.co_name[0] != "<":
            entered.setdefault(code.co_filename)

    sys.setprofile(note)
    try:
        action()
    finally:
        sys.setprofile(None)
    paths = [Path(name) for name in entered]
    return [p.relative_to(SOURCE).as_posix() for p in paths if p.is_relative_to(SOURCE)]


def steps(title):
    """Files that the steps of a walk begin with."""
    walk = PAGE.split(f"### {title}")[1].split("\n#")[0]
    return re.findall(r"^\d+\. `([\w/]+\.py)`", walk, flags=re.MULTILINE)


@pytest.mark.parametrize(
    ("title", "action"),
    [
        ("A fit of AVERAGED", fit),
        ("`doublelogit report`", report),
        ("`doublelogit reproduce`", reproduce),
    ],
)
def test_walks_are_walked(title, action, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        order = files_entered(action)
    walk = steps(title)
    assert len(walk) > 5
    assert [step for step in walk if step not in order] == []
    assert walk == sorted(walk, key=order.index)


def test_the_picture_is_that_of_the_import_contract():
    assert PICTURE.read_text() == picture()


def test_every_room_has_a_line_in_the_table():
    table = re.findall(r"^\| (.*?) \|", PAGE, flags=re.MULTILINE)
    named = set(re.findall(r"`(\w+)(?:/|\.py)`", " ".join(table)))
    assert {room for floor in floors() for room in floor} <= named
