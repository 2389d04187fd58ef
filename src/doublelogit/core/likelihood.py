"""Per-row losses of the double logistic model, with derivatives.

    y(x) = P(Y=1 | x)       = sigma(a),  a = x'beta     outcome
    e(x) = P(S=1 | Y=1, x)  = sigma(b),  b = x'gamma    propensity
    s(x) = P(S=1 | x)       = y(x) e(x)                 label

Functions here map per-row arrays to per-row arrays and never see X. Everything is computed
from logarithms and from products of small factors, so that no value overflows and no
derivative is the difference of two nearly equal numbers.

The class of a row is either *known* (``labels.known`` is 0 or 1: every labelled row, and
audited ones) or not (NaN). What is needed of a row is always t = P(Y=1 | what is known of it): the
E-step of EM and LBE, the weight of TM and, by Fisher's and Louis' identities, the gradient
and Hessian of JOINT.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import expit, log_expit

from doublelogit._types import Floats, Ints
from doublelogit.core.labels import Labels

FAR_OUT = 350.0  # predictors beyond are looked at by logarithms: squares of exponentials overflow
NEAR_ONE = 0.99  # of s(x), from which 1 - s(x) would lose digits
OVERFLOW = 709.0  # the largest number whose exponential is one


class PredictorLoss(NamedTuple):
    """Loss, or probability, of one predictor: value, d/da and d2/da2, each of shape (n,)."""

    value: Floats
    d_a: Floats
    h_aa: Floats


class PairLoss(NamedTuple):
    """Loss, or probability, of two predictors: value, gradient, 2 x 2 Hessian, each (n,)."""

    value: Floats
    d_a: Floats
    d_b: Floats
    h_aa: Floats
    h_ab: Floats
    h_bb: Floats


class PairLossGradient(NamedTuple):
    """Loss, or probability, of two predictors: value and gradient, each of shape (n,)."""

    value: Floats
    d_a: Floats
    d_b: Floats


class Sigmoid(NamedTuple):
    """sigma(a) = p and 1 - p, with their logarithms."""

    p: Floats
    not_p: Floats
    log_p: Floats
    log_not_p: Floats


def sigmoid(a: Floats) -> Sigmoid:
    """sigma(a), 1 - sigma(a) and both logarithms, exact to rounding for every finite a."""
    below = np.minimum(a, 0.0)
    above = below - a  # -max(a, 0)
    up, down = np.exp(below), np.exp(above)  # one of them is 1, the other exp(-|a|)
    total, log_total = up + down, np.log1p(up * down)
    for column in (up, down):  # in place: this is the innermost loop of every method
        column /= total
    for column in (below, above):
        column -= log_total
    return Sigmoid(up, down, below, above)


class Halves(NamedTuple):
    """sigma(a) = p and 1 - p."""

    p: Floats
    not_p: Floats


def halves(a: Floats) -> Halves:
    """sigma(a) and 1 - sigma(a) by one exponential, exact to rounding for |a| up to ``FAR``."""
    if a.size > 1 and not any(a.strides):  # one value, however often it is asked for
        one = halves(a[(slice(1),) * a.ndim])
        return Halves(*(np.broadcast_to(half, a.shape) for half in one))
    not_p = np.negative(a)
    np.exp(np.minimum(not_p, OVERFLOW, out=not_p), out=not_p)
    p = not_p + 1.0
    np.divide(1.0, p, out=p)
    not_p *= p
    return Halves(p, not_p)


def log_not(a: Floats) -> Floats:
    """log(1 - sigma(a)) alone: a third of the time of :func:`sigmoid`."""
    return np.asarray(np.minimum(-a, 0.0) - np.log1p(np.exp(-np.abs(a))))


def logistic(a: Floats, target: Floats) -> PredictorLoss:
    """Log-loss of sigma(a) against a soft target in [0, 1].

    A soft target t is the same as two weighted copies of the row, of class 1 with weight t
    and of class 0 with weight 1 - t, and needs no copy.

    Implements: W_n (with t = P(Y=1 | x, s)), K and R_n (with t = s), the NAIVE likelihood
    """
    y = sigmoid(a)
    return PredictorLoss(value=-y.log_not_p - target * a, d_a=y.p - target, h_aa=y.p * y.not_p)


def logistic_value(a: Floats, target: Floats) -> Floats:
    """The value alone of :func:`logistic`."""
    return -log_not(a) - target * a


def logistic_slope(a: Floats, target: Floats) -> Floats:
    """ValueGrad derivative of :func:`logistic`, for steps that need nothing else."""
    return _expit(a) - target


def positive_given_unlabelled(a: Floats, log_not_e: Floats) -> Floats:
    """P(Y=1 | S=0, x) = y(1-e) / (1-ye), from a and log(1 - e).

    Its logit is ``a + log(1 - e)``, which is finite wherever a is.

    Implements: OR(x) = (1-e)/e / ((1-s)/s)
    """
    return np.asarray(expit(a + log_not_e))


def positive_given_label(known: Floats, a: Floats, b: Floats) -> Floats:
    """T = P(Y=1 | x, s): the class where it is known, OR(x) elsewhere.

    Implements: w_1(s, x) of Lemma 2 (w_0 = 1 - w_1), the E-step of EM and LBE
    """
    return np.where(np.isnan(known), positive_given_unlabelled(a, log_expit(-b)), known)


def log_not_label(a: Floats, log_not_e: Floats) -> Floats:
    """log(1 - s(x)) = log(1 - y + y (1-e)) from a and log(1 - e).

    Implements: s(x) = e(x) y(x)
    """
    y = sigmoid(a)
    # the logarithm of a probability, also where rounding would leave it above zero
    return np.minimum(np.logaddexp(y.log_not_p, y.log_p + log_not_e), 0.0)


def expected_complete(labels: Labels, a: Floats, b: Floats) -> PairLossGradient:
    """Log-loss of (Y, S) averaged over Y ~ Bernoulli(t); the weight t stays on the second term.

    ``labels.known`` is t where that is given; where it is NaN, t is the E-step's at (a, b).

    Implements: the criterion of LBE and of EM's M-step
    """
    y, e = sigmoid(a), sigmoid(b)
    s, known = labels.any, labels.known
    t = np.where(np.isnan(known), positive_given_unlabelled(a, e.log_not_p), known)
    return PairLossGradient(-y.log_not_p - t * (a + e.log_not_p + s * b), y.p - t, t * (e.p - s))


def double_logistic(labels: Labels, a: Floats, b: Floats) -> PairLoss:
    """Log-loss of what was observed of a row, with its derivatives.

    Class unknown: ``-log(1 - ye)``. Class known: ``-log P(Y=known) - known log P(S=s | Y=1)``,
    which on labelled rows is ``-log(ye)``.

    With t as above Fisher's identity gives the gradient (y - t, t(e - s)), and Louis' identity
    the Hessian: complete minus missing information. Both are written here as products.

    Implements: Q_n
    """
    y, e, far = halves(a), halves(b), _any_far(a, b)
    f, t = _class_unknown(a, b, y, e, far)
    h_aa = f.d_a * (y.not_p - t.p)
    h_ab = f.d_b * t.not_p
    h_bb = f.d_b * (e.not_p - e.p * t.not_p)
    rows = _patched(f, labels, a, b, far)
    h_aa[..., rows] = y.p[..., rows] * y.not_p[..., rows]
    h_ab[..., rows] = 0.0
    h_bb[..., rows] = labels.known[rows] * e.p[..., rows] * e.not_p[..., rows]
    return PairLoss(f.value, f.d_a, f.d_b, h_aa, h_ab, h_bb)


def noisy_double_logistic(labels: Labels, a: Floats, b: Floats, false_rate: float) -> PairLoss:
    """Log-loss of a row where negatives may be labelled too, so that no label is certain.

    ``-log(y P(S=s | Y=1) + (1-y) P(S=s | Y=0))``; t is the share of the first term, and missing
    information is t(1-t) times the outer product of (1, s - e).
    """
    y, e, s, is_known = sigmoid(a), sigmoid(b), labels.any, ~np.isnan(labels.known)
    log_1 = y.log_p + np.where(s == 1, e.log_p, e.log_not_p)
    log_0 = y.log_not_p + np.where(s == 1, np.log(false_rate), np.log1p(-false_rate))
    together = np.logaddexp(log_1, log_0)
    t = np.where(is_known, labels.known, np.exp(log_1 - together))
    value = np.where(is_known, -t * log_1 - (1 - t) * log_0, -together)
    missing = np.where(is_known, 0.0, t * (1 - t))
    return PairLoss(
        value,
        d_a=y.p - t,
        d_b=t * (e.p - s),
        h_aa=y.p * y.not_p - missing,
        h_ab=missing * (e.p - s),
        h_bb=t * e.p * e.not_p - missing * (e.p - s) ** 2,
    )


def double_logistic_slopes(labels: Labels, a: Floats, b: Floats) -> PairLossGradient:
    """Value and gradient of :func:`double_logistic`, for steps that need no Hessian."""
    far = _any_far(a, b)
    f, _ = _class_unknown(a, b, halves(a), halves(b), far)
    _patched(f, labels, a, b, far)
    return f


def _class_unknown(
    a: Floats, b: Floats, y: Halves, e: Halves, far: bool
) -> tuple[PairLossGradient, Halves]:
    """Loss of rows of unknown class, its gradient, and t with 1 - t.

    By products, 1 - ye = (1-y) + y(1-e); by logarithms in the few rows that are far out.
    """
    hidden = y.p * e.not_p
    not_s_x = y.not_p + hidden
    s_x = y.p * e.p
    value = np.minimum(s_x, NEAR_ONE)
    np.negative(np.log1p(np.negative(value, out=value), out=value), out=value)
    large = s_x > NEAR_ONE
    with np.errstate(divide="ignore", invalid="ignore"):  # far out 1 - ye may vanish
        value[large] = -np.log(not_s_x[large])
        hidden /= not_s_x
        not_t = np.divide(y.not_p, not_s_x, out=not_s_x)
    s_x *= not_t
    f, t = PairLossGradient(value, s_x, e.p * hidden), Halves(hidden, not_t)
    if far:
        rows = (np.abs(a) > FAR_OUT) | (np.abs(b) > FAR_OUT)
        for column, values in zip((*f, *t), _far_out(a[rows], b[rows]), strict=True):
            column[rows] = values
    return f, t


def _any_far(*predictors: Floats) -> bool:
    return any(bool(a.size and (a.max() > FAR_OUT or a.min() < -FAR_OUT)) for a in predictors)


def _far_out(a: Floats, b: Floats) -> tuple[Floats, ...]:
    """The same in logarithms, which neither overflow nor vanish."""
    e = sigmoid(b)
    logit_t = a + e.log_not_p
    t, not_t = expit(logit_t), expit(-logit_t)
    s_x = expit(a) * e.p
    value = log_not_small(s_x, log_expit(-a), log_expit(-logit_t))
    return value, s_x * not_t, e.p * t, t, not_t


def _patched(f: PairLossGradient, labels: Labels, a: Floats, b: Floats, far: bool) -> Ints:
    """Put loss and gradient of rows of known class in their place, and return these rows."""
    rows = np.flatnonzero(~np.isnan(labels.known))
    a, b, s, known = a[..., rows], b[..., rows], labels.any[rows], labels.known[rows]
    patches = _class_known(s, known, a, b) if far or not s.all() else _labelled(a, b)
    for column, values in zip(f, patches, strict=True):
        column[..., rows] = values
    return rows


def _expit(x: Floats) -> Floats:
    """sigma(x), three times as fast as SciPy's: numpy's exponential is vectorised."""
    with np.errstate(over="ignore"):  # one over infinity is the zero that is meant
        odds = np.exp(-x)
    odds += 1.0
    return np.asarray(1 / odds)


def _labelled(a: Floats, b: Floats) -> PairLossGradient:
    """-log(ye), which is what labelled rows have, not far out."""
    d_a, d_b = np.exp(-a), np.exp(-b)  # odds against
    value = np.log1p(d_a * d_b + (d_a + d_b))
    for odds in (d_a, d_b):
        odds /= -1.0 - odds
    return PairLossGradient(value, d_a, d_b)


def _class_known(s: Floats, known: Floats, a: Floats, b: Floats) -> PairLossGradient:
    """A logistic loss of the class and, of a positive, one of the label."""
    y, e = sigmoid(a), sigmoid(b)
    return PairLossGradient(
        value=-known * (y.log_p + s * e.log_p + (1 - s) * e.log_not_p) - (1 - known) * y.log_not_p,
        d_a=(1 - known) * y.p - known * y.not_p,
        d_b=known * ((1 - s) * e.p - s * e.not_p),
    )


def log_not_small(s_x: Floats, log_not_y: Floats, log_not_t: Floats) -> Floats:
    """-log(1 - s) without a difference of nearly equal numbers."""
    return np.where(s_x > 0.5, log_not_t - log_not_y, -np.log1p(-np.minimum(s_x, 0.5)))
