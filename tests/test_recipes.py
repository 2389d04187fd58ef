"""The recipes of CONTRIBUTING.md, followed to the letter."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from tables_of_tests import clinic

from doublelogit import Report, TableClassifier, registry
from doublelogit.estimators.base import AbstractPUClassifier
from doublelogit.findings import ATTENTION, Finding
from doublelogit.fitted import LinearPair, LinearSide
from doublelogit.fitted.fit import PUFit
from doublelogit.methods.logistic import label_model
from doublelogit.report import sections
from doublelogit.report.pictures import BLUE, Picture
from doublelogit.report.section import Section
from doublelogit.simulation import evaluate, simulate_labels
from doublelogit.tables import Table

ROOT = Path(__file__).parent.parent


class HalfClassifier(AbstractPUClassifier):
    """A method of one file: the naive fit as the class, and every second positive labelled."""

    def __init__(self, *, C=1.0, pos_label=None):
        self.C = C
        self.pos_label = pos_label

    def _fit(self, problem, X):
        label = label_model(problem)
        solution = label.solve(problem.rows.labels.any)
        half = LinearSide(np.zeros_like(label.coef))
        return PUFit(LinearPair(label.side(), half), solution.n_iter, solution.converged)


@pytest.fixture
def half(monkeypatch):
    """The method's file and its line in the registry."""
    method = registry.Method("half", "half:HalfClassifier", assumes_scar=True, has_propensity=False)
    module = ModuleType(method.module)
    module.HalfClassifier = HalfClassifier
    monkeypatch.setitem(sys.modules, method.module, module)
    monkeypatch.setitem(registry.METHODS, method.name, method)
    monkeypatch.setitem(registry.CLASSIFIERS, method.class_name, method)
    return method


def test_a_method_is_one_file_and_one_line_of_the_registry(half, tmp_path):
    import doublelogit.estimators as estimators

    assert estimators.__getattr__("HalfClassifier") is HalfClassifier
    frame = clinic(400)
    table = Table.from_frame(frame.drop(columns="sick"), "diagnosed")
    model = TableClassifier("diagnosed", "half").fit(table)
    assert np.allclose(model.predict(table)["propensity"], 0.5)
    model.save(tmp_path / "half.dlm")
    made = simulate_labels(frame, "sick", ignore=("patient", "diagnosed"))
    assert "half" in {score.method for score in evaluate(made)}


def far_away(analysis):
    distance = analysis.table.features["distance"]
    return {"far_away": {"share": float((distance > 1).mean()), "largest": distance.max()}}


def far_away_findings(_, numbers):
    text = f"{numbers['far_away']['share']:.0%} of the patients live far away."
    return [Finding(ATTENTION, "data", text, numbers["far_away"])]


def far_away_plot(ax, summary):
    ax.barh([0], [summary["far_away"]["share"]], color=BLUE)
    return True


def test_a_finding_with_a_picture_is_one_file_and_one_line_of_the_sections(monkeypatch, tmp_path):
    picture = Picture(far_away_plot, words="Patients who live far away.")
    section = Section("far", "Far away", far_away, far_away_findings, pictures={"far_bar": picture})
    monkeypatch.setattr(sections, "SECTIONS", (*sections.SECTIONS, section))
    table = Table.from_frame(clinic(400).drop(columns="sick"), "diagnosed")
    report = Report(TableClassifier("diagnosed", "naive").fit(table), table, n_resamples=19)
    numbers = json.loads(report.write_html(tmp_path / "report.html").read_text())
    page = (tmp_path / "report.html").read_text()
    sentence = report.findings[-1].text
    assert "of the patients live far away." in sentence
    assert numbers["far_away"]["share"] == pytest.approx(0.16, abs=0.03)
    assert numbers["verdict"][-1]["text"] == sentence
    assert [f.text for f in report.checks()["Far away"]] == [sentence]
    assert page.count(sentence) == 1
    assert '<h2 id="far-title">Far away</h2>' in page
    assert '<a href="#far">Far away</a>' in page
    after = page[page.index('id="far"') :]
    assert after.index("<svg") < after.index("Patients who live far away.</figcaption>")


def test_sections_do_not_take_each_others_keys(monkeypatch):
    section = Section("again", "Again", lambda _: {"caution": ""})
    monkeypatch.setattr(sections, "SECTIONS", (*sections.SECTIONS, section))
    table = Table.from_frame(clinic(400).drop(columns="sick"), "diagnosed")
    report = Report(TableClassifier("diagnosed", "naive").fit(table), table, n_resamples=19)
    with pytest.raises(ValueError, match="section 'again' repeats caution"):
        report.to_dict()


COMMAND = """
\"\"\"``doublelogit wave``: a command of one file.\"\"\"
import typer
EXAMPLE = "Example: doublelogit wave --times 2"
def wave(times: int = 1) -> None:
    \"\"\"Wave.\"\"\"
    typer.echo("wave " * times)
"""


def test_a_command_is_one_file(tmp_path):
    """In another process, whose package of commands has a further folder."""
    (tmp_path / "wave.py").write_text(COMMAND)
    run = """
import sys, pkgutil
class More:
    def find_spec(self, name, path=None, target=None):
        if name == "doublelogit.cli.app":
            sys.modules["doublelogit.cli"].__path__.append(FOLDER)
sys.meta_path.insert(0, More())
from doublelogit.cli import app
app(sys.argv[1:])
""".replace("FOLDER", repr(str(tmp_path)))

    def printed(*arguments):
        code = [sys.executable, "-c", run, *arguments]
        done = subprocess.run(code, capture_output=True, text=True, env={**os.environ})
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert printed("wave", "--times", "2").split() == ["wave", "wave"]
    assert "Example: doublelogit wave" in printed("wave", "--help")
    listed = re.findall(r"^[^\w-]*(\w+) {2,}", printed("--help"), flags=re.MULTILINE)
    assert listed[:3] == ["demo", "check", "report"]
    assert "wave" in listed


def test_contributing_has_the_recipes():
    text = (ROOT / "CONTRIBUTING.md").read_text()
    assert re.findall(r"### Add an? (\w+)", text) == [
        "method",
        "rival",
        "data",
        "engine",
        "command",
        "section",
    ]
