"""The prior of AVERAGED: how real tables look, learned from the learn half of the corpus.

    kappa       the signal, sd of x'beta: log kappa ~ N(SIGNAL + GROWTH log p, SPREAD^2)
    beta_j      N(0, kappa^2 / p) for standardised features
    pi          prevalence: half Beta(PREVALENCE), half uniform, for tables unlike those
    c           label frequency: uniform; Beta(OFTEN, 1) if labelling follows the class
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

import numpy as np
from scipy.special import betaln, xlog1py, xlogy
from scipy.stats import norm

from doublelogit._types import Floats
from doublelogit.averaged.expectation import ExpectedLikelihood, FreePair, TiedPair, TwoPredictors
from doublelogit.averaged.gaussian import (
    INTERCEPT,
    Prior,
    SlicedPosterior,
    following,
    standardising,
)
from doublelogit.averaged.span import Span
from doublelogit.core.design import Terms
from doublelogit.methods.belief import Belief
from doublelogit.methods.problem import Problem

SIGNAL, GROWTH, SPREAD = -0.75, 0.43, 0.76
PREVALENCE = (1.94, 3.47)
UNLIKE = 0.5  # share of the prior of the prevalence that is uniform
# Where b = a + w, class and labelling swapped are the same likelihood to the last digit: the prior
# alone chooses between a rarer class, often labelled, and a commoner one. It leans to the former.
OFTEN = 1.25
NODES = (2.0, 1.0, 0.0, -1.0, -2.0, -3.0)  # of log kappa, in SPREADs
COARSE = 3000.0
# Labels for each coefficient, below which slopes of labelling cannot be told from chance: unless
# features were named, labels then are at random or follow the class.
FEWEST = 1
FIRM = 0.005  # deviation of a share that is known for certain: cells are no finer


@dataclass(frozen=True)
class Mechanism:
    """How labels may depend on the features: gamma = follows * beta, or slopes of its own.

    ``strength`` is that of free labelling as a share of the class's.
    """

    odds: float
    follows: float = 0.0
    strength: float = 0.0

    @property
    def at_random(self) -> bool:
        return not (self.follows or self.strength)


RANDOM = Mechanism(1 / 2)
FOLLOWING = (Mechanism(0.2, follows=1.0),)  # those who are surely positive are found first
FREE = (Mechanism(0.3, strength=0.6),)
# Where something tells class and labelling apart, labelling may be the stronger one.
STRONG = (Mechanism(0.15, strength=0.6), Mechanism(0.15, strength=1.7))
# Who names the features of labelling believes that it depends on them.
NAMED = (Mechanism(1 / 6), Mechanism(5 / 12, strength=0.6), Mechanism(5 / 12, strength=1.7))


def coarsening(n: float) -> float:
    """Power of the evidence: n rows count as n / (1 + n / COARSE)."""
    return 1 / (1 + n / COARSE)


def log_prevalence(pi: Floats) -> Floats:
    """Logarithm of the prior density of the prevalence."""
    a, b = PREVALENCE
    learned = np.exp(xlogy(a - 1, pi) + xlog1py(b - 1, -pi) - betaln(a, b))
    return np.asarray(np.log(UNLIKE + (1 - UNLIKE) * learned))


def log_frequency(c: Floats, follows: float) -> Floats:
    """Logarithm of the prior density of the label frequency; ``follows`` may be NaN."""
    power = OFTEN if follows > 0 else 1.0
    return np.asarray(np.log(power) + (power - 1) * np.log(c))


def log_known(beliefs: tuple[Belief, ...], pi: Floats, c: Floats) -> Floats:
    """Logarithm of what is believed of the prevalence and the label frequency from elsewhere."""
    about = {"prevalence": pi, "label frequency": c}
    off = [(about[belief.about] - belief.mean) / max(belief.sd, FIRM) for belief in beliefs]
    return np.asarray(-0.5 * np.sum(np.square(off), axis=0)) if off else np.zeros(len(pi))


def mechanisms(problem: Problem) -> tuple[Mechanism, ...]:
    """The mechanisms that a problem allows for, labels at random first."""
    if problem.propensity.size == 1:  # labelling at random is all that was asked for
        return (RANDOM,)
    if problem.distinct_features:
        return NAMED
    free = FREE if problem.symmetric else STRONG
    if problem.outcome is not problem.propensity:
        return (RANDOM, *free)
    few = problem.n_labelled < FEWEST * (problem.outcome.size + problem.propensity.size)
    return (RANDOM, *FOLLOWING, *(() if few else free))


def signals(p: int) -> dict[float, float]:
    """Nodes of kappa for p features, with their prior weights."""
    if p == 0:
        return {1.0: 1.0}
    weights = norm.pdf(NODES) / norm.pdf(NODES).sum()
    nodes = np.exp(SIGNAL + GROWTH * np.log(p) + SPREAD * np.array(NODES))
    return dict(zip(nodes.tolist(), weights.tolist(), strict=True))


def posteriors(problem: Problem, span: Span | None = None) -> list[SlicedPosterior]:
    """One posterior for every mechanism; in the span of the rows, if that is given."""
    asked = mechanisms(problem)
    if span is not None:
        problem = span.problem
    none = Terms(problem.rows.n_features, np.array([], dtype=np.intp))
    at_random = replace(problem, propensity=none)
    return [
        posterior_under(at_random if mechanism.at_random else problem, mechanism, span)
        for mechanism in asked
    ]


def posterior_under(
    problem: Problem, mechanism: Mechanism, span: Span | None = None
) -> SlicedPosterior:
    """The posterior under one mechanism, with a prior for every node of the signal."""
    p = problem.outcome.size - 1 if span is None else span.n_features
    # slopes of the columns of a span are per standard deviation too, but were so before it turned
    length = np.ones(problem.outcome.size - 1) if span is None else span.lengths
    priors = tuple(
        _prior(problem, mechanism, kappa, p / (kappa * length) ** 2, weight)
        for kappa, weight in signals(p).items()
    )
    power = coarsening(problem.n)
    pair: TwoPredictors
    if mechanism.strength:
        pair = FreePair(problem.outcome, problem.propensity)
        to_arguments = to_theta = standardising(problem)
    else:
        pair = TiedPair(problem.outcome, mechanism.follows)
        to_arguments, to_theta = following(problem, mechanism.follows)
    likelihood = ExpectedLikelihood(problem.rows, pair, problem.n, problem.response)
    return SlicedPosterior(problem, likelihood, to_arguments, to_theta, priors, power)


def _prior(
    problem: Problem, mechanism: Mechanism, kappa: float, slopes: Floats, weight: float
) -> Prior:
    """Precisions of the slopes of the class, its intercept and, if it is free, gamma."""
    q = problem.propensity.size - 1
    rho = kappa * max(mechanism.strength, abs(mechanism.follows))
    beta = np.append(slopes, INTERCEPT**-2)
    gamma = np.full(q, q / rho**2) if mechanism.strength else np.empty(0)
    log_odds = float(np.log(mechanism.odds * weight))
    return Prior(np.concatenate([beta, gamma]), kappa, rho, log_odds)
