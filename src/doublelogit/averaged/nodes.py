"""Nodes of the posterior of part 1: how several sources may label positives, each with a weight.

Part 1 (``methods/patterns.py``) is fitted under every law of the patterns and every scale of their
slopes, each weighed by its evidence. What moves the answer is the number of hidden positives, and
along its logarithm f the normal posterior of theta is cut:

    theta(z) = theta_hat + z V g / root(g'Vg),   g = df / dtheta
    weight   <- the posterior density at theta(z), not its normal

so that few nodes carry the whole uncertainty of p*; within a node f deviates as over its cell. With
fewer than ``FEW_OVERLAPS`` rows that two sources labelled, patterns say next to nothing of
dependence: it keeps its prior, and nodes lie along that.

The prior of log odds ratios among positives, lambda_jk = lambda_0 + delta_jk, is that of 1,704
pairs of real features, taken as sources of a class of the learn half of the corpus: a normal with
their 5% and 95% quantiles.
"""

from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from doublelogit._types import Floats
from doublelogit.averaged.prior import GROWTH, SIGNAL
from doublelogit.common.thresholds import FEW_OVERLAPS
from doublelogit.core.labels import Labels
from doublelogit.core.patterns import LAWS, Law, Pairs, law_named
from doublelogit.core.rows import Rows
from doublelogit.fitted.sources import SourceLaw
from doublelogit.methods.patterns import (
    GaussianPrior,
    PatternFit,
    PatternsObjective,
    fit_patterns,
    held_dependence,
    labelled_patterns,
    looked,
)
from doublelogit.methods.problem import Problem
from doublelogit.methods.units import from_standardised

# Learned (``tools/learn_dependence.py``).
COMMON, COMMON_SD, OWN_SD = 0.36, 0.31, 0.82
# Deviation of a log odds ratio of three sources, which labels do not determine: a logit-normal
# effort of deviation 2 has up to .26.
TRIPLE_SD = 0.35
# Of the logarithm of the deviation of a common effort: from a hint of one to that of a class.
EFFORT, EFFORT_SD = -0.35, 0.6
ODDS = {"pairs": 0.6, "shared effort": 0.4}
INTERCEPT_SD = 2.0  # of the logit of a source's propensity at the features' means
STRENGTHS = {0.3: 0.3, 0.8: 0.4, 2.0: 0.3}  # of slopes, as shares of the class's, with odds
LIGHT = 0.02  # share of all mass below which a law at a scale has no nodes
FLAT = 1e-4  # precision of dependence in a test of it
STEP = 0.6
ALONG = STEP * np.arange(-4, 5)  # standard deviations of f
TINY = 1e-300  # guard: hidden positives that none are


class Node(NamedTuple):
    """A law of the sources with its weight, and what it says of the number of positives.

    ``share`` is the prevalence by Horvitz and Thompson, ``share_sd`` its deviation with the law
    held, ``within`` the deviation of the logarithm of hidden positives over the node's cell.
    """

    source: SourceLaw
    log_mass: float
    share: float
    share_sd: float
    within: float


class Nodes(NamedTuple):
    """All nodes; dependence was ``learned``, or with too few ``overlaps`` left to its prior."""

    nodes: list[Node]
    overlaps: float
    learned: bool
    converged: bool


class Fitted(NamedTuple):
    """Part 1 under one law and scale of the slopes, with its mass."""

    name: str
    strength: float
    fit: PatternFit
    log_mass: float


def source_nodes(problem: Problem, dependence: float | None = None) -> Nodes:
    """Nodes of all laws and scales that hold some of the mass.

    With a ``dependence``, a log odds ratio, that of all pairs of sources is held there.
    """
    rows = labelled_patterns(problem)
    n_sources, overlaps = _overlaps(rows)
    learned = overlaps >= FEW_OVERLAPS
    n = float(problem.rows.sum_columns(_looked_weight, problem.rows.labels, problem.rows.weight))
    laws = {name: law_named(name, n_sources) for name in LAWS}
    if dependence is not None:
        laws = {"pairs": laws["pairs"]}
    fits = [
        one
        for name, law in laws.items()
        for one in _fitted(problem, rows, name, law, _held(law, learned, dependence))
    ]
    least = LIGHT * softmax([one.log_mass for one in fits]).max()
    heavy = [
        one
        for one, part in zip(fits, softmax([one.log_mass for one in fits]), strict=True)
        if part >= least
    ]
    given = learned or dependence is not None
    along = _along_hidden if given else partial(_along_prior, rows)
    nodes = [_node(one, point, n) for one in heavy for point in along(problem, one)]
    return Nodes(_heavy(nodes), overlaps, learned, all(one.fit.converged for one in heavy))


