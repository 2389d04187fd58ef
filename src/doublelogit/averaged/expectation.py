"""The likelihood of two models whose coefficients are uncertain: expectations under a normal law.

With theta ~ N(m, V), V given by a root, the predictors (a, b) of a row are normal about (m_a, m_b):

    a = m_a + r z_1,  b = m_b + l z_1 + c z_2,    z standard normal, R = [[r, 0], [l, c]]

The expected loss is a mean over few points z. Its derivatives by V are those of that very mean:
with G = E[(f_a, f_b)' z'] and S the lower triangle of R'G, mirrored, they are half of R'^-1 S R^-1,
which for a fine rule is the expected Hessian (Stein's lemma). A step that climbs by them climbs
what is computed, however far apart the points lie.

Labelling follows the class, b = k a + w (``TiedPair``; at random if k is 0), so that a row has one
predictor, or has slopes of its own (``FreePair``).
"""

from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, Protocol

import numpy as np

from doublelogit._types import Floats, Matrix
from doublelogit.core.design import Terms, predictor, pull_back, row_products, row_squares, sandwich
from doublelogit.core.labels import Labels
from doublelogit.core.likelihood import PairLoss, halves
from doublelogit.core.link import Response
from doublelogit.core.objective import four_blocks
from doublelogit.core.rows import Rows

LEAST = 1e-4  # of standard deviations: differences of slopes over less would be rounding errors


class Points(NamedTuple):
    """Points of two standard normal variables, and their weights."""

    first: Floats
    second: Floats
    weight: Floats


def _line(k: int) -> Points:
    """The rule of Gauss and Hermite, of one variable."""
    points, weight = np.polynomial.hermite_e.hermegauss(k)
    return Points(points, np.zeros(k), weight / weight.sum())


_ANGLES = np.arange(6) * np.pi / 3
LINE = _line(5)
# the centre and a hexagon, exact for polynomials of degree five
PLANE = Points(
    np.append(0.0, 2 * np.cos(_ANGLES)),
    np.append(0.0, 2 * np.sin(_ANGLES)),
    np.append(1 / 2, np.full(6, 1 / 12)),
)


class Shares(NamedTuple):
    """Means over rows of y, ye, y(1-y) and ye(1-e), of both predictors and their squares."""

    y: float
    labelled: float
    y_free: float
    e_free: float
    a: float
    a_squared: float
    b: float
    b_squared: float


class Expectation(NamedTuple):
    """Expected loss, its gradient and Hessian, and what the rows share."""

    value: float
    grad: Floats
    hess: Floats
    shares: Shares


class Observed(NamedTuple):
    """What was observed of some rows, and what makes it likely."""

    response: Response
    labels: Labels

    def slopes(self, a: Floats, b: Floats) -> tuple[Floats, ...]:
        """Losses and their slopes at several points of every row, one line each."""
        return self.response.gradient(self.labels, a, b)


class ExpectedLoss(NamedTuple):
    """Expected losses of rows with their derivatives, and the points that they are means over."""

    f: PairLoss
    a: Floats
    b: Floats
    weight: Floats | None = None  # of the points; None if there is one for each row


class TwoPredictors(Protocol):
    """How the arguments of a likelihood make the predictors of a row, and back."""

    def predictors(self, theta: Floats, X: Matrix) -> tuple[Floats, Floats]: ...
    def loss(
        self, seen: Observed, a: Floats, b: Floats, root: Floats | None, X: Matrix
    ) -> ExpectedLoss: ...
    def gathered(self, X: Matrix, f: PairLoss, weight: Floats) -> tuple[Floats, Floats]: ...


@dataclass(frozen=True)
class FreePair:
    """(beta, gamma): both models have slopes of their own."""

    outcome: Terms
    propensity: Terms

    def _features(self, X: Matrix) -> tuple[Matrix, Matrix]:
        Xa = self.outcome.select(X)
        return Xa, (Xa if self.propensity is self.outcome else self.propensity.select(X))

    def predictors(self, theta: Floats, X: Matrix) -> tuple[Floats, Floats]:
        (Xa, Xb), k = self._features(X), self.outcome.size
        return predictor(Xa, theta[:k]), predictor(Xb, theta[k:])

    def _spread(self, root: Floats, X: Matrix) -> tuple[Floats, Floats, Floats]:
        """R of each row; a root is upper triangular, so that b depends on its last columns only."""
        (Xa, Xb), k = self._features(X), self.outcome.size
        a, b = predictor(Xa, root[:k]), predictor(Xb, root[k:, k:])
        r = _root(row_products(a, a))
        along = row_products(a[:, k:], b) / r
        return r, along, _root(row_products(b, b) - along**2)

    def loss(
        self, seen: Observed, a: Floats, b: Floats, root: Floats | None, X: Matrix
    ) -> ExpectedLoss:
        if root is None:
            return ExpectedLoss(seen.response.loss(seen.labels, a, b), a, b)
        (z, y, w), (r, along, c) = PLANE, self._spread(root, X)
        a_at, b_at = a + np.outer(z, r), b + np.outer(z, along) + np.outer(y, c)
        value, f_a, f_b = seen.slopes(a_at, b_at)
        first = (w * z) @ f_b
        s_11, s_21, s_22 = r * ((w * z) @ f_a) + along * first, c * first, c * ((w * y) @ f_b)
        i_11, i_21, i_22 = 1 / r, -along / (r * c), 1 / c  # R^-1
        h_aa = i_11**2 * s_11 + 2 * i_11 * i_21 * s_21 + i_21**2 * s_22
        h_ab, h_bb = i_22 * (i_11 * s_21 + i_21 * s_22), i_22**2 * s_22
        f = PairLoss(w @ value, w @ f_a, w @ f_b, h_aa, h_ab, h_bb)
        return ExpectedLoss(f, a_at, b_at, w)

    def gathered(self, X: Matrix, f: PairLoss, weight: Floats) -> tuple[Floats, Floats]:
        Xa, Xb = self._features(X)
        grad = np.concatenate([pull_back(Xa, weight * f.d_a), pull_back(Xb, weight * f.d_b)])
        return grad, four_blocks(Xa, Xb, *(weight * bend for bend in (f.h_aa, f.h_ab, f.h_bb)))


