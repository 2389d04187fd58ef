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

from functools import partial

import numpy as np

from doublelogit._types import Column, Floats, Matrix
from doublelogit.design import predictor, pull_back
from doublelogit.fit import PUFit
from doublelogit.likelihood import expected_complete, positive_given_label
from doublelogit.methods.problem import Problem, full
from doublelogit.methods.start import start
from doublelogit.objective import penalised
from doublelogit.solvers import Adam, First, settled, stationary


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
    adam, units = Adam(learning_rate), StandardUnits(problem)
    trace: list[float] = []
    converged = tol == 0
    for n_iter in range(1, max_iter + 1):
        q = rows.derive(partial(_e_step, likelihood.coefficients(theta)), rows.known)
        value, grad = _criterion(problem, theta, q)
        trace.append(value)
        # here, at the E-step's own point, this is the gradient of Q_n (Fisher)
        rule_met = stationary(grad, tol) if stopping == "gradient" else settled(trace, tol)
        if tol > 0 and rule_met:
            converged = True
            break
        for step in range(steps):
            if step > 0:
                grad = _criterion(problem, theta, q).grad
            theta = theta + units.coefficients(adam.step(np.zeros_like(grad), units.gradient(grad)))
    return PUFit(*full(problem, theta), n_iter, converged, tuple(trace))


class StandardUnits:
    """Steps of equal size in coefficients of standardised features, whatever the units of X.

    With z = (w sd, b + w'mean) the predictor is that of (x - mean) / sd.
    """

    def __init__(self, problem: Problem) -> None:
        models = (problem.outcome, problem.propensity)
        self.cut = models[0].size
        self.mean = [m.take(np.append(problem.centre, 0.0))[:-1] for m in models]
        self.sd = [m.take(np.append(problem.spread, 1.0))[:-1] for m in models]

    def gradient(self, grad: Floats) -> Floats:
        """The gradient with respect to z."""
        halves = zip(np.split(grad, [self.cut]), self.mean, self.sd, strict=True)
        return np.concatenate([np.append((g[:-1] - m * g[-1]) / sd, g[-1]) for g, m, sd in halves])

    def coefficients(self, step: Floats) -> Floats:
        """The step of (w, b) that a step of z amounts to."""
        halves = zip(np.split(step, [self.cut]), self.mean, self.sd, strict=True)
        steps = ((z[:-1] / sd, z[-1], m) for z, m, sd in halves)
        return np.concatenate([np.append(w, b - m @ w) for w, b, m in steps])


def _e_step(coef: Floats, X: Matrix, known: Floats) -> Floats:
    a, b = predictor(X, coef).T
    return positive_given_label(known, a, b)


def _criterion(problem: Problem, theta: Floats, q: Column) -> First:
    """The M-step's criterion and its gradient, given the E-step's q."""
    rows, likelihood = problem.rows, problem.likelihood
    sums = rows.total(partial(_sums, likelihood.coefficients(theta)), rows.s, q, rows.weight)
    d_a, d_b = sums.grad.T
    grad = np.concatenate([problem.outcome.take(d_a), problem.propensity.take(d_b)])
    return penalised(likelihood, theta, sums.value, grad)


def _sums(coef: Floats, X: Matrix, s: Floats, q: Floats, weight: Floats) -> First:
    a, b = predictor(X, coef).T
    f = expected_complete(s, q, a, b)
    slopes = np.column_stack([weight * f.d_a, weight * f.d_b])
    return First(float(weight @ f.value), pull_back(X, slopes))
