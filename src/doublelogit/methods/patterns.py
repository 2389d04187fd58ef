"""Part 1 of several label sources: what the patterns of labelled rows say of the propensities.

The likelihood of labels by several sources factors: whether a row has any label is a likelihood of
class and p*(x), the chance of any label; which labels it has, given that it has one, does not
depend on the class. This part fits the latter, a law of ``core/patterns.py`` with b_j = x'gamma_j,
under a normal prior of slopes and dependence. Dependence of the sources is learned here alone: in
the likelihood of everything, a class that bends would pass for it.

    theta = (gamma_1, ..., gamma_m, phi), gammas of standardised features
    N(theta_hat, V) <- mode and curvature of the posterior (a trust region; for complete patterns
                       of the log-linear law the loss is convex)
    hidden          <- sum over labelled rows of (1 - p*) / p*, by Horvitz and Thompson
"""

from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np

from doublelogit._types import Floats, Matrix
from doublelogit.core.design import Terms, predictor, pull_back, sandwich
from doublelogit.core.labels import Labels
from doublelogit.core.patterns import Law
from doublelogit.core.rows import Rows
from doublelogit.core.solvers import ValueGrad, ValueGradHess, trust_region
from doublelogit.methods.problem import Problem

TOLERANCE = 1e-8  # of the mean gradient in standardised coordinates
FAR = 40.0  # guard: logarithm of a p* that rounds to 0


class PatternSums(NamedTuple):
    """Sums over labelled rows; blocks of (gamma, phi)."""

    value: float
    grad: Floats
    hess: Floats


class HiddenSums(NamedTuple):
    """Sums over labelled rows of 1/p*, of its square less its like, and its slopes."""

    positives: float
    variance: float
    square: float
    grad: Floats


@dataclass(frozen=True)
class GaussianPrior:
    """A normal prior of theta: its mean and precision."""

    mean: Floats
    precision: Floats

    @property
    def log_root_precision(self) -> float:
        """Half the logarithm of the determinant of the precision."""
        return 0.5 * float(np.linalg.slogdet(self.precision)[1])


@dataclass(frozen=True)
class PatternsObjective:
    """``theta -> minus the log-posterior of the patterns over the labelled weight``."""

    rows: Rows
    terms: Terms
    law: Law
    to_gamma: Floats
    prior: GaussianPrior
    n: float
    held: Floats | None = None  # phi, where it is not to be learned

    @property
    def unit(self) -> Floats:
        return np.ones(len(self.prior.mean))

    @cached_property
    def scale(self) -> Floats:
        return np.sqrt(0.25 + np.diagonal(self.prior.precision) / self.n)

    def gammas(self, theta: Floats) -> Floats:
        """Coefficients of every source, short, a line each."""
        m = self.law.n_sources
        return theta[: m * self.terms.size].reshape(m, -1) @ self.to_gamma.T

    def phi(self, theta: Floats) -> Floats:
        """Parameters of dependence."""
        return theta[self.law.n_sources * self.terms.size :] if self.held is None else self.held

    def gradient(self, theta: Floats) -> Floats:
        return self.value_grad(theta).grad

    def value_grad(self, theta: Floats) -> ValueGrad:
        value, grad, _ = self._sums(theta, curved=False)
        return ValueGrad(value, grad)

    def value_grad_hess(self, theta: Floats) -> ValueGradHess:
        return ValueGradHess(*self._sums(theta, curved=True))

    def _sums(self, theta: Floats, curved: bool) -> PatternSums:
        law = self.law
        fn = partial(_sums, law, self.terms, self.gammas(theta), self.phi(theta), curved)
        total = self.rows.sum_rows(fn, self.rows.labels, self.rows.weight)
        turn = self._turn
        off = theta - self.prior.mean
        value = total.value + 0.5 * float(off @ self.prior.precision @ off)
        grad = turn.T @ total.grad + self.prior.precision @ off
        hess = turn.T @ total.hess @ turn + self.prior.precision
        return PatternSums(value / self.n, grad / self.n, hess / self.n)

    @cached_property
    def _turn(self) -> Floats:
        """The matrix from theta to (gammas, phi); a phi that is held has no coordinate."""
        m, k, free = self.law.n_sources, self.terms.size, self.law.size
        turn = np.zeros((m * k + free, len(self.prior.mean)))
        turn[: m * k, : m * k] = np.kron(np.eye(m), self.to_gamma)
        if self.held is None:
            turn[m * k :, m * k :] = np.eye(free)
        return turn


