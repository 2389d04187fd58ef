"""The prevalence as a function of beta, and what is believed of it as a term of the likelihood.

    pi(beta) = mean_i y(x_i, beta)

A normal belief about pi adds (pi - mean)^2 / (2 sd^2) to the sum of the losses. It also traces
the profile likelihood: the minimiser of ``loss + k (pi - target)^2`` is, whatever k and target, the
best of all points with the prevalence that it attains.
"""

from dataclasses import dataclass, field
from functools import partial

import numpy as np

from doublelogit._types import Floats, Matrix
from doublelogit.design import Terms, predictor, pull_back, sandwich
from doublelogit.likelihood import sigmoid
from doublelogit.link import Bent, Link, to_logit
from doublelogit.objective import DoubleLogisticObjective
from doublelogit.solvers import First, Second


@dataclass(frozen=True)
class Belief:
    """Mean and standard deviation of a normal belief about the prevalence."""

    mean: float
    sd: float


@dataclass(frozen=True)
class InformedObjective(DoubleLogisticObjective):
    """-Q_n, the penalties, and a belief about the prevalence."""

    belief: Belief = field(kw_only=True)

    def first(self, theta: Floats) -> First:
        value, grad = super().first(theta)
        pi = prevalence_first(self, theta)
        pull = self._pull(pi.value)
        grad = grad.copy()
        grad[: self.outcome.size] += pull * pi.grad
        return First(value + 0.5 * pull * (pi.value - self.belief.mean), grad)

    def second(self, theta: Floats) -> Second:
        value, grad, hess = super().second(theta)
        pi = prevalence_second(self, theta)
        pull, k = self._pull(pi.value), self.outcome.size
        grad, hess = grad.copy(), hess.copy()
        grad[:k] += pull * pi.grad
        hess[:k, :k] += pull * pi.hess + np.outer(pi.grad, pi.grad) / (self._variance * self.n)
        return Second(value + 0.5 * pull * (pi.value - self.belief.mean), grad, hess)

    @property
    def _variance(self) -> float:
        return self.belief.sd**2

    def _pull(self, pi: float) -> float:
        return (pi - self.belief.mean) / (self._variance * self.n)


def prevalence_first(model: DoubleLogisticObjective, theta: Floats) -> First:
    """The prevalence and its gradient in beta."""
    rows, terms, beta = model.rows, model.outcome, model.split(theta)[0]
    sums = rows.total(partial(_first, model.response.link, terms.embed(beta)), rows.weight)
    return First(sums.value / model.n, terms.take(sums.grad) / model.n)


def prevalence_second(model: DoubleLogisticObjective, theta: Floats) -> Second:
    """The prevalence, its gradient and its Hessian in beta."""
    rows, beta = model.rows, model.split(theta)[0]
    sums = rows.total(partial(_second, model.response.link, model.outcome, beta), rows.weight)
    return Second(sums.value / model.n, sums.grad / model.n, sums.hess / model.n)


def response(link: Link, a: Floats) -> Bent:
    """The probability that a predictor means, with its first two derivatives."""
    y = sigmoid(to_logit(link, a))
    slope = y.p * y.not_p
    bend = slope * (y.not_p - y.p)
    if link is None:
        return Bent(y.p, slope, bend)
    z = link(a)
    return Bent(y.p, slope * z.slope, bend * z.slope**2 + slope * z.bend)


def _first(link: Link, beta: Floats, X: Matrix, weight: Floats) -> First:
    y = response(link, predictor(X, beta))
    return First(float(weight @ y.value), pull_back(X, weight * y.slope))


def _second(link: Link, terms: Terms, beta: Floats, X: Matrix, weight: Floats) -> Second:
    X = terms.select(X)
    y = response(link, predictor(X, beta))
    grad, hess = pull_back(X, weight * y.slope), sandwich(X, weight * y.bend)
    return Second(float(weight @ y.value), grad, hess)
