"""From explored cells to a mixture of normals: coefficients, covariances and shares."""

from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.interpolate import PchipInterpolator
from scipy.special import expit, logsumexp, softmax

from doublelogit._types import Floats, Matrix
from doublelogit.averaged.any_shape import DOUBT, DOUBT_OF_FREE, Parts, with_any_shape
from doublelogit.averaged.expectation import LINE
from doublelogit.averaged.grid import LIGHT, Component
from doublelogit.averaged.prior import FIRM
from doublelogit.core.design import Terms, predictor, pull_back, row_squares
from doublelogit.core.link import Link, probability
from doublelogit.fitted import PosteriorMixture, PosteriorSide
from doublelogit.methods.belief import Belief
from doublelogit.methods.problem import Problem

LEVEL = 1e-9  # difference of two means of probabilities that is none
MOST_STEPS = 50
PARTS = (np.arange(9) + 0.5) / 9  # of a cell, in which its mass and shares are told apart
STEEP = 3.0  # most that the logarithm of a density changes from the middle of a cell to its edge
TINY = np.finfo(float).tiny
AT_ONCE = 8  # components whose rows are looked at in one pass: each takes a column of a block


def mixture(components: list[Component], mean_s: float, symmetric: bool) -> PosteriorMixture:
    """The components that matter, as a mixture of normals."""
    share = softmax([c.log_mass for c in components])
    components = [c for c, one in zip(components, share, strict=True) if one >= LIGHT * share.max()]
    rho, kappa = np.array([(c.law.slice.prior.rho, c.law.slice.prior.kappa) for c in components]).T
    problem = components[0].posterior.problem
    outcome, propensity = _sides(components)
    log_mass, outcome, propensity = integrated(components, outcome, propensity)
    parts = Parts(log_mass, rho, kappa, informed(outcome, problem.beliefs, mean_s), propensity)
    if symmetric:
        free = np.array([component.posterior.free for component in components])
        doubt = np.where(free, DOUBT_OF_FREE, DOUBT)
        parts = with_any_shape(problem, mean_s, parts, doubt)
    weight = softmax(parts.log_mass)
    outcome, propensity = (levelled(problem, weight, side) for side in parts[-2:])
    about = (weight, parts.rho, parts.kappa, parts.log_mass)
    return PosteriorMixture(mean_s, *about, outcome, propensity, symmetric)


def integrated(
    components: list[Component], *sides: PosteriorSide
) -> tuple[Floats, PosteriorSide, PosteriorSide]:
    """Masses and shares over whole cells, by what is known at their middles.

    Along a curve the logarithm of the density and the shares are interpolated between the middles.
    """
    log_mass = np.array([component.log_mass for component in components])
    edges = np.array([(component.low, component.high) for component in components])
    share, variance = [side.share.copy() for side in sides], [side.share_sd**2 for side in sides]
    explored = [component.curve for component in components]
    for one in set(explored):
        here = np.flatnonzero([other == one for other in explored])
        if len(here) == 1:  # a cell whose neighbours hold nothing is not filled by its own mass
            continue
        here = here[np.argsort(edges[here, 0])]
        low, width = edges[here, 0], np.diff(edges[here])[:, 0]
        middle, within = low + width / 2, low[:, None] + np.outer(width, PARTS)
        log_density = log_mass[here] - np.log(width)
        curves = np.column_stack([log_density, *(mean[here] for mean in share)])
        density, *at = np.moveaxis(_between(middle, curves, within), -1, 0)
        density = np.clip(density - log_density[:, None], -STEEP, STEEP)
        log_mass[here] += logsumexp(density, axis=1) - np.log(len(PARTS))
        weight = softmax(density, axis=1)
        for mean, square, along in zip(share, variance, at, strict=True):
            mean[here] = (weight * along).sum(axis=1)
            square[here] += (weight * (along - mean[here, None]) ** 2).sum(axis=1)
    found = [
        replace(side, share=np.clip(mean, TINY, 1.0), share_sd=np.sqrt(square))
        for side, mean, square in zip(sides, share, variance, strict=True)
    ]
    return log_mass, found[0], found[1]


def _between(middle: Floats, value: Floats, within: Floats) -> Floats:
    """Values, a curve each column, between middles of cells, without overshoot.

    Beyond the last ones they go on as straight lines.
    """
    x, at = np.log(middle), np.log(within)
    curve = PchipInterpolator(x, value)
    inside = np.clip(at, x[0], x[-1])
    return np.asarray(curve(inside) + curve(inside, nu=1) * (at - inside)[..., None])


def levelled(problem: Problem, weight: Floats, side: PosteriorSide) -> PosteriorSide:
    """The side with the level at which its probabilities average to its mean share."""
    rows, share, level = problem.rows, float(weight @ side.share), 0.0
    logits = rows.map_rows(partial(_mean_logit, side, weight))
    for _ in range(MOST_STEPS):
        sums = rows.sum_columns(partial(_level, level), logits, rows.weight)
        mean, slope = (total / problem.n for total in sums)
        if abs(mean - share) < LEVEL:
            break
        level += float(np.clip((share - mean) / max(slope, LEVEL), -1.0, 1.0))
    return replace(side, level=level)


