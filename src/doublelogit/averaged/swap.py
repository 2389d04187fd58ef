"""May class and labelling swap places? Where they may, and what decides, within AVERAGED.

The likelihood of the labels does not change when beta and gamma swap. Where nothing tells them
apart, a search that has ended among pairs whose labelling is the stronger begins anew from the
swapped pair, and pairs of a stronger labelling are left out at the end (by strength). Where named
features, audited rows or a belief tell them apart, the search is repeated from the swapped pair and
the evidence decides.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from scipy.special import expit, softmax

from doublelogit._types import Floats
from doublelogit.averaged.gaussian import GaussianFit, SlicedPosterior
from doublelogit.averaged.weights import TINY, Component, log_sum
from doublelogit.common.thresholds import CLEAR_LOG_EVIDENCE
from doublelogit.fitted.fit import Orientation
from doublelogit.methods.orientation import swapped_theta, what_tells
from doublelogit.methods.problem import Problem

# Before any data the labelling varies with the features about so much as a share of the class,
# within a factor e: this speaks against the swapped pair where nothing else does.
RATIO = 0.3
EQUAL = 1 + 1e-6  # guard: labelling that follows the class is as strong, but rounded
LEAST = 1e-9  # ratio of strengths that stands for labels at random, whose logarithm is infinite

# Finds components of some posteriors anew, from a point (u, v_0).
Search = Callable[[list[SlicedPosterior], Floats], list[Component]]


def may_swap(posterior: SlicedPosterior) -> bool:
    """Whether the two models of a posterior could swap places unnoticed."""
    return posterior.mechanism.own_slopes and posterior.problem.symmetric


def mostly_swapped(components: list[Component]) -> bool:
    """Whether labelling varies more than the class does, by most of the mass."""
    stronger = [one for one in components if one.strengths[1] > one.strengths[0]]
    return log_sum(stronger) > log_sum(components) + np.log(0.5)


def swapped_point(gaussian: GaussianFit, posterior: SlicedPosterior) -> Floats:
    """The point (u, v_0) of a posterior at which both models of a gaussian have changed places."""
    theta = swapped_theta(posterior.problem, gaussian.theta)
    return posterior.coordinates(theta)


def by_strength(components: list[Component]) -> tuple[list[Component], Orientation]:
    """The components whose class varies more than their labelling does, and how much more."""
    ratios = np.array([_ratio(*component.strengths) for component in components])
    chosen = np.flatnonzero(ratios <= max(EQUAL, ratios.min()))
    weight = softmax([components[i].log_mass for i in chosen])
    ratio = float(np.exp(weight @ np.log(np.maximum(ratios[chosen], LEAST))))
    # of a normal log-ratio: density at log(ratio) against that at -log(ratio)
    gap = 2 * np.log(RATIO) * np.log(ratio)
    decided = Orientation("norm", gap, "log-evidence", bool(gap >= CLEAR_LOG_EVIDENCE))
    return [components[i] for i in chosen], decided


def among_shapes(decided: Orientation, share: float) -> Orientation:
    """What was decided of lines, where these hold a share of the posterior.

    A class of any shape takes its shape from the labels: it cannot swap unnoticed.
    """
    if not np.isfinite(decided.gap):
        return decided
    swapped = share * float(expit(-decided.gap))
    gap = float(np.log1p(-swapped) - np.log(max(swapped, TINY)))
    return replace(decided, gap=gap, clear=gap >= CLEAR_LOG_EVIDENCE)


def _ratio(outcome: float, labelling: float) -> float:
    """Strength of the labelling as a share of that of the class, from variances of both."""
    tiny = np.finfo(float).tiny  # a class that depends on nothing is weaker than any labelling
    return float(np.sqrt(max(labelling, 0.0) / max(outcome, tiny)))


def by_evidence(
    problem: Problem,
    components: list[Component],
    posteriors: list[SlicedPosterior],
    search: Search,
) -> tuple[list[Component], Orientation]:
    """The components, and those found from the swapped pair if that has a basin of its own."""
    rule = what_tells(problem)
    alone = components, Orientation(rule, np.inf, "log-evidence", True)
    biased = [component for component in components if _own(component)]
    if not biased:
        return alone
    best = max(biased, key=_mass)
    start = swapped_point(best.gaussian, best.posterior)
    again = search([p for p in posteriors if p.mechanism.own_slopes], start)
    # cells of either search may have slipped into the basin of the other
    others = [c for c in again if _nearer(c, start[:-1], best.gaussian.u)]
    if not others:
        return alone
    rival = max(others, key=_mass)
    others = [c for c in others if _nearer(c, rival.gaussian.u, best.gaussian.u)]
    components = [
        c for c in components if not _own(c) or _nearer(c, best.gaussian.u, rival.gaussian.u)
    ]
    gap = abs(log_sum(components) - log_sum(others))
    decided = Orientation(rule, gap, "log-evidence", gap >= CLEAR_LOG_EVIDENCE)
    return components + others, decided


def _own(component: Component) -> bool:
    return component.posterior.mechanism.own_slopes


def _mass(component: Component) -> float:
    return component.log_mass


def _nearer(component: Component, u: Floats, other: Floats) -> bool:
    """Whether a gaussian lies nearer to u than to the other, in standardised coordinates."""
    here, there = (np.linalg.norm(component.gaussian.u - point) for point in (u, other))
    return bool(here < there)
