"""Sparse paths: the composite solver, optimality conditions, and what other libraries compute."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from doublelogit import joint_path
from doublelogit.core.labels import labels_of
from doublelogit.core.likelihood import double_logistic
from doublelogit.core.solvers import ValueGradHess, composite
from doublelogit.core.solvers.composite import penalised_minimum, violations


def drawn(n=250, p=120, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) * np.exp(rng.normal(size=p)) + rng.normal(size=p)
    a = StandardScaler().fit_transform(X[:, :3]) @ [1.5, -1.5, 1.0]
    y = rng.random(n) < 1 / (1 + np.exp(-a))
    return X, (y & (rng.random(n) < 0.7)).astype(float)


@given(st.integers(0, 10**6), st.integers(1, 12), st.booleans())
def test_the_penalised_minimum_of_a_quadratic_meets_its_optimality_conditions(seed, p, singular):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(p, max(p // 2, 1) if singular else 2 * p))
    hess, start = root @ root.T, rng.normal(size=p) * (rng.random(p) < 0.5)
    grad, penalty = hess @ rng.normal(size=p), np.exp(rng.normal(size=p)) * (rng.random(p) < 0.8)
    z = penalised_minimum(grad, hess, start, penalty)
    gap = violations(z, grad + hess @ (z - start), penalty)
    assert gap.max() <= 1e-6 * max(1.0, np.abs(grad).max())


class Quartic:
    """sum (theta - centre)^4 / 4 + theta'theta / 2, which Newton steps overshoot."""

    def __init__(self, centre):
        self.centre, self.unit, self.scale = centre, np.ones_like(centre), np.ones_like(centre)

    def value_grad_hess(self, theta):
        d = theta - self.centre
        value = (d**4).sum() / 4 + theta @ theta / 2
        return ValueGradHess(value, d**3 + theta, np.diag(3 * d**2 + 1))


def test_the_composite_solver_meets_the_conditions_of_a_function_that_is_not_quadratic():
    centre = np.array([8.0, -3.0, 0.1, 0.0])
    solution = composite(Quartic(centre), np.zeros(4), np.full(4, 0.5), tol=1e-10)
    assert solution.converged
    assert solution.violation <= 1e-10
    assert (solution.theta != 0).tolist() == [True, True, False, False]


def test_a_step_is_shortened_to_what_its_reach_allows():
    lengths = []

    def reach(step):
        lengths.append(np.abs(step).max())
        return 100 * np.abs(step).max()

    short = composite(
        Quartic(np.full(2, 9.0)), np.zeros(2), np.zeros(2), tol=1e-9, reach=reach, max_iter=1
    )
    assert np.abs(short.theta).max() == pytest.approx(0.06)
    assert lengths[0] > 0.06


@pytest.mark.parametrize("stored", [np.asarray, sparse.csr_matrix], ids=["dense", "csr"])
def test_with_certain_labels_the_path_is_that_of_penalised_logistic_regression(stored):
    X, s = drawn(n=150, p=60)
    path = joint_path(stored(X), s, labelling="certain", n_alphas=8, tol=1e-9)
    Z = StandardScaler().fit(X)
    for k in (2, 5, 7):
        C = 1 / (len(s) * path.alphas[k])
        other = LogisticRegression(C=C, l1_ratio=1, solver="saga", tol=1e-10, max_iter=100_000)
        other.fit(Z.transform(X), s)
        assert path.coefs[:, k] == pytest.approx(other.coef_[0] / Z.scale_, abs=1e-6)
        assert np.count_nonzero(path.coefs[:, k]) == np.count_nonzero(other.coef_)
    assert np.isposinf(path.propensity_intercepts).all()
    assert not path.propensity_coefs.any()


@given(st.integers(0, 30), st.sampled_from([0.5, 1.0, 2.0]), st.booleans())
def test_every_point_of_a_path_meets_the_conditions_of_its_penalty(seed, kappa, weighted):
    X, s = drawn(n=80, p=100, seed=seed)
    weight = np.random.default_rng(seed).integers(1, 3, size=80) if weighted else None
    path = joint_path(X, s, sample_weight=weight, kappa=kappa, n_alphas=6, eps=0.3, tol=1e-5)
    w = np.ones(80) if weight is None else weight
    spread = np.sqrt(np.average((X - np.average(X, 0, w)) ** 2, axis=0, weights=w))
    for k, alpha in enumerate(path.alphas):
        models = (path.coefs[:, k], path.propensity_coefs[:, k])
        levels = (path.intercepts[k], path.propensity_intercepts[k])
        a, b = (X @ coef + level for coef, level in zip(models, levels, strict=True))
        loss = double_logistic(labels_of(s), a, b)
        for coef, d, factor in zip(models, (loss.d_a, loss.d_b), (1.0, kappa), strict=True):
            grad = X.T @ (w * d) / w.sum() / spread
            gap = violations(coef, grad, np.full(100, alpha * factor))
            assert gap.max() <= 2e-5 * path.alphas[0]
            assert abs(w @ d) / w.sum() < 1e-4


def test_the_first_penalty_leaves_no_slope_and_the_path_ends_before_too_many():
    X, s = drawn()
    path = joint_path(X, s, max_features=10)
    assert not path.coefs[:, 0].any()
    assert not path.propensity_coefs[:, 0].any()
    sizes = ((path.coefs != 0) | (path.propensity_coefs != 0)).sum(axis=0)
    assert sizes[-1] <= 10
    assert 1 < len(path.alphas) < 50
    assert (np.diff(path.alphas) < 0).all()


def test_weights_are_repetitions_and_columns_that_do_not_vary_have_no_slope():
    X, s = drawn(n=60, p=30)
    X[:, 4] = 3.0
    weight = np.arange(60) % 3
    options = {"labelling": "certain", "n_alphas": 6, "tol": 1e-9}
    weighted = joint_path(X, s, sample_weight=weight, **options)
    repeated = joint_path(np.repeat(X, weight, axis=0), np.repeat(s, weight), **options)
    assert weighted.coefs == pytest.approx(repeated.coefs, abs=1e-8)
    assert not weighted.coefs[4].any()


def test_penalties_of_ones_own_are_taken_from_the_largest_down():
    X, s = drawn(n=100, p=20)
    path = joint_path(X, s, labelling="certain", alphas=[0.01, 0.05])
    assert path.alphas.tolist() == [0.05, 0.01]
    with pytest.raises(ValueError, match=r"alphas must be positive numbers; got \[0.1, -1\]"):
        joint_path(X, s, alphas=[0.1, -1])
    with pytest.raises(ValueError, match="'kappa' parameter"):
        joint_path(X, s, kappa=0)
