"""Penalised mean losses over rows: what the solvers minimise.

An objective is asked for as much as a step needs: the gradient, the value too, or the Hessian
as well. All are divided by the total weight n of the rows, so that tolerances mean the same
for every sample size; the penalty ``l2/2 |w|^2``, intercepts free, is on the *sum* of the
losses (l2 = 1/C of scikit-learn), hence also divided by n.

Penalties on the sum hold in weighted fits too; otherwise EM would not climb its own objective.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np

from doublelogit._types import Column, Floats, Matrix
from doublelogit.core.design import Terms, cross, predictor, pull_back, sandwich, squares
from doublelogit.core.labels import Labels
from doublelogit.core.likelihood import (
    PairLoss,
    PairLossGradient,
)
from doublelogit.core.link import (
    PLAIN,
    Link,
    Response,
    linked_logistic,
    linked_logistic_slope,
    linked_logistic_value,
)
from doublelogit.core.rows import Rows
from doublelogit.core.solvers import ValueGrad, ValueGradHess

# Rows from which a Hessian is nearly right: its noise is about the root of coefficients over rows.
ROWS_PER_COEFFICIENT = 25
FEWEST_TO_THIN = 2000


def ridge(terms: Terms, l2: float, n: float) -> Floats:
    """Penalty of each coefficient on the scale of the mean loss; none on the intercept."""
    unit = np.ones(terms.n_features) if terms.unit is None else terms.unit
    penalty = terms.take(np.append(l2 / n * unit**2, 0.0))
    return np.asarray(penalty)


def column_units(rows: Rows, n: float) -> Floats:
    """Root mean square of every column, one for the intercept: the units of the features.

    A gradient divided by them does not depend on units, so that tolerances mean the same for
    every table.
    """
    units = np.sqrt(rows.sum_rows(squares, rows.weight) / n)
    units[-1] = 1.0
    return np.where(units > 0, units, 1.0)


def curvature_scale(unit: Floats, ridge: Floats) -> Floats:
    """Root of ``1/4 diag X'WX / n + ridge``: no logistic loss curves more than a quarter."""
    return np.sqrt(0.25 * unit**2 + ridge)


def penalised(ridge: Floats, n: float, theta: Floats, value: float, grad: Floats) -> ValueGrad:
    """Sums over rows of weight n turned into the mean, and the penalty added."""
    pull = ridge * theta
    return ValueGrad(float(value / n + 0.5 * pull @ theta), grad / n + pull)


Predicted = tuple[Floats, Column]  # coefficients, and ``x'theta`` of each row


@dataclass(frozen=True)
class LogisticObjective:
    """``theta -> sum_i v_i logistic(x_i'theta, target_i) / n`` and the penalty.

    Implements: W_n of TM (soft targets), R_n of TM (weight: the stratum), NAIVE, ORACLE
    """

    rows: Rows
    terms: Terms
    target: Column
    weight: Column
    n: float
    l2: float
    link: Link = None
    units: Floats | None = None  # of all columns, where they are known
    start: Predicted | None = None  # predictors that are known already

    @cached_property
    def ridge(self) -> Floats:
        return ridge(self.terms, self.l2, self.n)

    @cached_property
    def unit(self) -> Floats:
        units = column_units(self.rows, self.n) if self.units is None else self.units
        return self.terms.take(units)

    @cached_property
    def scale(self) -> Floats:
        return curvature_scale(self.unit, self.ridge)

    def gradient(self, theta: Floats) -> Floats:
        columns = (self.target, self.weight)
        if self.start is not None and theta is self.start[0]:
            fn = partial(_logistic_gradient_at, self.link)
            grad = self.rows.sum_rows(fn, self.start[1], *columns)
        else:
            fn = partial(_logistic_gradient, self.link, self.terms.embed(theta))
            grad = self.rows.sum_rows(fn, *columns)
        return self.terms.take(grad) / self.n + self.ridge * theta

    def value_at_start(self) -> float:
        """The value where the predictors are known, without a look at the features."""
        assert self.start is not None
        theta, a = self.start
        value = self.rows.sum_columns(
            partial(_logistic_value, self.link), a, self.target, self.weight
        )
        return float(value / self.n + 0.5 * (self.ridge * theta) @ theta)

    def value_grad(self, theta: Floats) -> ValueGrad:
        fn = partial(_logistic_value_grad, self.link, self.terms.embed(theta))
        sums = self.rows.sum_rows(fn, self.target, self.weight)
        return penalised(self.ridge, self.n, theta, sums.value, self.terms.take(sums.grad))

    def value_grad_hess(self, theta: Floats) -> ValueGradHess:
        fn = partial(_logistic_value_grad_hess, self.link, self.terms, theta)
        sums = self.rows.sum_rows(fn, self.target, self.weight)
        first = penalised(self.ridge, self.n, theta, sums.value, sums.grad)
        return ValueGradHess(*first, sums.hess / self.n + np.diag(self.ridge))


