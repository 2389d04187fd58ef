"""Weights of components: prior, evidence and audited rows make the mass of a cell, here alone.

    log mass = log prior + zeta (log evidence - log audited) + log audited + log volume of the cell

with zeta the coarsening: no class is quite logistic, so the evidence of many rows counts as that of
a few thousand. The class of an audited row was looked at, whatever the model, so that the expected
log-likelihood of audited rows enters whole. (A gain in the likelihood of held-out labels would be
one more term in ``log_weight``.) The prior is that of mechanism and scale, of the prevalence
pi = mean y(x) and of the label frequency c = mean y(x)e(x) / pi, and of what is believed of both.
The volume is the change of tau = sigma(g_0) in the cell times

    |d(pi, c) / d(b_0, tau)| = mean y(1-y) * mean ye(1-e) / (pi tau (1-tau)).
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from scipy.special import logsumexp

from doublelogit._types import Floats
from doublelogit.averaged.beliefs import log_belief
from doublelogit.averaged.gaussian import GaussianFit, SlicedPosterior
from doublelogit.averaged.prior import log_prevalence

TINY = np.finfo(float).tiny


# Numbers of a search, of a posterior and of a scale, whose components lie along one curve.
Curve = tuple[int, int, int]


class Component(NamedTuple):
    """The gaussian of a cell from ``low`` to ``high``, and its mass.

    ``strengths`` are the variances of the predictors of class and labelling over the rows.
    """

    gaussian: GaussianFit
    log_mass: float
    strengths: tuple[float, float]
    low: float
    high: float
    curve: Curve

    @property
    def posterior(self) -> SlicedPosterior:
        """The posterior that it is a part of."""
        return self.gaussian.posterior


def log_weight(gaussian: GaussianFit) -> float:
    """Prior odds of mechanism and scale times the evidence as it counts, in logarithms."""
    power, audited = gaussian.posterior.power, gaussian.log_audited
    return power * (gaussian.log_evidence - audited) + audited + gaussian.prior.log_odds


def log_measure(low: float, high: float) -> float:
    """Logarithm of the change of 1/v in a cell of v, which is that of tau but for a constant."""
    return float(np.log(1 / low - 1 / high))


def weighed(
    gaussians: list[GaussianFit], tau: float, cell: tuple[float, float], search: int
) -> list[Component]:
    """The gaussians of one slice as components of a cell, at the middle of which tau is."""
    posterior = gaussians[0].posterior
    y, labelled, y_free, e_free, a, aa, b, bb = np.array(
        [gaussian.expansion.shares for gaussian in gaussians]
    ).T
    jacobian = np.log(np.maximum(y_free * e_free, TINY)) - np.log(y * tau * (1 - tau))
    pi, c = y, np.maximum(labelled / y, TINY)
    prior = log_prevalence(pi) + posterior.mechanism.log_frequency(c)
    prior += log_belief(posterior.problem.beliefs, pi, c)
    weights = np.array([log_weight(gaussian) for gaussian in gaussians])
    log_mass = weights + prior + jacobian + log_measure(*cell)
    # a constant leaves a rounding error of zero
    of_labelling = bb - b**2 if posterior.mechanism.varies else np.zeros(len(b))
    strengths = zip((aa - a**2).tolist(), of_labelling.tolist(), strict=True)
    curves = [(search, posterior.number, gaussian.prior.node) for gaussian in gaussians]
    columns = (gaussians, log_mass.tolist(), strengths)
    return [
        Component(gaussian, mass, both, *cell, curve)
        for gaussian, mass, both, curve in zip(*columns, curves, strict=True)
    ]


def log_sum(weighted: Iterable[Any]) -> float:
    """Logarithm of the masses of cells or components, without SciPy's checks: they take longer."""
    return float(np.logaddexp.reduce([one.log_mass for one in weighted], initial=-np.inf))


def divided(log_mass: Floats, taken: list[Floats]) -> list[Floats]:
    """Masses left to components, and one mass for each share of them that others have taken."""
    left = log_mass + np.log1p(-np.sum(taken, axis=0)) if taken else log_mass
    return [left, *(np.asarray(logsumexp(log_mass, b=share)) for share in taken)]


def scaled(log_mass: Floats, total: Floats) -> Floats:
    """Masses of a shape's components, so that they add up to a total."""
    return np.asarray(log_mass - logsumexp(log_mass) + total)
