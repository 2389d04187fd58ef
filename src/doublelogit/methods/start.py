"""Where EM, LBE and JOINT start: the likelihood has several stationary points.

naive     beta <- NAIVE, gamma <- logistic fit of e_naive(x)                      the paper
balanced  beta <- S with weights (1 - mean S) on labelled rows, mean S on others  SAR-EM
          gamma <- S with weights s + (1-s) y(x)
half      beta <- NAIVE, gamma <- 0, that is e(x) = 1/2                           LBE
"""

from collections.abc import Callable

import numpy as np
from scipy.special import expit

from doublelogit._types import Floats
from doublelogit.core.rows import labelled_share
from doublelogit.methods.logistic import Model, label_model, logistic_models
from doublelogit.methods.problem import Problem


def start(problem: Problem, init: str | Floats) -> Floats:
    """(beta, gamma) as one vector: of a named start, or as given."""
    return STARTS[init](problem) if isinstance(init, str) else np.asarray(init, dtype=float)


def naive_start(problem: Problem) -> Floats:
    """The naive model of the label, and the propensity halfway between s(x) and one."""
    rows = problem.rows
    outcome, propensity = logistic_models(problem)
    outcome.fit(rows.labels.any)
    label = outcome
    if not problem.label.same(problem.outcome):
        label = label_model(problem)
        label.fit(rows.labels.any)
    propensity.fit(rows.map_columns(lambda z: (expit(z) + 1) / 2, label.predictor()))
    return np.concatenate([outcome.theta, propensity.theta])


def balanced_start(problem: Problem) -> Floats:
    """The start of SAR-EM."""
    outcome, propensity = logistic_models(problem)
    fit_balanced(problem, outcome, propensity)
    return np.concatenate([outcome.theta, propensity.theta])


def half_start(problem: Problem) -> Floats:
    """The naive model of the label, and a propensity of one half."""
    outcome, propensity = logistic_models(problem)
    outcome.fit(problem.rows.labels.any)
    return np.concatenate([outcome.theta, propensity.theta])


def fit_balanced(problem: Problem, outcome: Model, propensity: Model) -> None:
    """The first fits of SAR-EM, on the models given."""
    rows = problem.rows
    mean_s = labelled_share(rows)

    def balanced(s: Floats, weight: Floats) -> Floats:
        return weight * np.where(s == 1, 1 - mean_s, mean_s)

    outcome.fit(rows.labels.any, rows.map_columns(balanced, rows.labels.any, rows.weight))
    propensity.fit(
        rows.labels.any,
        rows.map_columns(_positive, rows.labels.known, rows.weight, outcome.predictor()),
    )


def _positive(known: Floats, weight: Floats, a: Floats) -> Floats:
    return weight * np.where(np.isnan(known), expit(a), known)


STARTS: dict[str, Callable[[Problem], Floats]] = {
    "naive": naive_start,
    "balanced": balanced_start,
    "half": half_start,
}
