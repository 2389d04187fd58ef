"""The statements of the paper, as tests that would fail if they did not hold.

A population is a large sample of x in which each row stands twice, labelled with weight s(x) and
unlabelled with weight 1 - s(x): its Q_n is the expectation Q over S.
"""

import numpy as np
import pytest
from scipy.special import expit

from doublelogit.core.objective import LogisticObjective
from doublelogit.engines.memory import memory_rows
from doublelogit.methods import Problem, joint
from doublelogit.methods.logistic import outcome_model, propensity_model
from doublelogit.methods.orientation import larger_first


def population(sample):
    s_x = sample.y_x * sample.e_x
    X, n = np.vstack([sample.X, sample.X]), len(s_x)
    labels = np.repeat([1.0, 0.0], n)
    return Problem(memory_rows(X, labels, weight=np.concatenate([s_x, 1 - s_x])))


@pytest.mark.parametrize("seed", range(4))
def test_theorem_1_parameters_are_unique_up_to_the_interchange(double_logistic_sample, seed):
    sample = double_logistic_sample(n=4000, seed=seed)
    rng = np.random.default_rng(seed)
    start = rng.normal(size=10)
    fit = joint(population(sample), init=start, n_starts=1, tol=1e-10)
    pairs = [(sample.beta, sample.gamma), (sample.gamma, sample.beta)]
    distances = [max(np.abs(fit.beta - b).max(), np.abs(fit.gamma - g).max()) for b, g in pairs]
    assert fit.converged
    assert min(distances) < 1e-5


@pytest.mark.parametrize("norm", [1, 2, np.inf])
def test_lemma_1_any_norm_picks_the_true_pair(double_logistic_sample, norm):
    sample = double_logistic_sample(n=4000)
    assert np.linalg.norm(sample.beta, norm) > np.linalg.norm(sample.gamma, norm)
    fit = joint(population(sample), n_starts=1, tol=1e-10, orientation="norm")
    np.testing.assert_allclose(fit.beta, sample.beta, atol=1e-5)
    np.testing.assert_allclose(fit.gamma, sample.gamma, atol=1e-5)
    assert np.linalg.norm(fit.beta, norm) > np.linalg.norm(fit.gamma, norm)


def test_lemma_1_the_true_pair_maximises_q(double_logistic_sample):
    sample = double_logistic_sample(n=2000)
    Q = population(sample).likelihood
    truth = np.concatenate([sample.beta, sample.gamma])
    value, grad = Q.value_grad(truth)
    assert np.abs(grad).max() < 1e-12
    swapped = Q.value_grad(np.concatenate([sample.gamma, sample.beta])).value
    assert swapped == pytest.approx(value, rel=1e-12)
    rng = np.random.default_rng(0)
    for _ in range(50):
        assert Q.value_grad(truth + 0.3 * rng.normal(size=10)).value > value


def test_the_constraint_orders_the_pair():
    small, large = np.array([1.0, 0.0]), np.array([0.0, -2.0])
    assert not larger_first(small, large)  # intercepts count, as printed
    assert larger_first(large, small)


def test_theorem_2_joint_estimates_approach_the_truth(double_logistic_sample):
    errors = []
    for n in (1000, 4000, 64_000):
        fits = []
        for seed in range(4):
            sample = double_logistic_sample(n=n, seed=seed)
            fit = joint(sample.problem(), n_starts=1)
            fits.append(np.abs(expit(fit.beta) - expit(sample.beta)).mean())
        errors.append(np.mean(fits))
    assert errors[0] > errors[1] > errors[2]
    assert errors[2] < errors[0] / 3


def fit_error(model, truth):
    return np.abs(model.coef - truth).mean()


def test_theorem_3_the_true_odds_ratio_leads_to_the_true_beta(double_logistic_sample):
    errors = []
    for n in (500, 50_000):
        sample = double_logistic_sample(n=n)
        odds_ratio = sample.y_x * (1 - sample.e_x) / (1 - sample.y_x * sample.e_x)
        model = outcome_model(sample.problem())
        model.fit(np.where(sample.s == 1, 1.0, odds_ratio))
        errors.append(fit_error(model, sample.beta))
    assert errors[1] < 0.02 < errors[0]


def test_theorem_3_a_wrong_odds_ratio_does_not(double_logistic_sample):
    """The key assumption is needed: half the odds ratio leaves an error that does not vanish."""
    sample = double_logistic_sample(n=50_000)
    odds_ratio = sample.y_x * (1 - sample.e_x) / (1 - sample.y_x * sample.e_x)
    model = outcome_model(sample.problem())
    model.fit(np.where(sample.s == 1, 1.0, odds_ratio / 2))
    assert fit_error(model, sample.beta) > 0.05


def test_theorem_4_the_true_stratum_leads_to_the_true_gamma(double_logistic_sample):
    errors = []
    for n in (500, 50_000):
        sample = double_logistic_sample(n=n)
        model = propensity_model(sample.problem())
        model.fit(sample.s, sample.y)
        errors.append(fit_error(model, sample.gamma))
    assert errors[1] < 0.03 < errors[0]


def test_theorem_4_all_rows_as_the_stratum_do_not(double_logistic_sample):
    sample = double_logistic_sample(n=50_000)
    model = propensity_model(sample.problem())
    model.fit(sample.s, np.ones(50_000))
    assert fit_error(model, sample.gamma) > 0.2


@pytest.mark.parametrize("seed", range(5))
def test_w_n_and_r_n_are_concave(sample, seed):
    """And Q_n is not: its Hessian has eigenvalues of both signs somewhere."""
    rng = np.random.default_rng(seed)
    problem = sample.problem()
    rows, terms = problem.rows, problem.outcome
    W = LogisticObjective(rows, terms, rng.random(1000), rows.weight, problem.n, 0.0)
    stratum = (rng.random(1000) < 0.5).astype(float)
    R = LogisticObjective(rows, terms, rows.labels.any, stratum, problem.n, 0.0)
    for objective in (W, R):
        hess = objective.value_grad_hess(3 * rng.normal(size=5)).hess  # of the negative: convex
        assert np.linalg.eigvalsh(hess)[0] >= -1e-15


def test_q_n_is_not_concave(sample):
    Q = sample.problem().likelihood
    rng = np.random.default_rng(0)
    lowest = [np.linalg.eigvalsh(Q.value_grad_hess(rng.normal(size=10)).hess)[0] for _ in range(20)]
    assert min(lowest) < -1e-3
