"""Methods against plain re-implementations, special cases and each other."""

import numpy as np
import pytest
import statsmodels.api as sm
from reference import probability, reference_em, reference_fit, reference_tm
from scipy.special import expit
from sklearn.preprocessing import StandardScaler

from doublelogit.core.design import Terms
from doublelogit.datasets import load_benchmark
from doublelogit.engines.memory import memory_rows
from doublelogit.labelling import Scar, draw
from doublelogit.methods import Problem, em, joint, lbe, naive, oracle, tm, tm_simple
from doublelogit.methods.logistic import outcome_model
from doublelogit.methods.start import start
from doublelogit.studies.methods import SoftmaxProblem, detm, jerm


def test_naive_is_logistic_regression_of_the_label(diabetes):
    X, _, s, problem = diabetes
    np.testing.assert_allclose(naive(problem, tol=1e-10).beta, reference_fit(X, s), atol=1e-6)


def test_naive_without_penalty_is_statsmodels_logit(diabetes):
    X, _, s, problem = diabetes
    wanted = sm.Logit(s, sm.add_constant(X)).fit(disp=0, tol=1e-12).params
    got = naive(Problem(problem.rows), tol=1e-12).beta
    np.testing.assert_allclose(got, np.append(wanted[1:], wanted[0]), atol=1e-8)


def test_oracle_is_logistic_regression_of_the_class(diabetes):
    X, y, _, problem = diabetes
    np.testing.assert_allclose(oracle(problem, y, tol=1e-10).beta, reference_fit(X, y), atol=1e-6)


def test_soft_target_is_two_weighted_copies(diabetes):
    X, _, _, problem = diabetes
    rng = np.random.default_rng(0)
    target, weight = rng.random(len(X)), rng.random(len(X))
    model = outcome_model(problem)
    model.fit(target, weight)
    np.testing.assert_allclose(model.coef, reference_fit(X, target, weight), atol=1e-6)


@pytest.mark.parametrize("name", ["heart-c", "vote", "credit-a"])
def test_twenty_rounds_agree_on_tables_without_golden_numbers(name):
    X, y = load_benchmark(name, return_X_y=True)
    X = StandardScaler().fit_transform(X)
    s = draw(y, Scar(0.5).propensity(X), np.random.default_rng(1))
    problem = Problem(memory_rows(X, s), 1.0, 1.0)
    fits = tm(problem, tol=0, max_iter=20), em(problem, tol=0, max_iter=20)
    references = reference_tm(X, s, 20, released=True), reference_em(X, s, 20)
    for fit, (beta, gamma) in zip(fits, references, strict=True):
        np.testing.assert_allclose(fit.beta, beta, atol=1e-5)
        np.testing.assert_allclose(fit.gamma, gamma, atol=1e-5)


def observed_loss(problem, fit):
    theta = np.concatenate([problem.outcome.take(fit.beta), problem.propensity.take(fit.gamma)])
    return problem.likelihood.value_grad(theta)


@pytest.mark.parametrize(
    ("seed", "l2"), [(0, 0.0), (1, 1.0), pytest.param(2, 1.0, marks=pytest.mark.slow)]
)
def test_joint_em_and_lbe_meet_from_the_same_start(double_logistic_sample, seed, l2):
    sample = double_logistic_sample(n=800, seed=seed)
    problem = sample.problem(l2)
    begin = start(problem, "naive")
    fits = {
        "joint": joint(problem, init=begin, n_starts=1, tol=1e-8),
        "em": em(problem, init=begin, tol=1e-7, max_iter=50_000),
        "accelerated em": em(problem, init=begin, tol=1e-7, accelerate=True),
        "lbe": lbe(problem, init=begin, learning_rate=0.01, tol=9e-7, max_iter=100_000),
        "mm": joint(problem, solver="mm", init=begin, n_starts=1, tol=1e-7, max_iter=100_000),
    }
    losses = {name: observed_loss(problem, fit) for name, fit in fits.items()}
    assert all(fit.converged for fit in fits.values())
    for name, (value, grad) in losses.items():
        assert value == pytest.approx(losses["joint"].value, abs=1e-6), name
        assert np.abs(grad).max() < 1e-6, name


@pytest.mark.parametrize("l2", [0.0, 1.0])
@pytest.mark.parametrize("init", ["naive", "balanced", "half"])
def test_em_climbs_its_penalised_likelihood(sample, l2, init):
    trace = em(sample.problem(l2), init=init, tol=0, max_iter=60).trace
    assert np.all(np.diff(trace) <= 1e-12)


