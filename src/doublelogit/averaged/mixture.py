"""From explored cells to a mixture of normals: coefficients, covariances and shares."""

from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import PchipInterpolator
from scipy.special import logsumexp, softmax

from doublelogit._types import Floats, Matrix
from doublelogit.averaged import shapes
from doublelogit.averaged.beliefs import informed
from doublelogit.averaged.expectation import LINE
from doublelogit.averaged.level import Average, average_at, level_of
from doublelogit.averaged.settings import Settings
from doublelogit.averaged.shapes.protocol import Lines
from doublelogit.averaged.weights import TINY, Component, divided, scaled
from doublelogit.core.design import Terms, predictor, pull_back, row_squares
from doublelogit.core.link import Link, probability
from doublelogit.fitted import MixtureSide, PosteriorMixture, PosteriorSide
from doublelogit.methods.problem import Problem

LEVEL_TOLERANCE = 1e-9  # guard: difference of two means of probabilities that is none
SECTIONS = (np.arange(9) + 0.5) / 9  # of a cell, in which its mass and shares are told apart
STEEP = 3.0  # guard: change of a log-density from the middle of a cell to its edge
AT_ONCE = 8  # components in one pass over the rows: each takes a column of a block


def relevant(components: list[Component], settings: Settings) -> list[Component]:
    """The components that hold more than next to nothing of the mass of the largest."""
    share = softmax([c.log_mass for c in components])
    least = settings.light * share.max()
    return [c for c, one in zip(components, share, strict=True) if one >= least]


def lines_of(components: list[Component], mean_s: float) -> Lines:
    """Components of the search with their masses over whole cells."""
    scales = np.array(
        [(c.gaussian.prior.labelling_scale, c.gaussian.prior.class_scale) for c in components]
    )
    log_mass, outcome, propensity = integrated(components, *_sides(components))
    beliefs = components[0].posterior.problem.beliefs
    return Lines(
        mechanism=tuple(c.posterior.mechanism.name for c in components),
        labelling_scale=scales[:, 0],
        class_scale=scales[:, 1],
        outcome=informed(outcome, beliefs, mean_s),
        propensity=propensity,
        log_mass=log_mass,
    )


def mixture(problem: Problem, lines: Lines, mean_s: float, settings: Settings) -> PosteriorMixture:
    """The lines and the components of other shapes, weighed and at their mean level."""
    offered = [(s, s.proposed(problem, mean_s, lines, settings)) for s in shapes.SHAPES]
    proposals = [(shape, one) for shape, one in offered if one is not None]
    used, each = [shape for shape, _ in proposals], [one.components for _, one in proposals]
    masses = divided(lines.log_mass, [one.taken for _, one in proposals[1:]])
    log_mass = np.concatenate(
        [
            masses[0],
            *(scaled(one.log_mass, mass) for one, mass in zip(each[1:], masses[1:], strict=True)),
        ]
    )
    weight, pooled = softmax(log_mass), tuple(one.pooled for one in each)
    outcome, propensity = (
        levelled(problem, weight, MixtureSide(sides, pooled=pooled))
        for sides in (tuple(one.outcome for one in each), tuple(one.propensity for one in each))
    )
    return PosteriorMixture(
        mean_s,
        weight,
        tuple(name for one in each for name in one.mechanism),
        tuple(shape.name for shape in used),
        np.concatenate([one.labelling_scale for one in each]),
        np.concatenate([one.class_scale for one in each]),
        log_mass,
        outcome,
        propensity,
        problem.symmetric,
    )


def integrated(
    components: list[Component], *sides: PosteriorSide
) -> tuple[Floats, PosteriorSide, PosteriorSide]:
    """Masses and shares over whole cells, by those of their middles.

    Along a curve the logarithm of the density and the shares are interpolated between the middles.
    """
    log_mass = np.array([component.log_mass for component in components])
    edges = np.array([(component.low, component.high) for component in components])
    share, variance = [side.share.copy() for side in sides], [side.share_sd**2 for side in sides]
    curves = [component.curve for component in components]
    for curve in set(curves):
        here = np.flatnonzero([other == curve for other in curves])
        if len(here) == 1:  # a cell whose neighbours hold nothing is not filled by its own mass
            continue
        here = here[np.argsort(edges[here, 0])]
        low, width = edges[here, 0], np.diff(edges[here])[:, 0]
        middle, within = low + width / 2, low[:, None] + np.outer(width, SECTIONS)
        log_density = log_mass[here] - np.log(width)
        columns = np.column_stack([log_density, *(mean[here] for mean in share)])
        density, *at = np.moveaxis(_between(middle, columns, within), -1, 0)
        density = np.clip(density - log_density[:, None], -STEEP, STEEP)
        log_mass[here] += logsumexp(density, axis=1) - np.log(len(SECTIONS))
        weight = softmax(density, axis=1)
        for mean, square, along in zip(share, variance, at, strict=True):
            mean[here] = (weight * along).sum(axis=1)
            square[here] += (weight * (along - mean[here, None]) ** 2).sum(axis=1)
    outcome, propensity = (
        replace(side, share=np.clip(mean, TINY, 1.0), share_sd=np.sqrt(square))
        for side, mean, square in zip(sides, share, variance, strict=True)
    )
    return log_mass, outcome, propensity


