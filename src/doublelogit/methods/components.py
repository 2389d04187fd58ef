"""From explored cells to a mixture of normals: coefficients, covariances and shares."""

from dataclasses import replace
from functools import partial

import numpy as np
from scipy.special import softmax

from doublelogit._types import Floats, Matrix
from doublelogit.design import Terms, predictor, pull_back
from doublelogit.fitted import PosteriorMixture, PosteriorSide
from doublelogit.fitted.mixture import deviations
from doublelogit.link import Link, probability
from doublelogit.methods.belief import Belief
from doublelogit.methods.expected import LINE
from doublelogit.methods.exploration import LIGHT, Component
from doublelogit.methods.prior import FIRM
from doublelogit.methods.problem import Problem

LEVEL = 1e-9  # difference of two means of probabilities that is none
MOST_STEPS = 50
AT_ONCE = 16  # components whose rows are looked at in one pass: more would not fit the cache


def mixture(components: list[Component], mean_s: float, symmetric: bool) -> PosteriorMixture:
    """The components that matter, as a mixture of normals."""
    log_mass, rho, kappa = np.array(
        [(c.log_mass, c.law.slice.prior.rho, c.law.slice.prior.kappa) for c in components]
    ).T
    share = softmax(log_mass)
    kept = np.flatnonzero(share >= LIGHT * share.max())
    weight = share[kept] / share[kept].sum()
    problem = components[0].posterior.problem
    outcome, propensity = _sides([components[i] for i in kept])
    told = (informed(outcome, problem.beliefs, mean_s), propensity)
    outcome, propensity = (levelled(problem, weight, side) for side in told)
    about = (weight, weight, rho[kept], log_mass[kept])
    return PosteriorMixture(mean_s, *about, outcome, propensity, symmetric, kappa=kappa[kept])


def levelled(problem: Problem, weight: Floats, side: PosteriorSide) -> PosteriorSide:
    """The side with the level at which its probabilities average to its mean share."""
    rows, share, level = problem.rows, float(weight @ side.share), 0.0
    for _ in range(MOST_STEPS):
        side = replace(side, level=level)
        sums = rows.sum_rows(partial(_level, side, weight), rows.weight)
        mean, slope = (total / problem.n for total in sums)
        if abs(mean - share) < LEVEL:
            break
        level += float(np.clip((share - mean) / max(slope, LEVEL), -1.0, 1.0))
    return side


def _level(side: PosteriorSide, weights: Floats, X: Matrix, weight: Floats) -> tuple[float, float]:
    y = side.proba(X, weights)
    return float(weight @ y), float(weight @ (y * (1 - y)))


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
        law = component.law
        embedding = np.column_stack([terms.embed(unit) for unit in np.eye(terms.size)])
        coefs.append(embedding @ law.theta[part])
        covariances.append(embedding @ law.theta_covariance[part, part] @ embedding.T)
    coef, covariance = np.array(coefs), np.array(covariances)
    posterior = components[0].posterior
    share, share_sd = _shares(posterior.problem, posterior.spread, coef, covariance)
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


def _shares(
    problem: Problem, spread: bool, coef: Floats, covariance: Floats
) -> tuple[Floats, Floats]:
    """Expected mean probabilities over the rows, and deviations, that of drawing rows included."""
    rows, sums = problem.rows, []
    for i in range(0, len(coef), AT_ONCE):
        part = slice(i, i + AT_ONCE)
        fn = partial(_moments, problem.link, coef[part], covariance[part] if spread else None)
        total, square, slope = rows.sum_rows(fn, rows.weight)
        sums.append((total, square, slope.T))
    mean, square, slope = (np.concatenate(part) / problem.n for part in zip(*sums, strict=True))
    among_rows = np.maximum(square - mean**2, 0.0)  # a constant leaves a rounding error of zero
    of_coefficients = np.maximum(np.einsum("kj,kjl,kl->k", slope, covariance, slope), 0.0)
    return mean, np.sqrt(of_coefficients + among_rows / problem.n)


def _moments(
    link: Link, coef: Floats, covariance: Floats | None, X: Matrix, weight: Floats
) -> tuple[Floats, Floats, Floats]:
    a = predictor(X, coef.T)
    if covariance is None:
        y = probability(link, a)
        return weight @ y.value, weight @ y.value**2, pull_back(X, weight[:, None] * y.slope)
    root = deviations(X, covariance)
    at = [probability(link, a + z * root) for z in LINE.first]
    value, slope = (
        sum(w * column for w, column in zip(LINE.weight, columns, strict=True))
        for columns in ([y.value for y in at], [y.slope for y in at])
    )
    return weight @ value, weight @ value**2, pull_back(X, weight[:, None] * slope)