def test_acceleration_takes_fewer_rounds_to_the_same_point(sample):
    problem = sample.problem(1.0)
    plain = em(problem, init="naive", max_iter=20_000)
    fast = em(problem, init="naive", accelerate=True)
    assert fast.n_iter < plain.n_iter / 2
    np.testing.assert_allclose(fast.beta, plain.beta, atol=2e-2)
    assert fast.trace[-1] == pytest.approx(plain.trace[-1], abs=1e-7)


def test_mm_steps_never_climb(sample):
    for steps in (1, 5):
        fit = joint(
            sample.problem(1.0), solver="mm", mm_steps=steps, n_starts=1, tol=0, max_iter=50
        )
        assert np.all(np.diff(fit.trace) <= 1e-12)
        assert fit.n_iter == 50


def test_more_starts_are_never_worse(sample):
    one, many = (joint(sample.problem(1.0), n_starts=k).trace[-1] for k in (1, 6))
    assert many <= one + 1e-9


@pytest.mark.parametrize("name", ["diabetes", "credit-a"])
def test_joint_is_never_worse_than_em_from_its_first_start(name):
    """credit-a has several optima: a Newton step alone leaves the basin that EM stays in."""
    X, y = load_benchmark(name, return_X_y=True)
    X = StandardScaler().fit_transform(X)
    s = draw(y, Scar(0.5).propensity(X), np.random.default_rng(0))
    problem = Problem(memory_rows(X, s), 1.0, 1.0)
    rival = em(problem, init="naive", accelerate=True, max_iter=5000)
    assert joint(problem).trace[-1] <= rival.trace[-1] + 1e-7


def test_em_balanced_start_is_that_of_the_original_code(diabetes):
    X, _, s, problem = diabetes
    f = reference_fit(X, s, np.where(s == 1, 1 - s.mean(), s.mean()))
    gamma = reference_fit(X, s, s + (1 - s) * probability(X, f))
    np.testing.assert_allclose(start(problem, "balanced"), np.concatenate([f, gamma]), atol=1e-5)


def test_em_refit_is_the_inverse_propensity_fit(diabetes):
    """Labelled rows weigh 1/e as positives and 1 - 1/e as negatives: soft targets s/e."""
    X, _, s, problem = diabetes
    plain = em(problem, tol=0, max_iter=5)
    refit = em(problem, tol=0, max_iter=5, refit=True)
    b = X @ plain.gamma[:-1] + plain.gamma[-1]
    target = s / expit(b)
    a = X @ refit.beta[:-1] + refit.beta[-1]
    grad = X.T @ (expit(a) - target) + refit.beta[:-1]
    assert np.abs(grad).max() < 1e-4
    assert np.abs(refit.beta - plain.beta).max() > 1e-2


def test_lbe_propensity_is_not_the_naive_label_model(diabetes):
    """Dropping the weight q from the second term would make eta = s_naive."""
    X, _, s, problem = diabetes
    fit = lbe(problem, learning_rate=0.01, max_iter=3000)
    eta, s_naive = probability(X, fit.gamma), probability(X, naive(problem).beta)
    assert np.abs(eta - s_naive).mean() > 0.1
    assert eta[s == 0].mean() > 2 * s_naive[s == 0].mean()


def test_lbe_budget_limits_how_far_it_goes(diabetes):
    problem = diabetes[3]
    begin = start(problem, "half")
    fit = lbe(problem)
    moved = np.abs(np.concatenate([fit.beta, fit.gamma]) - begin).max()
    assert fit.n_iter == 1000
    assert 0.01 < moved < 1.5


def test_several_adam_steps_between_e_steps(diabetes):
    few, many = (lbe(diabetes[3], steps=k, max_iter=20) for k in (1, 5))
    assert many.trace[-1] < few.trace[-1]


def test_a_constant_propensity_is_scar(double_logistic_sample):
    """With propensity_features=[], JOINT is the likelihood of (beta, c) alone."""
    sample = double_logistic_sample(gamma=(0, 0, 0, 0, 0.4), n=3000)
    problem = sample.problem()
    scar = Problem(problem.rows, propensity=Terms(4, np.array([], dtype=int)))
    fits = [joint(scar, n_starts=1, tol=1e-9), em(scar, tol=1e-7, accelerate=True)]
    for fit in fits:
        assert np.abs(fit.gamma[:-1]).max() == 0
    assert fits[0].gamma[-1] == pytest.approx(fits[1].gamma[-1], abs=1e-2)
    # the derivative of the SCAR log-likelihood in c vanishes
    y, c, s = probability(sample.X, fits[0].beta), expit(fits[0].gamma[-1]), sample.s
    assert np.mean(s / c - (1 - s) * y / (1 - y * c)) == pytest.approx(0, abs=1e-6)