def _held(law: Law, learned: bool, dependence: float | None) -> Floats | None:
    """Parameters of dependence that patterns do not move; None where they do."""
    prior = dependence_prior(law)[0]
    if dependence is None:
        return None if learned else prior
    return np.where(of_pairs(law), dependence, 0.0)


def _fitted(problem: Problem, rows: Rows, name: str, law: Law, held: Floats | None) -> list[Fitted]:
    """Part 1 under a law at every scale of the slopes."""
    fits: list[Fitted] = []
    for strength, odds in STRENGTHS.items():
        objective = _objective(problem, rows, law, strength)
        if held is not None:
            objective = held_dependence(objective, held)
        one = fit_patterns(objective, fits[-1].fit.theta if fits else None)
        log_mass = float(np.log(ODDS[name] * odds)) + one.log_evidence
        fits.append(Fitted(name, strength, one, log_mass))
    return fits


def _heavy(nodes: list[Node]) -> list[Node]:
    """The nodes that hold more than next to nothing of the mass of the largest."""
    best = max(node.log_mass for node in nodes)
    return [node for node in nodes if node.log_mass >= best + np.log(LIGHT)]


def _objective(problem: Problem, rows: Rows, law: Law, strength: float) -> PatternsObjective:
    """Part 1 under one law and scale of the slopes."""
    terms, m = problem.propensity, law.n_sources
    k = terms.size
    scale = strength * np.exp(SIGNAL + GROWTH * np.log(max(k - 1, 1)))
    gamma = np.append(np.full(k - 1, max(k - 1, 1) / scale**2), INTERCEPT_SD**-2)
    size = m * k
    precision = np.zeros((size + law.size, size + law.size))
    precision[:size, :size] = np.diag(np.tile(gamma, m))
    mean = np.zeros(len(precision))
    mean[size:], covariance = dependence_prior(law)
    precision[size:, size:] = np.linalg.inv(covariance)
    to_gamma, prior = from_standardised(problem, terms), GaussianPrior(mean, precision)
    return PatternsObjective(rows, terms, law, to_gamma, prior, problem.n_labelled)


def dependence_prior(law: Law) -> tuple[Floats, Floats]:
    """Mean and covariance of the parameters of dependence."""
    pair = of_pairs(law)
    if not isinstance(law, Pairs):
        return np.array([EFFORT]), np.array([[EFFORT_SD**2]])
    common = COMMON_SD**2 * np.outer(pair, pair)
    own = np.diag(np.where(pair, OWN_SD, TRIPLE_SD) ** 2)
    return np.where(pair, COMMON, 0.0), np.asarray(common + own)


def of_pairs(law: Law) -> NDArray[np.bool_]:
    """Which parameters are log odds ratios of two sources."""
    if not isinstance(law, Pairs):
        return np.zeros(law.size, dtype=bool)
    return np.array([len(group) == 2 for group in law.groups])


class PairPosterior(NamedTuple):
    """What patterns and prior say of log odds ratios of pairs: their mean and covariance."""

    pairs: tuple[tuple[int, ...], ...]
    mean: Floats
    covariance: Floats


def pair_posterior(problem: Problem) -> PairPosterior:
    """Dependence of pairs of sources among positives; its prior, where labels do not show it."""
    rows = labelled_patterns(problem)
    m, overlaps = _overlaps(rows)
    law = Pairs(m, triples=m > 2)
    pair = of_pairs(law)
    mean, covariance = dependence_prior(law)
    if m > 2 and overlaps >= FEW_OVERLAPS:
        fits = _fitted(problem, rows, "pairs", law, None)
        best = max(fits, key=lambda one: one.log_mass).fit
        mean, covariance = best.objective.phi(best.theta), best.covariance[-law.size :, -law.size :]
    return PairPosterior(law.groups[: pair.sum()], mean[pair], covariance[np.ix_(pair, pair)])


