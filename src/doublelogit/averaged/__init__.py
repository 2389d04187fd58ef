"""AVERAGED: Bayesian averaging of double logistic models by variational inference.

The likelihood is nearly flat along the label frequency, and its maximum is as often far from the
truth as not. This method does not choose a point on that posterior: it integrates over all of it,
under a prior that was learned from real tables (``prior.py``).

Algorithm::

    for each mechanism of labelling (at random, following the class, free)
        cut the prevalences into cells, as labels at random left them; at the middle of each, the
        heaviest first, and no further than there is mass, for each scale of slopes:
            N(u, V) <- normal law nearest to the posterior with that intercept (``gaussian.py``)
            mass    <- its evidence, coarsened * prior * Jacobian * size of the cell
        while a cell holds too much of the mass, or lies beside a narrower one that holds some, cut
        it into three and evaluate the new ones
    a part of the mass <- classes of any shape, whose labels do not tell of the prevalence
        (``any_shape.py``), unless something tells class and labelling apart
    y(x) <- sigma of the mean of x'beta over all cells, weighted by mass, at the mean prevalence
    intervals <- quantiles over all cells, weighted likewise

In a large sample few cells hold all the mass, and only those are evaluated.

With more features than rows it works in the span of the rows (``span.py``).

Beta and gamma may swap places unnoticed, as everywhere. Where nothing tells them apart the class is
taken to depend on the features at least as much as the labelling does; where something does (named
features, audited rows) the exploration is repeated from the swapped pair and the evidence decides.
"""

from dataclasses import replace

import numpy as np
from scipy.special import softmax

from doublelogit._types import Floats
from doublelogit.averaged.gaussian import SlicedPosterior
from doublelogit.averaged.grid import Component, explore, log_sum
from doublelogit.averaged.mixture import mixture
from doublelogit.averaged.prior import posteriors
from doublelogit.averaged.span import span_of
from doublelogit.common.thresholds import CLEAR_LOG_EVIDENCE
from doublelogit.core.rows import labelled_share
from doublelogit.fitted.fit import Orientation, PUFit
from doublelogit.methods.orientation import swapped_theta, what_tells
from doublelogit.methods.problem import Problem

# Before any data the labelling varies with the features about so much as a share of the class,
# within a factor e: what speaks against the swapped pair where nothing else does.
RATIO = 0.3
EQUAL = 1 + 1e-6  # a ratio of strengths: labelling that follows the class is as strong, but rounded


def averaged(problem: Problem) -> PUFit:
    """Integrate over the whole posterior."""
    free = replace(problem, l2=0.0, propensity_l2=0.0)
    mean_s = labelled_share(problem.rows)
    span = span_of(free)
    asked = posteriors(free, span)
    components = explore(mean_s, asked)
    if problem.symmetric:
        components, decided = _by_strength(components)
    else:
        components, decided = _by_evidence(free, components, mean_s, asked)
    reached = all(np.isfinite(component.log_mass) for component in components)
    model = mixture(components, mean_s, problem.symmetric)
    if span is not None:
        model = span.lifted(model)
    return PUFit(model, len(components), reached, orientation=decided)


def _by_strength(
    components: list[Component],
) -> tuple[list[Component], Orientation]:
    """The components whose class varies more than their labelling does, and how much more."""
    ratios = np.array([_ratio(*component.strengths) for component in components])
    kept = np.flatnonzero(ratios <= max(EQUAL, ratios.min()))
    weight = softmax([components[i].log_mass for i in kept])
    ratio = float(np.exp(weight @ np.log(np.maximum(ratios[kept], 1e-9))))
    # of a normal log-ratio: density at log(ratio) against that at -log(ratio)
    gap = 2 * np.log(RATIO) * np.log(ratio)
    decided = Orientation("norm", gap, "log-evidence", bool(gap >= CLEAR_LOG_EVIDENCE))
    return [components[i] for i in kept], decided


def _ratio(outcome: float, labelling: float) -> float:
    """Strength of the labelling as a share of that of the class, given variances of both."""
    tiny = np.finfo(float).tiny  # a class that depends on nothing is weaker than any labelling
    return float(np.sqrt(max(labelling, 0.0) / max(outcome, tiny)))


def _by_evidence(
    problem: Problem, components: list[Component], mean_s: float, asked: list[SlicedPosterior]
) -> tuple[list[Component], Orientation]:
    """The components, and those found from the swapped pair if that has a basin of its own."""
    rule = what_tells(problem)
    alone = components, Orientation(rule, np.inf, "log-evidence", True)
    biased = [component for component in components if component.posterior.free]
    if not biased:
        return alone
    best = max(biased, key=_mass)
    start = best.posterior.coordinates(swapped_theta(problem, best.law.theta))
    again = [replace(posterior) for posterior in asked if posterior.free]
    # cells of either exploration may have slipped into the basin of the other
    others = [c for c in explore(mean_s, again, start) if _nearer(c, start[:-1], best.law.u)]
    if not others:
        return alone
    rival = max(others, key=_mass)
    others = [c for c in others if _nearer(c, rival.law.u, best.law.u)]
    components = [
        c for c in components if not c.posterior.free or _nearer(c, best.law.u, rival.law.u)
    ]
    gap = abs(log_sum(components) - log_sum(others))
    decided = Orientation(rule, gap, "log-evidence", gap >= CLEAR_LOG_EVIDENCE)
    return components + others, decided


def _mass(component: Component) -> float:
    return component.log_mass


def _nearer(component: Component, u: Floats, other: Floats) -> bool:
    """Whether a law lies nearer to u than to the other, in standardised coordinates."""
    here, there = (np.linalg.norm(component.law.u - point) for point in (u, other))
    return bool(here < there)