def _logistic_gradient(
    link: Link, coef: Floats, X: Matrix, target: Floats, weight: Floats
) -> Floats:
    return _logistic_gradient_at(link, X, predictor(X, coef), target, weight)


def _logistic_gradient_at(
    link: Link, X: Matrix, a: Floats, target: Floats, weight: Floats
) -> Floats:
    return pull_back(X, weight * linked_logistic_slope(link, a, target))


def _logistic_value(link: Link, a: Floats, target: Floats, weight: Floats) -> float:
    return float(weight @ linked_logistic_value(link, a, target))


def _logistic_value_grad(
    link: Link, coef: Floats, X: Matrix, target: Floats, weight: Floats
) -> ValueGrad:
    f = linked_logistic(link, predictor(X, coef), target)
    return ValueGrad(float(weight @ f.value), pull_back(X, weight * f.d_a))


def _logistic_value_grad_hess(
    link: Link, terms: Terms, theta: Floats, X: Matrix, target: Floats, weight: Floats
) -> ValueGradHess:
    X = terms.select(X)
    f = linked_logistic(link, predictor(X, theta), target)
    grad, hess = pull_back(X, weight * f.d_a), sandwich(X, weight * f.h_aa)
    return ValueGradHess(float(weight @ f.value), grad, hess)


@dataclass(frozen=True)
class DoubleLogisticObjective:
    """``(beta, gamma) -> -Q_n`` and the penalties of both models.

    ``response`` says what their predictors mean: two logistic models, or another pair.

    Implements: Q_n
    """

    rows: Rows
    outcome: Terms
    propensity: Terms
    n: float
    l2: float
    propensity_l2: float
    response: Response = PLAIN
    units: Floats | None = None  # of all columns, where they are known

    def split(self, theta: Floats) -> tuple[Floats, Floats]:
        """(beta, gamma), each as short as its terms."""
        return theta[: self.outcome.size], theta[self.outcome.size :]

    def models(self, theta: Floats) -> "Pair":
        """Both models at theta."""
        return Pair(self.response, self.outcome, self.propensity, *self.split(theta))

    @cached_property
    def ridge(self) -> Floats:
        return np.concatenate(
            [
                ridge(self.outcome, self.l2, self.n),
                ridge(self.propensity, self.propensity_l2, self.n),
            ]
        )

    @cached_property
    def unit(self) -> Floats:
        units = column_units(self.rows, self.n) if self.units is None else self.units
        return np.concatenate([self.outcome.take(units), self.propensity.take(units)])

    @cached_property
    def scale(self) -> Floats:
        return curvature_scale(self.unit, self.ridge)

    def coefficients(self, theta: Floats) -> tuple[Floats, Floats]:
        """(beta, gamma), each full-length."""
        beta, gamma = self.split(theta)
        return self.outcome.embed(beta), self.propensity.embed(gamma)

    def gathered(self, d_beta: Floats, d_gamma: Floats) -> Floats:
        """A full-length gradient of each model as one of theta."""
        return np.concatenate([self.outcome.take(d_beta), self.propensity.take(d_gamma)])

    def gradient(self, theta: Floats) -> Floats:
        return self.value_grad(theta).grad

    def value_grad(self, theta: Floats) -> ValueGrad:
        rows = self.rows
        fn = partial(_double_value_grad, self.response, *self.coefficients(theta))
        sums = rows.sum_rows(fn, rows.labels, rows.weight)
        return penalised(
            self.ridge, self.n, theta, sums.value, self.gathered(sums.d_beta, sums.d_gamma)
        )

    def value_grad_hess(self, theta: Floats) -> ValueGradHess:
        rows, fn = self.rows, partial(_double_value_grad_hess, self.models(theta))
        sums = rows.sum_rows(fn, rows.labels, rows.weight)
        first = penalised(self.ridge, self.n, theta, sums.value, sums.grad)
        return ValueGradHess(*first, sums.hess / self.n + np.diag(self.ridge))

    def on(self, rows: Rows) -> "DoubleLogisticObjective":
        """The objective on other rows of the same sample."""
        return replace(self, rows=rows, n=float(rows.sum_columns(np.sum, rows.weight)))

    def rough(self) -> Callable[[Floats], Floats] | None:
        """Hessians from some of the rows, where those are enough to be nearly right."""
        size = len(self.unit)
        some = self.rows.thinned(max(FEWEST_TO_THIN, ROWS_PER_COEFFICIENT * size))
        if some is None:
            return None
        part = self.on(some)

        def hessian(theta: Floats) -> Floats:
            return part.value_grad_hess(theta).hess + added

        # the penalty is on the sum of all losses
        added = np.diag(self.ridge - part.ridge)
        return hessian