@dataclass(frozen=True)
class TiedPair:
    """(beta, w), with b = k a + w: labelling follows the class, or is at random if k is 0."""

    terms: Terms
    k: float

    def predictors(self, theta: Floats, X: Matrix) -> tuple[Floats, Floats]:
        a = predictor(self.terms.select(X), theta[:-1])
        return a, self.k * a + theta[-1] if self.k else np.broadcast_to(theta[-1], a.shape)

    def loss(
        self, seen: Observed, a: Floats, b: Floats, root: Floats | None, X: Matrix
    ) -> ExpectedLoss:
        """Derivatives by ``a`` are those along b = k a + w, by ``b`` those by w."""
        if root is None:
            return ExpectedLoss(self._along(seen.response.loss(seen.labels, a, b)), a, b)
        z, w, r = LINE.first, LINE.weight, _root(row_squares(self.terms.select(X), root[:-1]))
        off = np.outer(z, r)
        a_at = a + off
        b_at = b + self.k * off if self.k else np.broadcast_to(b, off.shape)
        value, f_a, f_w = seen.slopes(a_at, b_at)
        along, first = f_a + self.k * f_w, w * z
        bends = (first @ along) / r, (first @ f_w) / r, np.zeros_like(r)
        return ExpectedLoss(PairLoss(w @ value, w @ along, w @ f_w, *bends), a_at, b_at, w)

    def _along(self, f: PairLoss) -> PairLoss:
        k = self.k
        bends = f.h_aa + 2 * k * f.h_ab + k**2 * f.h_bb, f.h_ab + k * f.h_bb, f.h_bb
        return PairLoss(f.value, f.d_a + k * f.d_b, f.d_b, *bends)

    def gathered(self, X: Matrix, f: PairLoss, weight: Floats) -> tuple[Floats, Floats]:
        X = self.terms.select(X)
        grad = np.append(pull_back(X, weight * f.d_a), weight @ f.d_b)
        hess = np.zeros((len(grad), len(grad)))  # w is given: nobody asks for its curvature
        hess[:-1, :-1] = sandwich(X, weight * f.h_aa)
        hess[-1, :-1] = hess[:-1, -1] = pull_back(X, weight * f.h_ab)
        return grad, hess


@dataclass(frozen=True)
class ExpectedLikelihood:
    """Minus the expected log-likelihood over n, of rows wherever they are."""

    rows: Rows
    pair: TwoPredictors
    n: float
    response: Response

    def expand(self, theta: Floats, root: Floats | None) -> Expectation:
        """To second order about theta; in expectation, if its covariance has a root."""
        rows, fn = self.rows, partial(_expand, self.response, self.pair, theta, root)
        value, grad, hess, shares = rows.sum_rows(fn, rows.labels, rows.weight)
        mean = Shares(*(total / self.n for total in shares))
        return Expectation(value / self.n, grad / self.n, hess / self.n, mean)


def _expand(
    response: Response,
    pair: TwoPredictors,
    theta: Floats,
    root: Floats | None,
    X: Matrix,
    labels: Labels,
    weight: Floats,
) -> Expectation:
    a, b = pair.predictors(theta, X)
    found = pair.loss(Observed(response, labels), a, b, root, X)
    value = float(weight @ found.f.value)
    shares = (*_shares(found, weight), *(float(weight @ column) for column in (a, a**2, b, b**2)))
    return Expectation(value, *pair.gathered(X, found.f, weight), Shares(*shares))


def _shares(found: ExpectedLoss, weight: Floats) -> list[float]:
    y, e = halves(found.a), halves(found.b)
    labelled = y.p * e.p
    columns = (y.p, labelled, y.p * y.not_p, labelled * e.not_p)
    sums = [column @ weight for column in columns]
    return [float(total if found.weight is None else found.weight @ total) for total in sums]


def _root(variance: Floats) -> Floats:
    return np.sqrt(np.maximum(variance, LEAST**2))
