"""Prevalence, label frequency and hidden positives, each with its influence on every row.

An estimate is a function of the rows and of theta. What row i contributes to its error is

    psi_i = direct_i + g' A^-1 u_i        g: its gradient in theta, u_i: the row's score

so its variance is the sum of psi_i^2, or of their sums within clusters squared.
"""

from dataclasses import dataclass
from functools import partial

import numpy as np

from doublelogit._types import Column, Floats, Matrix
from doublelogit.design import pull_back
from doublelogit.inference.covariance import belief_scores, score_along
from doublelogit.inference.fitted_problem import Fitted
from doublelogit.likelihood import positive_given_label
from doublelogit.link import Link, to_logit
from doublelogit.methods.orientation import inverse_information
from doublelogit.methods.prevalence import label_frequency_at, response
from doublelogit.rows import Rows


@dataclass(frozen=True)
class Share:
    """A value, what each row contributes to its error (a column), and its gradient in theta."""

    value: float
    direct: Column
    gradient: Floats


def weight_inside(rows: Rows, inside: Floats | None) -> Column:
    """Weight of the rows of a group, given by 1 and 0 for each row; None is all rows."""
    if inside is None:
        return rows.weight
    return rows.map_columns(np.multiply, rows.weight, rows.scatter(inside))


def prevalence(fitted: Fitted, inside: Floats | None) -> Share:
    """Mean of y(x) over the rows inside."""
    rows, link = fitted.problem.rows, fitted.problem.link
    w, a = weight_inside(rows, inside), fitted.predictors()[0]
    n, value, slope = rows.sum_rows(partial(_responses, link), w, a)
    gradient = np.append(
        fitted.problem.outcome.take(slope) / n, np.zeros(fitted.problem.propensity.size)
    )
    mean = value / n
    return Share(mean, rows.map_columns(partial(_about, link, mean, n), w, a), gradient)


def _responses(link: Link, X: Matrix, w: Floats, a: Floats) -> tuple[float, float, Floats]:
    y = response(link, a)
    return float(w.sum()), float(w @ y.value), pull_back(X, w * y.slope)


def _about(link: Link, mean: float, n: float, w: Floats, a: Floats) -> Floats:
    return w * (response(link, a).value - mean) / n


def label_frequency(fitted: Fitted, inside: Floats | None) -> Share:
    """Share of positives that are labelled: mean S, less false labels, over mean y(x)."""
    rows, pi = fitted.problem.rows, prevalence(fitted, inside)
    w = weight_inside(rows, inside)
    n, labelled = rows.sum_columns(_sums, w, rows.s)
    mean_s = labelled / n
    false = fitted.problem.false_label_rate
    above = (mean_s - false) / pi.value

    def direct(w: Floats, s: Floats, of_pi: Floats) -> Floats:
        return (w * (s - mean_s) / n - above * of_pi) / pi.value

    contributions = rows.map_columns(direct, w, rows.s, pi.direct)
    value = label_frequency_at(pi.value, mean_s, false)
    return Share(value, contributions, -above * pi.gradient / pi.value)


def _sums(w: Floats, s: Floats) -> tuple[float, float]:
    return float(w.sum()), float(w @ s)


def hidden(fitted: Fitted, inside: Floats | None) -> Share:
    """Number of unlabelled positives among these very rows.

    ``direct`` is the chance in it: whether a row that is positive with probability t is.
    """
    problem, rows = fitted.problem, fitted.problem.rows
    w = rows.map_columns(_unlabelled, weight_inside(rows, inside), rows.s)
    a, b = fitted.predictors()
    false = problem.false_label_rate
    t = rows.map_columns(partial(_positive, problem.link, false), rows.known, a, b)
    value = rows.sum_columns(np.dot, w, t)
    by_beta, by_gamma = rows.sum_rows(partial(_hidden_slopes, problem.link), w, t, rows.known, a, b)
    gradient = np.append(problem.outcome.take(by_beta), problem.propensity.take(by_gamma))
    chance = rows.map_columns(lambda w, t: w * np.sqrt(t * (1 - t)), w, t)
    return Share(float(value), chance, gradient)


def _unlabelled(w: Floats, s: Floats) -> Floats:
    return w * (s == 0)


def _positive(link: Link, false: float, known: Floats, a: Floats, b: Floats) -> Floats:
    return positive_given_label(known, to_logit(link, a) - np.log1p(-false), to_logit(link, b))


def _hidden_slopes(
    link: Link, X: Matrix, w: Floats, t: Floats, known: Floats, a: Floats, b: Floats
) -> tuple[Floats, Floats]:
    # logit t = logit y + log(1 - e); an audited class depends on no model
    bend = w * t * (1 - t) * np.isnan(known)
    y, e = response(link, a), response(link, b)
    by_beta = bend * _ratio(y.slope, y.value * (1 - y.value))
    by_gamma = -bend * _ratio(e.slope, 1 - e.value)
    return pull_back(X, by_beta), pull_back(X, by_gamma)


def influence(fitted: Fitted, share: Share) -> tuple[Column, float]:
    """Psi of every row, and the variance that comes of what is believed."""
    pull = inverse_information(fitted.problem, fitted.theta) @ share.gradient
    from_beliefs = sum(float(score @ pull) ** 2 for score in belief_scores(fitted))
    scores = score_along(fitted, pull)
    return fitted.problem.rows.map_columns(np.add, share.direct, scores), from_beliefs


def _ratio(slope: Floats, size: Floats) -> Floats:
    """Slope over size, 0 where both vanish: there, t does not move."""
    return np.divide(slope, size, out=np.zeros_like(slope), where=size > 0)
