"""The recipes of CONTRIBUTING.md, followed to the letter."""

import re
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from tables_of_tests import clinic

from doublelogit import TableClassifier, registry
from doublelogit.estimators.base import AbstractPUClassifier
from doublelogit.fitted import LinearPair, LinearSide
from doublelogit.fitted.fit import PUFit
from doublelogit.methods.logistic import label_model
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


def test_contributing_has_the_recipes():
    text = (ROOT / "CONTRIBUTING.md").read_text()
    assert re.findall(r"### Add an? (\w+)", text) == [
        "method",
        "rival",
        "data",
        "engine",
        "command",
    ]
