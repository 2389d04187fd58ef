"""The prevalence and the label frequency as functions of theta = (beta, gamma).

    pi = mean y(x)                   P(Y=1)
    c  = mean y(x) e(x) / pi         P(S=1 | Y=1)

A share mean S = c pi + r (1 - pi) of all rows is labelled, r the probability that a negative is
labelled: given a sample, the prevalence tells the label frequency and the other way round.
"""

from functools import partial
from typing import Any

import numpy as np

from doublelogit._types import Floats, Matrix
from doublelogit.design import Terms, predictor, pull_back, sandwich
from doublelogit.likelihood import sigmoid
from doublelogit.link import Link, LinkDerivatives, to_logit
from doublelogit.objective import DoubleLogisticObjective, Pair, four_blocks
from doublelogit.solvers import ValueGrad, ValueGradHess


def prevalence_at(c: float, mean_s: float, false_rate: float = 0.0) -> float:
    """The prevalence that a label frequency implies; of c = 1, the least there can be."""
    return (mean_s - false_rate) / (c - false_rate)


def label_frequency_at(pi: Any, mean_s: Any, false_rate: float = 0.0) -> Any:
    """The label frequency that a prevalence implies, for numbers or arrays."""
    return (mean_s - false_rate * (1 - pi)) / pi


def prevalence_value_grad(model: DoubleLogisticObjective, theta: Floats) -> ValueGrad:
    """The prevalence and its gradient, which is zero in gamma."""
    rows, terms, (beta, gamma) = model.rows, model.outcome, model.split(theta)
    sums = rows.sum_rows(
        partial(_sum_value_grad, model.response.link, terms.embed(beta)), rows.weight
    )
    grad = np.append(terms.take(sums.grad), np.zeros(len(gamma)))
    return ValueGrad(sums.value / model.n, grad / model.n)


def prevalence_value_grad_hess(model: DoubleLogisticObjective, theta: Floats) -> ValueGradHess:
    """The prevalence, its gradient and its Hessian."""
    rows, (beta, gamma) = model.rows, model.split(theta)
    sums = rows.sum_rows(
        partial(_sum_value_grad_hess, model.response.link, model.outcome, beta), rows.weight
    )
    pad = (0, len(gamma))
    return ValueGradHess(
        sums.value / model.n, np.pad(sums.grad, pad) / model.n, np.pad(sums.hess, pad) / model.n
    )


def label_frequency_value_grad(model: DoubleLogisticObjective, theta: Floats) -> ValueGrad:
    """The label frequency and its gradient."""
    rows, pi = model.rows, prevalence_value_grad(model, theta)
    both = rows.sum_rows(partial(_both_value_grad, model.models(theta)), rows.weight)
    c = both.value / model.n / pi.value
    return ValueGrad(c, (both.grad / model.n - c * pi.grad) / pi.value)


def label_frequency_value_grad_hess(model: DoubleLogisticObjective, theta: Floats) -> ValueGradHess:
    """The label frequency, its gradient and its Hessian: those of a quotient."""
    rows, pi = model.rows, prevalence_value_grad_hess(model, theta)
    both = rows.sum_rows(partial(_both_value_grad_hess, model.models(theta)), rows.weight)
    c = both.value / model.n / pi.value
    grad = (both.grad / model.n - c * pi.grad) / pi.value
    mixed = np.outer(grad, pi.grad)
    return ValueGradHess(c, grad, (both.hess / model.n - c * pi.hess - mixed - mixed.T) / pi.value)


def response(link: Link, a: Floats) -> LinkDerivatives:
    """The probability that a predictor means, with its first two derivatives."""
    y = sigmoid(to_logit(link, a))
    slope = y.p * y.not_p
    bend = slope * (y.not_p - y.p)
    if link is None:
        return LinkDerivatives(y.p, slope, bend)
    z = link(a)
    return LinkDerivatives(y.p, slope * z.slope, bend * z.slope**2 + slope * z.bend)


def _sum_value_grad(link: Link, beta: Floats, X: Matrix, weight: Floats) -> ValueGrad:
    y = response(link, predictor(X, beta))
    return ValueGrad(float(weight @ y.value), pull_back(X, weight * y.slope))


def _sum_value_grad_hess(
    link: Link, terms: Terms, beta: Floats, X: Matrix, weight: Floats
) -> ValueGradHess:
    X = terms.select(X)
    y = response(link, predictor(X, beta))
    grad, hess = pull_back(X, weight * y.slope), sandwich(X, weight * y.bend)
    return ValueGradHess(float(weight @ y.value), grad, hess)


def _both_value_grad(models: Pair, X: Matrix, weight: Floats) -> ValueGrad:
    """Sum of y(x) e(x): positive and labelled."""
    Xa, Xb = models.features(X)
    y, e = (response(models.response.link, a) for a in models.predictors(Xa, Xb))
    d_beta = pull_back(Xa, weight * y.slope * e.value)
    d_gamma = pull_back(Xb, weight * y.value * e.slope)
    return ValueGrad(float(weight @ (y.value * e.value)), np.concatenate([d_beta, d_gamma]))


def _both_value_grad_hess(models: Pair, X: Matrix, weight: Floats) -> ValueGradHess:
    Xa, Xb = models.features(X)
    y, e = (response(models.response.link, a) for a in models.predictors(Xa, Xb))
    bends = (y.bend * e.value, y.slope * e.slope, y.value * e.bend)
    return ValueGradHess(
        *_both_value_grad(models, X, weight),
        four_blocks(Xa, Xb, *(weight * bend for bend in bends)),
    )
