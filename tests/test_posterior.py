"""The posterior of AVERAGED: derivatives, slices, cells, and the evidence against integrals."""

from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import approx_fprime
from scipy.special import expit, logit, logsumexp

from doublelogit import (
    AveragedClassifier,
)
from doublelogit.datasets import make_half
from doublelogit.design import Terms
from doublelogit.engines.memory import memory_rows
from doublelogit.fitted.mixture import quantile
from doublelogit.labelling import draw
from doublelogit.methods import Problem, prior
from doublelogit.methods.posterior import INTERCEPT, Prior, SlicedPosterior, standardising
from tools.learn_prior import learn, learn_table

pytestmark = pytest.mark.filterwarnings("ignore::doublelogit.WeakIdentificationWarning")


def sliced(sample, rho):
    """The posterior of a sample with slopes of scales 1 and rho, and its prior."""
    problem = Problem(memory_rows(sample.X, sample.s))
    p = sample.X.shape[1]
    if rho == 0:
        problem = replace(problem, propensity=Terms(p, np.array([], dtype=int)))
    scales = [1.0] * p + [INTERCEPT] + [rho] * (problem.propensity.size - 1)
    asked = Prior(np.array(scales) ** -2.0, 1.0, rho)
    matrix = standardising(problem)
    return SlicedPosterior(problem, problem.likelihood, matrix, matrix, (asked,)), asked


def following(sample, k):
    """The posterior of a sample under labelling that follows the class."""
    mechanism = replace(prior.FOLLOWING[0], follows=k)
    found = prior.posterior_under(Problem(memory_rows(sample.X, sample.s)), mechanism)
    return found, found.priors[1]


@pytest.mark.parametrize("seed", [3, 4, 5])  # posteriors that end near the edge of a first cell
def test_cells_follow_a_posterior_wherever_it_lies(seed, monkeypatch):
    rng = np.random.default_rng([seed, 9, 4000])
    half = make_half(4000, random_state=rng)
    s = draw(half.target, np.full(4000, 0.5), rng)
    found = AveragedClassifier(propensity_features=[]).fit(half.data, s)
    monkeypatch.setattr(import_module("doublelogit.methods.exploration"), "CELLS", 150)
    fine = AveragedClassifier(propensity_features=[]).fit(half.data, s)
    ends = fine.prevalence_interval()
    width = ends[1] - ends[0]
    assert found.prevalence_ == pytest.approx(fine.prevalence_, abs=0.02 * width)
    assert found.prevalence_interval() == pytest.approx(ends, abs=0.03 * width)


POSTERIORS = [(sliced, 0.0), (sliced, 0.7), (following, 1.0), (following, -0.5)]


@pytest.mark.parametrize(("posterior", "scale"), POSTERIORS)
def test_derivatives_of_the_posterior(sample, posterior, scale):
    found, asked = posterior(sample, scale)
    cut = found.at(0.3, asked)
    u = np.random.default_rng(0).normal(size=found.size) / 2
    first, second = cut.value_grad(u), cut.value_grad_hess(u)
    np.testing.assert_allclose(
        first.grad, approx_fprime(u, lambda u: cut.value_grad(u).value, 1e-7), atol=1e-6
    )
    np.testing.assert_allclose(second.hess, approx_fprime(u, cut.gradient, 1e-7), atol=1e-6)
    np.testing.assert_allclose(second.grad, first.grad)
    further = found.at(0.3 + 1e-6, asked)
    mixed = (further.gradient(u) - cut.gradient(u)) / 1e-6
    np.testing.assert_allclose(second.mixed, mixed, atol=1e-5)


def test_labelling_that_follows_the_class_has_the_likelihood_of_both_models(sample):
    found, asked = following(sample, -0.5)
    u = np.random.default_rng(1).normal(size=found.size)
    theta = found.at(0.3, asked).theta(u)
    beta, gamma = np.split(theta, 2)
    np.testing.assert_allclose(gamma[:-1], -0.5 * beta[:-1])
    tied = np.append(beta, gamma[-1])
    one, both = (
        found.likelihood.value_grad_hess(tied),
        found.problem.likelihood.value_grad_hess(theta),
    )
    assert one.value == pytest.approx(both.value)
    p = len(beta) - 1
    embedding = np.vstack([np.eye(p + 2)[: p + 1], -0.5 * np.eye(p + 2)[:p], np.eye(p + 2)[-1:]])
    np.testing.assert_allclose(one.grad, embedding.T @ both.grad)
    np.testing.assert_allclose(one.hess, embedding.T @ both.hess @ embedding)


def test_an_expansion_tells_where_modes_of_other_slices_and_priors_are(sample):
    found, asked = sliced(sample, 0.0)
    mode = found.at(0.3, asked).climb(np.zeros(found.size))
    errors = []
    for step in (0.4, 0.2):
        there = found.at(0.3 + step, asked).climb(mode.u)
        errors.append(np.linalg.norm(mode.tangent(0.3 + step) - there.u))
        assert errors[-1] < 0.25 * np.linalg.norm(there.u - mode.u)
    assert errors[1] < 0.4 * errors[0]  # second order
    other = replace(asked, precision=1.2 * asked.precision)
    guess, climbed = mode.under(other), found.at(0.3, other).climb(mode.u)
    assert guess.reached
    np.testing.assert_allclose(guess.u, climbed.u, atol=0.01)
    assert guess.log_evidence == pytest.approx(climbed.log_evidence, abs=0.1)


