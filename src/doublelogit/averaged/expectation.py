"""The likelihood of two models whose coefficients are uncertain: expectations under a gaussian.

With theta ~ N(m, V), V = RR' by a triangular factor, the predictors (a, b) of a row are normal
about (m_a, m_b):

    a = m_a + r z_1,  b = m_b + l z_1 + c z_2,    z standard normal, C = [[r, 0], [l, c]]

The expected loss is a mean over few points z. Its derivatives by V are those of that very mean:
with G = E[(f_a, f_b)' z'] and S the lower triangle of C'G, mirrored, they are half of C'^-1 S C^-1,
which for a fine rule is the expected Hessian (Stein's lemma). A step that climbs by them climbs
what is computed, however far apart the points lie.

Labelling has the predictor b = k a + w, so that a row has one predictor (``TiedPair``), or has
slopes of its own (``FreePair``). Beside either it may have an offset, one number for each row: a
propensity that is held while the class is fitted.

The loss of audited rows, whose class is known though they have no label, is summed a second time
by itself, with its gradient: evidence is coarsened, but not theirs.
"""

from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from doublelogit._types import Column, Floats, Matrix
from doublelogit.core.design import Terms, predictor, pull_back, row_products, row_squares, sandwich
from doublelogit.core.labels import Labels
from doublelogit.core.likelihood import PairLoss, halves
from doublelogit.core.link import Response
from doublelogit.core.objective import four_blocks
from doublelogit.core.rows import Rows
from doublelogit.core.solvers import ValueGrad

# Standard deviation at least: differences of slopes over less would be rounding errors.
LEAST_DEVIATION = 1e-4


_ANGLES = np.arange(6) * np.pi / 3
_POINTS, _WEIGHT = np.polynomial.hermite_e.hermegauss(5)
# Points of one standard normal variable and their weights: the rule of Gauss and Hermite.
LINE = _POINTS, _WEIGHT / _WEIGHT.sum()
# Of two variables: the centre and a hexagon, exact for polynomials of degree five.
PLANE = (
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
    """Expected loss, its gradient and Hessian, means over rows, and the loss of audited rows."""

    value: float
    grad: Floats
    hess: Floats
    shares: Shares
    audited: ValueGrad


class Observed(NamedTuple):
    """Observed columns of some rows, and the response that gives their likelihood."""

    response: Response
    labels: Labels

    def loss(self, a: Floats, b: Floats) -> PairLoss:
        """Loss of every row, with its derivatives to second order."""
        return self.response.loss(self.labels, a, b)

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
        self, observed: Observed, a: Floats, b: Floats, factor: Floats | None, X: Matrix
    ) -> ExpectedLoss: ...
    def gradient(self, X: Matrix, f: PairLoss, weight: Floats) -> Floats: ...
    def hessian(self, X: Matrix, f: PairLoss, weight: Floats) -> Floats: ...


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

    def _spread(self, factor: Floats, X: Matrix) -> tuple[Floats, Floats, Floats]:
        """C of each row; the factor is upper triangular: b depends on its last columns only."""
        (Xa, Xb), k = self._features(X), self.outcome.size
        a, b = predictor(Xa, factor[:k]), predictor(Xb, factor[k:, k:])
        r = _deviation(row_products(a, a))
        along = row_products(a[:, k:], b) / r
        return r, along, _deviation(row_products(b, b) - along**2)

    def loss(
        self, observed: Observed, a: Floats, b: Floats, factor: Floats | None, X: Matrix
    ) -> ExpectedLoss:
        if factor is None:
            return ExpectedLoss(observed.loss(a, b), a, b)
        (z, y, w), (r, along, c) = PLANE, self._spread(factor, X)
        a_at, b_at = a + np.outer(z, r), b + np.outer(z, along) + np.outer(y, c)
        value, f_a, f_b = observed.slopes(a_at, b_at)
        first = (w * z) @ f_b
        s_11, s_21, s_22 = r * ((w * z) @ f_a) + along * first, c * first, c * ((w * y) @ f_b)
        i_11, i_21, i_22 = 1 / r, -along / (r * c), 1 / c  # C^-1
        h_aa = i_11**2 * s_11 + 2 * i_11 * i_21 * s_21 + i_21**2 * s_22
        h_ab, h_bb = i_22 * (i_11 * s_21 + i_21 * s_22), i_22**2 * s_22
        f = PairLoss(w @ value, w @ f_a, w @ f_b, h_aa, h_ab, h_bb)
        return ExpectedLoss(f, a_at, b_at, w)

    def gradient(self, X: Matrix, f: PairLoss, weight: Floats) -> Floats:
        Xa, Xb = self._features(X)
        return np.concatenate([pull_back(Xa, weight * f.d_a), pull_back(Xb, weight * f.d_b)])

    def hessian(self, X: Matrix, f: PairLoss, weight: Floats) -> Floats:
        Xa, Xb = self._features(X)
        return four_blocks(Xa, Xb, *(weight * curved for curved in (f.h_aa, f.h_ab, f.h_bb)))


