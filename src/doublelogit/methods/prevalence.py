"""The prevalence as a function of beta, and what is believed of it as a term of the likelihood.

    pi(beta) = mean_i y(x_i, beta)

A normal belief about pi adds (pi - mean)^2 / (2 sd^2) to the sum of the losses. It also traces
the profile likelihood: the minimiser of ``loss + k (pi - target)^2`` is, whatever k and target, the
best of all points with the prevalence that it attains.
"""

from dataclasses import dataclass
from functools import partial

import numpy as np

from doublelogit._types import Floats, Matrix
from doublelogit.design import Terms, predictor, pull_back, sandwich
from doublelogit.likelihood import sigmoid
from doublelogit.objective import DoubleLogisticObjective
from doublelogit.rows import Rows
from doublelogit.solvers import First, Second


@dataclass(frozen=True)
class Belief:
    """Mean and standard deviation of a normal belief about the prevalence."""

    mean: float
    sd: float


@dataclass(frozen=True)
class InformedObjective(DoubleLogisticObjective):
    """-Q_n, the penalties, and a belief about the prevalence."""

    belief: Belief

    def first(self, theta: Floats) -> First:
        value, grad = super().first(theta)
        pi = prevalence_first(self.rows, self.outcome, self.split(theta)[0], self.n)
        pull = self._pull(pi.value)
        grad = grad.copy()
        grad[: self.outcome.size] += pull * pi.grad
        return First(value + 0.5 * pull * (pi.value - self.belief.mean), grad)

    def second(self, theta: Floats) -> Second:
        value, grad, hess = super().second(theta)
        pi = prevalence_second(self.rows, self.outcome, self.split(theta)[0], self.n)
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


def prevalence_first(rows: Rows, terms: Terms, beta: Floats, n: float) -> First:
    """Pi and its gradient."""
    sums = rows.total(partial(_first, terms.embed(beta)), rows.weight)
    return First(sums.value / n, terms.take(sums.grad) / n)


def prevalence_second(rows: Rows, terms: Terms, beta: Floats, n: float) -> Second:
    """pi, its gradient and its Hessian."""
    sums = rows.total(partial(_second, terms, beta), rows.weight)
    return Second(sums.value / n, sums.grad / n, sums.hess / n)


def _first(beta: Floats, X: Matrix, weight: Floats) -> First:
    y = sigmoid(predictor(X, beta))
    return First(float(weight @ y.p), pull_back(X, weight * y.p * y.not_p))


def _second(terms: Terms, beta: Floats, X: Matrix, weight: Floats) -> Second:
    X = terms.select(X)
    y = sigmoid(predictor(X, beta))
    slope = y.p * y.not_p
    grad, bend = pull_back(X, weight * slope), weight * slope * (y.not_p - y.p)
    return Second(float(weight @ y.p), grad, sandwich(X, bend))
