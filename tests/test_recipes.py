"""The recipes of CONTRIBUTING.md, followed to the letter."""

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from plans import SMALL_PLAN
from scipy.special import expit, logit
from sklearn.base import clone
from tables_of_tests import clinic

import doublelogit
from doublelogit import (
    NaiveClassifier,
    Report,
    Roles,
    TableClassifier,
    TwoModelsClassifier,
    registry,
)
from doublelogit.averaged import mechanisms, shapes
from doublelogit.averaged.coordinates import following
from doublelogit.averaged.expectation import TiedPair
from doublelogit.averaged.mechanisms import Arguments, Mechanism, Odds
from doublelogit.averaged.shapes import Components, Proposal, Shape
from doublelogit.core.rows import each_column, labelled_share, plus
from doublelogit.engines.memory import memory_rows
from doublelogit.estimators import serialization
from doublelogit.estimators.base import AbstractPUClassifier
from doublelogit.export import to_onnx
from doublelogit.findings import ATTENTION, Finding
from doublelogit.fitted import LinearPair, LinearSide, PosteriorSide
from doublelogit.fitted.fit import PUFit
from doublelogit.methods.logistic import label_model
from doublelogit.report import sections
from doublelogit.report.pictures import BLUE, Picture
from doublelogit.report.section import Section
from doublelogit.simulation import evaluate, simulate_labels
from doublelogit.studies.experiments import Store, load_plan, run
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


def even(share):
    """A sentence of ``findings/fit.py``."""
    text = f"{share:.0%} of the rows are labelled, and every second positive."
    return Finding(ATTENTION, "identification", text, {"share": share})


def test_a_finding_of_a_fit_is_a_sentence_and_one_line(half, monkeypatch):
    monkeypatch.setattr(
        HalfClassifier, "_findings", lambda _, problem, __: [even(labelled_share(problem.rows))]
    )
    table = Table.from_frame(clinic(400).drop(columns="sick"), "diagnosed")
    with pytest.warns(doublelogit.WeakIdentificationWarning, match="every second positive"):
        model = TableClassifier("diagnosed", "half").fit(table)
    sentence = even(table.s.mean()).text
    assert sentence in [finding.text for finding in model.findings_]
    report = Report(model, table, n_resamples=19)
    found = next(one for one in report.to_dict()["verdict"] if one["text"] == sentence)
    assert found["level"] == "attention"
    assert found["numbers"] == {"share": table.s.mean()}
    assert sentence in report.to_html()


OF_MINE = """
from sklearn.datasets import make_blobs
from sklearn.utils import Bunch
def load_blobs():
    X, y = make_blobs(300, centers=2, random_state=0)
    return Bunch(data=X, target=y)
"""


def test_a_data_set_is_a_function_and_an_entry_of_a_plan(tmp_path, monkeypatch):
    (tmp_path / "of_mine.py").write_text(OF_MINE)
    monkeypatch.syspath_prepend(tmp_path)
    entry = '[[datasets]]\nname = "blobs"\nload = "of_mine:load_blobs"\n'
    (tmp_path / "plan.toml").write_text(SMALL_PLAN + entry + "[repetitions]\nfirst = 1\n")
    store = Store(tmp_path)
    run(load_plan(tmp_path / "plan.toml"), "first", store, datasets=["blobs"])
    rows = store.frame()
    assert (rows["status"] == "ok").all()
    assert len(rows) == 6  # three label frequencies, two methods
    assert rows.groupby("method")["accuracy"].mean()["ORACLE"] > 0.9


class Halved:
    """A column of the engine below: an array in each place."""

    def __init__(self, *places):
        self.places = places


