"""Which of the two fitted models is the outcome, and how sure that is.

The likelihood of the labels does not change when beta and gamma swap places (Lemma 1; see
problem.py). What can tell them apart, in the order in which it is asked:

    features    the models may use different features
    audit       rows of known class
    prevalence  known from elsewhere (or only the penalties differ: "penalty")
    norm        nothing: by assumption the class depends on the features more than labelling does
    curves      the class may bend and labelling may not: asked only where the likelihood differs by
                more than curves would make it differ by chance, for the class may be straight

With features or an audit the swapped pair is another point of the likelihood. It is climbed from
there, the better of the two optima is kept, and the gap is how far below the other lies in
log-likelihood. By assumption alone the stronger model is the outcome, the one whose predictor
varies more over the rows. The gap is then the difference of the two variances, less what noise in
the coefficients adds to them, in its standard errors. (The order itself is not corrected for noise:
away from a maximum, after a few MM rounds, the correction takes too much from a strong model.)

Lemma 1 allows any norm. With intercepts in it, as printed (``orientation="norm"``), a propensity
near 1 everywhere has the larger norm and would be taken for the outcome; hence the variances.
"""

from collections.abc import Callable
from functools import partial

import numpy as np

from doublelogit._types import Floats
from doublelogit.common.thresholds import CLEAR_LOG_LIKELIHOOD, CLEAR_STANDARD_ERRORS
from doublelogit.core.design import predictor
from doublelogit.core.rows import weighted_mean
from doublelogit.core.solvers import Solution, ValueGradHess
from doublelogit.fitted.fit import Orientation
from doublelogit.fitted.linear import uncentred_coef
from doublelogit.methods.information import inverse_information
from doublelogit.methods.logistic import DENSE_LIMIT
from doublelogit.methods.problem import Problem, combined, full

SAME_OPTIMUM = 1e-3  # difference of predictors below which two solutions are one optimum
ONLY_ONE = Orientation("penalty", np.inf, "log-likelihood", True)
BENT = Orientation("curves", np.inf, "log-likelihood", True)
TIED_FITS = 0.1  # log-likelihood units that say nothing: the stronger model is the outcome then


# The solution in the right order, the swapped one's theta, and what decided.
Oriented = tuple[Solution, Floats, Orientation]


def orient(
    problem: Problem, best: Solution, solve: Callable[[Floats], Solution], rule: str
) -> Oriented:
    """Decide which of the two models is the outcome."""
    if not problem.symmetric:
        return _by_likelihood(problem, best, solve(swapped_theta(problem, best.theta)))
    beta, gamma = full(problem, best.theta)
    if rule == "norm":
        in_order = larger_first(*(_as_given(problem, coef) for coef in (beta, gamma)))
    else:
        outcome, labelling = combined(problem.symmetry.strengths, beta, gamma)
        in_order = variation(problem, outcome) >= variation(problem, labelling)
    dense = problem.outcome.size <= DENSE_LIMIT
    gap = (
        (1 if in_order else -1) * strength_gap(problem, best.theta, best.last) if dense else np.nan
    )
    rival = best._replace(theta=swapped_theta(problem, best.theta))
    if not problem.symmetry.exact(problem):  # its own penalty moves the rival a little, or away
        rival = solve(rival.theta)
        if _apart(problem, best, rival) < SAME_OPTIMUM:
            return best, rival.theta, ONLY_ONE if problem.smooth is None else BENT
        if problem.smooth is not None and _bends(problem, best, rival):
            return _by_likelihood(problem, best, rival)
    if not in_order:
        best, rival = rival, best
    clear = gap >= CLEAR_STANDARD_ERRORS
    decided = Orientation(problem.symmetry.assumption, gap, "standard errors", clear)
    return best, rival.theta, decided


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
    beta, gamma = combined(problem.symmetry.swap, *full(problem, theta))
    return np.concatenate([problem.outcome.take(beta), problem.propensity.take(gamma)])


def _bends(problem: Problem, one: Solution, other: Solution) -> bool:
    """Whether two solutions differ by more than their curves would where both models are straight.

    Twice the log-likelihood that q superfluous terms gain has mean q and variance 2q, so the
    difference of two such gains has standard deviation root q.
    """
    assert problem.smooth is not None
    chance = 2 * np.sqrt(len(problem.smooth))
    return problem.n * abs(one.value - other.value) >= CLEAR_LOG_LIKELIHOOD + chance


def _by_likelihood(problem: Problem, best: Solution, rival: Solution) -> Oriented:
    best, rival = sorted((best, rival), key=lambda solution: solution.value)
    gap = problem.n * (rival.value - best.value)
    # both starts end in one optimum: the swapped pair has none of its own
    if _apart(problem, best, rival) < SAME_OPTIMUM:
        gap = np.inf
    elif gap < TIED_FITS and _stronger(problem, rival, best):
        best, rival = rival, best
    clear = gap >= CLEAR_LOG_LIKELIHOOD
    decided = Orientation(what_tells(problem), gap, "log-likelihood", clear)
    return best, rival.theta, decided


def _apart(problem: Problem, one: Solution, other: Solution) -> float:
    """Largest difference of two solutions, in the units of predictors."""
    return float(np.abs(problem.likelihood.scale * (one.theta - other.theta)).max())


def _stronger(problem: Problem, one: Solution, other: Solution) -> bool:
    """Whether the outcome of one varies more than that of the other."""
    variations = [
        variation(problem, combined(problem.symmetry.strengths, *full(problem, solution.theta))[0])
        for solution in (one, other)
    ]
    return not problem.distinct_features and variations[0] > variations[1]


def what_tells(problem: Problem) -> str:
    """Name of the rule by which the likelihood tells class and labelling apart."""
    return problem.symmetry.broken_by(problem) or "curves"


def strength_gap(problem: Problem, theta: Floats, last: ValueGradHess | None = None) -> float:
    """How much stronger the class is than the labelling, in standard errors."""
    terms = problem.label
    gram = problem.moments.gram(terms)
    spread = gram - np.outer(gram[-1], gram[-1])  # zero where the intercept is
    # D = b'Sb - g'Sg as a quadratic form of theta, which is normal with covariance V about the
    # truth: mean and variance of such a form are known
    place = terms.embed(np.arange(terms.size, dtype=np.float64))
    models = [m.take(place).astype(np.intp) for m in (problem.outcome, problem.propensity)]
    outcome, labelling = (np.outer(strength, strength) for strength in problem.symmetry.strengths)
    form = np.block(
        [
            [(outcome - labelling)[i, j] * spread[np.ix_(models[i], models[j])] for j in (0, 1)]
            for i in (0, 1)
        ]
    )
    with np.errstate(over="ignore", invalid="ignore"):  # a gap beyond all numbers is not known
        noise = form @ inverse_information(problem, theta, None if last is None else last.hess)
        difference = theta @ form @ theta - np.trace(noise)
        variance = 4 * theta @ noise @ form @ theta + 2 * np.trace(noise @ noise)
        return float(difference / np.sqrt(max(variance, np.finfo(float).tiny)))


def variation(problem: Problem, coef: Floats) -> float:
    """Variance of a model's predictor over the rows."""
    rows = problem.rows
    a = rows.map_rows(partial(predictor, coef=coef))
    mean = weighted_mean(rows, a)
    return weighted_mean(rows, rows.map_columns(lambda a: (a - mean) ** 2, a))