@dataclass(frozen=True)
class TiedPair:
    """(beta, w), with b = k a + w: the predictor of labelling is a multiple of the class's."""

    terms: Terms
    k: float

    def predictors(self, theta: Floats, X: Matrix) -> tuple[Floats, Floats]:
        a = predictor(self.terms.select(X), theta[:-1])
        return a, self.k * a + theta[-1] if self.k else np.broadcast_to(theta[-1], a.shape)

    def loss(
        self, observed: Observed, a: Floats, b: Floats, factor: Floats | None, X: Matrix
    ) -> ExpectedLoss:
        """Derivatives by ``a`` are those along b = k a + w, by ``b`` those by w."""
        if factor is None:
            return ExpectedLoss(self._along(observed.loss(a, b)), a, b)
        (z, w), r = LINE, _deviation(row_squares(self.terms.select(X), factor[:-1]))
        off = np.outer(z, r)
        a_at = a + off
        b_at = b + self.k * off if self.k else np.broadcast_to(b, off.shape)
        value, f_a, f_w = observed.slopes(a_at, b_at)
        along, first = f_a + self.k * f_w, w * z
        curved = (first @ along) / r, (first @ f_w) / r, np.zeros_like(r)
        return ExpectedLoss(PairLoss(w @ value, w @ along, w @ f_w, *curved), a_at, b_at, w)

    def _along(self, f: PairLoss) -> PairLoss:
        k = self.k
        curved = f.h_aa + 2 * k * f.h_ab + k**2 * f.h_bb, f.h_ab + k * f.h_bb, f.h_bb
        return PairLoss(f.value, f.d_a + k * f.d_b, f.d_b, *curved)

    def gradient(self, X: Matrix, f: PairLoss, weight: Floats) -> Floats:
        return np.append(pull_back(self.terms.select(X), weight * f.d_a), weight @ f.d_b)

    def hessian(self, X: Matrix, f: PairLoss, weight: Floats) -> Floats:
        X, size = self.terms.select(X), self.terms.size + 1
        hess = np.zeros((size, size))  # w is held, so its curvature is not needed
        hess[:-1, :-1] = sandwich(X, weight * f.h_aa)
        hess[-1, :-1] = hess[:-1, -1] = pull_back(X, weight * f.h_ab)
        return hess


@dataclass(frozen=True)
class ExpectedLikelihood:
    """Minus the expected log-likelihood over n, of rows wherever they are.

    ``offset`` is a column that is added to the predictor of labelling, if there is one; ``audited``
    says that the class of some rows without a label is known.
    """

    rows: Rows
    pair: TwoPredictors
    n: float
    response: Response
    offset: Column | None = None
    audited: bool = False

    def expand(self, theta: Floats, factor: Floats | None) -> Expectation:
        """To second order about theta; in expectation, if its covariance has a factor."""
        rows, n = self.rows, self.n
        fn = partial(_expand, self.response, self.pair, theta, factor, self.audited)
        offset = () if self.offset is None else (self.offset,)
        total = rows.sum_rows(fn, rows.labels, rows.weight, *offset)
        return Expectation(
            total.value / n,
            total.grad / n,
            total.hess / n,
            Shares(*(share / n for share in total.shares)),
            ValueGrad(total.audited.value / n, total.audited.grad / n),
        )


def _expand(
    response: Response,
    pair: TwoPredictors,
    theta: Floats,
    factor: Floats | None,
    audited: bool,
    X: Matrix,
    labels: Labels,
    weight: Floats,
    offset: Floats | None = None,
) -> Expectation:
    a, b = pair.predictors(theta, X)
    b = b if offset is None else b + offset
    loss = pair.loss(Observed(response, labels), a, b, factor, X)
    f = loss.f
    moments = (float(weight @ column) for column in (a, a**2, b, b**2))
    return Expectation(
        float(weight @ f.value),
        pair.gradient(X, f, weight),
        pair.hessian(X, f, weight),
        Shares(*_shares(loss, weight), *moments),
        _of_audited(pair, X, f, weight * _looked_at(labels) if audited else None),
    )


def _looked_at(labels: Labels) -> NDArray[np.bool_]:
    """The rows without a label whose class is known."""
    return ~np.isnan(labels.known) & (labels.any == 0)


def _of_audited(pair: TwoPredictors, X: Matrix, f: PairLoss, weight: Floats | None) -> ValueGrad:
    """The loss of audited rows, by their weights; None if there are none."""
    if weight is None:
        return ValueGrad(0.0, np.zeros(1))
    return ValueGrad(float(weight @ f.value), pair.gradient(X, f, weight))


def _shares(loss: ExpectedLoss, weight: Floats) -> list[float]:
    y, e = halves(loss.a), halves(loss.b)
    labelled = y.p * e.p
    columns = (y.p, labelled, y.p * y.not_p, labelled * e.not_p)
    sums = [column @ weight for column in columns]
    return [float(total if loss.weight is None else loss.weight @ total) for total in sums]


def _deviation(variance: Floats) -> Floats:
    return np.sqrt(np.maximum(variance, LEAST_DEVIATION**2))
