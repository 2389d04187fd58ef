"""Other response functions than the logistic one, by a change of the predictor.

With P = p(a) the logit of P is a function z(a) of the predictor, so every formula in logits holds
after it, and derivatives follow by the chain rule. For the logistic p itself z(a) = a.

Theorem 5 of the paper gives conditions on p under which the parameters stay identified up to a
swap; the probit satisfies them.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.special import log_ndtr

from doublelogit._types import Floats
from doublelogit.core.labels import Labels
from doublelogit.core.likelihood import (
    PairLoss,
    PairLossGradient,
    PredictorLoss,
    double_logistic,
    double_logistic_slopes,
    halves,
    logistic,
    logistic_slope,
    logistic_value,
    noisy_double_logistic,
    positive_given_unlabelled,
    sigmoid,
)

LOG_ROOT_2PI = 0.5 * np.log(2 * np.pi)


# A function z(a) of a predictor with its first two derivatives. None: the logit.
Link = Callable[[Floats], PredictorLoss] | None


def probit(a: Floats) -> PredictorLoss:
    """Logit of the normal distribution function.

    With the Mills ratios m = phi / Phi(a) and n = phi / Phi(-a): z' = m + n, z'' = z' (n - m - a).

    Implements: Theorem 5, P(Y=1 | x) = Phi(x'beta)
    """
    above, below = log_ndtr(a), log_ndtr(-a)
    log_density = -0.5 * a * a - LOG_ROOT_2PI
    m, n = np.exp(log_density - above), np.exp(log_density - below)
    return PredictorLoss(above - below, m + n, (m + n) * (n - m - a))


LINKS: dict[str, Link] = {"logit": None, "probit": probit}


def link_name(link: Link) -> str:
    """Name of a response function, by which a fitted model keeps it."""
    return next(name for name, known in LINKS.items() if known is link)


def to_logit(link: Link, a: Floats) -> Floats:
    """Logit of the probability that a predictor means."""
    return a if link is None else link(a).value


def linked_logistic(link: Link, a: Floats, target: Floats) -> PredictorLoss:
    """:func:`logistic` of a linked predictor."""
    if link is None:
        return logistic(a, target)
    z = link(a)
    f = logistic(z.value, target)
    return PredictorLoss(f.value, f.d_a * z.d_a, f.h_aa * z.d_a**2 + f.d_a * z.h_aa)


def linked_logistic_value(link: Link, a: Floats, target: Floats) -> Floats:
    """:func:`logistic_value` of a linked predictor."""
    return logistic_value(to_logit(link, a), target)


def linked_logistic_slope(link: Link, a: Floats, target: Floats) -> Floats:
    """:func:`logistic_slope` of a linked predictor."""
    if link is None:
        return logistic_slope(a, target)
    z = link(a)
    return logistic_slope(z.value, target) * z.d_a


def probability(link: Link, a: Floats) -> PredictorLoss:
    """The probability that a predictor means, with its first two derivatives."""
    y = halves(to_logit(link, a))
    slope = y.p * y.not_p
    curvature = slope * (y.not_p - y.p)
    if link is None:
        return PredictorLoss(y.p, slope, curvature)
    z = link(a)
    return PredictorLoss(y.p, slope * z.d_a, curvature * z.d_a**2 + slope * z.h_aa)


class Response(Protocol):
    """How the predictors a and b of a row make its probabilities, and what was observed likely."""

    def gradient(self, labels: Labels, a: Floats, b: Floats) -> PairLossGradient:
        """Loss of what was observed of a row, and its gradient."""

    def loss(self, labels: Labels, a: Floats, b: Floats) -> PairLoss:
        """Loss of what was observed of a row, its gradient and its Hessian."""

    def outcome(self, a: Floats, b: Floats) -> PairLoss:
        """y(x) = P(Y=1 | x)."""

    def labelled(self, a: Floats, b: Floats) -> PairLoss:
        """y(x) e(x) = P(Y=1, S=1 | x)."""

    def hidden(self, a: Floats, b: Floats) -> PairLossGradient:
        """t(x) = P(Y=1 | x, S=0)."""


@dataclass(frozen=True)
class DoubleResponse:
    """Two models, of the class and of the labelling: a link, and the rate of false labels."""

    link: Link = None
    false_rate: float = 0.0

    def gradient(self, labels: Labels, a: Floats, b: Floats) -> PairLossGradient:
        if self.false_rate > 0:
            return PairLossGradient(*self.loss(labels, a, b)[:3])
        if self.link is None:
            return double_logistic_slopes(labels, a, b)
        z_a, z_b = self.link(a), self.link(b)
        f = double_logistic_slopes(labels, z_a.value, z_b.value)
        return PairLossGradient(f.value, f.d_a * z_a.d_a, f.d_b * z_b.d_a)

    def loss(self, labels: Labels, a: Floats, b: Floats) -> PairLoss:
        if self.link is None:
            return self._from_logits(labels, a, b)
        z_a, z_b = self.link(a), self.link(b)
        f = self._from_logits(labels, z_a.value, z_b.value)
        return PairLoss(
            f.value,
            f.d_a * z_a.d_a,
            f.d_b * z_b.d_a,
            f.h_aa * z_a.d_a**2 + f.d_a * z_a.h_aa,
            f.h_ab * z_a.d_a * z_b.d_a,
            f.h_bb * z_b.d_a**2 + f.d_b * z_b.h_aa,
        )

    def outcome(self, a: Floats, b: Floats) -> PairLoss:
        y, none = probability(self.link, a), np.zeros_like(a)
        return PairLoss(y.value, y.d_a, none, y.h_aa, none, none)

    def labelled(self, a: Floats, b: Floats) -> PairLoss:
        y, e = probability(self.link, a), probability(self.link, b)
        return PairLoss(
            y.value * e.value,
            d_a=y.d_a * e.value,
            d_b=y.value * e.d_a,
            h_aa=y.h_aa * e.value,
            h_ab=y.d_a * e.d_a,
            h_bb=y.value * e.h_aa,
        )

    def hidden(self, a: Floats, b: Floats) -> PairLossGradient:
        """t(x), whose logit is logit y + log(1 - e) - log(1 - r), r the rate of false labels."""
        y, e = probability(self.link, a), probability(self.link, b)
        log_not_e = sigmoid(to_logit(self.link, b)).log_not_p - np.log1p(-self.false_rate)
        t = positive_given_unlabelled(to_logit(self.link, a), log_not_e)
        bend = t * (1 - t)
        d_a = bend * _ratio(y.d_a, y.value * (1 - y.value))
        return PairLossGradient(t, d_a, -bend * _ratio(e.d_a, 1 - e.value))

    def _from_logits(self, labels: Labels, a: Floats, b: Floats) -> PairLoss:
        if self.false_rate > 0:
            return noisy_double_logistic(labels, a, b, self.false_rate)
        return double_logistic(labels, a, b)


PLAIN = DoubleResponse()  # two logistic models, every label true


def _ratio(slope: Floats, size: Floats) -> Floats:
    """Slope over size, 0 where both vanish: there, t does not move."""
    return np.divide(slope, size, out=np.zeros_like(slope), where=size > 0)
