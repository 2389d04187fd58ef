"""TM: two models fitted in turn (Furmanczyk et al., ECAI 2023).

Algorithm::

    s(x), e(x) <- NAIVE:  s_naive(x),  (s_naive(x) + 1) / 2
    repeat until W_n changes by less than tol, relatively
        beta  <- maximiser of W_n: soft targets 1 if s = 1, else OR = (1-e)/e / ((1-s)/s)
        y(x)  <- sigma(x'beta)
        P     <- labelled rows, and rows with y(x) > t, the alpha-quantile of y on labelled rows
        gamma <- maximiser of R_n: logistic regression of S on P
        e(x)  <- sigma(x'gamma)
                 floored by the last s(x)                         as released, not as written
        s(x)  <- e(x) y(x)
    beta  <- maximiser of W_n once more                           as released, not as written

A round is a map of (beta, gamma), which may be accelerated: that takes about half the rounds to
settle (``make -C benchmarks optima``), at another point than plain rounds where there are several.

The state between rounds is the logit a of y(x) and log(1 - e(x)), per row, with
OR = sigma(a + log(1-e)): the paper's weights in logarithms.

In logarithms the weights are finite even where e(x) = 1, and the naive start is exact: with
e = (1+s)/2, log(1-e) = log(1-s) - log 2 and logit y = logit s + log 2.
"""

from functools import partial

import numpy as np
from scipy.special import expit, logit

from doublelogit._types import Column, Floats
from doublelogit.core.likelihood import log_not, log_not_label
from doublelogit.core.rows import Rows, labelled_share
from doublelogit.core.selection import quantile_over
from doublelogit.core.solvers import Anderson, settled
from doublelogit.fitted.fit import PUFit
from doublelogit.methods.logistic import (
    LogisticModel,
    Model,
    accurate,
    fitted_pair,
    label_model,
    outcome_model,
    propensity_model,
)
from doublelogit.methods.problem import Problem
from doublelogit.methods.tm_simple import naive_state, soft_target

# Rows with equal features must fall on one side of t whatever the last digits of y(x) are.
TIED_PROBABILITIES = 1e-9
# Of a fit in a round: what it leaves moves probabilities of adult by 1e-7; at 3e-8 it is 1e-5, for
# rows begin to change sides of t.
ROUND_TOL = 1e-8


def tm(
    problem: Problem,
    *,
    outcome: Model | None = None,
    propensity: Model | None = None,
    label: Model | None = None,
    literal: bool = False,
    stratum_quantile: float | None = None,
    accelerate: bool = False,
    tol: float = 1e-6,
    max_iter: int = 1000,
) -> PUFit:
    """Alternate the two fits, as released or (``literal``) as the paper's text has it."""
    rows = problem.rows
    label = label or label_model(problem)
    outcome = outcome or outcome_model(problem, again=True, tol=ROUND_TOL)
    propensity = propensity or propensity_model(problem, valued=False, again=True, tol=ROUND_TOL)
    alpha = labelled_share(rows) if stratum_quantile is None else stratum_quantile

    label.fit(rows.labels.any)
    a, log_not_e = naive_state(rows, label.predictor())
    trace = [_fit_outcome(outcome, rows, a, log_not_e)]
    accelerator = Anderson(memory=3, scale=problem.likelihood.scale) if accelerate else None
    theta = None
    converged = tol == 0
    for n_iter in range(1, max_iter + 1):
        last, a = (a, log_not_e), outcome.predictor()
        labelled = rows.map_columns(np.multiply, rows.labels.any, rows.weight)
        t = quantile_over(rows, a, labelled, alpha, to=expit)
        del labelled  # a column more would count while the propensity is fitted
        inside = partial(_stratum, logit(min(t * (1 + TIED_PROBABILITIES), 1.0)))
        propensity.fit(rows.labels.any, rows.map_columns(inside, rows.labels.known, rows.weight, a))
        if accelerator:
            theta = _jump(accelerator, theta, outcome, propensity)
            a = outcome.predictor()
        b = propensity.predictor()
        log_not_e = rows.map_columns(log_not, b)
        if literal and n_iter == max_iter:
            break
        if not literal:
            log_not_e = rows.map_columns(_floor, log_not_e, b, *last)
        trace.append(_fit_outcome(outcome, rows, a, log_not_e))
        if settled(trace, tol):
            converged = True
            break
    converged = converged and accurate(label, outcome, propensity)
    return PUFit(fitted_pair(outcome, propensity), n_iter, converged, tuple(trace))


def _fit_outcome(outcome: Model, rows: Rows, a: Column, log_not_e: Column) -> float:
    return outcome.fit(rows.map_columns(soft_target, rows.labels.known, a, log_not_e))


def _jump(accelerator: Anderson, theta: Floats | None, outcome: Model, propensity: Model) -> Floats:
    """Move both models from theta, where the round began, beyond what the round made of it."""
    if not (isinstance(outcome, LogisticModel) and isinstance(propensity, LogisticModel)):
        raise TypeError("only two logistic models have coefficients to accelerate")
    image = np.concatenate([outcome.theta, propensity.theta])
    theta = image if theta is None else accelerator.next(theta, image)
    outcome.theta, propensity.theta = np.split(theta, [len(outcome.theta)])
    return theta


def _stratum(cut: float, known: Floats, weight: Floats, a: Floats) -> Floats:
    """Weight of a row in the estimated stratum Y=1: its own inside, zero outside."""
    return weight * np.where(np.isnan(known), a > cut, known == 1)


def _floor(log_not_e: Floats, b: Floats, a: Floats, last_log_not_e: Floats) -> Floats:
    """log(1 - max(e, s)) with the last s = y e from its a and log(1 - e).

    s is below both the last e and y, so only rows whose e is too need a closer look.
    """
    low = np.flatnonzero((log_not_e > last_log_not_e) & (b < a))
    log_not_s = log_not_label(a[low], last_log_not_e[low])
    floored = log_not_e.copy()  # a column is the engine's, and may be asked for again
    floored[low] = np.minimum(log_not_e[low], log_not_s)
    return floored
