"""The prior of AVERAGED: how real tables look, learned from the learn half of the corpus.

    kappa       the signal, sd of x'beta: log kappa ~ N(SIGNAL + GROWTH log p, SPREAD^2)
    beta_j      N(0, kappa^2 / p) for standardised features
    pi          prevalence: half Beta(PREVALENCE), half uniform, for tables unlike those
    c           label frequency: uniform
    mechanism   at random, following the class (gamma = k beta), or free (gamma_j ~ N(0, rho^2 / p)
                with rho a share of kappa: labelling depends on the features less than the class)

The numbers are those of ``tools/learn_prior.py``; a test holds them to the corpus. The scale of the
slopes is averaged by its evidence. Slopes of a fixed scale would reward saturated classes: labels
show (1 - y) beta only, so weak features fit best where nearly all rows are positive. The intercepts
have no prior of their own; the prevalence and the label frequency have, and the Jacobian of one
pair by the other is part of the mass of a cell.

No class is quite logistic, so the evidence of many rows is not taken at its word: it counts as that
of COARSE rows at most (a coarsened posterior).
"""

from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from scipy.special import betaln, xlog1py, xlogy
from scipy.stats import norm

from doublelogit._types import Floats
from doublelogit.design import Terms
from doublelogit.methods.posterior import INTERCEPT, SlicedPosterior, standardising
from doublelogit.methods.problem import Problem

SIGNAL, GROWTH, SPREAD = -0.75, 0.43, 0.76
PREVALENCE = (1.94, 3.47)
UNLIKE = 0.5  # share of the prior of the prevalence that is uniform
NODES = (2.25, 0.75, -0.75, -2.25)  # of log kappa, in SPREADs
COARSE = 3000.0


@dataclass(frozen=True)
class Mechanism:
    """How labels may depend on the features: gamma = follows * beta, or slopes of its own.

    ``strength`` is that of free labelling as a share of the class's.
    """

    odds: float
    follows: float = 0.0
    strength: float = 0.0


RANDOM = Mechanism(1 / 3)
# With the class, as those who are surely positive are found first, or somewhat against it.
FOLLOWING = (Mechanism(1 / 6, follows=1.0), Mechanism(1 / 6, follows=-0.5))
FREE = (Mechanism(1 / 3, strength=0.6),)
# Where something tells class and labelling apart, labelling may be the stronger one.
STRONG = (Mechanism(1 / 6, strength=0.6), Mechanism(1 / 6, strength=1.7))


def coarsening(n: float) -> float:
    """Power of the evidence: n rows count as n / (1 + n / COARSE)."""
    return 1 / (1 + n / COARSE)


def log_prevalence(pi: float) -> float:
    """Logarithm of the prior density of the prevalence."""
    a, b = PREVALENCE
    learned = np.exp(xlogy(a - 1, pi) + xlog1py(b - 1, -pi) - betaln(a, b))
    return float(np.log(UNLIKE + (1 - UNLIKE) * learned))


def mechanisms(problem: Problem) -> tuple[Mechanism, ...]:
    """The mechanisms that a problem allows for, labels at random first."""
    if problem.propensity.size == 1:  # labelling at random is all that was asked for
        return (RANDOM,)
    following = FOLLOWING if problem.outcome is problem.propensity else ()
    return (RANDOM, *(FREE if problem.symmetric else STRONG), *following)


def signals(p: int) -> dict[float, float]:
    """Nodes of kappa for p features, with their prior weights."""
    if p == 0:
        return {1.0: 1.0}
    weights = norm.pdf(NODES) / norm.pdf(NODES).sum()
    nodes = np.exp(SIGNAL + GROWTH * np.log(p) + SPREAD * np.array(NODES))
    return dict(zip(nodes.tolist(), weights.tolist(), strict=True))


def posteriors(problem: Problem) -> list[SlicedPosterior]:
    """One posterior for every mechanism and node of the signal."""
    none = Terms(problem.rows.n_features, np.array([], dtype=np.intp))
    at_random = replace(problem, propensity=none)
    p = problem.outcome.size - 1
    found = []
    for mechanism, (kappa, weight) in product(mechanisms(problem), signals(p).items()):
        model = at_random if mechanism == RANDOM else problem
        coordinates = standardising(model)
        if mechanism.follows:
            coordinates = coordinates @ _following(mechanism.follows, p)
        rho = kappa * max(mechanism.strength, abs(mechanism.follows))
        log_odds = float(np.log(mechanism.odds * weight))
        precision = _precision(model, kappa, 0.0 if mechanism.follows else rho)
        found.append(SlicedPosterior(model, coordinates, precision, rho, kappa, log_odds))
    return found


def _following(k: float, p: int) -> Floats:
    """The matrix that takes (beta, b_0, g_0) to (beta, b_0, k beta, g_0), of p slopes."""
    matrix = np.zeros((2 * p + 2, p + 2))
    matrix[: p + 1, : p + 1] = np.eye(p + 1)
    matrix[p + 1 : -1, :p] = k * np.eye(p)
    matrix[-1, -1] = 1.0
    return matrix


def _precision(problem: Problem, kappa: float, rho: float) -> Floats:
    """Prior precision of beta, its intercept and, if it is free, gamma."""
    p, q = problem.outcome.size - 1, problem.propensity.size - 1
    beta = np.append(np.full(p, p / kappa**2), INTERCEPT**-2)
    gamma = np.full(q, q / rho**2) if rho else np.empty(0)
    return np.concatenate([beta, gamma])
