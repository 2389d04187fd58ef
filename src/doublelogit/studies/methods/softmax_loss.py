"""Per-row loss of DETM, whose t(x) and e(x) are logistic where JOINT has a logistic y(x).

t(x) = P(Y=1 | x, S=0) = sigma(a)
e(x) = P(S=1 | Y=1, x) = sigma(b)
"""

import numpy as np
from scipy.special import expit, log_expit

from doublelogit._types import Floats
from doublelogit.core.labels import Labels
from doublelogit.core.likelihood import PairLoss, PairLossGradient, log_not_small, sigmoid


def softmax_logit(a: Floats, b: Floats) -> Floats:
    """Logit of y(x) where a is that of t(x) = P(Y=1 | x, S=0): a - log(1 - e)."""
    return a - log_expit(-b)


def softmax(labels: Labels, a: Floats, b: Floats) -> PairLoss:
    """Log-loss of what was observed of a row whose three classes follow a softmax.

    Labelled positives, unlabelled positives and negatives have probabilities proportional to
    ``exp(a + b), exp(a), 1``, so that t(x) = sigma(a) and e(x) = sigma(b). With T the class where
    it is known and t(x) elsewhere, the gradient is (y - T, ye - s), written here as products.

    Implements: the likelihood of DETM
    """
    value, d_a, d_b = softmax_slopes(labels, a, b)
    y, e, unknown = sigmoid(softmax_logit(a, b)), sigmoid(b), np.isnan(labels.known)
    s_x, not_s_x = y.p * e.p, y.not_p + y.p * e.not_p
    h_aa = np.where(unknown, d_a * (y.not_p - expit(a)), y.p * y.not_p)
    return PairLoss(value, d_a, d_b, h_aa, s_x * y.not_p, s_x * not_s_x)


def softmax_slopes(labels: Labels, a: Floats, b: Floats) -> PairLossGradient:
    """Value and gradient of :func:`softmax`, for steps that need no Hessian."""
    s, known = labels.any, labels.known
    y, e = sigmoid(softmax_logit(a, b)), sigmoid(b)
    s_x, not_s_x = y.p * e.p, y.not_p + y.p * e.not_p
    of_positive = y.log_p + np.where(s == 1, e.log_p, e.log_not_p)
    value = np.where(known == 1, -of_positive, -y.log_not_p)
    d_a = np.where(known == 1, -y.not_p, y.p)
    unknown = np.flatnonzero(np.isnan(known))
    # 1 - ye = (1 - y) / (1 - t), and t = sigma(a); of a small ye the logarithm is taken itself
    value[unknown] = log_not_small(s_x[unknown], y.log_not_p[unknown], log_expit(-a[unknown]))
    d_a[unknown] = s_x[unknown] * expit(-a[unknown])
    return PairLossGradient(value, d_a, np.where(s == 1, -not_s_x, s_x))
