"""The likelihood of the class where the propensity of every row is held."""

from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from doublelogit._types import Column, Floats, Matrix
from doublelogit.core.design import Terms, predictor, pull_back, sandwich
from doublelogit.core.labels import Labels
from doublelogit.core.likelihood import double_logistic, double_logistic_slopes
from doublelogit.core.objective import curvature_scale, penalised, ridge
from doublelogit.core.rows import Rows
from doublelogit.core.solvers import ValueGrad, ValueGradHess


@dataclass(frozen=True)
class HeldPropensityObjective:
    """``beta -> -Q_n`` and the penalty, the logit of e(x) held as a column.

    Implements: Q_n(beta, e) of JERM
    """

    rows: Rows
    terms: Terms
    propensity: Column
    n: float
    l2: float
    units: Floats

    @cached_property
    def ridge(self) -> Floats:
        return ridge(self.terms, self.l2, self.n)

    @cached_property
    def unit(self) -> Floats:
        return self.terms.take(self.units)

    @cached_property
    def scale(self) -> Floats:
        return curvature_scale(self.unit, self.ridge)

    def gradient(self, theta: Floats) -> Floats:
        return self.value_grad(theta).grad

    def value_grad(self, theta: Floats) -> ValueGrad:
        rows, fn = self.rows, partial(_held_value_grad, self.terms.embed(theta))
        sums = rows.sum_rows(fn, rows.labels, rows.weight, self.propensity)
        return penalised(self.ridge, self.n, theta, sums.value, self.terms.take(sums.grad))

    def value_grad_hess(self, theta: Floats) -> ValueGradHess:
        rows, fn = self.rows, partial(_held_value_grad_hess, self.terms, theta)
        sums = rows.sum_rows(fn, rows.labels, rows.weight, self.propensity)
        first = penalised(self.ridge, self.n, theta, sums.value, sums.grad)
        return ValueGradHess(*first, sums.hess / self.n + np.diag(self.ridge))


def _held_value_grad(
    coef: Floats, X: Matrix, labels: Labels, weight: Floats, b: Floats
) -> ValueGrad:
    f = double_logistic_slopes(labels, predictor(X, coef), b)
    return ValueGrad(float(weight @ f.value), pull_back(X, weight * f.d_a))


def _held_value_grad_hess(
    terms: Terms, theta: Floats, X: Matrix, labels: Labels, weight: Floats, b: Floats
) -> ValueGradHess:
    X = terms.select(X)
    f = double_logistic(labels, predictor(X, theta), b)
    grad, hess = pull_back(X, weight * f.d_a), sandwich(X, weight * f.h_aa)
    return ValueGradHess(float(weight @ f.value), grad, hess)
