"""The likelihood where labelling follows the class: the slopes of gamma are k times those of beta.

With a = x'beta + beta_0 and b = k x'beta + gamma_0 the derivatives by the slopes are those of one
model, so that a Hessian costs one sum over rows where two free models cost three.
"""

from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from doublelogit._types import Floats, Matrix
from doublelogit.design import Terms, predictor, pull_back, sandwich
from doublelogit.link import Response
from doublelogit.rows import Rows
from doublelogit.solvers import ValueGrad, ValueGradHess


@dataclass(frozen=True)
class FollowingObjective:
    """``(beta, gamma_0) -> -Q_n`` at gamma = k beta, without a penalty."""

    rows: Rows
    terms: Terms
    k: float
    n: float
    response: Response

    def value_grad(self, theta: Floats) -> ValueGrad:
        value, grad = self._sum(_value_grad, theta)
        return ValueGrad(float(value) / self.n, grad / self.n)

    def value_grad_hess(self, theta: Floats) -> ValueGradHess:
        value, grad, hess = self._sum(_value_grad_hess, theta)
        return ValueGradHess(float(value) / self.n, grad / self.n, hess / self.n)

    def _sum(self, fn, theta: Floats):  # type: ignore[no-untyped-def]
        rows = self.rows
        tied = _Tied(self.response, self.terms, self.k, theta[:-1], theta[-1])
        return rows.sum_rows(partial(fn, tied), rows.s, rows.known, rows.weight)


class _Tied(NamedTuple):
    response: Response
    terms: Terms
    k: float
    beta: Floats
    intercept: float  # of the propensity

    def predictors(self, X: Matrix) -> tuple[Floats, Floats]:
        a = predictor(X, self.beta)
        return a, self.k * (a - self.beta[-1]) + self.intercept


def _value_grad(
    tied: _Tied, X: Matrix, s: Floats, known: Floats, weight: Floats
) -> tuple[float, Floats]:
    X = tied.terms.select(X)
    f = tied.response.gradient(s, known, *tied.predictors(X))
    d_a, d_b = weight * f.d_a, weight * f.d_b
    return float(weight @ f.value), _gradient(tied.k, X, d_a, d_b)


def _gradient(k: float, X: Matrix, d_a: Floats, d_b: Floats) -> Floats:
    return np.concatenate([X.T @ (d_a + k * d_b), [d_a.sum(), d_b.sum()]])


def _value_grad_hess(
    tied: _Tied, X: Matrix, s: Floats, known: Floats, weight: Floats
) -> ValueGradHess:
    X, k = tied.terms.select(X), tied.k
    f = tied.response.loss(s, known, *tied.predictors(X))
    aa, ab, bb = weight * f.h_aa, weight * f.h_ab, weight * f.h_bb
    p = X.shape[1]
    hess = np.empty((p + 2, p + 2))
    hess[:-1, :-1] = sandwich(X, aa + 2 * k * ab + k**2 * bb)
    hess[:p, p] = hess[p, :p] = X.T @ (aa + k * ab)
    hess[-1, :-1] = hess[:-1, -1] = pull_back(X, ab + k * bb)
    hess[p, p], hess[p, -1] = aa.sum(), ab.sum()
    hess[-1, p], hess[-1, -1] = ab.sum(), bb.sum()
    return ValueGradHess(
        float(weight @ f.value), _gradient(k, X, weight * f.d_a, weight * f.d_b), hess
    )
