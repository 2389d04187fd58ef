"""EM: SAR-EM, expectation-maximisation for the double logistic model (Bekker et al., 2019).

Algorithm::

    beta, gamma <- start
    repeat until stationary
        E   t_i   <- P(Y=1 | x_i, s_i) = 1 if s_i = 1, else y(1-e) / (1-ye)
        M   beta  <- logistic regression with soft targets t_i
            gamma <- logistic regression of s_i with weights t_i
    optionally, as the original code does:
        beta  <- logistic regression with targets s_i / e(x_i)

The M-step's two fits climb Q_n, which JOINT climbs directly: from one start they meet, unless the
start lies between several stationary points and their paths part.
Plain EM takes hundreds of rounds along a flat ridge, so the map (beta, gamma) -> M(E(beta,
gamma)) may be accelerated; that changes the path, not the stationary points.

M-steps are exact only where rounds are counted (``tol=0``, as published results are stated); on the
way to a stopping rule each leaves a thousandth of its gradient. Acceleration is off without a rule.
"""

import numpy as np
from scipy.special import log_expit

from doublelogit._types import Column, Floats
from doublelogit.core.likelihood import positive_given_label
from doublelogit.core.rows import Rows
from doublelogit.core.solvers import Anderson, largest, settled, stationary
from doublelogit.fitted.fit import PUFit
from doublelogit.methods.logistic import (
    INNER_TOL,
    Model,
    accurate,
    fitted_pair,
    outcome_model,
    propensity_model,
)
from doublelogit.methods.problem import Problem
from doublelogit.methods.start import fit_balanced, start

INEXACT = 0.001  # share of the gradient that an M-step may leave
# Newton steps of an M-step on the way to a stopping rule, more than one needs: a huge cell can ask
# for a hundred that gain nothing, in each of a thousand rounds.
MOST_STEPS = 10


def em(
    problem: Problem,
    *,
    init: str | Floats = "balanced",
    stopping: str = "gradient",
    accelerate: bool = False,
    refit: bool = False,
    tol: float = 1e-6,
    max_iter: int = 1000,
) -> PUFit:
    """EM with two logistic models, from a named start or from a given (beta, gamma)."""
    rows, likelihood = problem.rows, problem.likelihood
    valued = stopping == "objective"
    outcome = outcome_model(problem, valued=valued, again=True)
    propensity = propensity_model(problem, valued=False, again=True)
    theta = start(problem, init)
    accelerator = Anderson(memory=8 if accelerate else 0, scale=likelihood.scale)
    value, grad = likelihood.value_grad(theta)
    trace, fits = [value], [np.inf]
    converged = tol == 0
    for n_iter in range(1, max_iter + 1):
        outcome.theta, propensity.theta = likelihood.split(theta)
        if tol > 0:
            # rounds of a given number are exact; far from a stopping rule they need not be
            outcome.tol = propensity.tol = max(INNER_TOL, INEXACT * largest(grad, likelihood.unit))
            outcome.max_iter = propensity.max_iter = MOST_STEPS
        fits.append(_round(rows, outcome, propensity))
        image = np.concatenate([outcome.theta, propensity.theta])
        theta = accelerator.next(theta, image, trace[-1])
        value, grad = likelihood.value_grad(theta)
        trace.append(value)
        if _finished(stopping, tol, grad / likelihood.unit, fits):
            converged = True
            break
    outcome.theta, propensity.theta = likelihood.split(theta)
    if refit:
        outcome.fit(rows.map_columns(_inverse_propensity, rows.labels.any, propensity.predictor()))
    by_gradient = tol > 0 and stopping == "gradient"  # which tells the truth of any M-step
    converged = converged and (by_gradient or accurate(outcome, propensity))
    return PUFit(fitted_pair(outcome, propensity), n_iter, converged, tuple(trace))


def em_classifiers(
    problem: Problem,
    outcome: Model,
    propensity: Model,
    *,
    tol: float = 1e-6,
    max_iter: int = 1000,
) -> PUFit:
    """EM with any two models, from the balanced start; stops when the outcome fit settles."""
    fit_balanced(problem, outcome, propensity)
    trace: list[float] = [np.inf]
    converged = tol == 0
    for n_iter in range(1, max_iter + 1):
        trace.append(_round(problem.rows, outcome, propensity))
        if settled(trace, tol):
            converged = True
            break
    converged = converged and accurate(outcome, propensity)
    return PUFit(fitted_pair(outcome, propensity), n_iter, converged, tuple(trace[1:]))


def _round(rows: Rows, outcome: Model, propensity: Model) -> float:
    """E-step from the current pair, then both M-step fits; returns W_n reached."""
    a, b = outcome.predictor(), propensity.predictor()
    t: Column = rows.map_columns(positive_given_label, rows.labels.known, a, b)
    value = outcome.fit(t)
    propensity.fit(rows.labels.any, rows.map_columns(np.multiply, rows.weight, t))
    return value


def _finished(stopping: str, tol: float, grad: Floats, fits: list[float]) -> bool:
    if tol == 0:
        return False
    return stationary(grad, tol) if stopping == "gradient" else settled(fits, tol)


def _inverse_propensity(s: Floats, b: Floats) -> Floats:
    """Targets s/e: 1/e positive and 1 - 1/e (negative) copies of a labelled row."""
    return s * np.exp(-log_expit(b))