def _between(middle: Floats, value: Floats, within: Floats) -> Floats:
    """Values, a curve each column, between middles of cells, without overshoot.

    Beyond the last ones they go on as straight lines.
    """
    x, at = np.log(middle), np.log(within)
    curve = PchipInterpolator(x, value)
    inside = np.clip(at, x[0], x[-1])
    return np.asarray(curve(inside) + curve(inside, nu=1) * (at - inside)[..., None])


def levelled(problem: Problem, weight: Floats, side: MixtureSide) -> MixtureSide:
    """The side with the level at which its pooled probabilities average to their mean share."""
    weight = weight * side.pools
    rows, share = problem.rows, np.asarray(weight @ side.share / weight.sum())
    logits = rows.map_rows(partial(_mean_logit, side, weight))

    def average(level: Floats) -> Average:
        positive, slope = rows.sum_columns(partial(_average, level), logits, rows.weight)
        return positive / problem.n, slope / problem.n

    return replace(side, level=float(level_of(average, share, LEVEL_TOLERANCE)))


def _mean_logit(side: MixtureSide, weight: Floats, X: Matrix) -> Floats:
    return side.pooled_logit(X, weight)


def _average(level: Floats, logits: Floats, weight: Floats) -> Average:
    return average_at(logits, weight, level)


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
    pairs = []
    for component in components:
        problem, gaussian = component.posterior.problem, component.gaussian
        theta, factor, k = gaussian.theta, gaussian.theta_factor, problem.outcome.size
        models = ((problem.outcome, slice(None, k)), (problem.propensity, slice(k, None)))
        for terms, which in models:
            covariance = terms.embed_matrix(factor[which] @ factor[which].T)
            pairs.append((terms.embed(theta[which]), covariance))
    coefs, covariances = zip(*pairs, strict=True)
    return [(np.array(coefs[i::2]), np.array(covariances[i::2])) for i in (0, 1)]


def _shares(
    components: list[Component], *sides: tuple[Floats, Floats]
) -> list[tuple[Floats, Floats]]:
    """Expected mean probabilities over the rows, and deviations, that of drawing rows included."""
    posterior = components[0].posterior
    problem = posterior.problem
    rows, sums = problem.rows, []
    for i in range(0, len(components), AT_ONCE):
        some = slice(i, i + AT_ONCE)
        coefs = [coef[some] for coef, _ in sides]
        spread = Spread.of(components[some]) if posterior.integrates else None
        fn = partial(_moments, problem.link, coefs, spread)
        sums.append(rows.sum_rows(fn, rows.weight))
    shares = []
    for k, (_, covariance) in enumerate(sides):
        mean, square, slope = (
            np.concatenate([one[3 * k + j].T for one in sums]) / problem.n for j in range(3)
        )
        among_rows = np.maximum(square - mean**2, 0.0)  # a constant leaves a rounding error of zero
        of_coefficients = np.maximum(np.einsum("kj,kjl,kl->k", slope, covariance, slope), 0.0)
        shares.append((mean, np.sqrt(of_coefficients + among_rows / problem.n)))
    return shares


class Spread(NamedTuple):
    """Factors of the covariances of some components.

    ``of_class`` are the multiples of the class's predictor that labelling's has; where labelling
    has slopes of its own (``free``) it has a factor of its own as well.
    """

    of_class: Floats
    free: NDArray[np.bool_]
    outcome: Terms
    propensity: Terms
    class_factors: list[Floats]
    free_factors: list[Floats]

    @classmethod
    def of(cls, components: list[Component]) -> "Spread":
        """The spread of components."""
        mechanisms = [c.posterior.mechanism for c in components]
        free = [c for c in components if c.posterior.mechanism.own_slopes]
        problem = (free or components)[0].posterior.problem
        k = problem.outcome.size
        return cls(
            np.array([mechanism.of_class for mechanism in mechanisms]),
            np.array([mechanism.own_slopes for mechanism in mechanisms]),
            problem.outcome,
            problem.propensity,
            [c.gaussian.theta_factor[:k] for c in components],
            [c.gaussian.theta_factor[k:, k:] for c in free],
        )

    def deviations(self, X: Matrix) -> tuple[Floats, Floats]:
        """Standard deviations of both predictors, (rows, components)."""
        a = _lengths(self.outcome.select(X), self.class_factors)
        b = a * self.of_class
        if self.free.any():
            b[:, self.free] = _lengths(self.propensity.select(X), self.free_factors)
        return a, b


def _lengths(X: Matrix, factors: list[Floats]) -> Floats:
    return np.sqrt(np.column_stack([row_squares(X, factor) for factor in factors]))


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
    link: Link, a: Floats, sd: Floats | None, X: Matrix, weight: Floats
) -> tuple[Floats, Floats, Floats]:
    if sd is None:
        y = probability(link, a)
        return weight @ y.value, weight @ y.value**2, pull_back(X, weight[:, None] * y.d_a)
    at = [probability(link, a + z * sd) for z in LINE[0]]
    value, slope = (
        sum(w * column for w, column in zip(LINE[1], columns, strict=True))
        for columns in ([y.value for y in at], [y.d_a for y in at])
    )
    return weight @ value, weight @ value**2, pull_back(X, weight[:, None] * slope)
