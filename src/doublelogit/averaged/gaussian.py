"""The posterior of the double logistic model with the propensity's intercept held fixed.

Where labels leave the prevalence open, the posterior is a long curved ridge along that intercept
and close to normal across it; a slice is one cut across. Coordinates u are slopes of standardised
features and intercepts at their means,

    beta_j  = u_j / sd_j   beta_0  = u_0 - mean'beta
    gamma_j = v_j / sd_j   gamma_0 = v_0 - mean'gamma

so that one prior of u_j and v_j suits all units, and X is neither centred nor copied for it. v_0 is
given; u_0 ~ N(0, 10^2) keeps a sample that could be all positive, which leaves u_0 free to run to
infinity, from having all the evidence.

Across the ridge the posterior is replaced by the gaussian that is nearest to it (variational
inference): the one of the largest lower bound of the evidence

    E[log-likelihood] + E[log prior] + entropy,

which natural gradients ascend. About the mode alone (Laplace's method) slopes are too small where
coefficients are not few beside the labels, and with them the prevalence. Where they are few, both
are the same, and expectations are taken by the curvature.

The expansion about one gaussian predicts those of other slices and of other priors, and how well:
an ascent starts from the prediction, and is skipped where it would change next to nothing.

Hessians are of all rows: curvature along the ridge is a small difference of large sums.
"""

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.linalg.blas import dtrmm
from scipy.linalg.lapack import dpotrf, dtrtri

from doublelogit._types import Floats, Matrix
from doublelogit.averaged.expectation import ExpectedLikelihood, Shares
from doublelogit.averaged.mechanisms.protocol import Mechanism
from doublelogit.averaged.settings import Settings
from doublelogit.core.solvers import ValueGrad
from doublelogit.methods.problem import Problem

SMALLEST_STEP = 1e-300
NOTHING = np.empty((0, 0))


@dataclass(frozen=True, eq=False)
class Prior:
    """Precision of every coordinate under one scale of slopes.

    ``node`` is the number of the scale; ``class_scale`` and ``labelling_scale`` are prior standard
    deviations of both predictors.
    """

    node: int
    precision: Floats
    class_scale: float
    labelling_scale: float
    log_odds: float = 0.0


@dataclass(frozen=True)
class SlicedPosterior:
    """The model under one mechanism of labelling, to be sliced along the propensity's intercept.

    ``to_arguments`` takes the coordinates u, and that intercept last, to the arguments of the
    likelihood, ``to_theta`` to both models; these differ where labelling follows the class. The
    evidence counts to a ``power``; ``number`` is its place among the posteriors of a problem.
    """

    problem: Problem
    mechanism: Mechanism
    likelihood: ExpectedLikelihood
    to_arguments: Matrix
    to_theta: Matrix
    priors: tuple[Prior, ...]
    power: float = 1.0
    number: int = 0
    settings: Settings = field(default_factory=Settings)

    @cached_property
    def integrates(self) -> bool:
        """Whether predictors vary enough for expectations to differ from values at the centre."""
        few = self.settings.few_coefficients * self.problem.n_labelled
        return self.problem.outcome.size > few

    @property
    def size(self) -> int:
        """Number of coordinates of a slice."""
        return int(self.to_arguments.shape[1]) - 1

    def coordinates(self, theta: Floats) -> Floats:
        """The coordinates (u, v_0) of two free models."""
        to_theta = self.to_theta
        dense = to_theta.toarray() if sparse.issparse(to_theta) else to_theta
        return np.asarray(np.linalg.solve(dense, theta))

    def at(self, intercept: float, prior: Prior) -> "Slice":
        """The slice at an intercept of the propensity, taken at the features' means."""
        return Slice(self, intercept, prior)


