"""The posterior of AVERAGED: derivatives, slices, cells, and the evidence against integrals."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import approx_fprime
from scipy.special import expit, logit, logsumexp
from scipy.stats import norm

from doublelogit import (
    AveragedClassifier,
)
from doublelogit.averaged import prior
from doublelogit.averaged.coordinates import INTERCEPT, following, standardising
from doublelogit.averaged.expectation import ExpectedLikelihood, TiedPair
from doublelogit.averaged.gaussian import Prior, inverse_factor
from doublelogit.averaged.mechanisms import MECHANISMS, Odds, mechanism_named
from doublelogit.averaged.posteriors import posterior_under, posteriors
from doublelogit.averaged.settings import Settings
from doublelogit.core.design import Terms
from doublelogit.engines.memory import memory_rows
from doublelogit.fitted.mixture import quantile
from doublelogit.labelling import draw
from doublelogit.methods import Problem
from doublelogit.methods.belief import Belief
from doublelogit.studies.datasets import make_half
from tools.learn_prior import learn, learn_table

pytestmark = pytest.mark.filterwarnings("ignore::doublelogit.WeakIdentificationWarning")


AT_RANDOM, FOLLOWING, OWN = (
    (mechanism_named(name), strength)
    for name, strength in (("at random", 0.0), ("following", 1.0), ("own slopes", 0.6))
)
EXPECTING, BY_CURVATURE = Settings(few_coefficients=0.0), Settings(few_coefficients=np.inf)


def under(sample, kind, scale=1.0, settings=EXPECTING):
    """The posterior of a sample under a mechanism, and a prior with slopes of one scale."""
    mechanism, strength = kind
    problem = mechanism.problem(Problem(memory_rows(sample.X, sample.s)))
    posterior = posterior_under(problem, mechanism, Odds(1.0, strength), settings)
    p = sample.X.shape[1]
    slopes = np.full(posterior.size, p / scale**2)
    slopes[p] = INTERCEPT**-2
    return posterior, Prior(0, slopes, scale, 0.0)


def gaussian(posterior, seed=0):
    """A centre and a spread of no particular kind."""
    rng = np.random.default_rng(seed)
    factor = np.triu(rng.normal(size=(posterior.size, posterior.size))) * 0.1
    return rng.normal(size=posterior.size) / 2, factor + 0.3 * np.eye(posterior.size)


@pytest.mark.parametrize("seed", [3, 4, 5])  # posteriors that end near the edge of a first cell
def test_cells_follow_a_posterior_wherever_it_lies(seed, monkeypatch):
    rng = np.random.default_rng([seed, 9, 4000])
    half = make_half(4000, random_state=rng)
    s = draw(half.target, np.full(4000, 0.5), rng)
    found = AveragedClassifier(shape="line", propensity_features=[]).fit(half.data, s)
    monkeypatch.setattr(AveragedClassifier, "_settings", Settings(cells=150))
    fine = AveragedClassifier(shape="line", propensity_features=[]).fit(half.data, s)
    ends = fine.prevalence_interval()
    width = ends[1] - ends[0]
    assert found.prevalence_ == pytest.approx(fine.prevalence_, abs=0.02 * width)
    assert found.prevalence_interval() == pytest.approx(ends, abs=0.03 * width)


KINDS = [AT_RANDOM, FOLLOWING, OWN]


@pytest.mark.parametrize("kind", KINDS)
def test_derivatives_of_the_expected_posterior_are_those_of_its_value(sample, kind):
    posterior, flat = under(sample, kind)
    cut, (u, factor) = posterior.at(0.3, flat), gaussian(posterior)

    def value(u, covariance=None):
        spread = factor if covariance is None else inverse_factor(np.linalg.inv(covariance))
        return cut.expand(u, spread).expansion.value

    here = cut.expand(u, factor).expansion
    np.testing.assert_allclose(here.grad, approx_fprime(u, value, 1e-7), atol=1e-6)
    further = posterior.at(0.3 + 1e-6, flat).expand(u, factor).expansion
    np.testing.assert_allclose(here.mixed, (further.grad - here.grad) / 1e-6, atol=0.02)
    rng = np.random.default_rng(1)
    V, change = factor @ factor.T, rng.normal(size=(posterior.size, posterior.size))
    change = change + change.T
    slope = (value(u, V + 1e-6 * change) - value(u, V - 1e-6 * change)) / 2e-6
    assert slope == pytest.approx(0.5 * np.sum(here.hess * change), rel=1e-4)


@pytest.mark.parametrize("kind", KINDS)
def test_where_nothing_varies_expectations_are_values_and_hessians(sample, kind):
    posterior, flat = under(sample, kind)
    u, _ = gaussian(posterior)
    narrow = posterior.at(0.3, flat).expand(u, 1e-3 * np.eye(posterior.size)).expansion
    exact, _ = under(sample, kind, settings=BY_CURVATURE)
    plain = exact.at(0.3, flat).expand(u, 1e-9 * np.eye(posterior.size)).expansion
    assert narrow.value == pytest.approx(plain.value, abs=1e-5)
    np.testing.assert_allclose(narrow.grad, plain.grad, atol=1e-5)
    np.testing.assert_allclose(narrow.hess, plain.hess, atol=1e-4)
    np.testing.assert_allclose(narrow.mixed, plain.mixed, atol=1e-4)
    np.testing.assert_allclose(narrow.shares, plain.shares, atol=1e-4)


def test_labelling_that_follows_the_class_has_the_likelihood_of_both_models(sample):
    posterior, flat = under(sample, FOLLOWING)
    u, _ = gaussian(posterior)
    theta = posterior.at(0.3, flat).theta(u)
    beta, gamma = np.split(theta, 2)
    np.testing.assert_allclose(gamma, beta + np.append(np.zeros(len(beta) - 1), 0.3))
    tied = posterior.likelihood.expand(np.append(beta, 0.3), None)
    both = posterior.problem.likelihood.value_grad_hess(theta)
    assert tied.value == pytest.approx(both.value)
    embedding = np.vstack([np.eye(len(beta))] * 2)
    np.testing.assert_allclose(tied.grad[:-1], embedding.T @ both.grad)
    np.testing.assert_allclose(tied.hess[:-1, :-1], embedding.T @ both.hess @ embedding)


@pytest.mark.parametrize("settings", [EXPECTING, BY_CURVATURE])
def test_a_propensity_held_for_each_row_has_the_likelihood_of_its_slopes(sample, settings):
    free, flat = under(sample, OWN, settings=settings)
    u, factor = gaussian(free)
    p = sample.X.shape[1]
    factor[:, p + 1 :] = 0.0  # held: labelling has no spread
    factor[p + 1 :] = 0.0
    factor[p + 1 :, p + 1 :] = 1e-9 * np.eye(p)
    gamma = np.split(free.at(0.3, flat).theta(u), 2)[1]
    rows, problem = free.problem.rows, free.problem
    offset = rows.map_rows(lambda X: X @ gamma[:-1] + gamma[-1])
    pair = TiedPair(problem.outcome, 0.0)
    held = ExpectedLikelihood(rows, pair, problem.n, problem.response, offset)
    to_arguments, _ = following(problem, 0.0)
    spread = to_arguments[:, :-1] @ factor[: p + 1, : p + 1] if free.integrates else None
    arguments = to_arguments @ np.append(u[: p + 1], 0.0)
    one = held.expand(arguments, spread)
    matrix = free.to_arguments
    both = free.likelihood.expand(
        matrix @ np.append(u, 0.3), matrix[:, :-1] @ factor if free.integrates else None
    )
    # rules of five and of seven points differ by little
    assert one.value == pytest.approx(both.value, abs=1e-3)
    np.testing.assert_allclose(one.grad[: p + 1], both.grad[: p + 1], atol=2e-3)
    np.testing.assert_allclose(one.shares, both.shares, atol=1e-2)


@pytest.mark.parametrize("settings", [EXPECTING, BY_CURVATURE])
def test_audited_rows_have_their_own_loss_and_its_slope(sample, settings):
    audited = np.where((np.arange(len(sample.s)) % 5 == 0) & (sample.s == 0), sample.y, np.nan)
    problem = Problem(memory_rows(sample.X, sample.s, audited=audited))
    posterior = posterior_under(problem, OWN[0], Odds(1.0, 0.6), settings)
    cut, (u, factor) = posterior.at(0.3, posterior.priors[2]), gaussian(posterior)
    here = cut.expand(u, factor).expansion.audited
    rows = np.flatnonzero(~np.isnan(audited))

    def value(u):
        return cut.expand(u, factor).expansion.audited.value

    np.testing.assert_allclose(here.grad, approx_fprime(u, value, 1e-7), atol=1e-6)
    narrow = cut.expand(u, 1e-6 * np.eye(posterior.size)).expansion.audited.value
    beta, gamma = np.split(cut.theta(u), 2)
    X, y = sample.X[rows], audited[rows]
    y_x, e_x = (expit(X @ coef[:-1] + coef[-1]) for coef in (beta, gamma))
    exact = np.where(y == 1, y_x * (1 - e_x), 1 - y_x)
    assert narrow == pytest.approx(-np.log(exact).sum() / len(sample.s), abs=1e-4)


def test_an_expansion_predicts_gaussians_of_other_slices_and_priors(sample):
    posterior, flat = under(sample, AT_RANDOM)
    here = posterior.at(0.3, flat).ascend_from_prior(np.zeros(posterior.size))
    errors = []
    for step in (0.4, 0.2):
        there = posterior.at(0.3 + step, flat).ascend(here.u, here.factor)
        errors.append(np.linalg.norm(here.tangent(0.3 + step) - there.u))
        assert errors[-1] < 0.3 * np.linalg.norm(there.u - here.u)
    assert errors[1] < 0.5 * errors[0]  # second order
    other = replace(flat, precision=1.2 * flat.precision)
    guess, settled = here.under(other), posterior.at(0.3, other).ascend(here.u, here.factor)
    assert guess.error < guess.slice.tolerance()
    np.testing.assert_allclose(guess.u, settled.u, atol=0.02)
    assert guess.log_evidence == pytest.approx(settled.log_evidence, abs=0.1)


@pytest.mark.parametrize("kind", KINDS[:2])
def test_a_gaussian_is_found_from_a_bad_start(sample, kind):
    posterior, flat = under(sample, kind, scale=2.0)
    cut = posterior.at(-0.5, flat)
    good = cut.ascend_from_prior(np.zeros(posterior.size))
    bad = cut.ascend(np.full(posterior.size, 2.0), 0.5 * np.eye(posterior.size))
    assert bad.log_evidence == pytest.approx(good.log_evidence, abs=0.3)


def test_a_last_step_without_curvature_finds_no_gaussian(sample):
    settings = replace(BY_CURVATURE, most_steps=0)
    posterior, flat = under(sample, AT_RANDOM, scale=100.0, settings=settings)
    cut = posterior.at(0.0, flat)
    wild = cut.ascend(np.full(posterior.size, -300.0), 0.1 * np.eye(posterior.size))
    assert wild.error == np.inf
    assert wild.log_evidence == -np.inf
    near = cut.ascend(np.zeros(posterior.size), 0.1 * np.eye(posterior.size))
    assert np.isfinite(near.log_evidence)


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


def test_the_evidence_is_close_to_the_integral(double_logistic_sample):
    sample = double_logistic_sample(n=300, beta=(1.0, 0.3), gamma=(0.0, 0.0))
    posterior, flat = under(sample, AT_RANDOM)
    cut = posterior.at(0.0, flat)
    nothing = 1e-9 * np.eye(2)
    slopes, intercepts = np.linspace(-1, 4, 81), np.linspace(-2, 3, 81)
    height = np.array(
        [
            [-cut.n * cut.expand(np.array([a, b]), nothing).expansion.value for b in intercepts]
            for a in slopes
        ]
    )
    cell = (slopes[1] - slopes[0]) * (intercepts[1] - intercepts[0])
    # the densities of both priors: their scales and powers of 2 pi
    exact = logsumexp(height) + np.log(cell) - np.log(2 * np.pi) - np.log(INTERCEPT)
    fit = cut.ascend_from_prior(np.zeros(2))
    assert (
        exact - 0.2 < fit.log_evidence < exact + cut.tolerance()
    )  # a bound, but for the last step


def test_slopes_are_not_shrunk_where_coefficients_are_many():
    """About the mode of the posterior alone they are, and prevalences with them."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 40))
    y = rng.random(600) < expit(X[:, :20] @ np.full(20, 3 / np.sqrt(20)) - 1)
    s = (y & (rng.random(600) < 0.4)).astype(float)
    model = AveragedClassifier(shape="line", propensity_features=[]).fit(X, s)
    assert model.prevalence_ == pytest.approx(y.mean(), abs=0.08)
    low, high = model.prevalence_interval()
    assert low < y.mean() < high


