"""LBE: labelling bias estimation (Gong et al., 2021), with logistic h = y(x) and eta = e(x).

Algorithm::

    h <- NAIVE;  eta <- 1/2
    repeat
        E   q_i <- P(Y=1 | x_i, s_i) = 1 if s_i = 1, else y(1-e) / (1-ye)
        M   a few Adam steps down
            -[q log h + (1-q) log(1-h)] - q [s log eta + (1-s) log(1-eta)]

It is EM with gradient steps for an M-step. The number of steps is its regulariser: a
thousand steps of 1e-3 move no coefficient of a standardised feature by more than about one.
"""

from collections.abc import Callable
from functools import partial

import numpy as np

from doublelogit._types import Column, Floats, Matrix
from doublelogit.core.design import predictor
from doublelogit.core.labels import Labels
from doublelogit.core.likelihood import expected_complete, positive_given_label
from doublelogit.core.objective import PairGradient, penalised, pulled_back
from doublelogit.core.solvers import Adam, ValueGrad, settled, stationary
from doublelogit.fitted.fit import PUFit
from doublelogit.methods.problem import Problem
from doublelogit.methods.start import start


def lbe(
    problem: Problem,
    *,
    init: str | Floats = "half",
    learning_rate: float = 1e-3,
    steps: int = 1,
    stopping: str = "gradient",
    tol: float = 0.0,
    max_iter: int = 1000,
) -> PUFit:
    """Alternate the E-step and ``steps`` Adam steps, from a named start or a given one."""
    rows, likelihood = problem.rows, problem.likelihood
    theta = start(problem, init)
    adam, standard = Adam(learning_rate), _standard_steps(problem)
    trace: list[float] = []
    converged = tol == 0
    for n_iter in range(1, max_iter + 1):
        value, grad = _criterion(problem, theta, rows.labels.known)  # the E-step in the same pass
        trace.append(value)
        # here, at the E-step's own point, this is the gradient of Q_n (Fisher)
        rule_met = (
            stationary(grad, tol, likelihood.unit)
            if stopping == "gradient"
            else settled(trace, tol)
        )
        if tol > 0 and rule_met:
            converged = True
            break
        if steps > 1:
            q = rows.map_rows(partial(_e_step, *likelihood.coefficients(theta)), rows.labels.known)
        for step in range(steps):
            if step > 0:
                grad = _criterion(problem, theta, q).grad
            theta = theta + standard(adam, grad)
    return PUFit(problem.fitted(theta), n_iter, converged, tuple(trace))


def _standard_steps(problem: Problem) -> Callable[[Adam, Floats], Floats]:
    """Steps of equal size in coefficients of standardised features, whatever the units of X.

    With z = (w sd, b + w'mean) the predictor is that of (x - mean) / sd.
    """
    models = (problem.outcome, problem.propensity)
    mean = np.concatenate([m.take(np.append(problem.centre, 0.0)) for m in models])
    sd = np.concatenate([m.take(np.append(problem.spread, 1.0)) for m in models])
    sizes = [m.size for m in models]
    starts, ends = np.array([0, sizes[0]]), np.cumsum(sizes) - 1
    intercept = np.repeat(ends, sizes)  # of each coefficient's model

    def of_coefficients(adam: Adam, grad: Floats) -> Floats:
        """The step of (w, b) that Adam's step of z amounts to."""
        by_z = (grad - mean * grad[intercept]) / sd
        step = adam.step(np.zeros_like(grad), by_z) / sd
        step[ends] -= np.add.reduceat(mean * step, starts)
        return step

    return of_coefficients


def _e_step(beta: Floats, gamma: Floats, X: Matrix, known: Floats) -> Floats:
    return positive_given_label(known, predictor(X, beta), predictor(X, gamma))


def _criterion(problem: Problem, theta: Floats, q: Column) -> ValueGrad:
    """The M-step's criterion and its gradient, given q; where q is NaN the E-step is made here."""
    rows, likelihood = problem.rows, problem.likelihood
    sums = rows.sum_rows(
        partial(_sums, *likelihood.coefficients(theta)), rows.labels.any, q, rows.weight
    )
    grad = likelihood.gathered(sums.d_beta, sums.d_gamma)
    return penalised(likelihood.ridge, likelihood.n, theta, sums.value, grad)


def _sums(
    beta: Floats, gamma: Floats, X: Matrix, s: Floats, q: Floats, weight: Floats
) -> PairGradient:
    return pulled_back(
        X, expected_complete(Labels(s, q), predictor(X, beta), predictor(X, gamma)), weight
    )