@dataclass(frozen=True)
class TwoHalves:
    """An engine of one file: rows in two places, each in memory there."""

    places: tuple[Any, Any]

    n_features = property(lambda self: self.places[0].n_features)
    labels = property(lambda self: self._column("labels"))
    weight = property(lambda self: self._column("weight"))
    cluster = None

    def _column(self, name):
        first, second = (vars(place)[name] for place in self.places)
        if not isinstance(first, tuple):
            return Halved(first, second)
        pairs = zip(first, second, strict=True)
        return type(first)(*(None if a is None else Halved(a, b) for a, b in pairs))

    def _each(self, verb, fn, columns):
        for i, place in enumerate(self.places):
            here = [each_column(lambda half, i=i: half.places[i], column) for column in columns]
            yield getattr(place, verb)(fn, *here)

    def sum_rows(self, fn, *columns):
        return plus(*self._each("sum_rows", fn, columns))

    def sum_columns(self, fn, *columns):
        return plus(*self._each("sum_columns", fn, columns))

    def map_rows(self, fn, *columns):
        return Halved(*self._each("map_rows", fn, columns))

    def map_columns(self, fn, *columns):
        return Halved(*self._each("map_columns", fn, columns))

    def collect(self, fn, *columns):
        return np.concatenate([*self._each("collect", fn, columns)])

    def scatter(self, values):
        n = len(self.places[0])
        return Halved(values[:n], values[n:])

    def restrict(self, _, *columns):
        return self, columns

    def centred(self, centre):
        return TwoHalves(tuple(place.centred(centre) for place in self.places))

    def thinned(self, _):
        return None


@pytest.mark.parametrize("model", [NaiveClassifier(), TwoModelsClassifier(tol=0, max_iter=3)])
def test_an_engine_is_a_class_with_the_verbs_of_rows(model, monkeypatch):
    rng = np.random.default_rng(1)
    X = rng.normal([0.0, 0.0, 9.0], size=(500, 3))  # the last column far from zero
    s = (rng.random(500) < 0.6 / (1 + np.exp(-X[:, 0]))).astype(float)
    whole = clone(model).fit(X, s)
    halves = TwoHalves((memory_rows(X[:200], s[:200]), memory_rows(X[200:], s[200:])))
    monkeypatch.setattr(type(model), "_labelled_rows", lambda *_: halves)
    other = clone(model)
    other.classes_ = np.array([0, 1])
    other.fit(X, s)
    np.testing.assert_allclose(other.coef_, whole.coef_, atol=1e-8)
    np.testing.assert_allclose(other.predict_hidden(X), whole.predict_hidden(X), atol=1e-8)


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


class Opposed(Mechanism):
    """A mechanism of one file: the less sure a positive is, the sooner it is labelled."""

    name = "opposed"
    words = "labels that avoid the surest"
    colour = "#123456"
    of_class = -0.5

    def odds(self, problem, settings):
        return (Odds(0.3, 0.5),) if problem.symmetric else ()

    def arguments(self, problem):
        pair = TiedPair(problem.outcome, self.of_class)
        return Arguments(pair, *following(problem, self.of_class))


@dataclass(frozen=True)
class Step:
    """The state of a shape of one file: a class that is common on one side of a plane."""

    line: np.ndarray
    ends: np.ndarray
    share: np.ndarray
    share_sd: np.ndarray
    lines = None

    constant = False

    @property
    def covariance(self):
        return np.full((len(self.share), 1, 1), 0.01)

    def features(self, X):
        return np.ones((X.shape[0], 1))

    def predictor(self, X):
        above = X @ self.line[:-1] + self.line[-1] > 0
        return np.where(above[:, None], self.ends[:, 1], self.ends[:, 0])

    def mean_predictor(self, X, weight):
        return self.predictor(X) @ weight

    def deviation(self, X):
        return np.full((X.shape[0], len(self.share)), 0.1)

    def for_new_rows(self):
        return self

    def beside(self, other, X):
        return self.predictor(X), other.predictor(X)

    def uncentred(self, shift):
        line = np.append(self.line[:-1], self.line[-1] - shift @ self.line[:-1])
        return replace(self, line=line)


class Steps(Shape):
    """A shape of one file."""

    name = "step"
    words = "a class in steps"
    colour = "#654321"
    records = (Step,)

    def proposed(self, problem, mean_s, lines, settings):
        line = lines.outcome.coef[np.argmax(lines.log_mass)]
        share = np.array([0.3, 0.9])
        outcome = Step(line, np.array([[-3.0, 1.0], [-2.0, 2.0]]), share, np.full(2, 0.05))
        names = ("opposed", "opposed")
        scales = np.zeros(2), np.ones(2)
        first = {name: column[[0, 0]] for name, column in vars(lines.propensity).items()}
        masses = np.log([0.75, 0.25])
        components = Components(names, *scales, masses, outcome, PosteriorSide(**first))
        return Proposal(np.full(len(lines.log_mass), 0.2), components)

    def graph(self, side, X, predictors):
        if isinstance(side, Step):
            raise TypeError("a graph cannot hold a class in steps.")
        return predictors(side, X)


