"""From explored cells to a mixture of normals: coefficients, covariances and shares."""

from dataclasses import replace
from functools import partial

import numpy as np
from scipy.special import softmax

from doublelogit._types import Floats, Matrix
from doublelogit.design import Terms, predictor, pull_back
from doublelogit.fitted import PosteriorMixture, PosteriorSide
from doublelogit.link import Link, probability
from doublelogit.methods.belief import Belief
from doublelogit.methods.exploration import LIGHT, Component
from doublelogit.methods.prior import FIRM
from doublelogit.methods.problem import Problem

AT_ONCE = 16  # components whose rows are looked at in one pass: more would not fit the cache


def mixture(components: list[Component], mean_s: float, symmetric: bool) -> PosteriorMixture:
    """The components that matter, as a mixture of normals."""
    log_mass, rho, kappa = np.array(
        [(c.log_mass, c.mode.slice.prior.rho, c.mode.slice.prior.kappa) for c in components]
    ).T
    share = softmax(log_mass)
    kept = np.flatnonzero(share >= LIGHT * share.max())
    weight = share[kept] / share[kept].sum()
    outcome, propensity = _sides([components[i] for i in kept])
    sides = informed(outcome, components[0].posterior.problem.beliefs, mean_s), propensity
    about = (weight, weight, rho[kept], log_mass[kept])
    return PosteriorMixture(mean_s, *about, *sides, symmetric, kappa=kappa[kept])


def informed(side: PosteriorSide, beliefs: tuple[Belief, ...], mean_s: float) -> PosteriorSide:
    """The outcome with its share given what is believed of it, or of the label frequency."""
    for belief in beliefs:
        mean, sd = belief.mean, belief.sd
        if belief.about == "label frequency":
            mean, sd = mean_s / mean, mean_s * sd / mean**2
        variance, firm = side.share_sd**2, max(sd, FIRM) ** 2
        gain = variance / (variance + firm)
        share, share_sd = side.share + gain * (mean - side.share), side.share_sd * np.sqrt(1 - gain)
        side = replace(side, share=share, share_sd=share_sd)
    return side


def _sides(components: list[Component]) -> tuple[PosteriorSide, PosteriorSide]:
    """Both models of every component."""
    problems = [component.posterior.problem for component in components]
    cuts = [problem.outcome.size for problem in problems]
    outcome = [(p.outcome, slice(None, k)) for p, k in zip(problems, cuts, strict=True)]
    propensity = [(p.propensity, slice(k, None)) for p, k in zip(problems, cuts, strict=True)]
    return _side(components, outcome), _side(components, propensity)


def _side(components: list[Component], parts: list[tuple[Terms, slice]]) -> PosteriorSide:
    """Full-length coefficients and covariances of one model, and its share."""
    coefs, covariances = [], []
    for component, (terms, part) in zip(components, parts, strict=True):
        mode = component.mode
        embedding = np.column_stack([terms.embed(unit) for unit in np.eye(terms.size)])
        coefs.append(embedding @ mode.theta[part])
        covariances.append(embedding @ mode.theta_covariance[part, part] @ embedding.T)
    coef, covariance = np.array(coefs), np.array(covariances)
    share, share_sd = _shares(components[0].posterior.problem, coef, covariance)
    spread = np.hypot(share_sd, _within(components, share))
    return PosteriorSide(coef, covariance, share, spread)


def _within(components: list[Component], share: Floats) -> Floats:
    """Standard deviation of a share inside each cell, by how it changes from cell to cell."""
    low, high = np.array([(component.low, component.high) for component in components]).T
    deviation = np.zeros(len(components))
    explored = [component.curve for component in components]
    for one in set(explored):
        here = np.flatnonzero([other == one for other in explored])
        if len(here) > 1:  # a cell whose neighbours hold nothing is not filled by its own mass
            slope = np.gradient(share[here], (low + high)[here] / 2)
            deviation[here] = np.abs(slope) * (high - low)[here] / np.sqrt(12)
    return deviation


def _shares(problem: Problem, coef: Floats, covariance: Floats) -> tuple[Floats, Floats]:
    """Mean probabilities over the rows and their deviations, that of drawing rows included."""
    sums = [_sums(problem, coef[i : i + AT_ONCE]) for i in range(0, len(coef), AT_ONCE)]
    mean, square, slope = (np.concatenate(part) / problem.n for part in zip(*sums, strict=True))
    among_rows = np.maximum(square - mean**2, 0.0)  # a constant leaves a rounding error of zero
    of_coefficients = np.maximum(np.einsum("kj,kjl,kl->k", slope, covariance, slope), 0.0)
    return mean, np.sqrt(of_coefficients + among_rows / problem.n)


def _sums(problem: Problem, coef: Floats) -> tuple[Floats, Floats, Floats]:
    rows = problem.rows
    total, square, slope = rows.sum_rows(partial(_moments, problem.link, coef.T), rows.weight)
    return total, square, slope.T


def _moments(link: Link, coef: Floats, X: Matrix, weight: Floats) -> tuple[Floats, Floats, Floats]:
    y = probability(link, predictor(X, coef))
    return weight @ y.value, weight @ y.value**2, pull_back(X, weight[:, None] * y.slope)
