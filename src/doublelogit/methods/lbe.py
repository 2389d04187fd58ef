"""LBE: labelling bias estimation (Gong et al., 2021), with logistic h = y(x) and eta = e(x).

Algorithm::

    h <- NAIVE;  eta <- 1/2
    repeat
        E   q_i <- P(Y=1 | x_i, s_i) = 1 if s_i = 1, else y(1-e) / (1-ye)
        M   a few Adam steps down
            -[q log h + (1-q) log(1-h)] - q [s log eta + (1-s) log(1-eta)]

It is EM with gradient steps for an M-step. The number of steps is its regulariser: a
thousand steps of 1e-3 move no coefficient by more than about one.
"""

from functools import partial

import numpy as np

from doublelogit._types import Floats, Matrix
from doublelogit.design import predictor, pull_back
from doublelogit.fit import PUFit
from doublelogit.likelihood import expected_complete, logistic_slope, positive_given_label
from doublelogit.methods.problem import Problem, full
from doublelogit.methods.start import start
from doublelogit.objective import penalised
from doublelogit.solvers import Adam, First, stationary


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
    adam = Adam(learning_rate)
    trace: list[float] = []
    converged = tol == 0
    for n_iter in range(1, max_iter + 1):
        q = rows.derive(partial(_e_step, likelihood.coefficients(theta)), rows.known)
        for step in range(steps):
            fn = partial(_criterion, likelihood.coefficients(theta))
            sums = rows.total(fn, rows.s, q, rows.weight)
            d_a, d_b = sums.grad.T
            grad = np.concatenate([problem.outcome.take(d_a), problem.propensity.take(d_b)])
            value, grad = penalised(likelihood, theta, sums.value, grad)
            if step == 0:  # at the E-step's own point this is the gradient of Q_n (Fisher)
                trace.append(value)
                done = tol > 0 and _finished(stopping, tol, grad, trace)
            theta = theta if done else adam.step(theta, grad)
        if done:
            converged = True
            break
    return PUFit(*full(problem, theta), n_iter, converged, tuple(trace))


def _e_step(coef: Floats, X: Matrix, known: Floats) -> Floats:
    a, b = predictor(X, coef).T
    return positive_given_label(known, a, b)


def _criterion(coef: Floats, X: Matrix, s: Floats, q: Floats, weight: Floats) -> First:
    a, b = predictor(X, coef).T
    slopes = np.column_stack([logistic_slope(a, q), q * logistic_slope(b, s)])
    value = float(weight @ expected_complete(s, q, a, b))
    return First(value, pull_back(X, weight[:, None] * slopes))


def _finished(stopping: str, tol: float, grad: Floats, trace: list[float]) -> bool:
    if stopping == "gradient":
        return stationary(grad, tol)
    return len(trace) > 1 and abs(trace[-1] - trace[-2]) < tol * abs(trace[-2])
