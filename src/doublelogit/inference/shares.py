"""Prevalence, label frequency and hidden positives, each with its influence on every row.

An estimate is a function of the rows and of theta. What row i contributes to its error is

    psi_i = direct_i + g' A^-1 u_i        g: its gradient in theta, u_i: the row's score

so its variance is the sum of psi_i^2, or of their sums within clusters squared.
"""

from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.special import expit

from doublelogit._types import Floats
from doublelogit.design import predictor, pull_back
from doublelogit.inference.binding import Fitted
from doublelogit.inference.covariance import row_scores
from doublelogit.likelihood import positive_given_label
from doublelogit.methods.orientation import inverse_information


@dataclass(frozen=True)
class Share:
    """A value, what each row contributes to its error, and its gradient in theta."""

    value: float
    direct: Floats
    gradient: Floats


def prevalence(fitted: Fitted, inside: Floats) -> Share:
    """Mean of y(x) over the rows inside (weights 1 or 0)."""
    rows = fitted.problem.rows
    w = rows.weight * inside
    y = _positive(fitted)
    value = float(w @ y / w.sum())
    slope = _outcome_gradient(fitted, w * y * (1 - y) / w.sum())
    return Share(value, w * (y - value) / w.sum(), slope)


def label_frequency(fitted: Fitted, inside: Floats) -> Share:
    """Share of positives that are labelled: mean S over mean y(x)."""
    rows, pi = fitted.problem.rows, prevalence(fitted, inside)
    w = rows.weight * inside
    mean_s = float(w @ rows.s / w.sum())
    c = mean_s / pi.value
    direct = (w * (rows.s - mean_s) / w.sum() - c * pi.direct) / pi.value
    return Share(c, direct, -c * pi.gradient / pi.value)


def hidden(fitted: Fitted, inside: Floats) -> Share:
    """Number of unlabelled positives among these very rows.

    ``direct`` is the chance in it: whether a row that is positive with probability t is.
    """
    rows = fitted.problem.rows
    w = rows.weight * inside * (rows.s == 0)
    a = rows.derive(partial(predictor, coef=fitted.beta))
    b = rows.derive(partial(predictor, coef=fitted.gamma))
    t = positive_given_label(rows.known, a, b)
    bend = w * t * (1 - t) * np.isnan(rows.known)  # an audited class depends on no model
    gradient = np.concatenate(
        [
            _pulled(fitted, bend, fitted.problem.outcome),
            _pulled(fitted, -bend * expit(b), fitted.problem.propensity),
        ]
    )
    return Share(float(w @ t), w * np.sqrt(t * (1 - t)), gradient)


def influence(fitted: Fitted, share: Share) -> Floats:
    """Psi of every row."""
    pull = inverse_information(fitted.problem, fitted.theta) @ share.gradient
    return share.direct + row_scores(fitted) @ pull


def _positive(fitted: Fitted) -> Floats:
    return np.asarray(expit(fitted.problem.rows.derive(partial(predictor, coef=fitted.beta))))


def _outcome_gradient(fitted: Fitted, slope: Floats) -> Floats:
    head = _pulled(fitted, slope, fitted.problem.outcome)
    return np.append(head, np.zeros(fitted.problem.propensity.size))


def _pulled(fitted: Fitted, slope: Floats, terms: object) -> Floats:
    return terms.take(fitted.problem.rows.total(pull_back, slope))  # type: ignore[attr-defined]