def test_quantiles_of_a_mixture_are_those_of_its_draws():
    rng = np.random.default_rng(0)
    weight, mean, sd = np.array([0.3, 0.7]), np.array([[0.0, 3.0]]), np.array([[1.0, 0.5]])
    piece = (rng.random(200_000) < weight[1]).astype(int)
    draws = mean[0, piece] + sd[0, piece] * rng.normal(size=200_000)
    for q in (0.05, 0.5, 0.95):
        assert quantile(weight, mean, sd, q)[0] == pytest.approx(np.quantile(draws, q), abs=0.02)


def test_the_lower_tail_of_a_share_is_half_of_the_upper_one(sample):
    model = AveragedClassifier(shape="line").fit(sample.X, sample.s.astype(int))
    mixture = model.model_
    mean, sd = mixture.outcome_model.share, mixture.outcome_model.share_sd
    ends = mixture.credible_share(mean[None], sd[None], 0.9)[0]
    below = [mixture.weight @ norm.cdf((end - mean) / sd) for end in ends]
    assert below == pytest.approx([0.025, 0.95], abs=1e-6)
    assert model.prevalence_interval(0.9) == tuple(np.maximum(ends, mixture.mean_s))


class TestPrior:
    def test_its_numbers_are_those_of_the_learn_half(self):
        found = learn(learn_table())
        assert pytest.approx(found[:3], abs=0.006) == (prior.SIGNAL, prior.GROWTH, prior.SPREAD)
        assert pytest.approx(found.prevalence, abs=0.006) == prior.PREVALENCE

    def test_odds_of_mechanisms_and_weights_of_signals_add_up_to_one(self, sample):
        rows = memory_rows(sample.X, sample.s)
        symmetric, believed = Problem(rows), Problem(rows, beliefs=(Belief(0.5, 0.1),))
        named = Problem(rows, propensity=Terms(4, np.array([0])))
        for problem in (symmetric, believed, named):
            odds = [one for m in MECHANISMS for one in m.odds(problem, Settings())]
            assert sum(one.prior for one in odds) == pytest.approx(1)
        assert sum(prior.class_scales(7, Settings()).values()) == pytest.approx(1)
        assert prior.class_scales(0, Settings()) == {1.0: 1.0}

    def test_the_prior_of_the_prevalence_is_a_density(self):
        pi = (np.arange(2000) + 0.5) / 2000
        density = np.exp([prior.log_prevalence(value) for value in pi])
        assert density.mean() == pytest.approx(1, abs=1e-3)
        assert density.min() > 0.49  # never ruled out

    def test_the_prior_of_the_label_frequency_is_a_density(self):
        c = (np.arange(2000) + 0.5) / 2000
        tied, own = (np.exp(kind[0].log_frequency(c)) for kind in (FOLLOWING, OWN))
        assert tied.mean() == pytest.approx(1, abs=1e-3)
        assert np.all(np.diff(tied) > 0)  # of two images the one with fewer positives
        np.testing.assert_array_equal(own, 1.0)

    def test_many_rows_count_as_few(self):
        counted = [n * Settings().coarsening(n) for n in (10, 1000, 10**9)]
        assert counted == pytest.approx([10, 750, Settings().coarse], rel=0.01)

    def test_every_mechanism_has_its_scales(self, sample):
        problem = Problem(memory_rows(sample.X, sample.s))
        ratios = [
            {round(one.labelling_scale / one.class_scale, 6) for one in posterior.priors}
            for posterior in posteriors(problem, Settings())
        ]
        assert ratios == [{0.0}, {1.0}, {0.6}]

    def test_labelling_has_no_slopes_of_its_own_where_labels_are_fewer(self, sample):
        few = np.where(np.cumsum(sample.s) <= 9, sample.s, 0.0)
        problem = Problem(memory_rows(sample.X, few))
        named = replace(problem, propensity=Terms(4, np.array([0])))
        offered = [
            [m.name for m in MECHANISMS if m.odds(one, Settings())] for one in (problem, named)
        ]
        assert offered == [["at random", "following"], ["at random", "named"]]

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
