"""TM SIMPLE: one posterior fit with the naive propensity.

Algorithm::

    s(x), e(x) <- NAIVE:  s_naive(x),  e_naive(x) = (s_naive(x) + 1) / 2
    OR(x)      <- (1-e)/e / ((1-s)/s)
    beta       <- logistic regression with soft targets: 1 if s = 1, else OR(x)
"""

import numpy as np

from doublelogit._types import Column, Floats
from doublelogit.core.likelihood import log_not, positive_given_unlabelled
from doublelogit.core.rows import Rows
from doublelogit.fitted import HalfwayLabel, LinearPair
from doublelogit.fitted.fit import PUFit
from doublelogit.methods.logistic import label_model, outcome_model
from doublelogit.methods.problem import Problem


def tm_simple(problem: Problem, *, tol: float = 1e-6, max_iter: int = 100) -> PUFit:
    """Fit the label, then the outcome with the weights that the naive propensity implies."""
    label = label_model(problem, tol=tol, max_iter=max_iter)
    first = label.solve(problem.rows.labels.any)
    a, log_not_e = naive_state(problem.rows, label.predictor())
    target = problem.rows.map_columns(soft_target, problem.rows.labels.known, a, log_not_e)
    model = outcome_model(problem, tol=tol, max_iter=max_iter)
    second = model.solve(target)
    pair = LinearPair(model.side(), HalfwayLabel(label.coef))
    converged = first.converged and second.converged
    return PUFit(pair, first.n_iter + second.n_iter, converged, (second.value,))


def naive_state(rows: Rows, label: Column) -> tuple[Column, Column]:
    """Logit of y and log(1 - e) of the naive start, from the logit of s_naive.

    e = (1+s)/2 leaves 1-e = (1-s)/2, and y = s/e leaves y/(1-y) = 2s/(1-s).

    Implements: e_naive
    """
    return (
        rows.map_columns(lambda z: z + np.log(2), label),
        rows.map_columns(lambda z: log_not(z) - np.log(2), label),
    )


def soft_target(known: Floats, a: Floats, log_not_e: Floats) -> Floats:
    """w_1 of the paper from the logit of y and log(1 - e): the class if known, else OR(x)."""
    return np.where(np.isnan(known), positive_given_unlabelled(a, log_not_e), known)
