"""A reserve for classes of another shape, where no label model is fitted.

Along the ridge labels tell of the prevalence only by how s(x) = y(x) e(x) bends, as if every class
were logistic. A class that bends otherwise, its labels given at random, explains the same labels
with any prevalence above the labelled share: s(x) = c y(x), pi = mean S / c. So a part of the
posterior is kept for it:

    mass    DOUBT of that of other components; more where labelling has slopes of its own, for what
            its factor explains may be a bend of the class as well
    pi      prior(pi) / pi from mean S to 1, which is c uniform
    y(x)    the mean logit of the lines, at the level of pi
    e(x)    mean S / pi

Where something tells class and labelling apart, or the prevalence is known, that is not needed.
"""

from functools import partial

import numpy as np
from scipy.special import logit, softmax

from doublelogit._types import Floats, Matrix
from doublelogit.averaged.level import level_from_table, sums_of_table
from doublelogit.averaged.mechanisms import mechanism_named
from doublelogit.averaged.mechanisms.at_random import AtRandom
from doublelogit.averaged.prior import log_prevalence
from doublelogit.averaged.shapes.protocol import Components, Lines, Proposal
from doublelogit.fitted import PosteriorSide
from doublelogit.methods.problem import Problem

# By priors, on classes in the middle of a feature (``benchmarks/middle.py``).
DOUBT, DOUBT_OF_OWN_SLOPES = 0.04, 0.15
NODES = 10  # prevalences, as likely as each other
FINE = 2000  # points by which these are found
LARGEST = 1 - 1e-9  # guard: label frequency that has a logit


def proposed(problem: Problem, mean_s: float, lines: Lines) -> Proposal | None:
    """One component for each of some equally likely prevalences, and their share of each line."""
    if not problem.symmetric:
        return None
    free = [mechanism_named(name).own_slopes for name in lines.mechanism]
    taken = np.where(free, DOUBT_OF_OWN_SLOPES, DOUBT)
    weight, (pi, pi_sd) = softmax(lines.log_mass), prevalences(mean_s)
    outcome, c = lines.outcome, np.minimum(mean_s / pi, LARGEST)
    coef = np.tile(weight @ outcome.coef, (NODES, 1))
    coef[:, -1] += _levels(problem, outcome, weight, pi)
    spread = np.tensordot(weight, outcome.covariance, axes=1)
    gamma = np.zeros((NODES, lines.propensity.coef.shape[1]))
    gamma[:, -1] = logit(c)
    certain = np.zeros((NODES, gamma.shape[1], gamma.shape[1]))
    typical = np.sqrt(weight @ lines.class_scale**2)
    components = Components(
        (AtRandom.name,) * NODES,
        np.zeros(NODES),
        np.full(NODES, typical),
        np.zeros(NODES),
        PosteriorSide(coef, np.tile(spread, (NODES, 1, 1)), pi, pi_sd),
        PosteriorSide(gamma, certain, c, np.zeros(NODES)),
    )
    return Proposal(taken, components)


def prevalences(mean_s: float) -> tuple[Floats, Floats]:
    """Prevalences from the labelled share to 1, equally likely where c is uniform, and deviations.

    Each stands for a cell of prevalences, over which it deviates as a uniform does.
    """
    edges = np.geomspace(mean_s, 1.0, FINE + 1)
    middle = np.sqrt(edges[1:] * edges[:-1])
    mass = np.cumsum(np.exp(log_prevalence(middle)) * np.diff(np.log(edges)))
    mass = np.append(0.0, mass / mass[-1])
    cells = np.interp(np.arange(NODES + 1) / NODES, mass, edges)
    return (cells[1:] + cells[:-1]) / 2, np.diff(cells) / np.sqrt(12)


def _levels(problem: Problem, side: PosteriorSide, weight: Floats, pi: Floats) -> Floats:
    """What is added to the mean logit so that probabilities average to each prevalence."""
    rows = problem.rows
    sums = rows.sum_rows(partial(_sums, side, weight), rows.weight)
    return level_from_table(sums / problem.n, pi)


def _sums(side: PosteriorSide, weight: Floats, X: Matrix, each: Floats) -> Floats:
    """Sum of y(x) over some rows at every level of a table."""
    return sums_of_table(side.mean_predictor(X, weight), each)