def _mean_logit(side: PosteriorSide, weight: Floats, X: Matrix) -> Floats:
    return side.mean_logit(X, weight)


def _level(level: float, logits: Floats, weight: Floats) -> tuple[float, float]:
    y = expit(logits + level)
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
    """Both models of every component: full-length coefficients, their covariances and shares."""
    pairs = _coefficients(components)
    shares = _shares(components, *pairs)
    outcome, propensity = (
        PosteriorSide(*pair, *share) for pair, share in zip(pairs, shares, strict=True)
    )
    return outcome, propensity


def _coefficients(components: list[Component]) -> list[tuple[Floats, Floats]]:
    """Full-length coefficients of both models and their covariances, one line a component."""
    found = []
    for component in components:
        problem, law = component.posterior.problem, component.law
        theta, root, k = law.theta, law.theta_root, problem.outcome.size
        parts = ((problem.outcome, slice(None, k)), (problem.propensity, slice(k, None)))
        for terms, part in parts:
            covariance = terms.embed_matrix(root[part] @ root[part].T)
            found.append((terms.embed(theta[part]), covariance))
    coefs, covariances = zip(*found, strict=True)
    return [(np.array(coefs[i::2]), np.array(covariances[i::2])) for i in (0, 1)]


def _shares(
    components: list[Component], *sides: tuple[Floats, Floats]
) -> list[tuple[Floats, Floats]]:
    """Expected mean probabilities over the rows, and deviations, that of drawing rows included."""
    posterior = components[0].posterior
    problem, tied = posterior.problem, np.array([c.posterior.follows for c in components])
    rows, sums = problem.rows, []
    for i in range(0, len(components), AT_ONCE):
        part = slice(i, i + AT_ONCE)
        coefs = [coef[part] for coef, _ in sides]
        spread = Spread.of(components[part], tied[part]) if posterior.spread else None
        fn = partial(_moments, problem.link, coefs, spread)
        sums.append(rows.sum_rows(fn, rows.weight))
    found = []
    for k, (_, covariance) in enumerate(sides):
        mean, square, slope = (
            np.concatenate([one[3 * k + j].T for one in sums]) / problem.n for j in range(3)
        )
        among_rows = np.maximum(square - mean**2, 0.0)  # a constant leaves a rounding error of zero
        of_coefficients = np.maximum(np.einsum("kj,kjl,kl->k", slope, covariance, slope), 0.0)
        found.append((mean, np.sqrt(of_coefficients + among_rows / problem.n)))
    return found


class Spread(NamedTuple):
    """Roots of the covariances of some components; labelling has one only where it is free."""

    follows: Floats
    outcome: Terms
    propensity: Terms
    class_roots: list[Floats]
    free_roots: list[Floats]

    @classmethod
    def of(cls, components: list[Component], follows: Floats) -> "Spread":
        """That of components with what their labelling has of the slopes of the class."""
        free = [c for c in components if c.posterior.free]
        problem = (free or components)[0].posterior.problem
        k = problem.outcome.size
        own = [c.law.theta_root[k:, k:] for c in free]
        class_roots = [c.law.theta_root[:k] for c in components]
        return cls(follows, problem.outcome, problem.propensity, class_roots, own)

    def deviations(self, X: Matrix) -> tuple[Floats, Floats]:
        """Standard deviations of both predictors, (rows, components)."""
        a = _lengths(self.outcome.select(X), self.class_roots)
        b, free = a * self.follows, np.isnan(self.follows)  # what follows the class varies as it
        if free.any():
            b[:, free] = _lengths(self.propensity.select(X), self.free_roots)
        return a, b


def _lengths(X: Matrix, roots: list[Floats]) -> Floats:
    return np.sqrt(np.column_stack([row_squares(X, root) for root in roots]))


def _moments(
    link: Link, coefs: list[Floats], spread: Spread | None, X: Matrix, weight: Floats
) -> tuple[Floats, ...]:
    """Sums over rows of probabilities, their squares and slopes, of both models."""
    deviations = (None, None) if spread is None else spread.deviations(X)
    return tuple(
        total
        for coef, deviation in zip(coefs, deviations, strict=True)
        for total in _sums(link, predictor(X, coef.T), deviation, X, weight)
    )


def _sums(
    link: Link, a: Floats, root: Floats | None, X: Matrix, weight: Floats
) -> tuple[Floats, Floats, Floats]:
    if root is None:
        y = probability(link, a)
        return weight @ y.value, weight @ y.value**2, pull_back(X, weight[:, None] * y.slope)
    at = [probability(link, a + z * root) for z in LINE.first]
    value, slope = (
        sum(w * column for w, column in zip(LINE.weight, columns, strict=True))
        for columns in ([y.value for y in at], [y.slope for y in at])
    )
    return weight @ value, weight @ value**2, pull_back(X, weight[:, None] * slope)
