"""The posterior of the double logistic model with the propensity's intercept held fixed.

Where labels leave the prevalence open, the posterior is a long curved ridge along that intercept
and close to normal across it; a slice is one cut across. Coordinates u are slopes of standardised
features and intercepts at their means,

    beta_j  = u_j / sd_j   beta_0  = u_0 - mean'beta
    gamma_j = v_j / sd_j   gamma_0 = v_0 - mean'gamma

so that one prior of u_j and v_j suits all units, and X is neither centred nor copied for it. v_0 is
given; u_0 ~ N(0, 10^2) keeps a sample that could be all positive, which leaves u_0 free to run to
infinity, from having all the evidence.

Across the ridge the posterior is replaced by the normal law that is nearest to it (variational
inference): that of the largest lower bound of the evidence

    E[log-likelihood] + E[log prior] + entropy,

which natural gradients climb. About the mode alone (Laplace's method) slopes are too small where
coefficients are not few beside the labels, and with them the prevalence. Where they are few, both
are the same, and expectations are taken by the curvature.

The expansion about one law tells where those of other slices and of other priors are, and how well
it tells: climbs start from there, and where they would change next to nothing they are not made.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.linalg import block_diag
from scipy.linalg.blas import dtrmm
from scipy.linalg.lapack import dpotrf, dtrtri

from doublelogit._types import Floats, Matrix
from doublelogit.averaged.expectation import ExpectedLikelihood, Shares, TiedPair
from doublelogit.core.design import Terms
from doublelogit.methods.problem import Problem

CONSTANT = 1e-12
INTERCEPT = 10.0  # prior standard deviation of u_0
NEAR = 0.01  # change of the log-evidence, as it counts, that does not matter
MOST_STEPS = 50
LITTLE = 0.3  # gain of a step, as a share of enough, that ends a climb
NARROW = 0.025  # coefficients per label, below which predictors hardly vary
QUICKER = 1.3  # growth of the rate of steps after one that has climbed
LOST = 2.3  # log-evidence behind others: a law that is further behind need not be known worse still
FIRST = 0.5  # standard deviation of predictors where nothing is known of it
WILD = 1e3  # error of the log-evidence beyond which a law was not found
FAR = 3.0  # most that a step moves a coordinate
TINY = 1e-300
NOTHING = np.empty((0, 0))
MANY = 100  # coordinates from which a matrix with few entries is stored as such


@dataclass(frozen=True, eq=False)
class Prior:
    """Precision of every coordinate; ``kappa`` and ``rho`` are scales of class and labelling."""

    precision: Floats
    kappa: float
    rho: float
    log_odds: float = 0.0


@dataclass(frozen=True)
class SlicedPosterior:
    """The model under one mechanism of labelling, to be sliced along the propensity's intercept.

    ``to_arguments`` takes the coordinates u, and that intercept last, to the arguments of the
    likelihood, ``to_theta`` to both models; these differ where labelling follows the class. The
    evidence counts to a ``power``.
    """

    problem: Problem
    likelihood: ExpectedLikelihood
    to_arguments: Matrix
    to_theta: Matrix
    priors: tuple[Prior, ...]
    power: float = 1.0

    @cached_property
    def spread(self) -> bool:
        """Whether predictors vary enough for expectations to differ from values at the centre."""
        return self.problem.outcome.size > NARROW * self.problem.n_labelled

    @property
    def size(self) -> int:
        """Number of coordinates of a slice."""
        return int(self.to_arguments.shape[1]) - 1

    @property
    def at_random(self) -> bool:
        return self.priors[0].rho == 0

    @property
    def free(self) -> bool:
        """Whether labelling has slopes of its own."""
        return not self.at_random and self.to_theta is self.to_arguments

    @property
    def follows(self) -> float:
        """What labelling has of the slopes of the class; NaN if it has slopes of its own."""
        pair = self.likelihood.pair
        return pair.k if isinstance(pair, TiedPair) else np.nan

    @property
    def symmetric(self) -> bool:
        """Whether its two models could swap places unnoticed."""
        return self.free and self.problem.symmetric

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

    def enough(self, behind: float = 0.0) -> float:
        """Change of the log-evidence that does not matter, if others are ahead by so much."""
        return NEAR / self.posterior.power * float(np.exp(np.clip(behind, 0.0, LOST)))

    def theta(self, u: Floats) -> Floats:
        """(beta, gamma) of the features as they are."""
        return np.asarray(self.posterior.to_theta @ np.append(u, self.intercept))

    def expand(self, u: Floats, root: Floats) -> "Normal":
        """A normal law of u, and minus the log-posterior to second order in expectation."""
        to_arguments, precision = self.posterior.to_arguments, self.prior.precision / self.n
        arguments, own = to_arguments @ np.append(u, self.intercept), to_arguments[:, :-1]
        spread = np.asarray(own @ root) if self.posterior.spread else None
        value, grad, hess, shares = self.posterior.likelihood.expand(arguments, spread)
        grad, hess = (to_arguments.T @ grad)[:-1], np.asarray(to_arguments.T @ hess @ to_arguments)
        value += 0.5 * float(precision @ u**2)
        if self.posterior.spread:
            value += 0.5 * float(precision @ np.sum(root**2, axis=1))
        mixed, hess = hess[:-1, -1].copy(), hess[:-1, :-1]  # a view would keep the whole matrix
        hess.flat[:: len(u) + 1] += precision
        expansion = Expansion(value, grad + precision * u, hess, mixed, shares)
        return Normal(self, u, root, expansion)

    def climb(self, u: Floats) -> "Normal":
        """The normal law nearest to the posterior, from a point on."""
        wide = np.minimum(1 / np.sqrt(self.prior.precision), FIRST / np.sqrt(len(u)))
        return self.settle(u, np.diag(wide))

    def settle(self, u: Floats, root: Floats, behind: float = 0.0) -> "Normal":
        """The normal law nearest to the posterior, from one nearby, by natural gradients.

        The last step is not looked at, so near does it lead; least of all that of a law which is
        ``behind`` others by so much log-evidence.
        """
        here, rate = self.expand(u, root), 1.0
        enough = self.enough(behind)
        for _ in range(MOST_STEPS):
            last = here.under(self.prior)
            if last.error < enough:
                return last
            there = here.step(rate, last)
            gain = -np.inf if there is None else there.height - here.height
            if there is None or gain < 0:
                rate /= 2
                continue
            here, rate = there, min(1.0, QUICKER * rate)
            if gain < LITTLE * enough:
                break
        last = here if self.posterior.spread else here.under(self.prior)
        # where the curvature has nearly gone, a last step would promise whatever one likes
        return last if last.error < WILD else replace(last, error=np.inf)


class Expansion(NamedTuple):
    """A slice to second order; ``mixed`` are derivatives by u and the propensity's intercept."""

    value: float
    grad: Floats
    hess: Floats
    mixed: Floats
    shares: Shares


