"""Every solver on every problem it is for."""

import numpy as np
import pytest
from scipy.optimize import check_grad

from doublelogit.core.design import Terms
from doublelogit.core.objective import LogisticObjective
from doublelogit.core.solvers import (
    Adam,
    Anderson,
    Factor,
    ValueGrad,
    ValueGradHess,
    lbfgs,
    newton,
    trust_region,
)


class Quadratic:
    """A convex bowl with curvatures from 1e-3 to 1e3."""

    def __init__(self, p=6, seed=0):
        rng = np.random.default_rng(seed)
        Q = np.linalg.qr(rng.normal(size=(p, p)))[0]
        self.H = Q @ np.diag(np.logspace(-3, 3, p)) @ Q.T
        self.optimum = rng.normal(size=p)
        self.scale = np.sqrt(np.diag(self.H))
        self.unit = np.ones(p)

    def gradient(self, theta):
        return self.H @ (theta - self.optimum)

    def value_grad(self, theta):
        d = theta - self.optimum
        return ValueGrad(0.5 * d @ self.H @ d, self.H @ d)

    def value_grad_hess(self, theta):
        return ValueGradHess(*self.value_grad(theta), self.H)


class Saddle:
    """x^4/4 - x^2/2 + y^2: minima at x = +-1, a saddle at the origin."""

    scale = unit = np.ones(2)

    def value_grad(self, theta):
        x, y = theta
        return ValueGrad(x**4 / 4 - x**2 / 2 + y**2, np.array([x**3 - x, 2 * y]))

    def gradient(self, theta):
        return self.value_grad(theta).grad

    def value_grad_hess(self, theta):
        return ValueGradHess(*self.value_grad(theta), np.diag([3 * theta[0] ** 2 - 1, 2.0]))


@pytest.fixture
def logistic_objective(sample):
    problem = sample.problem(l2=1.0)
    rows, terms = problem.rows, problem.outcome
    return LogisticObjective(rows, terms, rows.labels.any, rows.weight, problem.n, 1.0)


@pytest.mark.parametrize("solver", [newton, trust_region, lbfgs])
def test_solvers_find_the_bottom_of_a_bowl(solver):
    bowl = Quadratic()
    solution = solver(bowl, np.zeros(6), tol=1e-8, max_iter=500)
    assert solution.converged
    assert solution.grad_norm <= 1e-8
    np.testing.assert_allclose(solution.theta, bowl.optimum, atol=1e-4)


@pytest.mark.parametrize(("solver", "tol"), [(newton, 1e-13), (trust_region, 1e-13), (lbfgs, 1e-7)])
def test_solvers_fit_a_logistic_regression(solver, tol, logistic_objective):
    solution = solver(logistic_objective, np.zeros(5), tol=tol)
    assert solution.converged
    assert np.abs(logistic_objective.gradient(solution.theta)).max() <= tol
    assert solution.value == pytest.approx(logistic_objective.value_grad(solution.theta).value)


def test_newton_needs_no_hessian_near_a_former_solution(logistic_objective, monkeypatch):
    first = newton(logistic_objective, np.zeros(5), tol=1e-10)
    monkeypatch.setattr(LogisticObjective, "value_grad_hess", None)  # calling it would fail
    again = newton(logistic_objective, first.theta + 1e-3, tol=1e-10, factor=first.factor)
    assert again.converged
    np.testing.assert_allclose(again.theta, first.theta, atol=1e-8)


def test_trust_region_leaves_a_saddle():
    solution = trust_region(Saddle(), np.array([0.0, 0.5]), tol=1e-10)
    assert solution.converged
    assert abs(solution.theta[0]) == pytest.approx(1)
    assert np.all(np.diff(solution.trace) <= 0)


def test_trust_region_reports_running_out_of_iterations():
    solution = trust_region(Saddle(), np.array([5.0, 5.0]), tol=1e-10, max_iter=1)
    assert not solution.converged


def test_factor_solves_singular_systems_by_the_shortest_solution():
    matrix = np.diag([2.0, 0.0])
    np.testing.assert_allclose(Factor.from_matrix(matrix).solve(np.array([4.0, 0.0])), [2, 0])


def test_corrections_teach_the_factor_the_true_curvature():
    bowl = Quadratic(p=3)
    factor = Factor.from_matrix(np.eye(3))
    for step in np.eye(3):
        factor = factor.corrected(step, bowl.H @ step)
    last = np.eye(3)[-1]
    np.testing.assert_allclose(factor.solve(bowl.H @ last), last, atol=1e-12)


def test_anderson_reaches_a_linear_fixed_point_in_as_many_steps_as_dimensions():
    A, c = np.diag([0.99, 0.9, 0.5]), np.ones(3)
    theta, accelerator = np.zeros(3), Anderson(memory=5, scale=1e-3)
    for _ in range(6):
        theta = accelerator.next(theta, A @ theta + c)
    np.testing.assert_allclose(theta, c / (1 - np.diag(A)), rtol=1e-6)


def test_anderson_without_memory_is_the_plain_iteration():
    assert Anderson(memory=0).next(np.zeros(1), np.array([3.0]))[0] == 3.0


def test_anderson_drops_a_point_that_made_things_worse():
    accelerator = Anderson()
    accelerator.next(np.zeros(1), np.array([1.0]), merit=1.0)
    assert accelerator.next(np.array([9.0]), np.array([8.0]), merit=2.0)[0] == 1.0


def test_adam_takes_a_first_step_of_the_learning_rate_against_the_sign():
    step = Adam(learning_rate=0.1).step(np.zeros(2), np.array([5.0, -0.01]))
    np.testing.assert_allclose(step, [-0.1, 0.1], rtol=1e-5)


@pytest.mark.parametrize("columns", [None, [0, 2], []])
def test_objectives_derive_correctly_with_any_terms(double_logistic_sample, columns):
    sample = double_logistic_sample(n=300)
    rows = sample.problem().rows
    terms = Terms(4, None if columns is None else np.array(columns, dtype=int))
    weight = np.random.default_rng(0).random(300)
    objective = LogisticObjective(rows, terms, sample.y_x, weight, 300.0, 1.0)
    check_derivatives(objective, np.random.default_rng(1).normal(size=terms.size))


@pytest.mark.parametrize("columns", [None, [0, 2], []])
def test_double_objective_derives_correctly_with_any_terms(double_logistic_sample, columns):
    from doublelogit.methods import Problem

    sample = double_logistic_sample(n=300)
    audited = np.where(np.random.default_rng(0).random(300) < 0.1, sample.y, np.nan)
    rows = sample.problem(audited=audited).rows
    terms = Terms(4, None if columns is None else np.array(columns, dtype=int))
    problem = Problem(rows, 1.0, 2.0, propensity=terms)
    theta = np.random.default_rng(1).normal(size=5 + terms.size)
    check_derivatives(problem.likelihood, theta)


def check_derivatives(objective, theta):
    error = check_grad(
        lambda t: objective.value_grad(t).value,
        lambda t: objective.gradient(t),
        theta,
        epsilon=1e-6,
    )
    assert error < 1e-5
    value, grad, hess = objective.value_grad_hess(theta)
    assert value == pytest.approx(objective.value_grad(theta).value)
    np.testing.assert_allclose(grad, objective.gradient(theta), atol=1e-14)
    np.testing.assert_allclose(hess, hess.T, atol=1e-14)
    for j, direction in enumerate(np.eye(len(theta))):
        h = 1e-5
        numeric = objective.gradient(theta + h * direction) - objective.gradient(
            theta - h * direction
        )
        np.testing.assert_allclose(hess[j], numeric / (2 * h), atol=1e-8)
