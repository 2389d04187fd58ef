"""Which of the two fitted models is the outcome, and how sure that is.

The likelihood of the labels does not change when beta and gamma swap places (Lemma 1). What can
tell them apart, in the order in which it is asked:

    features    the models may use different features
    audit       rows of known class
    prevalence  known from elsewhere (or only the penalties differ: "penalty")
    norm        nothing: by assumption the class depends on the features more than labelling does

With features or an audit the swapped pair is another point of the likelihood. It is climbed from
there, the better of the two optima is kept, and the gap is how far below the other lies in
log-likelihood. By assumption alone the stronger model is the outcome, the one whose predictor
varies more over the rows. The gap is then the difference of the two variances, less what noise in
the coefficients adds to them, in its standard errors. (The order itself is not corrected for noise:
away from a maximum, after a few MM rounds, the correction takes too much from a strong model.)
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from doublelogit._types import Floats
from doublelogit.design import predictor, sandwich
from doublelogit.fit import Orientation
from doublelogit.fitted.linear import uncentred_coef
from doublelogit.methods.information import inverse_information
from doublelogit.methods.models import DENSE_LIMIT
from doublelogit.methods.problem import Problem, full
from doublelogit.rows import weighted_mean
from doublelogit.solvers import Solution
from doublelogit.thresholds import CLEAR_LOG_LIKELIHOOD, CLEAR_STANDARD_ERRORS

SAME = 1e-3  # difference of predictors below which two solutions are one optimum
TIE = 0.1  # log-likelihood units that say nothing: the stronger model is the outcome then


class Oriented(NamedTuple):
    """The solution in the right order, the swapped one's theta, and what decided."""

    best: Solution
    rival: Floats
    decided: Orientation


def orient(
    problem: Problem, best: Solution, solve: Callable[[Floats], Solution], rule: str
) -> Oriented:
    """Decide which of the two models is the outcome."""
    if not problem.symmetric:
        return _by_likelihood(problem, best, solve)
    beta, gamma = full(problem, best.theta)
    if rule == "norm":
        in_order = larger_first(*(_as_given(problem, coef) for coef in (beta, gamma)))
    else:
        in_order = variation(problem, beta) >= variation(problem, gamma)
    dense = problem.outcome.size <= DENSE_LIMIT
    gap = (1 if in_order else -1) * strength_gap(problem, best.theta) if dense else np.nan
    theta, rival = best.theta, swapped_theta(problem, best.theta)
    if not in_order:
        theta, rival = rival, theta
    decided = Orientation("norm", gap, "standard errors", gap >= CLEAR_STANDARD_ERRORS)
    return Oriented(best._replace(theta=theta), rival, decided)


def _as_given(problem: Problem, coef: Floats) -> Floats:
    """Coefficients of the features before they were centred: the printed norm counts intercepts."""
    return coef if problem.shift is None else uncentred_coef(coef, problem.shift)


def larger_first(beta: Floats, gamma: Floats) -> bool:
    """Whether |beta|_1 >= |gamma|_1, intercepts included.

    Implements: the constraint of Lemma 1
    """
    return bool(np.abs(beta).sum() >= np.abs(gamma).sum())


def swapped_theta(problem: Problem, theta: Floats) -> Floats:
    """Beta in the place of gamma and the other way round, as far as their terms allow."""
    beta, gamma = full(problem, theta)
    return np.concatenate([problem.outcome.take(gamma), problem.propensity.take(beta)])


def _by_likelihood(
    problem: Problem, best: Solution, solve: Callable[[Floats], Solution]
) -> Oriented:
    rival = solve(swapped_theta(problem, best.theta))
    best, rival = sorted((best, rival), key=lambda solution: solution.value)
    gap = problem.n * (rival.value - best.value)
    apart = np.abs(problem.likelihood.scale * (rival.theta - best.theta)).max()
    if apart < SAME:  # both starts end in one optimum: the swapped pair has none of its own
        gap = np.inf
    elif gap < TIE and _stronger(problem, rival, best):
        best, rival = rival, best
    clear = gap >= CLEAR_LOG_LIKELIHOOD
    decided = Orientation(what_tells(problem), gap, "log-likelihood", clear)
    return Oriented(best, rival.theta, decided)


def _stronger(problem: Problem, one: Solution, other: Solution) -> bool:
    """Whether the outcome of one varies more than that of the other."""
    variations = [variation(problem, full(problem, solution.theta)[0]) for solution in (one, other)]
    return problem.outcome is problem.propensity and variations[0] > variations[1]


def what_tells(problem: Problem) -> str:
    """What distinguishes the outcome from the propensity, in a problem that is not symmetric."""
    if problem.outcome is not problem.propensity:
        return "features"
    if problem.audited:
        return "audit"
    if problem.beliefs:
        return "prevalence"
    return "false labels" if problem.false_label_rate > 0 else "penalty"


def strength_gap(problem: Problem, theta: Floats) -> float:
    """How much stronger the first model is than the second, in standard errors."""
    k = problem.outcome.size
    rows, terms = problem.rows, problem.outcome
    total = rows.sum_rows(lambda X, weight: sandwich(terms.select(X), weight), rows.weight)
    gram = total / problem.n
    mean = gram[-1, :-1]
    spread = gram[:-1, :-1] - np.outer(mean, mean)
    # D = b'Sb - g'Sg as a quadratic form of theta, which is normal with covariance V about the
    # truth: mean and variance of such a form are known
    form = np.zeros((2 * k, 2 * k))
    form[: k - 1, : k - 1], form[k : 2 * k - 1, k : 2 * k - 1] = spread, -spread
    noise = form @ inverse_information(problem, theta)
    difference = theta @ form @ theta - np.trace(noise)
    variance = 4 * theta @ noise @ form @ theta + 2 * np.trace(noise @ noise)
    return float(difference / np.sqrt(max(variance, np.finfo(float).tiny)))


def variation(problem: Problem, coef: Floats) -> float:
    """Variance of a model's predictor over the rows."""
    rows = problem.rows
    a = rows.map_rows(partial(predictor, coef=coef))
    mean = weighted_mean(rows, a)
    return weighted_mean(rows, rows.map_columns(lambda a: (a - mean) ** 2, a))
