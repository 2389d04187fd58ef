"""The prevalence and the label frequency as functions of theta = (beta, gamma).

    pi = mean y(x)                   P(Y=1)
    c  = mean y(x) e(x) / pi         P(S=1 | Y=1)

A share mean S = c pi + r (1 - pi) of all rows is labelled, r the probability that a negative is
labelled: given a sample, the prevalence tells the label frequency and the other way round.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from doublelogit._types import Floats, Matrix
from doublelogit.core.design import pull_back
from doublelogit.core.likelihood import PairLoss
from doublelogit.core.link import Response
from doublelogit.core.objective import DoubleLogisticObjective, Pair, four_blocks
from doublelogit.core.solvers import ValueGrad, ValueGradHess

# A probability of a row, from its response and its two predictors.
Probability = Callable[[Response, Floats, Floats], PairLoss]


def prevalence_at(c: float, mean_s: Any, false_rate: float = 0.0) -> Any:
    """The prevalence that a label frequency implies; of c = 1, the least there can be.

    For numbers or arrays.
    """
    return (mean_s - false_rate) / (c - false_rate)


def label_frequency_at(pi: Any, mean_s: Any, false_rate: float = 0.0) -> Any:
    """The label frequency that a prevalence implies, for numbers or arrays."""
    return (mean_s - false_rate * (1 - pi)) / pi


def prevalence_value_grad(model: DoubleLogisticObjective, theta: Floats) -> ValueGrad:
    """The prevalence and its gradient."""
    return _mean_value_grad(model, _outcome, theta)


def prevalence_value_grad_hess(model: DoubleLogisticObjective, theta: Floats) -> ValueGradHess:
    """The prevalence, its gradient and its Hessian."""
    return _mean_value_grad_hess(model, _outcome, theta)


def label_frequency_value_grad(model: DoubleLogisticObjective, theta: Floats) -> ValueGrad:
    """The label frequency and its gradient."""
    pi = prevalence_value_grad(model, theta)
    both = _mean_value_grad(model, _labelled, theta)
    c = both.value / pi.value
    return ValueGrad(c, (both.grad - c * pi.grad) / pi.value)


def label_frequency_value_grad_hess(model: DoubleLogisticObjective, theta: Floats) -> ValueGradHess:
    """The label frequency, its gradient and its Hessian: those of a quotient."""
    pi = prevalence_value_grad_hess(model, theta)
    both = _mean_value_grad_hess(model, _labelled, theta)
    c = both.value / pi.value
    grad = (both.grad - c * pi.grad) / pi.value
    mixed = np.outer(grad, pi.grad)
    return ValueGradHess(c, grad, (both.hess - c * pi.hess - mixed - mixed.T) / pi.value)


def _outcome(response: Response, a: Floats, b: Floats) -> PairLoss:
    return response.outcome(a, b)


def _labelled(response: Response, a: Floats, b: Floats) -> PairLoss:
    return response.labelled(a, b)


def _mean_value_grad(model: DoubleLogisticObjective, of: Probability, theta: Floats) -> ValueGrad:
    """Mean of a probability over the rows."""
    rows = model.rows
    sums = rows.sum_rows(partial(_sum_value_grad, model.models(theta), of), rows.weight)
    return ValueGrad(sums.value / model.n, sums.grad / model.n)


def _mean_value_grad_hess(
    model: DoubleLogisticObjective, of: Probability, theta: Floats
) -> ValueGradHess:
    rows = model.rows
    sums = rows.sum_rows(partial(_sum_value_grad_hess, model.models(theta), of), rows.weight)
    return ValueGradHess(sums.value / model.n, sums.grad / model.n, sums.hess / model.n)


def _sum_value_grad(models: Pair, of: Probability, X: Matrix, weight: Floats) -> ValueGrad:
    Xa, Xb = models.features(X)
    p = of(models.response, *models.predictors(Xa, Xb))
    grad = np.concatenate([pull_back(Xa, weight * p.d_a), pull_back(Xb, weight * p.d_b)])
    return ValueGrad(float(weight @ p.value), grad)


def _sum_value_grad_hess(models: Pair, of: Probability, X: Matrix, weight: Floats) -> ValueGradHess:
    Xa, Xb = models.features(X)
    p = of(models.response, *models.predictors(Xa, Xb))
    grad = np.concatenate([pull_back(Xa, weight * p.d_a), pull_back(Xb, weight * p.d_b)])
    bends = (weight * bend for bend in (p.h_aa, p.h_ab, p.h_bb))
    return ValueGradHess(float(weight @ p.value), grad, four_blocks(Xa, Xb, *bends))
