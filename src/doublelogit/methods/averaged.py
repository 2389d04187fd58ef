"""AVERAGED: Bayesian averaging of double logistic models by Laplace's method.

The likelihood is nearly flat along the label frequency, and its maximum is as often far from the
truth as not. This method does not choose a point on that posterior: it integrates over all of it.

Prior, for standardised features: beta_j ~ N(0, 1), which is C = 1, and gamma_j ~ N(0, rho^2), with
rho either 0, which is SCAR, or not; the prevalence is uniform on (mean S, 1) and fixes the
intercept of the propensity, that of c = mean S / prevalence.

Algorithm::

    for each rho
        cut (mean S, 1) into cells, as they were left by the rho before; at the middle of each, the
        heaviest first, and no further than there is evidence:
            u    <- mode of the posterior with that intercept, from what was found there before
            mass <- Laplace's evidence * width of the cell
        while a cell holds too much of the mass, or lies beside a narrower one that holds some, cut
        it into three and evaluate the new ones
    y(x) <- mean of sigma(x'beta) over all cells, weighted by mass * odds of rho
    intervals <- quantiles over all cells, weighted half so, half by mass alone

The odds lean towards SCAR, the more the larger the sample: a class that is not quite logistic looks
like biased labelling to this model, and gains so much evidence per row. In a large sample few cells
hold all the evidence, and only those are evaluated.

Beta and gamma may swap places unnoticed, as everywhere. Where nothing tells them apart the class is
taken to depend on the features more than the labelling does; where something does (named features,
audited rows) the exploration is repeated from the swapped pair and the evidence decides.
"""

from dataclasses import replace

import numpy as np
from scipy.special import logsumexp, softmax

from doublelogit._types import Floats
from doublelogit.design import Terms
from doublelogit.fit import Orientation, PUFit
from doublelogit.methods.components import mixture
from doublelogit.methods.exploration import Component, explore
from doublelogit.methods.orientation import swapped_theta, variation, what_tells
from doublelogit.methods.posterior import SlicedPosterior, standardising
from doublelogit.methods.problem import Problem, full
from doublelogit.rows import weighted_mean
from doublelogit.thresholds import CLEAR_LOG_EVIDENCE

# Scales of the labelling's slopes, SCAR first, and the odds of each: labels at random unless they
# say otherwise. Scales between these were worse on most data sets (docs/averaged_study.md).
RHOS = {0.0: 10.0, 0.7: 1.0}
# Log-evidence per row that biased labelling may gain though labels are given at random: no class is
# quite logistic, and where nothing tells it from the labelling its curvature looks like bias.
MISFIT = 0.007
STRONG = {1.5: 1.0, 3.0: 1.0}  # more, where something tells the class from the labelling
# Before any data the labelling varies with the features about so much as a share of the class,
# within a factor e: what speaks against the swapped pair where nothing else does.
RATIO = 0.3


def averaged(
    problem: Problem, rhos: dict[float, float] | None = None, misfit: float = MISFIT
) -> PUFit:
    """Integrate over the whole posterior; ``rhos`` are prior scales with their odds."""
    free = replace(problem, l2=0.0, propensity_l2=0.0)
    if rhos is None:
        rhos = RHOS if problem.symmetric else RHOS | STRONG
    if problem.propensity.size == 1:  # labelling at random is all that was asked for
        rhos = {0.0: 1.0}
    mean_s = weighted_mean(problem.rows, problem.rows.s)
    posteriors = _posteriors(free, rhos, misfit if problem.symmetric else 0.0)
    components = explore(mean_s, posteriors, np.zeros(problem.outcome.size))
    if problem.symmetric:
        components, decided = _by_strength(free, components)
    else:
        components, decided = _by_evidence(free, components, mean_s, posteriors)
    reached = all(np.isfinite(component.log_mass) for component in components)
    model = mixture(components, mean_s, problem.symmetric)
    return PUFit(model, len(components), reached, orientation=decided)


def _posteriors(problem: Problem, rhos: dict[float, float], misfit: float) -> list[SlicedPosterior]:
    none = Terms(problem.rows.n_features, np.array([], dtype=np.intp))
    posteriors = []
    for rho, odds in rhos.items():
        model = problem if rho > 0 else replace(problem, propensity=none)
        log_odds = np.log(odds) + (misfit * problem.n if rho == 0 else 0.0)
        posteriors.append(SlicedPosterior(model, standardising(model), rho, log_odds))
    return posteriors


def _by_strength(
    problem: Problem, components: list[Component]
) -> tuple[list[Component], Orientation]:
    """The components whose class varies more than their labelling does, and how much more."""
    models = [full(component.posterior.problem, component.mode.theta) for component in components]
    ratios = np.array([_ratio(problem, beta, gamma) for beta, gamma in models])
    kept = np.flatnonzero(ratios <= max(1.0, ratios.min()))
    weight = softmax([components[i].log_mass for i in kept])
    ratio = float(np.exp(weight @ np.log(np.maximum(ratios[kept], 1e-9))))
    # of a normal log-ratio: density at log(ratio) against that at -log(ratio)
    gap = 2 * np.log(RATIO) * np.log(ratio)
    decided = Orientation("norm", gap, "log-evidence", bool(gap >= CLEAR_LOG_EVIDENCE))
    return [components[i] for i in kept], decided


def _ratio(problem: Problem, beta: Floats, gamma: Floats) -> float:
    """Strength of the labelling as a share of that of the class."""
    tiny = np.finfo(float).tiny  # a class that depends on nothing is weaker than any labelling
    return float(np.sqrt(variation(problem, gamma) / max(variation(problem, beta), tiny)))


def _by_evidence(
    problem: Problem, components: list[Component], mean_s: float, posteriors: list[SlicedPosterior]
) -> tuple[list[Component], Orientation]:
    """The components, and those found from the swapped pair if that has a basin of its own."""
    rule = what_tells(problem)
    alone = components, Orientation(rule, np.inf, "log-evidence", True)
    biased = [component for component in components if component.posterior.problem is problem]
    if not biased:
        return alone
    best = max(biased, key=_mass)
    theta = swapped_theta(problem, best.mode.theta)
    start = np.asarray(np.linalg.solve(best.posterior.to_theta, theta)[:-1])
    again = [replace(posterior) for posterior in posteriors if posterior.problem is problem]
    # cells of either exploration may have slipped into the basin of the other
    others = [c for c in explore(mean_s, again, start) if _nearer(c, start, best.mode.u)]
    if not others:
        return alone
    rival = max(others, key=_mass)
    others = [c for c in others if _nearer(c, rival.mode.u, best.mode.u)]
    components = [
        c
        for c in components
        if c.posterior.problem is not problem or _nearer(c, best.mode.u, rival.mode.u)
    ]
    gap = abs(float(_log_sum(components) - _log_sum(others)))
    decided = Orientation(rule, gap, "log-evidence", gap >= CLEAR_LOG_EVIDENCE)
    return components + others, decided


def _log_sum(components: list[Component]) -> float:
    return float(logsumexp([component.log_mass for component in components]))


def _mass(component: Component) -> float:
    return component.log_mass


def _nearer(component: Component, u: Floats, other: Floats) -> bool:
    """Whether a mode lies nearer to u than to the other, in standardised coordinates."""
    here, there = (np.linalg.norm(component.mode.u - point) for point in (u, other))
    return bool(here < there)
