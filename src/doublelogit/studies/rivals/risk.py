"""The PU risk of a linear score, and its minimiser: what uPU, nnPU, PUSB and PUe share.

    R(theta) = pi sum_L w l(a) + N(theta),   N(theta) = mean l(-a) - pi sum_L w l(-a)

a is the score of a row, w are weights of the labelled rows that sum to one, and the mean is over
*all* rows: labelled ones are part of a single sample. Both losses have l(a) - l(-a) = -a, which
makes R convex.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit

from doublelogit._types import Floats
from doublelogit.core.design import predictor, pull_back
from doublelogit.core.solvers import Solution, ValueGrad, lbfgs
from doublelogit.studies.rivals.sample import Sample

WIDTH = 0.1  # over which the corners of the double hinge are rounded, for a smooth solver
LEAST = 1e-6  # share of N beside the rest of the risk from which the floor is sought


class Loss(NamedTuple):
    """A loss of the margin and its derivative."""

    value: Callable[[Floats], Floats]
    slope: Callable[[Floats], Floats]


def _softplus(a: Floats) -> Floats:
    return np.logaddexp(0.0, a)


def _hinges(a: Floats) -> Floats:
    """max(0, 1 - a)/2 + max(0, -1 - a)/2, that is max(-a, max(0, (1 - a)/2)), rounded."""
    return WIDTH / 2 * (_softplus((1 - a) / WIDTH) + _softplus((-1 - a) / WIDTH))


def _hinges_slope(a: Floats) -> Floats:
    return -(expit((1 - a) / WIDTH) + expit((-1 - a) / WIDTH)) / 2


LOSSES = {
    "logistic": Loss(lambda a: _softplus(-a), lambda a: -expit(-a)),
    "double_hinge": Loss(_hinges, _hinges_slope),
}


@dataclass(frozen=True)
class PURisk:
    """``theta -> pi sum_L w l(a) + share N(theta)`` and the penalty; the risk has share 1.

    ``positive`` is pi w of labelled rows and zero elsewhere.
    """

    Z: Floats
    positive: Floats
    loss: Loss
    l2: float
    share: float = 1.0

    @cached_property
    def unit(self) -> Floats:
        return np.ones(self.Z.shape[1] + 1)

    @property
    def scale(self) -> Floats:
        return self.unit

    @cached_property
    def _ridge(self) -> Floats:
        return np.append(np.full(self.Z.shape[1], self.l2 / len(self.Z)), 0.0)

    def negative_part(self, theta: Floats) -> float:
        """N(theta), an estimate of the risk of negatives, which cannot be below zero."""
        value = self.loss.value(-predictor(self.Z, theta))
        return float(value.mean() - self.positive @ value)

    def gradient(self, theta: Floats) -> Floats:
        return self.value_grad(theta).grad

    def value_grad(self, theta: Floats) -> ValueGrad:
        a, pull = predictor(self.Z, theta), self._ridge * theta
        counted = self.share * (1 / len(a) - self.positive)
        value = self.positive @ self.loss.value(a) + counted @ self.loss.value(-a)
        d_a = self.positive * self.loss.slope(a) - counted * self.loss.slope(-a)
        return ValueGrad(float(value + 0.5 * pull @ theta), pull_back(self.Z, d_a) + pull)


def minimise_risk(
    sample: Sample, positive: Floats, loss: str, *, floored: bool, tol: float, max_iter: int
) -> Solution:
    """Minimise the risk or, if ``floored``, the one with max(0, N) in the place of N.

    A smooth solver stalls at the corner of the floor. But the floored risk is the larger of two
    convex functions, the one with N and the one without: where neither of their minima is its
    own, it lies where N = 0, and is that of the risk with some share of N.
    """
    risk = PURisk(sample.Z, positive, LOSSES[loss], sample.l2)
    latest = lbfgs(risk, np.zeros(len(risk.unit)), tol=tol, max_iter=max_iter)
    if not floored or risk.negative_part(latest.theta) >= 0:
        return latest

    def negative_part(log_share: float) -> float:
        nonlocal latest
        negative = replace(risk, share=float(np.exp(log_share)))
        latest = lbfgs(negative, latest.theta, tol=tol, max_iter=max_iter)
        return risk.negative_part(latest.theta)

    negative_part(brentq(negative_part, np.log(LEAST), 0.0, xtol=1e-5))
    return latest