def test_fully_audited_rows_are_two_ordinary_regressions(double_logistic_sample):
    sample = double_logistic_sample(n=3000)
    problem = sample.problem(audited=sample.y)
    X1 = sm.add_constant(sample.X)
    positive = sample.y == 1
    beta = sm.Logit(sample.y, X1).fit(disp=0, tol=1e-12).params
    gamma = sm.Logit(sample.s[positive], X1[positive]).fit(disp=0, tol=1e-12).params
    for fit in (joint(problem, tol=1e-10), em(problem, tol=1e-9, accelerate=True)):
        np.testing.assert_allclose(fit.beta, np.append(beta[1:], beta[0]), atol=1e-6)
        np.testing.assert_allclose(fit.gamma, np.append(gamma[1:], gamma[0]), atol=1e-6)


METHODS = {
    "naive": lambda p: naive(p, tol=1e-9),
    "tm_simple": lambda p: tm_simple(p, tol=1e-9),
    "tm": lambda p: tm(p, tol=0, max_iter=5),
    "em": lambda p: em(p, tol=0, max_iter=5),
    "joint": lambda p: joint(p, n_starts=1, tol=1e-10),
    "lbe": lambda p: lbe(p, max_iter=20),
    "jerm": lambda p: jerm(p, tol=0, max_iter=3),
    "jerm, released": lambda p: jerm(p, released=True, max_iter=3),
    "detm": lambda p: detm(SoftmaxProblem(p.rows, p.l2, p.propensity_l2), n_starts=1, tol=1e-10),
}


@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
def test_blocks_and_storage_make_no_difference(sample, method):
    from scipy import sparse

    weight = np.random.default_rng(0).integers(1, 4, size=1000).astype(float)
    stored = [(sample.X, 0), (sample.X, 64), (sparse.csr_array(sample.X), 100)]
    fits = [
        method(Problem(memory_rows(X, sample.s, weight=weight, block_rows=b), 1.0, 1.0))
        for X, b in stored
    ]
    for fit in fits[1:]:
        np.testing.assert_allclose(fit.beta, fits[0].beta, rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
def test_half_of_each_row_twice_is_the_row(sample, method):
    """[X, X] with weights 1/2 is X: weights and penalties are on the sum."""
    X2, s2 = np.vstack([sample.X] * 2), np.tile(sample.s, 2)
    once = method(sample.problem(1.0))
    twice = method(Problem(memory_rows(X2, s2, weight=np.full(2000, 0.5)), 1.0, 1.0))
    # TM's quantile of half-weighted rows interpolates elsewhere, by at most one row
    tolerance = 2e-2 if method is METHODS["tm"] else 1e-6
    np.testing.assert_allclose(twice.beta, once.beta, atol=tolerance)


@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
@pytest.mark.parametrize("l2", [0.0, 1.0])
def test_nothing_overflows_at_predictors_of_ten_thousand(method, l2):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 3))
    X[:, 0] *= 1e4
    s = ((X[:, 0] + 5000 * X[:, 1] > 0) & (rng.random(200) < 0.7)).astype(float)
    fit = method(Problem(memory_rows(X, s), l2, l2))
    assert np.isfinite(fit.beta).all()
    assert fit.gamma is None or np.isfinite(fit.gamma).all()
    assert np.isfinite(fit.trace).all()


def test_large_p_takes_the_first_order_path(monkeypatch, sample):
    """Stationary points without any Hessian."""
    from doublelogit.methods import logistic

    problem = sample.problem(1.0)
    wanted = naive(problem, tol=1e-8).beta
    monkeypatch.setattr(logistic, "DENSE_LIMIT", 2)
    monkeypatch.setitem(joint.__globals__, "DENSE_LIMIT", 2)
    monkeypatch.setattr("doublelogit.methods.orientation.DENSE_LIMIT", 2)
    monkeypatch.setattr("doublelogit.methods.maximum.DENSE_LIMIT", 2)
    monkeypatch.setattr("doublelogit.core.objective.sandwich", None)  # calling it would fail
    np.testing.assert_allclose(naive(problem, tol=1e-8).beta, wanted, atol=1e-5)
    fit = joint(problem, n_starts=1, tol=1e-6)
    assert fit.converged
    grad = observed_loss(problem, fit).grad / problem.likelihood.unit
    assert np.abs(grad).max() <= 1e-6
    assert fit.trace[-1] < problem.likelihood.value_grad(start(problem, "naive")).value
