"""Fits end in a time that can be foreseen, and leave what they were given as it was."""

from importlib import import_module

import numpy as np
import pytest

from doublelogit import EMClassifier
from doublelogit.methods import logistic
from doublelogit.methods.em import MOST_STEPS
from doublelogit.studies.registry import RIVALS

RIVAL_CLASSES = [vars(import_module(m.module))[m.class_name] for m in RIVALS.values()]


def sample(n=400):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 4))
    y = rng.random(n) < 1 / (1 + np.exp(-2 * X[:, 0]))
    return X, (y & (rng.random(n) < 0.5)).astype(int)


@pytest.mark.filterwarnings("ignore:EMClassifier did not meet its stopping rule")
@pytest.mark.parametrize("cell", [1e8, 1e15, 1e50])
def test_a_feature_that_is_one_huge_cell_does_not_hold_em_back(cell, monkeypatch):
    """Each of a thousand rounds took two hundred steps that gained nothing: half a minute."""
    X, s = sample()
    X[:, 1] = 0.0
    X[np.flatnonzero(s == 1)[0], 1] = cell
    steps = []

    def counted(*arguments, solve=logistic.newton, **options):
        solution = solve(*arguments, **options)
        steps.append(solution.n_iter)
        return solution

    monkeypatch.setattr(logistic, "newton", counted)
    model = EMClassifier(max_iter=100).fit(X, s)
    assert np.isfinite(model.predict_positive(X)).all()
    assert max(steps[4:]) <= MOST_STEPS  # after the fits that EM starts from


@pytest.mark.parametrize("kind", RIVAL_CLASSES, ids=lambda kind: kind.__name__)
def test_a_fit_leaves_the_parameters_of_a_rival_as_they_are(kind):
    X, s = sample()
    model = kind() if "prevalence" not in kind().get_params() else kind(prevalence=0.5)
    before = dict(vars(model))
    model.fit(X, s)
    after = {name: vars(model)[name] for name in before}
    assert all(after[name] is value for name, value in before.items())
    assert all(name.endswith("_") or name.startswith("_") for name in set(vars(model)) - {*before})
