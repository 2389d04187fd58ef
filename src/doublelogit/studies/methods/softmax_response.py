"""The two predictors of a row in the model of DETM."""

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from doublelogit._types import Floats
from doublelogit.core.labels import Labels
from doublelogit.core.likelihood import PairLoss, PairLossGradient, sigmoid
from doublelogit.studies.methods.softmax_loss import softmax, softmax_logit, softmax_slopes


@dataclass(frozen=True)
class SoftmaxResponse:
    """DETM: a softmax of labelled positives, unlabelled positives and negatives."""

    def gradient(self, labels: Labels, a: Floats, b: Floats) -> PairLossGradient:
        return softmax_slopes(labels, a, b)

    def loss(self, labels: Labels, a: Floats, b: Floats) -> PairLoss:
        return softmax(labels, a, b)

    def outcome(self, a: Floats, b: Floats) -> PairLoss:
        y, e = sigmoid(softmax_logit(a, b)), sigmoid(b)
        slope, tilt = y.p * y.not_p, y.not_p - y.p  # of y in its logit, whose slope in b is e
        mixed = slope * tilt * e.p
        h_bb = mixed * e.p + slope * e.p * e.not_p
        return PairLoss(y.p, slope, slope * e.p, slope * tilt, mixed, h_bb)

    def labelled(self, a: Floats, b: Floats) -> PairLoss:
        y, e = sigmoid(softmax_logit(a, b)), sigmoid(b)
        s_x, not_s_x = y.p * e.p, y.not_p + y.p * e.not_p
        d_a, d_b = s_x * y.not_p, s_x * not_s_x
        mixed = d_a * (not_s_x - s_x)
        return PairLoss(s_x, d_a, d_b, d_a * (y.not_p - y.p), mixed, d_b * (not_s_x - s_x))

    def hidden(self, a: Floats, b: Floats) -> PairLossGradient:
        t = np.asarray(expit(a))
        return PairLossGradient(t, t * (1 - t), np.zeros_like(t))
