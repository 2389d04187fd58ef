"""The posteriors of a problem: one for each mechanism of labelling and strength that applies."""

import numpy as np

from doublelogit._types import Floats
from doublelogit.averaged import mechanisms
from doublelogit.averaged.coordinates import INTERCEPT
from doublelogit.averaged.expectation import ExpectedLikelihood
from doublelogit.averaged.gaussian import Prior, SlicedPosterior
from doublelogit.averaged.mechanisms.protocol import Mechanism, Odds
from doublelogit.averaged.prior import class_scales
from doublelogit.averaged.settings import Settings
from doublelogit.averaged.span import Span
from doublelogit.methods.problem import Problem


def posteriors(
    problem: Problem, settings: Settings, span: Span | None = None
) -> list[SlicedPosterior]:
    """One posterior for every mechanism and strength; in the span of the rows, if that is given."""
    offered = [
        (mechanism, odds)
        for mechanism in mechanisms.MECHANISMS
        for odds in mechanism.odds(problem, settings)
    ]
    inside = problem if span is None else span.problem
    restricted = {mechanism.name: mechanism.problem(inside) for mechanism, _ in offered}
    return [
        posterior_under(restricted[mechanism.name], mechanism, odds, settings, span, number)
        for number, (mechanism, odds) in enumerate(offered)
    ]


def posterior_under(
    problem: Problem,
    mechanism: Mechanism,
    odds: Odds,
    settings: Settings,
    span: Span | None = None,
    number: int = 0,
) -> SlicedPosterior:
    """The posterior under one mechanism, with a prior for every scale of the class."""
    p = problem.outcome.size - 1 if span is None else span.n_features
    # slopes of the columns of a span are per standard deviation too, but were so before it turned
    length = np.ones(problem.outcome.size - 1) if span is None else span.lengths
    priors = tuple(
        _prior(problem, mechanism, odds, node, scale, p / (scale * length) ** 2, weight)
        for node, (scale, weight) in enumerate(class_scales(p, settings).items())
    )
    arguments = mechanism.arguments(problem)
    likelihood = ExpectedLikelihood(
        problem.rows,
        arguments.pair,
        problem.n,
        problem.response,
        arguments.offset,
        problem.audited,
    )
    return SlicedPosterior(
        problem,
        mechanism,
        likelihood,
        arguments.to_arguments,
        arguments.to_theta,
        priors,
        settings.coarsening(problem.n),
        number,
        settings,
    )


def _prior(
    problem: Problem,
    mechanism: Mechanism,
    odds: Odds,
    node: int,
    class_scale: float,
    slopes: Floats,
    weight: float,
) -> Prior:
    """Precisions of the slopes of the class, its intercept and what labelling adds to them."""
    labelling_scale = class_scale * odds.strength
    beta = np.append(slopes, INTERCEPT**-2)
    precision = np.concatenate([beta, mechanism.precision(problem, labelling_scale)])
    log_odds = float(np.log(odds.prior * weight))
    return Prior(node, precision, class_scale, labelling_scale, log_odds)