@dataclass(frozen=True)
class Slice:
    """The posterior at one intercept of the propensity, under one prior of the slopes."""

    posterior: SlicedPosterior
    intercept: float
    prior: Prior

    @property
    def n(self) -> float:
        return self.posterior.likelihood.n

    @property
    def settings(self) -> Settings:
        return self.posterior.settings

    def tolerance(self, behind: float = 0.0) -> float:
        """Change of the log-evidence that does not matter, if others are ahead by so much."""
        exact = self.settings.tolerance / self.posterior.power
        return exact * float(np.exp(np.clip(behind, 0.0, self.settings.irrelevant)))

    def theta(self, u: Floats) -> Floats:
        """(beta, gamma) of the features as they are."""
        return np.asarray(self.posterior.to_theta @ np.append(u, self.intercept))

    def expand(self, u: Floats, factor: Floats) -> "GaussianFit":
        """A gaussian of u, and minus the log-posterior to second order in expectation."""
        posterior, precision = self.posterior, self.prior.precision / self.n
        to_arguments, integrates = posterior.to_arguments, posterior.integrates
        arguments, free = to_arguments @ np.append(u, self.intercept), to_arguments[:, :-1]
        spread = np.asarray(free @ factor) if integrates else None
        value, grad, hess, shares, audited = posterior.likelihood.expand(arguments, spread)
        grad, hess = (to_arguments.T @ grad)[:-1], np.asarray(to_arguments.T @ hess @ to_arguments)
        value += 0.5 * float(precision @ u**2)
        if integrates:
            value += 0.5 * float(precision @ np.sum(factor**2, axis=1))
        mixed, hess = hess[:-1, -1].copy(), hess[:-1, :-1]  # a view would keep the whole matrix
        hess.flat[:: len(u) + 1] += precision
        if posterior.likelihood.audited:
            audited = audited._replace(grad=np.asarray(free.T @ audited.grad))
        expansion = Expansion(value, grad + precision * u, hess, mixed, shares, audited)
        return GaussianFit(self, u, factor, expansion)

    def ascend_from_prior(self, u: Floats) -> "GaussianFit":
        """The gaussian nearest to the posterior, from a point and a spread of the prior's size."""
        wide = self.settings.wide / np.sqrt(len(u))
        return self.ascend(u, np.diag(np.minimum(1 / np.sqrt(self.prior.precision), wide)))

    def ascend(self, u: Floats, factor: Floats, behind: float = 0.0) -> "GaussianFit":
        """The gaussian nearest to the posterior, from one nearby, by natural gradients.

        The last step is not verified when its predicted error is below the tolerance, which is
        larger for a gaussian that is ``behind`` others in log-evidence. ``stalled`` says that the
        steps were used up before that.
        """
        here, rate, settings = self.expand(u, factor), 1.0, self.settings
        enough, integrates = self.tolerance(behind), self.posterior.integrates
        stalled = True
        for _ in range(settings.most_steps):
            last = here.under(self.prior)
            if last.error < enough:
                return last
            there = here.step(rate, last)
            gain = -np.inf if there is None else there.objective - here.objective
            if there is None or gain < 0:
                rate /= 2
                continue
            here, rate = there, min(1.0, settings.faster * rate)
            if gain < settings.small_gain * enough:
                stalled = False
                break
        last = replace(here if integrates else here.under(self.prior), stalled=stalled)
        # where the curvature has nearly gone, a last step would promise any evidence
        return last if last.error < settings.most_error else replace(last, error=np.inf)


class Expansion(NamedTuple):
    """A slice to second order; ``mixed`` are derivatives by u and the propensity's intercept."""

    value: float
    grad: Floats
    hess: Floats
    mixed: Floats
    shares: Shares
    audited: ValueGrad