@pytest.fixture
def two_axes(monkeypatch):
    """Both files and their lines in the tuples."""
    monkeypatch.setattr(mechanisms, "MECHANISMS", (*mechanisms.MECHANISMS, Opposed()))
    monkeypatch.setattr(shapes, "SHAPES", (*shapes.SHAPES, Steps()))
    monkeypatch.setitem(serialization.RECORDS, "Step", Step)


@pytest.mark.filterwarnings("ignore")
def test_a_mechanism_and_a_shape_are_a_file_each_and_everything_names_them(two_axes, tmp_path):
    words = {Opposed.words, Steps.words, "labels at random", "a class of any shape"}
    frame = clinic(250)
    model = TableClassifier(Roles("diagnosed", id="patient", ignore=("sick",))).fit(frame)
    inner = model.classifier_
    assert Opposed.name in inner.evidence_["mechanism"]
    assert Steps.name in inner.evidence_["shape"]
    assert inner.evidence_["weight"][inner.evidence_["shape"] == Steps.name].sum() > 0.1
    legend = [text.get_text() for text in inner.plot_prevalence().get_legend().get_texts()]
    diagnosis = str(model.infer(frame).diagnose())
    page = Report(model, frame, n_resamples=19, n_jobs=1).to_html()
    finding = next(one.text for one in model.findings_ if one.topic == "identification")
    for one in words:
        assert any(one in text for text in legend)
        assert one in diagnosis
        assert one in page
        assert one in finding
    inner.coef_interval()
    assert model.infer(frame).prevalence(by=frame["sick"])
    model.save(tmp_path / "axes.dlm")
    again = doublelogit.load(tmp_path / "axes.dlm")
    np.testing.assert_array_equal(again.classifier_.evidence_, inner.evidence_)
    assert again.predict(frame).equals(model.predict(frame))
    with pytest.raises(TypeError, match="a graph cannot hold a class in steps"):
        to_onnx(model)


@pytest.mark.parametrize("mechanism", [*mechanisms.MECHANISMS, Opposed()])
def test_every_mechanism_draws_labels_as_often_as_its_propensity_says(mechanism):
    rng = np.random.default_rng(0)
    y = np.repeat([0.2, 0.5, 0.9], 40_000)
    positive = (rng.random(len(y)) < y).astype(float)
    s = mechanism.draw(positive, y, np.full(len(y), -0.4), rng)
    assert s[positive == 0].max() == 0
    rates = [s[(y == one) & (positive == 1)].mean() for one in (0.2, 0.5, 0.9)]
    exact = expit(mechanism.of_class * logit([0.2, 0.5, 0.9]) - 0.4)
    np.testing.assert_allclose(rates, exact, atol=0.02)


def test_labels_of_several_sources_reach_kernels():
    """NaN is a source that did not look at the row."""
    s = np.array([[1, 0], [np.nan, 1], [0, 0], [0, np.nan]])
    rows = TwoHalves(tuple(memory_rows(np.zeros((2, 1)), half) for half in (s[:2], s[2:])))
    by_source = rows.sum_columns(lambda labels: np.nansum(labels.by_source, axis=0), rows.labels)
    np.testing.assert_array_equal(by_source, [1, 1])
    assert rows.sum_columns(lambda labels: labels.any.sum(), rows.labels) == 2
    with pytest.raises(ValueError, match="labels of one source for one class"):
        NaiveClassifier().fit(np.zeros((4, 1)), s)


def test_contributing_has_the_recipes_each_with_the_files_that_it_touches():
    text = (ROOT / "CONTRIBUTING.md").read_text()
    recipes = text.split("## Recipes")[1].split("\n## ")[0].split("### Add a")[1:]
    named = [re.match(r"n? ([\w ]+)", recipe)[1] for recipe in recipes]
    assert named == [
        "method",
        "rival",
        "mechanism",
        "shape",
        "label source",
        "finding",
        "section",
        "command",
        "data set",
        "engine",
    ]
    assert [recipe.count("*Files") for recipe in recipes] == [1] * len(recipes)
    package = Path(doublelogit.__file__).parent
    paths = re.findall(r"`([\w/]+/(?:\w+\.(?:py|md|json|csv))?)`", " ".join(recipes))
    missing = [p for p in paths if not ((ROOT / p).exists() or (package / p).exists())]
    assert [p for p in missing if not p.endswith("/mine.py")] == []