def independence_test(problem: Problem) -> tuple[float, int]:
    """Twice the log-likelihood that dependence of pairs adds to patterns, and how many pairs."""
    rows = labelled_patterns(problem)
    law = Pairs(_overlaps(rows)[0])
    free = _objective(problem, rows, law, max(STRENGTHS))
    flat = np.full(len(free.prior.mean), FLAT)
    flat[: -law.size] = np.diagonal(free.prior.precision)[: -law.size]
    free = replace(free, prior=GaussianPrior(np.zeros(len(flat)), np.diag(flat)))
    held = held_dependence(free, np.zeros(law.size))
    log_posteriors = [one.log_posterior(one.theta) for one in map(fit_patterns, (held, free))]
    return 2 * max(log_posteriors[1] - log_posteriors[0], 0.0), law.size


def _overlaps(rows: Rows) -> tuple[int, float]:
    """Number of sources, and weight of the rows that two of them labelled."""
    total = rows.sum_columns(_pairs, rows.labels, rows.weight)
    return len(total) - 1, float(total[-1])


def _looked_weight(labels: Labels, weight: Floats) -> float:
    """Weight of the rows that some source looked at."""
    return float(weight @ looked(labels).any(axis=1))


def _pairs(labels: Labels, weight: Floats) -> Floats:
    assert labels.by_source is not None
    s = np.nan_to_num(labels.by_source)
    return np.append(weight @ s, weight @ (s.sum(axis=1) > 1))


class Point(NamedTuple):
    """A point of the posterior of part 1, its share of the mass of its law and scale in logarithms.

    ``within`` is the deviation of the logarithm of hidden positives about it.
    """

    fit: PatternFit
    theta: Floats
    log_share: float
    within: float


def _along_hidden(problem: Problem, fitted: Fitted) -> list[Point]:
    """Points along the logarithm of the number of hidden positives."""
    fit = fitted.fit
    slope = _log_hidden_slope(problem, fit)
    step = fit.covariance @ slope
    sd = float(np.sqrt(max(float(slope @ step), 0.0)))
    thetas = [fit.theta + z * (step / sd if sd > 0 else step) for z in ALONG]
    log_density = np.array([fit.log_posterior(theta) for theta in thetas])
    log_share = (log_density - np.logaddexp.reduce(log_density)).tolist()
    within = STEP * sd / np.sqrt(12)
    return [Point(fit, *each, within) for each in zip(thetas, log_share, strict=True)]


def _along_prior(rows: Rows, problem: Problem, fitted: Fitted) -> list[Point]:
    """Points along the prior of dependence, common to all pairs."""
    fit = fitted.fit
    mean, covariance = dependence_prior(fit.law)
    direction = np.sqrt(np.diagonal(covariance)) * (covariance[:, 0] > 0)
    log_share = -0.5 * ALONG**2 - np.logaddexp.reduce(-0.5 * ALONG**2)
    free, points = _objective(problem, rows, fit.law, fitted.strength), []
    for z, share in zip(ALONG, log_share.tolist(), strict=True):
        one = fit_patterns(held_dependence(free, mean + z * direction), fit.theta)
        slope = _log_hidden_slope(problem, one)
        sd = np.sqrt(max(float(slope @ one.covariance @ slope), 0.0))
        points.append(Point(one, one.theta, share, float(np.hypot(STEP / np.sqrt(12), sd))))
    return points


def _log_hidden_slope(problem: Problem, fit: PatternFit) -> Floats:
    """Slope of the logarithm of the number of hidden positives at the mode."""
    here = fit.hidden(fit.theta)
    return here.grad / max(here.positives - problem.n_labelled, TINY)


def _node(fitted: Fitted, point: Point, n: float) -> Node:
    """The node of a point, for rows of weight n that some source looked at."""
    fit, within = point.fit, point.within
    sums = fit.hidden(point.theta)
    mean = sums.positives / n
    # of the labels given the positives, and of drawing the rows
    variance = max(float(sums.square / n - mean**2), sums.variance / n, 0.0) / n
    open_ = not isinstance(fit.law, Pairs) or fit.objective.held is not None
    if fit.law.n_sources > 2 and open_:
        within = float(np.hypot(within, TRIPLE_SD))
    source = SourceLaw(fitted.name, fit.coefficients(point.theta), fit.objective.phi(point.theta))
    log_mass = fitted.log_mass + point.log_share
    return Node(source, log_mass, mean, float(np.sqrt(variance)), within)
