"""The posterior of the double logistic model with the propensity's intercept held fixed.

Where labels leave the prevalence open, the posterior is a long curved ridge along that intercept
and close to normal across it; a slice is one cut across. Coordinates u are slopes of standardised
features and intercepts at their means,

    beta_j  = u_j / sd_j   beta_0  = u_0 - mean'beta
    gamma_j = v_j / sd_j   gamma_0 = v_0 - mean'gamma

so that one prior of u_j and v_j suits all units, and X is neither centred nor copied for it. v_0 is
given; u_0 ~ N(0, 10^2) keeps a sample that could be all positive, which leaves u_0 free to run to
infinity, from having all the evidence.

A mode is known by the log-likelihood to second order about a point near it. The same expansion
tells where the mode of another slice or of another prior lies, to first order: climbs start from
there, and where they would move by next to nothing they are not made.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from scipy import sparse
from scipy.linalg import block_diag
from scipy.linalg.lapack import dpotrf, dpotrs

from doublelogit._types import Floats, Matrix
from doublelogit.design import Terms
from doublelogit.methods.problem import Problem
from doublelogit.solvers import ValueGrad, ValueGradHess, trust_region

RADIUS = 10.0  # of first steps: a start is near its mode, where Newton's step can be trusted
CONSTANT = 1e-12
INTERCEPT = 10.0  # prior standard deviation of u_0
NEAR = 0.01  # distance from a mode, in posterior standard deviations, that does not matter
MANY = 100  # coordinates from which a matrix with few entries is stored as such


class Likelihood(Protocol):
    """Minus the log-likelihood over n and its derivatives."""

    @property
    def n(self) -> float: ...
    def value_grad(self, theta: Floats) -> ValueGrad: ...
    def value_grad_hess(self, theta: Floats) -> ValueGradHess: ...


class Expansion(ValueGradHess):
    """A slice to second order; ``mixed`` are derivatives by u and the propensity's intercept."""

    mixed: Floats


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
    likelihood: Likelihood
    to_arguments: Matrix
    to_theta: Matrix
    priors: tuple[Prior, ...]
    power: float = 1.0

    @cached_property
    def n_labelled(self) -> float:
        """Total weight of the labelled rows."""
        rows = self.problem.rows
        return float(rows.sum_columns(np.dot, rows.s, rows.weight))

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
    """Minus the log-posterior over n at one intercept of the propensity, as an objective of u."""

    posterior: SlicedPosterior
    intercept: float
    prior: Prior

    @property
    def n(self) -> float:
        return self.posterior.likelihood.n

    @property
    def unit(self) -> Floats:
        return np.ones(self.posterior.size)  # coordinates are those of standardised features

    @cached_property
    def scale(self) -> Floats:
        # a standardised feature bends the mean loss by a quarter at most
        return np.sqrt(0.25 + self.prior.precision / self.n)

    @property
    def near(self) -> float:
        """Squared length, in posterior standard deviations, of a last step not looked at.

        A Newton step of length d ends about d^2 / root(labels) from the mode, which matters less
        where the evidence counts less.
        """
        return float(NEAR * np.sqrt(self.posterior.n_labelled / self.posterior.power))

    def theta(self, u: Floats) -> Floats:
        """(beta, gamma) of the features as they are."""
        return np.asarray(self.posterior.to_theta @ np.append(u, self.intercept))

    def gradient(self, u: Floats) -> Floats:
        return self.value_grad(u).grad

    def value_grad(self, u: Floats) -> ValueGrad:
        to_arguments = self.posterior.to_arguments
        arguments = to_arguments @ np.append(u, self.intercept)
        value, grad = self.posterior.likelihood.value_grad(arguments)
        pull = self.prior.precision * u / self.n
        grad = (to_arguments.T @ grad)[:-1]
        return ValueGrad(value + 0.5 * float(pull @ u), grad + pull)

    def value_grad_hess(self, u: Floats) -> Expansion:
        to_arguments = self.posterior.to_arguments
        arguments = to_arguments @ np.append(u, self.intercept)
        value, grad, hess = self.posterior.likelihood.value_grad_hess(arguments)
        pull = self.prior.precision * u / self.n
        grad = (to_arguments.T @ grad)[:-1]
        hess = np.asarray(to_arguments.T @ hess @ to_arguments)
        found = Expansion(value + 0.5 * float(pull @ u), grad + pull, hess[:-1, :-1])
        found.hess.flat[:: len(u) + 1] += self.prior.precision / self.n
        found.mixed = hess[:-1, -1]
        return found

    def climb(self, u: Floats, tries: int = 3) -> "Mode":
        """The mode reached from u; the last step is not looked at, so near does it lead."""
        enough = 0.25 * self.near / self.n
        found = trust_region(self, u, tol=0.0, enough=enough, radius=RADIUS)
        last = found.last if found.last is not None else self.value_grad_hess(found.theta)
        assert isinstance(last, Expansion)
        mode = Mode(self, found.theta, last)
        # what is left was guessed from Hessians of other points
        return mode if mode.reached or tries == 1 else self.climb(mode.u, tries - 1)


