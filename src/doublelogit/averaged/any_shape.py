"""A class of any shape: what the bend of the labels must not decide alone.

Along the ridge labels tell of the prevalence only by how s(x) = y(x) e(x) bends, as if every class
were logistic. A class that bends otherwise, its labels given at random, explains the same labels
with any prevalence above the labelled share: s(x) = c y(x), pi = mean S / c. So a part of the
posterior is kept for it:

    mass    DOUBT of that of other components; more where labelling has slopes of its own, for what
            its factor explains may be a bend of the class as well
    pi      prior(pi) / pi from mean S to 1, which is c uniform
    y(x)    the mean logit of the other components, at the level of pi
    e(x)    mean S / pi

Where something tells class and labelling apart, or the prevalence is known, that is not needed.
"""

from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.special import expit, logit, logsumexp, softmax

from doublelogit._types import Floats, Matrix
from doublelogit.averaged.prior import log_prevalence
from doublelogit.fitted import PosteriorSide
from doublelogit.methods.problem import Problem

DOUBT, DOUBT_OF_FREE = 0.04, 0.15
NODES = 10  # prevalences, as likely as each other
FINE = 2000  # points by which these are found
LEVELS = np.linspace(-15, 15, 61)  # added to the mean logit, to find that of a prevalence
LARGEST = 1 - 1e-9  # label frequency that has a logit


class Parts(NamedTuple):
    """Components of a mixture: masses, scales of labelling and class, and both models.

    A class of any shape has no scale; its ``kappa`` is 0.
    """

    log_mass: Floats
    rho: Floats
    kappa: Floats
    outcome: PosteriorSide
    propensity: PosteriorSide


def with_any_shape(problem: Problem, mean_s: float, parts: Parts, doubt: Floats) -> Parts:
    """The components and, for a part of the mass of each, a class of any shape."""
    weight, (pi, pi_sd) = softmax(parts.log_mass), prevalences(mean_s)
    outcome, c = parts.outcome, np.minimum(mean_s / pi, LARGEST)
    coef = np.tile(weight @ outcome.coef, (NODES, 1))
    coef[:, -1] += _levels(problem, outcome, weight, pi)
    spread = np.tensordot(weight, outcome.covariance, axes=1)
    some = PosteriorSide(coef, np.tile(spread, (NODES, 1, 1)), pi, pi_sd)
    gamma = np.zeros((NODES, parts.propensity.coef.shape[1]))
    gamma[:, -1] = logit(c)
    known = np.zeros((NODES, gamma.shape[1], gamma.shape[1]))
    at_random = PosteriorSide(gamma, known, c, np.zeros(NODES))
    mass = logsumexp(parts.log_mass, b=doubt) - np.log(NODES)
    return Parts(
        np.append(parts.log_mass + np.log1p(-doubt), np.full(NODES, mass)),
        np.append(parts.rho, np.zeros(NODES)),
        np.append(parts.kappa, np.zeros(NODES)),
        _joined(outcome, some),
        _joined(parts.propensity, at_random),
    )


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
    return np.asarray(np.interp(pi, sums / problem.n, LEVELS))


def _sums(side: PosteriorSide, weight: Floats, X: Matrix, each: Floats) -> Floats:
    """Sum of y(x) over some rows at every level."""
    logits = side.mean_logit(X, weight)
    return np.array([each @ expit(logits + level) for level in LEVELS])  # a matrix would be large


def _joined(side: PosteriorSide, more: PosteriorSide) -> PosteriorSide:
    """All components of both."""
    return PosteriorSide(
        np.concatenate([side.coef, more.coef]),
        np.concatenate([side.covariance, more.covariance]),
        np.append(side.share, more.share),
        np.append(side.share_sd, more.share_sd),
    )