@dataclass(frozen=True)
class Normal:
    """A normal law of u, N(u, root root'), and the slice in expectation under it.

    ``root`` is upper triangular, which expectations make use of. Of a law that was not looked at,
    ``error`` is about how far its log-evidence may be off.
    """

    slice: Slice
    u: Floats
    root: Floats
    expansion: Expansion
    error: float = 0.0

    @property
    def _entropy(self) -> float:
        """That of the law, less that of the prior's; of its centre alone there is none."""
        precision, log_det = self.slice.prior.precision, np.log(np.abs(np.diagonal(self.root)))
        own = len(precision) if self.slice.posterior.spread else 0
        return float(0.5 * (np.log(precision).sum() + own) + log_det.sum())

    @cached_property
    def log_evidence(self) -> float:
        """A lower bound of the log-integral of likelihood times prior over u, nearly reached.

        Where expectations are taken by the curvature it is Laplace's approximation.
        """
        if self.error == np.inf:
            return -np.inf
        return self._entropy - self.slice.n * self.expansion.value

    @property
    def height(self) -> float:
        """What steps climb: the bound, or the log-posterior of the centre."""
        if self.slice.posterior.spread:
            return self.log_evidence
        return -self.slice.n * self.expansion.value

    @cached_property
    def _slope(self) -> Floats:
        """The gradient in coordinates in which this law is standard normal."""
        return np.asarray(self.slice.n * (self.root.T @ self.expansion.grad))

    @cached_property
    def _bend(self) -> Floats:
        """The curvature in those coordinates."""
        return self._turned(self.slice.n * self.expansion.hess)

    def _turned(self, hess: Floats) -> Floats:
        """A curvature in those coordinates; half the work of a product, by triangles."""
        half = dtrmm(1.0, self.root, hess, trans_a=1)
        return np.asarray(dtrmm(1.0, self.root, half, side=1))

    def step(self, rate: float, whole: "Normal") -> "Normal | None":
        """A natural gradient step: Newton's in expectation, if the rate is one.

        ``whole`` is where that leads; None if the step leads to no law at all.
        """
        root: Floats | None = whole.root if whole.error < np.inf else None
        d = whole.u - self.u
        if rate < 1.0:
            mixed = rate * self._bend
            mixed.flat[:: len(mixed) + 1] += 1 - rate
            inner = inverse_root(mixed)
            root = None if inner is None else self.root @ inner
            d = d if inner is None else -(self.root @ (inner @ (inner.T @ self._slope)))
        if root is None:
            return None
        return self.slice.expand(self.u + min(rate, FAR / max(np.abs(d).max(), TINY)) * d, root)

    def under(self, prior: Prior) -> "Normal":
        """The law under another prior, as far as this expansion tells.

        With d the step there, in standard deviations, the error of the log-evidence is some
        d^3 / root(labels), the order of what a quadratic leaves out.
        """
        n, old = self.slice.n, self.expansion
        changed = (prior.precision - self.slice.prior.precision) / n
        hess, grad = old.hess + np.diag(changed), old.grad + changed * self.u
        root = inverse_root(n * hess)
        there = self.slice.posterior.at(self.slice.intercept, prior)
        if root is None:
            return replace(self, slice=there, error=np.inf)
        slope = n * (root.T @ grad)
        # value at this law under the other prior, then at the bottom of the quadratic
        value = old.value + 0.5 * float(changed @ self.u**2) - 0.5 * float(slope @ slope) / n
        bend = self._turned(n * hess)
        if self.slice.posterior.spread:
            value += 0.5 * float(changed @ np.sum(self.root**2, axis=1))
            value += 0.5 * (len(slope) - np.trace(bend)) / n
        far = slope @ slope + 0.5 * np.sum((bend - np.eye(len(slope))) ** 2)
        error = far**1.5 / np.sqrt(self.slice.posterior.problem.n_labelled)
        expansion = old._replace(value=value, hess=hess, grad=np.zeros_like(grad))
        return Normal(there, self.u - root @ slope, root, expansion, self.error + float(error))

    @property
    def lean(self) -> "Normal":
        """The law without its curvature, for which nobody asks outside of its slice."""
        return replace(self, expansion=self.expansion._replace(hess=NOTHING))

    def tangent(self, intercept: float) -> Floats:
        """About where the centre is in another slice, under the same prior."""
        slope = self.root.T @ self.expansion.mixed * (intercept - self.slice.intercept)
        return np.asarray(self.u - self.slice.n * (self.root @ slope))

    @property
    def theta(self) -> Floats:
        """(beta, gamma) of the features as they are."""
        return self.slice.theta(self.u)

    @property
    def theta_root(self) -> Floats:
        """A root of the covariance of theta."""
        return np.asarray(self.slice.posterior.to_theta[:, :-1] @ self.root)