@dataclass(frozen=True)
class GaussianFit:
    """A gaussian of u, N(u, factor factor'), and the slice in expectation under it.

    ``factor`` is upper triangular, which expectations make use of. Of a gaussian that was predicted
    and not verified, ``error`` is about how far its log-evidence may be off.
    """

    slice: Slice
    u: Floats
    factor: Floats
    expansion: Expansion
    error: float = 0.0
    stalled: bool = False

    @property
    def prior(self) -> Prior:
        """The prior of its slopes."""
        return self.slice.prior

    @property
    def posterior(self) -> SlicedPosterior:
        """The posterior that its slice is cut from."""
        return self.slice.posterior

    @property
    def _entropy(self) -> float:
        """Entropy relative to the prior; a centre alone has none."""
        precision = self.prior.precision
        log_det = np.log(np.abs(np.diagonal(self.factor)))
        spread = len(precision) if self.posterior.integrates else 0
        return float(0.5 * (np.log(precision).sum() + spread) + log_det.sum())

    @cached_property
    def log_evidence(self) -> float:
        """A lower bound of the log-integral of likelihood times prior over u, nearly reached.

        Where expectations are taken by the curvature it is Laplace's approximation.
        """
        if self.error == np.inf:
            return -np.inf
        return self._entropy - self.slice.n * self.expansion.value

    @property
    def log_audited(self) -> float:
        """Expected log-likelihood of the audited rows, which is a part of the log-evidence."""
        return -self.slice.n * self.expansion.audited.value

    @property
    def objective(self) -> float:
        """The function that steps ascend: the bound, or the log-posterior of the centre."""
        if self.posterior.integrates:
            return self.log_evidence
        return -self.slice.n * self.expansion.value

    @cached_property
    def _slope(self) -> Floats:
        """The gradient in coordinates in which this gaussian is standard normal."""
        return np.asarray(self.slice.n * (self.factor.T @ self.expansion.grad))

    @cached_property
    def _curvature(self) -> Floats:
        """The curvature in those coordinates."""
        return self._whitened(self.slice.n * self.expansion.hess)

    def _whitened(self, hess: Floats) -> Floats:
        """A curvature in those coordinates; half the work of a product, by triangles."""
        half = dtrmm(1.0, self.factor, hess, trans_a=1)
        return np.asarray(dtrmm(1.0, self.factor, half, side=1))

    def step(self, rate: float, whole: "GaussianFit") -> "GaussianFit | None":
        """A natural gradient step: Newton's in expectation, if the rate is one.

        ``whole`` is where that leads; None if the step leads to no gaussian at all.
        """
        factor: Floats | None = whole.factor if whole.error < np.inf else None
        d = whole.u - self.u
        if rate < 1.0:
            mixed = rate * self._curvature
            mixed.flat[:: len(mixed) + 1] += 1 - rate
            inner = inverse_factor(mixed)
            factor = None if inner is None else self.factor @ inner
            d = d if inner is None else -(self.factor @ (inner @ (inner.T @ self._slope)))
        if factor is None:
            return None
        longest = self.slice.settings.longest_step / max(np.abs(d).max(), SMALLEST_STEP)
        return self.slice.expand(self.u + min(rate, longest) * d, factor)

    def under(self, prior: Prior) -> "GaussianFit":
        """The gaussian under another prior, as far as this expansion predicts it.

        With d the step there, in standard deviations, the error of the log-evidence is some
        d^3 / root(labels), the order of what a quadratic leaves out.
        """
        n, old = self.slice.n, self.expansion
        changed = (prior.precision - self.prior.precision) / n
        hess, grad = old.hess + np.diag(changed), old.grad + changed * self.u
        factor = inverse_factor(n * hess)
        there = self.posterior.at(self.slice.intercept, prior)
        if factor is None:
            return replace(self, slice=there, error=np.inf)
        slope = n * (factor.T @ grad)
        # value at this gaussian under the other prior, then at the bottom of the quadratic
        value = old.value + 0.5 * float(changed @ self.u**2) - 0.5 * float(slope @ slope) / n
        curvature = self._whitened(n * hess)
        if self.posterior.integrates:
            value += 0.5 * float(changed @ np.sum(self.factor**2, axis=1))
            value += 0.5 * (len(slope) - np.trace(curvature)) / n
        far = slope @ slope + 0.5 * np.sum((curvature - np.eye(len(slope))) ** 2)
        error = far**1.5 / np.sqrt(self.posterior.problem.n_labelled)
        moved = factor @ slope
        audited = old.audited
        if self.posterior.likelihood.audited:
            audited = audited._replace(value=audited.value - float(audited.grad @ moved))
        expansion = old._replace(value=value, hess=hess, grad=np.zeros_like(grad), audited=audited)
        error += self.error
        return GaussianFit(there, self.u - moved, factor, expansion, float(error), self.stalled)

    @property
    def compact(self) -> "GaussianFit":
        """A copy without the Hessian, to save memory."""
        return replace(self, expansion=self.expansion._replace(hess=NOTHING))

    def tangent(self, intercept: float) -> Floats:
        """About where the centre is in another slice, under the same prior."""
        slope = self.factor.T @ self.expansion.mixed * (intercept - self.slice.intercept)
        return np.asarray(self.u - self.slice.n * (self.factor @ slope))

    @property
    def theta(self) -> Floats:
        """(beta, gamma) of the features as they are."""
        return self.slice.theta(self.u)

    @property
    def theta_factor(self) -> Floats:
        """A factor of the covariance of theta."""
        return np.asarray(self.posterior.to_theta[:, :-1] @ self.factor)


def inverse_factor(matrix: Floats) -> Floats | None:
    """The upper triangular R with RR' the inverse of a matrix; None if it is not positive."""
    factor, failed = dpotrf(matrix, lower=True)
    return None if failed else np.asarray(dtrtri(factor, lower=True)[0].T)