@dataclass(frozen=True)
class PatternFit:
    """The normal that is nearest to the posterior of part 1 at its mode."""

    objective: PatternsObjective
    theta: Floats
    covariance: Floats
    log_evidence: float
    converged: bool

    @property
    def law(self) -> Law:
        return self.objective.law

    def log_posterior(self, theta: Floats) -> float:
        """Logarithm of the posterior density, up to a constant."""
        return -self.objective.n * self.objective.value_grad(theta).value

    def coefficients(self, theta: Floats) -> Floats:
        """Full-length coefficients of every source, (m, p + 1)."""
        terms = self.objective.terms
        return np.array([terms.embed(gamma) for gamma in self.objective.gammas(theta)])

    def hidden(self, theta: Floats) -> HiddenSums:
        """Positives by Horvitz and Thompson, their variance, and slopes of those hidden."""
        objective = self.objective
        fn = partial(
            _hidden, self.law, objective.terms, objective.gammas(theta), objective.phi(theta)
        )
        total = objective.rows.sum_rows(fn, objective.rows.labels, objective.rows.weight)
        return total._replace(grad=objective._turn.T @ total.grad)


def labelled_patterns(problem: Problem) -> Rows:
    """The labelled rows, which are all that part 1 looks at."""
    rows = problem.rows
    weight = rows.map_columns(_labelled_weight, rows.labels, rows.weight)
    return rows.restrict(weight)[0]


def fit_patterns(objective: PatternsObjective, start: Floats | None = None) -> PatternFit:
    """The mode of the posterior of part 1, its covariance and evidence by Laplace's method."""
    prior, n = objective.prior, objective.n
    found = trust_region(objective, prior.mean if start is None else start, tol=TOLERANCE)
    value, _, hess = objective.value_grad_hess(found.theta)
    half_log_det = 0.5 * float(np.linalg.slogdet(n * hess)[1])
    evidence = -n * value + prior.log_root_precision - half_log_det
    covariance = np.asarray(np.linalg.inv(n * hess), dtype=np.float64)
    return PatternFit(objective, found.theta, covariance, evidence, found.converged)


def held_dependence(objective: PatternsObjective, phi: Floats) -> PatternsObjective:
    """The objective of the gammas alone, with the dependence held."""
    size = objective.law.n_sources * objective.terms.size
    mean, precision = objective.prior.mean[:size], objective.prior.precision[:size, :size]
    return replace(objective, prior=GaussianPrior(mean, precision), held=phi)


def looked(labels: Labels) -> Floats:
    """1 where a source looked at a row, else 0."""
    assert labels.by_source is not None
    return (~np.isnan(labels.by_source)).astype(float)


def n_sources(problem: Problem) -> int:
    """Number of label sources."""
    rows = problem.rows
    return len(rows.sum_columns(_by_source, rows.labels))


def _by_source(labels: Labels) -> Floats:
    assert labels.by_source is not None
    return np.nansum(labels.by_source, axis=0)


def _labelled_weight(labels: Labels, weight: Floats) -> Floats:
    return labels.any * weight


def _labelled(X: Matrix, labels: Labels, weight: Floats) -> tuple[Matrix, Floats, Floats]:
    """Features, labels by source and weights of the labelled rows among some."""
    assert labels.by_source is not None
    inside = np.flatnonzero(labels.any * weight)
    return X[inside], labels.by_source[inside], weight[inside]


def _sums(
    law: Law,
    terms: Terms,
    gammas: Floats,
    phi: Floats,
    curved: bool,
    X: Matrix,
    labels: Labels,
    weight: Floats,
) -> PatternSums:
    X, s, weight = _labelled(X, labels, weight)
    X = terms.select(X)
    f = law.loss(s, predictor(X, gammas.T), phi, weight, curved)
    m, k = gammas.shape
    grad = np.append(pull_back(X, weight[:, None] * f.d_b).T.ravel(), f.d_phi)
    hess = np.zeros((len(grad), len(grad)))
    if not curved:
        return PatternSums(f.value, grad, hess)
    for i in range(m):
        here = slice(i * k, (i + 1) * k)
        for j in range(i + 1):
            there = slice(j * k, (j + 1) * k)
            hess[here, there] = sandwich(X, weight * f.h_bb[:, i, j])
            hess[there, here] = hess[here, there].T
        hess[here, m * k :] = pull_back(X, weight[:, None] * f.h_bphi[:, i])
        hess[m * k :, here] = hess[here, m * k :].T
    hess[m * k :, m * k :] = f.h_phi
    return PatternSums(f.value, grad, hess)


def _hidden(
    law: Law,
    terms: Terms,
    gammas: Floats,
    phi: Floats,
    X: Matrix,
    labels: Labels,
    weight: Floats,
) -> HiddenSums:
    X, s, weight = _labelled(X, labels, weight)
    X = terms.select(X)
    seen = (~np.isnan(s)).astype(float)
    log_none, d_b, d_phi = law.none_slopes(predictor(X, gammas.T), phi, seen)
    some = np.maximum(-np.expm1(log_none), np.exp(-FAR))
    against = np.exp(log_none) / some  # (1 - p*) / p*, whose slope is that of log_none / p*
    slope = weight * against / some
    grad = np.append(pull_back(X, slope[:, None] * d_b).T.ravel(), slope @ d_phi)
    return HiddenSums(
        float(weight @ (1 + against)),
        float(weight @ (against * (1 + against))),
        float(weight @ (1 + against) ** 2),
        grad,
    )
