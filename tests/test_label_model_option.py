"""``label_model=`` and ``--label-model``: one name for what a class of any shape follows."""

import json

import numpy as np
import pytest
import typer
from sklearn.tree import DecisionTreeClassifier
from tables_of_tests import clinic
from typer.testing import CliRunner

from doublelogit import AveragedClassifier, Report, Roles, TableClassifier, TableError, load
from doublelogit.cli import app
from doublelogit.label_models import AUTO, KINDS
from doublelogit.registry import LABEL_MODELS, LINES, METHODS
from doublelogit.report import comparison
from doublelogit.report.comparison import compare_methods
from doublelogit.report.sections import drivers
from doublelogit.table_models.table_model import label_model_settings
from doublelogit.tables import Table

ROLES = Roles("diagnosed", ignore=("sick", "patient"))
TREE = DecisionTreeClassifier(max_depth=2)


def fitted(label_model, n=150):
    return TableClassifier(ROLES, label_model=label_model).fit(clinic(n))


def test_every_kind_has_a_name_on_the_command_line():
    assert (AUTO, *KINDS, LINES) == LABEL_MODELS


@pytest.mark.parametrize(
    ("label_model", "settings"),
    [
        ("auto", {}),
        ("lines", {"shape": "line"}),
        ("trees", {"label_model": "trees"}),
        (["splines", "forest"], {"label_model": ["splines", "forest"]}),
        (TREE, {"label_model": TREE}),
    ],
)
def test_a_label_model_is_a_parameter_of_the_default(label_model, settings):
    assert label_model_settings(METHODS["averaged"], label_model) == settings
    assert settings.keys() <= AveragedClassifier().get_params().keys()


def test_the_classifier_of_a_table_is_told():
    lines, trees = fitted("lines"), fitted("splines")
    assert lines.classifier_.shape == "line"
    assert trees.classifier_.label_model == "splines"
    assert not lines.fitted_.bends
    assert trees.fitted_.bends


@pytest.mark.parametrize("label_model", ["lines", "logistic", "auto"])
def test_a_file_keeps_the_label_model(label_model, tmp_path):
    model = fitted(label_model)
    model.save(tmp_path / "model.dlm")
    again = load(tmp_path / "model.dlm")
    assert again.label_model == label_model
    expected = model.predict(clinic(150))["hidden"]
    np.testing.assert_array_equal(again.predict(clinic(150))["hidden"], expected)


def test_other_methods_refuse_a_label_model():
    with pytest.raises(TableError, match=r"joint has no model of the label; .* one of averaged"):
        TableClassifier(ROLES, "joint", label_model="trees").fit(clinic(100))
    assert label_model_settings(METHODS["joint"], "auto") == {}


def test_a_label_model_that_there_is_not_gets_a_sentence():
    with pytest.raises(ValueError, match=r"label_model must be 'auto', one of .*got 'bushes'"):
        fitted("bushes")


def test_compare_gives_the_label_model_to_the_default_alone(monkeypatch):
    asked = []
    monkeypatch.setattr(comparison, "COMPARED", comparison.COMPARED[:2])
    original = comparison.classifier_for

    def noted(method, roles, encoding, known):
        asked.append((method.name, original(method, roles, encoding, known).get_params()))
        return original(method, roles, encoding, known)

    monkeypatch.setattr(comparison, "classifier_for", noted)
    table = Table.from_frame(clinic(200), ROLES)
    compare_methods(table, label_model="lines", n_resamples=19, progress=lambda *_: None)
    assert [name for name, _ in asked] == ["averaged", "joint"]
    assert asked[0][1]["shape"] == "line"
    assert "shape" not in asked[1][1]


@pytest.mark.parametrize("command", ["fit", "rank", "report", "check", "compare", "audit"])
def test_every_command_that_fits_has_the_option(command):
    commands = typer.main.get_command(app).commands
    assert "label_model" in [parameter.name for parameter in commands[command].params]


def test_the_command_line_fits_with_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    clinic(150).to_csv("t.csv", index=False)
    words = ["fit", "t.csv", "--label", "diagnosed", "--ignore", "sick,patient", "--json"]
    done = CliRunner().invoke(app, [*words, "--label-model", "lines"])
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["label_model"] == "lines"
    assert load("t.dlm").classifier_.shape == "line"
    wrong = CliRunner().invoke(app, [*words, "--label-model", "bushes"])
    assert wrong.exit_code == 2
    assert "'bushes' is not one of auto, logistic" in wrong.output
    refused = CliRunner().invoke(app, [*words, "--method", "tm", "--label-model", "trees"])
    assert refused.exit_code == 3
    assert "--label-model needs one of averaged" in refused.output


@pytest.mark.parametrize(("label_model", "drawn"), [("auto", True), ("lines", False)])
def test_a_page_draws_the_shapes_of_a_class_that_may_bend(label_model, drawn):
    analysis = Report(fitted(label_model, 300), clinic(300)).analysis
    shapes = drivers.compute(analysis)["shapes"]
    assert shapes.keys() == {"outcome", "labelling"}
    assert bool(shapes["outcome"]) == drawn
    for shape in shapes["outcome"]:
        assert shape["column"] in {"age", "bmi", "distance"}
        assert len(shape["share"]) == len(shape["straight"]) == len(shape["quantile"])
        assert np.ptp(shape["share"]) > 0
