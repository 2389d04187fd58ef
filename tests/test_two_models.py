"""TM and TM SIMPLE against plain re-implementations of the paper."""

import numpy as np
import pytest
from reference import probability, reference_fit, reference_tm
from scipy.special import expit, log_expit
from sklearn.preprocessing import StandardScaler

from doublelogit.datasets import load_benchmark
from doublelogit.engines.memory import memory_rows
from doublelogit.labelling import Scar, draw
from doublelogit.methods import (
    Problem,
    tm,
    tm_simple,
)
from doublelogit.methods.logistic import label_model, outcome_model, propensity_model
from doublelogit.methods.tm_simple import soft_target


def test_tm_simple_weighs_by_the_naive_odds_ratio(diabetes):
    X, _, s, problem = diabetes
    s_x = probability(X, reference_fit(X, s))
    e_x = (s_x + 1) / 2
    odds_ratio = (1 - e_x) / e_x * s_x / (1 - s_x)
    wanted = reference_fit(X, np.where(s == 1, 1.0, odds_ratio))
    np.testing.assert_allclose(tm_simple(problem, tol=1e-10).beta, wanted, atol=1e-6)


@pytest.mark.parametrize("released", [True, False], ids=["released", "literal"])
@pytest.mark.parametrize("alpha", [None, 0.1])
def test_tm_is_the_algorithm_of_the_paper(diabetes, released, alpha):
    X, _, s, problem = diabetes
    beta, gamma = reference_tm(X, s, 4, released, alpha)
    fit = tm(problem, literal=not released, stratum_quantile=alpha, tol=0, max_iter=4)
    np.testing.assert_allclose(fit.beta, beta, atol=1e-5)
    np.testing.assert_allclose(fit.gamma, gamma, atol=1e-5)


def test_a_hundred_rounds_of_tm_lose_no_accuracy_to_frugal_fits():
    """adult, 70% of the rows: the fits inside stop at INNER_TOL, these at rounding error."""
    X, y = load_benchmark("adult", return_X_y=True)
    X = StandardScaler().fit_transform(X)
    rng = np.random.default_rng(0)
    rows = rng.permutation(len(X))[: int(0.7 * len(X))]
    X, y = X[rows], y[rows]
    problem = Problem(memory_rows(X, draw(y, Scar(0.5).propensity(X), rng)), 1.0, 1.0)
    frugal = tm(problem, tol=0, max_iter=100)
    exact = tm(
        problem,
        label=label_model(problem, tol=1e-13),
        outcome=outcome_model(problem, tol=1e-13),
        propensity=propensity_model(problem, tol=1e-13),
        tol=0,
        max_iter=100,
    )
    np.testing.assert_allclose(frugal.beta, exact.beta, atol=1e-5)
    np.testing.assert_allclose(frugal.gamma, exact.gamma, atol=1e-5)


def test_the_floor_changes_the_iterates(diabetes):
    problem = diabetes[3]
    released, literal = (tm(problem, literal=v, tol=0, max_iter=5).beta for v in (False, True))
    assert np.abs(released - literal).max() > 1e-3


def test_tm_is_the_same_for_duplicates_in_another_order():
    """Rows with equal features fall on one side of the threshold, whatever the last digits."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, size=(400, 3)).astype(float)
    s = ((rng.random(400) < expit(X @ [2, 1, -1])) & (rng.random(400) < 0.5)).astype(float)
    order = rng.permutation(400)
    fits = [
        tm(Problem(memory_rows(X[i], s[i], block_rows=b), 1.0, 1.0), tol=0, max_iter=30)
        for i, b in ((np.arange(400), 0), (order, 17))
    ]
    np.testing.assert_allclose(fits[0].beta, fits[1].beta, atol=1e-7)


def test_tm_says_whether_it_settled(diabetes):
    assert tm(diabetes[3], tol=1e-2).converged
    assert not tm(diabetes[3], tol=1e-300, max_iter=3).converged


def test_acceleration_lets_tm_settle_sooner():
    X, y = load_benchmark("BreastCancer", return_X_y=True)
    X = StandardScaler().fit_transform(X)
    rounds = {False: 0, True: 0}
    for seed in range(3):
        s = draw(y, Scar(0.7).propensity(X), np.random.default_rng(seed))
        problem = Problem(memory_rows(X, s), 1.0, 1.0)
        for accelerate in rounds:
            rounds[accelerate] += tm(problem, accelerate=accelerate, max_iter=300).n_iter
    assert rounds[True] < rounds[False] / 2


def test_audited_rows_are_fixed_targets_and_strata_of_tm(sample):
    known = np.array([1.0, 0.0, np.nan])
    target = soft_target(known, np.zeros(3), log_expit(np.zeros(3)))
    np.testing.assert_allclose(target, [1, 0, 1 / 3])
    audited = np.where(np.arange(1000) < 300, sample.y, np.nan)
    with_audit = tm(sample.problem(1.0, audited=audited), tol=0, max_iter=10)
    without = tm(sample.problem(1.0), tol=0, max_iter=10)
    error = [
        np.abs(expit(sample.X @ f.beta[:-1] + f.beta[-1]) - sample.y_x).mean()
        for f in (with_audit, without)
    ]
    assert error[0] < error[1]