@dataclass(frozen=True)
class Mode:
    """The mode of a slice, and Laplace's approximation there, from an expansion near it."""

    slice: Slice
    centre: Floats
    expansion: Expansion

    @cached_property
    def _factor(self) -> Floats | None:
        factor, failed = dpotrf(self.expansion.hess, lower=True)
        return None if failed else np.asarray(factor)

    @cached_property
    def _step(self) -> Floats:
        if self._factor is None:  # a saddle is no place to go on from
            return np.zeros(len(self.centre))
        return -np.asarray(dpotrs(self._factor, self.expansion.grad, lower=True)[0])

    @property
    def u(self) -> Floats:
        return self.centre + self._step

    @property
    def last_step(self) -> float:
        """Squared length of the step that led there, in posterior standard deviations."""
        if self._factor is None:
            return np.inf
        return float(-self.slice.n * self.expansion.grad @ self._step)

    @property
    def definite(self) -> bool:
        """Whether the expansion has a peak at all."""
        return self._factor is not None

    @property
    def reached(self) -> bool:
        """Whether the mode is where the expansion says; one that is far or a saddle is not."""
        return self.last_step <= self.slice.near

    @cached_property
    def log_evidence(self) -> float:
        """Logarithm of the integral of likelihood times prior over u.

        Powers of 2 pi of the priors and of the integral cancel. Around a saddle nothing is
        integrated.
        """
        if self._factor is None:
            return -np.inf
        n, precision = self.slice.n, self.slice.prior.precision
        log_det = 2 * np.log(np.diagonal(self._factor)).sum() + len(precision) * np.log(n)
        height = n * self.expansion.value - 0.5 * self.last_step
        return float(0.5 * np.log(precision).sum() - height - 0.5 * log_det)

    def under(self, prior: Prior) -> "Mode":
        """The mode of the same slice under another prior, as far as this expansion tells."""
        changed = (prior.precision - self.slice.prior.precision) / self.slice.n
        value, grad, hess = self.expansion
        value += 0.5 * float(changed @ self.centre**2)
        moved = Expansion(value, grad + changed * self.centre, hess + np.diag(changed))
        moved.mixed = self.expansion.mixed
        return Mode(self.slice.posterior.at(self.slice.intercept, prior), self.centre, moved)

    def tangent(self, intercept: float) -> Floats:
        """About where the mode of another slice is, under the same prior."""
        if self._factor is None:
            return self.centre
        grad = self.expansion.grad + self.expansion.mixed * (intercept - self.slice.intercept)
        return self.centre - np.asarray(dpotrs(self._factor, grad, lower=True)[0])

    @property
    def theta(self) -> Floats:
        """(beta, gamma) of the features as they are."""
        return self.slice.theta(self.u)

    @property
    def theta_covariance(self) -> Floats:
        """Covariance of theta."""
        covariance = np.linalg.inv(self.slice.n * self.expansion.hess)
        to_theta = self.slice.posterior.to_theta[:, :-1]
        return np.asarray(to_theta @ (to_theta @ covariance).T)


def standardising(problem: Problem) -> Matrix:
    """The matrix that takes (u, v_0) to theta."""
    return _lean(
        block_diag(
            _standardising(problem, problem.outcome), _standardising(problem, problem.propensity)
        )
    )


def following(problem: Problem, k: float) -> tuple[Matrix, Matrix]:
    """The matrices that take (u, v_0) to (beta, gamma_0), and to theta with gamma = k beta."""
    beta = _standardising(problem, problem.outcome)
    p = len(beta) - 1
    tied = block_diag(beta, 1.0)
    tied[-1, :p] = k * beta[-1, :p]
    theta = np.vstack([tied[:-1], k * tied[:p], tied[-1:]])
    return _lean(tied), _lean(theta)


def _standardising(problem: Problem, terms: Terms) -> Floats:
    centre, spread = problem.centre, problem.spread
    # a constant column has no unit; its spread may be a rounding error of its mean
    spread = np.where(spread > CONSTANT * np.abs(centre), spread, 1.0)
    scale = 1 / terms.take(np.append(spread, 1.0))
    matrix = np.diag(scale)
    matrix[-1, :-1] = -terms.take(np.append(centre, 0.0))[:-1] * scale[:-1]
    return matrix


def _lean(matrix: Floats) -> Matrix:
    """The matrix, most of which is zero, as it is multiplied fastest."""
    return sparse.csr_array(matrix) if len(matrix) > MANY else matrix