def test_many_coordinates_are_changed_by_a_lean_matrix(double_logistic_sample):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 120)) * 3 + 1
    problem = Problem(memory_rows(X, (rng.random(150) < 0.2).astype(float)))
    lean = standardising(problem)
    assert sparse.issparse(lean)
    u = rng.normal(size=242)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    beta = (lean @ u)[:121]
    np.testing.assert_allclose(X @ beta[:-1] + beta[-1], Z @ u[:120] + u[120])


def test_the_coordinates_are_those_of_standardised_features(sample):
    X = sample.X * [1.0, 10.0, 0.1, 2.0] + [5.0, -3.0, 0.0, 1.0]
    problem = Problem(memory_rows(X, sample.s))
    u = np.random.default_rng(1).normal(size=10)
    beta, gamma = np.split(standardising(problem) @ u, 2)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    np.testing.assert_allclose(X @ beta[:-1] + beta[-1], Z @ u[:4] + u[4])
    np.testing.assert_allclose(X @ gamma[:-1] + gamma[-1], Z @ u[5:9] + u[9])


def test_laplaces_evidence_is_close_to_the_integral(double_logistic_sample):
    sample = double_logistic_sample(n=300, beta=(1.0, 0.3), gamma=(0.0, 0.0))
    found, asked = sliced(sample, 0.0)
    posterior = found.at(0.0, asked)
    slopes, intercepts = np.linspace(-1, 4, 81), np.linspace(-2, 3, 81)
    height = np.array(
        [
            [-posterior.n * posterior.value_grad(np.array([a, b])).value for b in intercepts]
            for a in slopes
        ]
    )
    cell = (slopes[1] - slopes[0]) * (intercepts[1] - intercepts[0])
    # the densities of both priors: their scales and powers of 2 pi
    exact = logsumexp(height) + np.log(cell) - np.log(2 * np.pi) - np.log(INTERCEPT)
    assert posterior.climb(np.zeros(2)).log_evidence == pytest.approx(exact, abs=0.15)


def test_quantiles_of_a_mixture_are_those_of_its_draws():
    rng = np.random.default_rng(0)
    weight, mean, sd = np.array([0.3, 0.7]), np.array([[0.0, 3.0]]), np.array([[1.0, 0.5]])
    piece = (rng.random(200_000) < weight[1]).astype(int)
    draws = mean[0, piece] + sd[0, piece] * rng.normal(size=200_000)
    for q in (0.05, 0.5, 0.95):
        assert quantile(weight, mean, sd, q)[0] == pytest.approx(np.quantile(draws, q), abs=0.02)


class TestPrior:
    def test_its_numbers_are_those_of_the_learn_half(self):
        found = learn(learn_table())
        assert pytest.approx(found[:3], abs=0.006) == (prior.SIGNAL, prior.GROWTH, prior.SPREAD)
        assert pytest.approx(found.prevalence, abs=0.006) == prior.PREVALENCE

    def test_odds_of_mechanisms_and_weights_of_signals_add_up_to_one(self):
        symmetric = (prior.RANDOM, *prior.FREE, *prior.FOLLOWING)
        for offered in (symmetric, (prior.RANDOM, *prior.STRONG, *prior.FOLLOWING)):
            assert sum(mechanism.odds for mechanism in offered) == pytest.approx(1)
        assert sum(prior.signals(7).values()) == pytest.approx(1)
        assert prior.signals(0) == {1.0: 1.0}

    def test_the_prior_of_the_prevalence_is_a_density(self):
        pi = (np.arange(2000) + 0.5) / 2000
        density = np.exp([prior.log_prevalence(value) for value in pi])
        assert density.mean() == pytest.approx(1, abs=1e-3)
        assert density.min() > 0.49  # never ruled out

    def test_many_rows_count_as_few(self):
        counted = [n * prior.coarsening(n) for n in (10, 1000, 10**9)]
        assert counted == pytest.approx([10, 750, prior.COARSE], rel=0.01)

    def test_every_mechanism_has_its_scales(self, sample):
        problem = Problem(memory_rows(sample.X, sample.s))
        found = [
            {round(one.rho / one.kappa, 6) for one in posterior.priors}
            for posterior in prior.posteriors(problem)
        ]
        assert found == [{0.0}, {0.6}, {1.0}, {0.5}]

    def test_the_jacobian_is_that_of_prevalence_and_label_frequency(self, sample):
        Z = (sample.X - sample.X.mean(axis=0)) / sample.X.std(axis=0)
        b, g = np.array([1.0, -0.5, 0.2, 0.0]), np.array([0.3, 0.0, 0.4, -0.2])

        def pair(point):
            y, e = expit(Z @ b + point[0]), expit(Z @ g + logit(point[1]))
            return np.array([y.mean(), (y * e).mean() / y.mean()])

        at = np.array([0.4, 0.35])
        slopes = np.array([approx_fprime(at, lambda v, k=k: pair(v)[k], 1e-6) for k in (0, 1)])
        y, e = expit(Z @ b + at[0]), expit(Z @ g + logit(at[1]))
        free = (y * (1 - y)).mean() * (y * e * (1 - e)).mean()
        formula = free / (y.mean() * at[1] * (1 - at[1]))
        assert abs(np.linalg.det(slopes)) == pytest.approx(formula, rel=1e-4)