class PairGradient(NamedTuple):
    """A sum over rows: its value and the gradient of each model, full-length."""

    value: float
    d_beta: Floats
    d_gamma: Floats


def pulled_back(X: Matrix, f: PairLossGradient, weight: Floats) -> PairGradient:
    """Weighted sum of a loss of two predictors.

    Two products with a vector: BLAS is twice as slow with a matrix of two columns.
    """
    d_beta, d_gamma = pull_back(X, weight * f.d_a), pull_back(X, weight * f.d_b)
    return PairGradient(float(weight @ f.value), d_beta, d_gamma)


def _double_value_grad(
    response: Response,
    beta: Floats,
    gamma: Floats,
    X: Matrix,
    labels: Labels,
    weight: Floats,
) -> PairGradient:
    return pulled_back(
        X, response.gradient(labels, predictor(X, beta), predictor(X, gamma)), weight
    )


class Pair(NamedTuple):
    """Both models with their coefficients, short: all that a row's loss depends on."""

    response: Response
    outcome: Terms
    propensity: Terms
    beta: Floats
    gamma: Floats

    def features(self, X: Matrix) -> tuple[Matrix, Matrix]:
        """The columns of X that each model uses; one object where both use the same."""
        Xa = self.outcome.select(X)
        return Xa, (Xa if self.propensity is self.outcome else self.propensity.select(X))

    def predictors(self, Xa: Matrix, Xb: Matrix) -> tuple[Floats, Floats]:
        return predictor(Xa, self.beta), predictor(Xb, self.gamma)


def four_blocks(Xa: Matrix, Xb: Matrix, h_aa: Floats, h_ab: Floats, h_bb: Floats) -> Floats:
    """``sum_i z_i' h_i z_i`` of the 2 x 2 matrices h_i and z_i = ([x_a, 1], [x_b, 1])."""
    mixed = cross(Xa, h_ab, Xb)
    k, size = len(mixed), sum(mixed.shape)
    hess = np.empty((size, size))  # np.block takes longer than a product of a small table
    hess[:k, :k], hess[:k, k:] = sandwich(Xa, h_aa), mixed
    hess[k:, :k], hess[k:, k:] = mixed.T, sandwich(Xb, h_bb)
    return hess


def _double_value_grad_hess(
    models: Pair, X: Matrix, labels: Labels, weight: Floats
) -> ValueGradHess:
    Xa, Xb = models.features(X)
    f: PairLoss = models.response.loss(labels, *models.predictors(Xa, Xb))
    grad = np.concatenate([pull_back(Xa, weight * f.d_a), pull_back(Xb, weight * f.d_b)])
    hess = four_blocks(Xa, Xb, weight * f.h_aa, weight * f.h_ab, weight * f.h_bb)
    return ValueGradHess(float(weight @ f.value), grad, hess)
