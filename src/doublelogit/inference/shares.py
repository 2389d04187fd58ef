"""Prevalence, label frequency and hidden positives, each with its influence on every row.

An estimate is a function of the rows and of theta. What row i contributes to its error is

    psi_i = direct_i + g' A^-1 u_i        g: its gradient in theta, u_i: the row's score

so its variance is the sum of psi_i^2, or of their sums within clusters squared.
"""

from dataclasses import dataclass

import numpy as np

from doublelogit._types import Floats
from doublelogit.design import Terms, pull_back
from doublelogit.inference.binding import Fitted
from doublelogit.inference.covariance import belief_scores, score_along
from doublelogit.likelihood import positive_given_label
from doublelogit.link import to_logit
from doublelogit.methods.orientation import inverse_information
from doublelogit.methods.prevalence import label_frequency_at, response


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
    y = response(fitted.problem.link, fitted.predictors()[0])
    value = float(w @ y.value / w.sum())
    head = _pulled(fitted, w * y.slope / w.sum(), fitted.problem.outcome)
    gradient = np.append(head, np.zeros(fitted.problem.propensity.size))
    return Share(value, w * (y.value - value) / w.sum(), gradient)


def label_frequency(fitted: Fitted, inside: Floats) -> Share:
    """Share of positives that are labelled: mean S, less false labels, over mean y(x)."""
    rows, pi = fitted.problem.rows, prevalence(fitted, inside)
    w = rows.weight * inside
    mean_s = float(w @ rows.s / w.sum())
    false = fitted.problem.false_label_rate
    above = (mean_s - false) / pi.value
    direct = (w * (rows.s - mean_s) / w.sum() - above * pi.direct) / pi.value
    value = label_frequency_at(pi.value, mean_s, false)
    return Share(value, direct, -above * pi.gradient / pi.value)


def hidden(fitted: Fitted, inside: Floats) -> Share:
    """Number of unlabelled positives among these very rows.

    ``direct`` is the chance in it: whether a row that is positive with probability t is.
    """
    rows = fitted.problem.rows
    w = rows.weight * inside * (rows.s == 0)
    link, (a, b) = fitted.problem.link, fitted.predictors()
    logit_y = to_logit(link, a) - np.log1p(-fitted.problem.false_label_rate)
    t = positive_given_label(rows.known, logit_y, to_logit(link, b))
    # logit t = logit y + log(1 - e); an audited class depends on no model
    bend = w * t * (1 - t) * np.isnan(rows.known)
    y, e = response(link, a), response(link, b)
    by_beta = bend * _ratio(y.slope, y.value * (1 - y.value))
    by_gamma = -bend * _ratio(e.slope, 1 - e.value)
    gradient = np.concatenate(
        [
            _pulled(fitted, by_beta, fitted.problem.outcome),
            _pulled(fitted, by_gamma, fitted.problem.propensity),
        ]
    )
    return Share(float(w @ t), w * np.sqrt(t * (1 - t)), gradient)


def influence(fitted: Fitted, share: Share) -> tuple[Floats, float]:
    """Psi of every row, and the variance that comes of what is believed."""
    pull = inverse_information(fitted.problem, fitted.theta) @ share.gradient
    from_beliefs = sum(float(score @ pull) ** 2 for score in belief_scores(fitted))
    return share.direct + score_along(fitted, pull), from_beliefs


def _ratio(slope: Floats, size: Floats) -> Floats:
    """Slope over size, 0 where both vanish: there, t does not move."""
    return np.divide(slope, size, out=np.zeros_like(slope), where=size > 0)


def _pulled(fitted: Fitted, slope: Floats, terms: Terms) -> Floats:
    return terms.take(fitted.problem.rows.total(pull_back, slope))
