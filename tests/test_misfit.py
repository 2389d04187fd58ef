"""What of a model the labels speak against."""

import numpy as np
import pytest
from scipy import sparse
from scipy.special import expit
from sklearn.base import clone

from doublelogit import (
    JointClassifier,
    infer,
)
from doublelogit.exceptions import MisfitWarning
from doublelogit.inference.misfit import worst_misfit


def test_labels_speak_against_a_class_that_is_no_straight_line():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(3000, 3))
    straight = {"outcome_features": [0, 1], "propensity_features": [2]}
    e_x = expit(X[:, 2])
    for bend, said in ((0.0, None), (1.0, ("shape", "x0"))):
        y = rng.random(3000) < expit(X[:, 0] + X[:, 1] + bend * (X[:, 0] ** 2 - 1))
        s = (y & (rng.random(3000) < e_x)).astype(int)
        worst = worst_misfit(infer(JointClassifier(**straight).fit(X, s), X, s).misfits)
        assert (worst and (worst.question, worst.feature)) == said


def test_labels_speak_against_a_column_left_out_of_a_model():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(4000, 3))
    y = rng.random(4000) < expit(1.5 * X[:, 0] + X[:, 1])
    s = (y & (rng.random(4000) < expit(X[:, 2] - 1.2 * X[:, 1]))).astype(int)
    model = JointClassifier(outcome_features=[0, 1], propensity_features=[2]).fit(X, s)
    with pytest.warns(MisfitWarning, match="labelling depends on 'x1'"):
        infer(model, X, s).prevalence()


def test_misfit_is_the_same_wherever_the_rows_are(identified):
    model, X, s, _ = identified
    dense = infer(model, X, s).misfits
    thin = sparse.csr_matrix(X)
    again = infer(clone(model).fit(thin, s), thin, s).misfits
    for one, other in zip(dense, again, strict=True):
        assert (one.question, one.feature) == (other.question, other.feature)
        assert one.p_value == pytest.approx(other.p_value, rel=1e-3)


def test_misfit_does_not_ask_what_a_two_valued_column_cannot_answer():
    rng = np.random.default_rng(6)
    X = np.column_stack([rng.integers(0, 2, 800), rng.normal(size=800)])
    s = rng.random(800) < 0.5 * expit(X @ [1.0, 1.0])
    model = JointClassifier(propensity_features=[], n_starts=1).fit(X, s)
    shapes = [m.feature for m in infer(model, X, s).misfits if m.question == "shape"]
    assert shapes == ["x1"]