def inverse_root(matrix: Floats) -> Floats | None:
    """The upper triangular R with RR' the inverse of a matrix; None if it bends downwards."""
    factor, failed = dpotrf(matrix, lower=True)
    return None if failed else np.asarray(dtrtri(factor, lower=True)[0].T)


def standardising(problem: Problem) -> Matrix:
    """The matrix that takes (u, v_0) to theta."""
    return _lean(
        block_diag(
            _standardising(problem, problem.outcome), _standardising(problem, problem.propensity)
        )
    )


def following(problem: Problem, k: float) -> tuple[Matrix, Matrix]:
    """The matrices that take (u, w) to (beta, w), and to theta with gamma = k beta + w."""
    beta = _standardising(problem, problem.outcome)
    tied = block_diag(beta, 1.0)
    if problem.propensity.size == 1:
        return _lean(tied), _lean(tied)
    theta = np.vstack([tied[:-1], k * tied[:-1]])
    theta[-1, -1] = 1.0
    return _lean(tied), _lean(theta)


def column_scales(problem: Problem, terms: Terms) -> tuple[Floats, Floats]:
    """Means and standard deviations of the columns of a model."""
    centre, spread = problem.centre, problem.spread
    # a constant column has no unit; its spread may be a rounding error of its mean
    spread = np.where(spread > CONSTANT * np.abs(centre), spread, 1.0)
    return terms.take(np.append(centre, 0.0))[:-1], terms.take(np.append(spread, 0.0))[:-1]


def _standardising(problem: Problem, terms: Terms) -> Floats:
    centre, spread = column_scales(problem, terms)
    matrix = np.diag(np.append(1 / spread, 1.0))
    matrix[-1, :-1] = -centre / spread
    return matrix


def _lean(matrix: Floats) -> Matrix:
    """The matrix, most of which is zero, as it is multiplied fastest."""
    return sparse.csr_array(matrix) if len(matrix) > MANY else matrix
