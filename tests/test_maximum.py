"""Maxima of the likelihood are the same whatever finds them, and cost what they must."""

import numpy as np
import pytest
from scipy.special import expit

from doublelogit import JointClassifier, infer
from doublelogit.core.objective import DoubleLogisticObjective
from doublelogit.engines.memory import memory_rows
from doublelogit.methods import Problem, maximum
from doublelogit.methods.belief import Belief
from doublelogit.methods.start import naive_start


def sample(n, p, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    y = rng.random(n) < expit(2 * X[:, : p // 2].sum(axis=1) / np.sqrt(p) - 0.5)
    return X, (y & (rng.random(n) < expit(X[:, 0]))).astype(float)


@pytest.fixture
def hessians(monkeypatch):
    """Number of rows of every Hessian that was computed."""
    seen, hessian = [], DoubleLogisticObjective.value_grad_hess

    def counted(self, theta):
        seen.append(len(self.rows))
        return hessian(self, theta)

    monkeypatch.setattr(DoubleLogisticObjective, "value_grad_hess", counted)
    return seen


def test_with_more_coefficients_than_rows_no_hessian_is_needed(hessians, monkeypatch):
    X, s = sample(80, 60)
    problem = Problem(memory_rows(X, s), 1.0, 1.0)
    found = maximum.maximum(problem, naive_start(problem), tol=1e-8)
    assert hessians == []
    monkeypatch.setattr(maximum, "worth_hessians", lambda _: True)
    exact = maximum.maximum(problem, found.theta, tol=1e-10)  # there may be several
    assert hessians != []
    assert found.converged
    assert found.value == pytest.approx(exact.value, abs=1e-12)
    one, other = (problem.fitted(solution.theta).outcome_proba(X) for solution in (found, exact))
    np.testing.assert_allclose(one, other, atol=1e-6)


def test_first_steps_in_a_large_sample_see_some_of_the_rows(hessians):
    problem = Problem(memory_rows(*sample(9000, 3)), 1.0, 1.0)
    maximum.maximum(problem, naive_start(problem), tol=1e-6)
    assert set(hessians) == {2250, 9000}


def test_rough_hessians_of_a_believed_prevalence_are_nearly_right():
    rows = memory_rows(*sample(40_000, 3))
    objective = Problem(rows, 1.0, 1.0, beliefs=(Belief(0.4, 0.002),)).likelihood
    theta = np.full(8, 0.3)
    rough = objective.rough()
    assert rough is not None
    exact = objective.value_grad_hess(theta).hess
    assert np.abs(rough(theta) - exact).max() < 0.1 * np.abs(exact).max()
    plain = Problem(rows, 1.0, 1.0).likelihood.value_grad_hess(theta).hess
    assert np.abs(plain - exact).max() > 0.5 * np.abs(exact).max()  # the belief is most of it


def test_a_profile_with_more_coefficients_than_rows_is_walked_without_hessians(hessians):
    X, s = sample(90, 60)
    found = infer(JointClassifier(n_starts=1).fit(X, s), X, s)
    low, high = found.profile.interval()
    assert s.mean() <= low < high <= 1
    walked = sum(len(walk.drop) for walk in found.profile.walks)
    assert len(hessians) <= 4 < walked  # of the curvature at optima, which sets the first step
