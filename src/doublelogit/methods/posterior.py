"""The posterior of the double logistic model with the propensity's intercept held fixed.

Where labels leave the prevalence open, the posterior is a long curved ridge along that intercept
and close to normal across it; a slice is one cut across. Coordinates u are slopes of standardised
features and intercepts at their means,

    beta_j  = u_j / sd_j   beta_0  = u_0 - mean'beta
    gamma_j = v_j / sd_j   gamma_0 = v_0 - mean'gamma

so that one prior of u_j and v_j suits all units, and X is neither centred nor copied for it. v_0 is
given; u_0 ~ N(0, 10^2) keeps a sample that could be all positive, which leaves u_0 free to run to
infinity, from having all the evidence.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import block_diag
from scipy.linalg.lapack import dpotrf, dpotrs

from doublelogit._types import Floats
from doublelogit.design import Terms
from doublelogit.methods.problem import Problem
from doublelogit.objective import DoubleLogisticObjective
from doublelogit.solvers import ValueGrad, ValueGradHess, trust_region

RADIUS = 10.0  # of first steps: a start is near its mode, where Newton's step can be trusted
CONSTANT = 1e-12
INTERCEPT = 10.0  # prior standard deviation of u_0
NEAR = 0.01  # gradient of the mean loss times root n: a Newton step from there ends at the mode
EXACT = 1e-9  # gradient from which it does where the posterior is flat
TRUSTED = 0.1  # squared length, in posterior standard deviations, of a last step not looked at


@dataclass(frozen=True)
class Slice:
    """Minus the log-posterior over n at one intercept of the propensity, as an objective of u.

    ``theta = to_theta @ u + offset``; ``precision`` is that of the priors.
    """

    likelihood: DoubleLogisticObjective
    to_theta: Floats
    offset: Floats
    precision: Floats

    @property
    def n(self) -> float:
        return self.likelihood.n

    @property
    def unit(self) -> Floats:
        return np.ones(len(self.precision))  # coordinates are those of standardised features

    @cached_property
    def scale(self) -> Floats:
        # a standardised feature bends the mean loss by a quarter at most
        return np.sqrt(0.25 + self.precision / self.n)

    def theta(self, u: Floats) -> Floats:
        """(beta, gamma) of the features as they are."""
        return np.asarray(self.to_theta @ u + self.offset)

    def gradient(self, u: Floats) -> Floats:
        return self.value_grad(u).grad

    def value_grad(self, u: Floats) -> ValueGrad:
        value, grad = self.likelihood.value_grad(self.theta(u))
        pull = self.precision * u / self.n
        return ValueGrad(value + 0.5 * float(pull @ u), self.to_theta.T @ grad + pull)

    def value_grad_hess(self, u: Floats) -> ValueGradHess:
        value, grad, hess = self.likelihood.value_grad_hess(self.theta(u))
        pull = self.precision * u / self.n
        hess = self.to_theta.T @ hess @ self.to_theta + np.diag(self.precision / self.n)
        return ValueGradHess(value + 0.5 * float(pull @ u), self.to_theta.T @ grad + pull, hess)

    def mode(self, u: Floats) -> "Mode":
        """The mode reached from u; the last step is not looked at, so near does it lead."""
        mode = self._climb(u, NEAR / np.sqrt(self.n))
        if mode.last_step > TRUSTED:  # where it is flat a small gradient is no sign of the mode
            mode = self._climb(u, EXACT)
        return mode

    def _climb(self, u: Floats, tol: float) -> "Mode":
        found = trust_region(self, u, tol=tol, max_iter=100, radius=RADIUS)
        assert found.last is not None
        value, grad, hess = found.last
        factor, failed = dpotrf(hess, lower=True)
        if failed or not found.converged:  # a saddle is no place to integrate around
            return Mode(self, found.theta, self.n * hess, -np.inf, 0.0)
        step = -dpotrs(factor, grad, lower=True)[0]
        log_det = 2 * np.log(np.diagonal(factor)).sum() + len(u) * np.log(self.n)
        log_scales = 0.5 * np.log(self.precision).sum()
        evidence = -self.n * (value + 0.5 * grad @ step) + log_scales - 0.5 * log_det
        last_step = float(-self.n * grad @ step)
        return Mode(self, found.theta + step, self.n * hess, float(evidence), last_step)


@dataclass(frozen=True)
class Mode:
    """The mode of a slice, and Laplace's approximation there.

    ``log_evidence`` is the logarithm of the integral of likelihood times prior over u; powers of
    2 pi of the priors and of the integral cancel. ``last_step`` is the squared length of the step
    that led there, in posterior standard deviations.
    """

    slice: Slice
    u: Floats
    information: Floats
    log_evidence: float
    last_step: float

    @cached_property
    def covariance(self) -> Floats:
        """Covariance of u."""
        return np.asarray(np.linalg.inv(self.information))

    @property
    def theta(self) -> Floats:
        """(beta, gamma) of the features as they are."""
        return self.slice.theta(self.u)

    @property
    def theta_covariance(self) -> Floats:
        """Covariance of theta."""
        to_theta = self.slice.to_theta
        return np.asarray(to_theta @ self.covariance @ to_theta.T)


@dataclass(frozen=True)
class SlicedPosterior:
    """The posterior under one prior, to be sliced along the propensity's intercept.

    ``to_theta`` takes the coordinates u, and that intercept last, to theta; ``precision`` is the
    prior's, of u. ``rho`` and ``kappa`` are prior scales of the two predictors, of labelling (0:
    labels at random) and class; ``log_odds`` are those of this prior against others.
    """

    problem: Problem
    to_theta: Floats
    precision: Floats
    rho: float
    kappa: float
    log_odds: float = 0.0

    def at(self, intercept: float) -> Slice:
        """The slice at an intercept of the propensity, taken at the features' means."""
        offset = self.to_theta[:, -1] * intercept
        return Slice(self.problem.likelihood, self.to_theta[:, :-1], offset, self.precision)

    @property
    def free(self) -> bool:
        """Whether labelling has slopes of its own."""
        return self.rho > 0 and self.to_theta.shape[0] == self.to_theta.shape[1]


def standardising(problem: Problem) -> Floats:
    """The matrix that takes u to theta."""
    centre, spread = problem.centre, problem.spread
    # a constant column has no unit; its spread may be a rounding error of its mean
    spread = np.where(spread > CONSTANT * np.abs(centre), spread, 1.0)
    models = (problem.outcome, problem.propensity)
    return np.asarray(block_diag(*(_standardising(terms, centre, spread) for terms in models)))


def _standardising(terms: Terms, centre: Floats, spread: Floats) -> Floats:
    scale = 1 / terms.take(np.append(spread, 1.0))
    matrix = np.diag(scale)
    matrix[-1, :-1] = -terms.take(np.append(centre, 0.0))[:-1] * scale[:-1]
    return matrix
