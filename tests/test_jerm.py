"""JERM: its stratum by hand, its steps against plain ones, its limits."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit, logit
from sklearn.linear_model import LogisticRegression

from doublelogit.engines.memory import memory_rows
from doublelogit.methods import Problem
from doublelogit.methods.held import HeldPropensityObjective
from doublelogit.studies.methods import jerm
from doublelogit.studies.methods.jerm import Rounds, Spies, Stratum, spies
from doublelogit.studies.rivals import JERMClassifier


def draw(seed, n=2000, strength=4.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = rng.random(n) < expit(strength * (X[:, 0] + X[:, 1]))
    s = y & (rng.random(n) < expit(0.5 * X[:, 2] + 0.5))
    return X, y.astype(float), s.astype(float)


def test_spies_are_the_nearest_unlabelled_rows():
    X = np.array([[0.0], [1.0], [2.0], [4.0], [5.0], [9.0]])
    s = np.array([1.0, 0, 0, 1, 0, 0])
    assert spies(Problem(memory_rows(X, s))).at.tolist() == [1, 4]
    audited = np.array([np.nan, 0, np.nan, np.nan, np.nan, np.nan])  # known: no spy
    assert spies(Problem(memory_rows(X, s, audited=audited))).at.tolist() == [2, 4]
    weight = np.array([1.0, 1, 1, 1, 0, 1])  # not there: no spy
    assert spies(Problem(memory_rows(X, s, weight=weight))).at.tolist() == [1, 2]


def test_a_stratum_worked_by_hand():
    """h = y(1-e)/(1-ye): .5 and .5 give 1/3, .8 and .5 give 2/3, .2 and .5 give 1/9."""
    y = np.array([0.9, 0.5, 0.8, 0.2, 0.6, 0.1])
    s = np.array([1.0, 0, 0, 0, 0, 0])
    e = np.full(6, 0.5)
    rows = memory_rows(np.zeros((6, 1)), s)
    a, b = logit(y), logit(e)
    # the spies are rows 1 (h = 1/3) and 2 (h = 2/3): rows with h > 1/3 are 2 and 4 (h = 3/7)
    stratum = Stratum(rows, Spies(np.array([1, 2]), np.ones(2)), 0.0, fewest=2)
    assert stratum.weight(a, b).tolist() == [1, 0, 1, 0, 1, 0]
    # their middle is 1/2: row 2 alone
    middle = Stratum(rows, stratum.spies, 0.5, fewest=1)
    assert middle.weight(a, b).tolist() == [1, 0, 1, 0, 0, 0]
    # two rows are fewer than three: the three with the largest y, which are 2, 4 and 1
    fewer = Stratum(rows, stratum.spies, 0.0, fewest=3)
    assert fewer.weight(a, b).tolist() == [1, 1, 1, 0, 1, 0]
    audited = np.array([np.nan, 1, 0, np.nan, np.nan, np.nan])
    known = Stratum(memory_rows(rows.X, s, audited=audited), stratum.spies, 0.0, fewest=1)
    assert known.weight(a, b).tolist() == [1, 1, 0, 0, 1, 0]


def test_a_row_that_would_have_been_labelled_is_no_hidden_positive():
    """However likely its class; only where the fewest are counted does y(x) alone matter."""
    rows = memory_rows(np.zeros((4, 1)), np.array([1.0, 0, 0, 0]))
    a, b = logit(np.array([0.9, 0.9, 0.6, 0.3])), logit(np.array([0.5, 0.99, 0.1, 0.5]))
    # h is .083 in row 1, .574 in row 2, .176 in row 3
    stratum = Stratum(rows, Spies(np.array([3]), np.ones(1)), 0.0, fewest=1)
    assert stratum.weight(a, b).tolist() == [1, 0, 1, 0]
    assert Stratum(rows, stratum.spies, 0.0, fewest=2).weight(a, b).tolist() == [1, 1, 1, 0]


def test_a_row_that_counts_twice_is_two_of_the_fewest():
    rows = memory_rows(np.zeros((4, 1)), np.array([1.0, 0, 0, 0]), weight=np.array([1.0, 2, 3, 1]))
    a, b = np.array([0.0, 3, 2, 1]), np.zeros(4)
    stratum = Stratum(rows, Spies(np.array([1]), np.ones(1)), 0.0, fewest=4)
    assert stratum.weight(a, b).tolist() == [1, 2, 2, 0]


def test_the_held_propensity_objective_has_the_derivatives_of_finite_differences():
    X, _, s = draw(0, n=300)
    rng = np.random.default_rng(0)
    b = rng.normal(size=300)
    problem = Problem(memory_rows(X, s), 1.0)
    objective = HeldPropensityObjective(
        problem.rows, problem.outcome, b, 300.0, 1.0, problem.moments.units
    )
    theta = rng.normal(size=4)
    y, e = expit(X @ theta[:-1] + theta[-1]), expit(b)
    value = -np.where(s == 1, np.log(y * e), np.log1p(-y * e)).mean()
    found = objective.value_grad_hess(theta)
    assert found.value == pytest.approx(value + theta[:-1] @ theta[:-1] / 600)
    for k in range(4):
        step = 1e-5 * np.eye(4)[k]
        up, down = (objective.value_grad(theta + sign * step) for sign in (1, -1))
        assert found.grad[k] == pytest.approx((up.value - down.value) / 2e-5, abs=1e-8)
        np.testing.assert_allclose(found.hess[k], (up.grad - down.grad) / 2e-5, atol=1e-8)


def test_where_e_is_one_the_class_is_a_logistic_regression_of_the_label():
    X, _, s = draw(1, n=500)
    problem = Problem(memory_rows(X, s), 1.0)
    held = (problem.rows, problem.outcome, np.full(500, 40.0), 500.0, 1.0, problem.moments.units)
    reference = LogisticRegression(C=1.0, tol=1e-10, solver="newton-cholesky").fit(X, s)
    theta = np.append(reference.coef_[0], reference.intercept_)
    assert np.abs(HeldPropensityObjective(*held).gradient(theta)).max() < 1e-8


def plain_rounds(X, s, rounds, released, C=1.0):
    """JERM in plain numpy: neighbours by all distances, fits by scikit-learn and scipy."""
    n, Z = len(X), np.column_stack([X, np.ones(len(X))])
    label = LogisticRegression(C=C, tol=1e-12, solver="newton-cholesky", max_iter=1000).fit(X, s)
    beta, e = np.append(label.coef_[0], label.intercept_), (label.predict_proba(X)[:, 1] + 1) / 2
    unlabelled = np.flatnonzero(s == 0)
    squares = ((X[s == 1][:, None] - X[unlabelled][None]) ** 2).sum(axis=2)
    hidden_spies = unlabelled[squares.argmin(axis=1)]

    def loss(beta):
        y = expit(Z @ beta)
        value = -np.where(s == 1, np.log(y * e), np.log1p(-y * e)).sum() + beta[:-1] @ beta[:-1] / 2
        return value / n, (slope(beta) + np.append(beta[:-1], 0.0) / C) / n

    def slope(beta):
        y = expit(Z @ beta)
        return Z.T @ np.where(s == 1, y - 1, y * (1 - y) * e / (1 - y * e))

    for _ in range(rounds):
        if released:
            bound = Z.T @ Z / 4 + 0.01 * np.eye(Z.shape[1])
            for _ in range(200):
                move = -np.linalg.solve(bound, slope(beta))
                if np.abs(move).max() < 0.01:
                    break
                beta = beta + move
        else:
            beta = minimize(loss, beta, jac=True, options={"gtol": 1e-10}).x
        y = expit(Z @ beta)
        h = y * (1 - e) / (1 - y * e)
        inside = (s == 1) | (h > h[hidden_spies].min())
        fewest = 9 if released else 10
        if (inside & (s == 0)).sum() < fewest:
            inside = s == 1
            inside[unlabelled[np.argsort(-y[unlabelled])[:fewest]]] = True
        gamma = LogisticRegression(C=C, tol=1e-12, solver="newton-cholesky", max_iter=1000)
        e = gamma.fit(X[inside], s[inside]).predict_proba(X)[:, 1]
    return beta, np.append(gamma.coef_[0], gamma.intercept_)


@pytest.mark.parametrize("released", [False, True])
@pytest.mark.parametrize("rounds", [1, 3])
def test_rounds_are_those_of_plain_code(rounds, released):
    X, _, s = draw(2, n=300)
    fit = jerm(Problem(memory_rows(X, s), 1.0, 1.0), released=released, tol=0, max_iter=rounds)
    beta, gamma = plain_rounds(X, s, rounds, released)
    np.testing.assert_allclose(fit.beta, beta, atol=1e-4)
    np.testing.assert_allclose(fit.gamma, gamma, atol=1e-4)


def test_a_fixed_point_stays_where_it_is():
    X, _, s = draw(3)
    fit = JERMClassifier(max_iter=1000).fit(X, s)
    assert fit.converged_
    assert fit.n_iter_ < 100
    further = JERMClassifier(tol=0, max_iter=fit.n_iter_ + 1).fit(X, s)
    assert further.trace_[-1] == pytest.approx(fit.trace_[-1], abs=1e-3)


def test_a_circle_ends_at_its_best_round():
    rounds = Rounds()
    for value, stratum in [(5.0, [1]), (3.0, [2]), (1.0, [3]), (2.0, [4]), (4.0, [2])]:
        assert rounds.circle is None
        rounds.add(np.array([value]), value, np.array(stratum))
    assert rounds.circle == range(2, 5)  # the rounds after the first with stratum 2
    assert rounds.best_of_circle.tolist() == [1.0]
    still = Rounds()
    for value in (2.0, 3.0):
        still.add(np.array([value]), value, np.array([7]))
    assert still.best_of_circle.tolist() == [3.0]  # nothing moves: the last one


@pytest.mark.parametrize("variant", ["converged", "released"])
def test_where_every_class_is_known_it_is_the_oracle(variant):
    X, y, _ = draw(4)
    model = JERMClassifier(variant=variant).fit(X, y, audited_y=y)
    oracle = LogisticRegression(C=1.0, tol=1e-8).fit(X, y).predict_proba(X)[:, 1]
    np.testing.assert_allclose(model.predict_positive(X), oracle, atol=0.05)
    if variant == "converged":
        np.testing.assert_allclose(model.predict_positive(X), oracle, atol=1e-4)


@pytest.mark.parametrize("variant", ["converged", "released"])
def test_probabilities_of_simulated_rows_are_found_again(variant):
    """Classes apart, as the method needs them."""
    X, _, s = draw(5, n=8000, strength=8.0)
    model = JERMClassifier(variant=variant, spy_quantile=0.1).fit(X, s)
    truth = expit(8.0 * (X[:, 0] + X[:, 1]))
    assert np.abs(model.predict_positive(X) - truth).mean() < 0.06
    naive = LogisticRegression().fit(X, s).predict_proba(X)[:, 1]
    assert np.abs(model.predict_positive(X) - truth).mean() < np.abs(naive - truth).mean() / 2


def test_a_higher_quantile_of_the_spies_leaves_fewer_positives():
    X, _, s = draw(6, strength=1.0)
    shares = [
        JERMClassifier(spy_quantile=q).fit(X, s).predict_positive(X).mean() for q in (0.0, 0.5)
    ]
    assert shares[0] > shares[1] + 0.1


def test_audited_rows_improve_the_fit():
    X, y, s = draw(7, strength=1.5)
    audited = np.where(np.arange(len(y)) < 600, y, np.nan)
    truth = expit(1.5 * (X[:, 0] + X[:, 1]))
    errors = [
        np.abs(JERMClassifier().fit(X, s, audited_y=known).predict_positive(X) - truth).mean()
        for known in (None, audited)
    ]
    assert errors[1] < errors[0]


def test_a_constant_propensity_is_the_label_frequency_of_the_stratum():
    X, _, s = draw(8)
    model = JERMClassifier(propensity_features=[]).fit(X, s)
    assert np.ptp(model.predict_propensity(X)) == 0
    assert (model.propensity_coef_ == 0).all()


def test_too_many_features_for_the_released_steps_are_said():
    X = np.random.default_rng(0).normal(size=(60, 1001))
    s = (X[:, 0] > 0.5).astype(int)
    with pytest.raises(ValueError, match="takes at most 1000 of them; got 1001"):
        JERMClassifier(variant="released").fit(X, s)
    assert JERMClassifier(max_iter=2, tol=0).fit(X, s).coef_.shape == (1, 1001)
