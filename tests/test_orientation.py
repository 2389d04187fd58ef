"""Which model is the outcome: right, or warned, never silently swapped."""

import warnings

import numpy as np
import pytest
from scipy.special import expit

from doublelogit import JointClassifier
from doublelogit.engines.memory import memory_rows
from doublelogit.exceptions import OrientationWarning
from doublelogit.methods import Problem, joint
from doublelogit.methods.information import inverse_information
from doublelogit.methods.orientation import strength_gap, swapped_theta

# beta on the first half of the features, gamma on the second
P = 8
FIRST, SECOND = list(range(P // 2)), list(range(P // 2, P))


def sample(seed, beta=1.0, gamma=1.0, n=3000):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, P))
    b, g = np.zeros(P), np.zeros(P)
    b[FIRST], g[SECOND] = beta / np.sqrt(P / 2), gamma / np.sqrt(P / 2)
    y = rng.random(n) < expit(X @ b)
    s = y & (rng.random(n) < expit(X @ g))
    return X, y.astype(int), s.astype(int), b, g


def fitted(X, s, audited=None, **options):
    """The model, whether it has the right order, and whether it warned."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = JointClassifier(**options).fit(X, s, audited_y=audited)
    return model, any(issubclass(w.category, OrientationWarning) for w in caught)


def right(model, b, g):
    return np.linalg.norm(model.coef_[0] - b) < np.linalg.norm(model.coef_[0] - g)


def audit(y, n, seed=0):
    audited = np.full(len(y), np.nan)
    rows = np.random.default_rng(seed).choice(len(y), n, replace=False)
    audited[rows] = y[rows]
    return audited


@pytest.mark.parametrize("seed", range(5))
def test_models_of_equal_strength_are_never_swapped_silently(seed):
    X, _, s, b, g = sample(seed)
    model, warned = fitted(X, s)
    assert model.orientation_.rule == "norm"
    assert right(model, b, g) or warned
    assert warned == (not model.orientation_.clear)


@pytest.mark.parametrize("seed", range(5))
def test_a_clearly_stronger_outcome_needs_no_warning(seed):
    X, _, s, b, g = sample(seed, beta=3.0, gamma=0.3)
    model, warned = fitted(X, s)
    assert right(model, b, g)
    assert not warned


@pytest.mark.parametrize("seed", range(5))
def test_named_features_settle_it(seed):
    X, _, s, b, g = sample(seed)
    model, _ = fitted(X, s, outcome_features=FIRST, propensity_features=SECOND)
    assert model.orientation_.rule == "features"
    assert right(model, b, g)
    swapped_names, _ = fitted(X, s, outcome_features=SECOND, propensity_features=FIRST)
    assert not right(swapped_names, b, g)  # what the user says is what is done


@pytest.mark.parametrize("seed", range(5))
def test_audited_rows_settle_it(seed):
    X, y, s, b, g = sample(seed)
    model, warned = fitted(X, s, audited=audit(y, 100, seed))
    assert model.orientation_.rule == "audit"
    assert right(model, b, g) or warned
    assert model.orientation_.unit == "log-likelihood"


def test_a_larger_audit_widens_the_gap():
    X, y, s, *_ = sample(1)
    gaps = [fitted(X, s, audited=audit(y, n))[0].orientation_.gap for n in (20, 1000)]
    assert gaps[0] < gaps[1]


def test_a_tie_is_no_certainty():
    """Nearly equal penalties tell nothing: the order is by strength, and said to be unsure."""
    X, _, s, b, g = sample(1, beta=2.0, gamma=1.0)
    model, warned = fitted(X, s, propensity_C=1.001)
    assert model.orientation_.rule == "penalty"
    assert model.orientation_.gap < 0.1
    assert warned
    assert right(model, b, g) == right(fitted(X, s)[0], b, g)
    nothing = np.full(len(s), np.nan)
    nothing[np.flatnonzero(s == 0)[0]] = 0.0
    weight = np.where(np.isnan(nothing), 1.0, 0.0)  # the one audited row does not count
    model = JointClassifier().fit(X, s, audited_y=nothing, sample_weight=weight)
    assert model.orientation_.rule == "norm"


def test_the_swapped_solution_is_kept():
    X, _, s, *_ = sample(0)
    model, _ = fitted(X, s)
    other = model.swapped()
    np.testing.assert_allclose(other.predict_positive(X), model.predict_propensity(X))
    np.testing.assert_allclose(other.predict_label_proba(X), model.predict_label_proba(X))
    np.testing.assert_allclose(other.swapped().coef_, model.coef_)
    assert other.orientation_.gap == -model.orientation_.gap
    assert not other.orientation_.clear


def test_the_warning_says_what_to_supply():
    X, _, s, *_ = sample(0)
    with pytest.warns(
        OrientationWarning, match=r"may be swapped.*\(propensity_features\).*\(audited_y\)"
    ):
        JointClassifier().fit(X, s)


@pytest.mark.parametrize(
    ("orientation", "options", "message"),
    [
        ("features", {}, "needs propensity_features or outcome_features to be named"),
        ("audit", {}, "needs audited_y with the class of some unlabelled rows"),
        ("norm", {"propensity_features": SECOND}, "choose orientation='auto'"),
    ],
)
def test_a_rule_without_grounds_is_an_error(orientation, options, message):
    X, _, s, *_ = sample(0, n=300)
    with pytest.raises(ValueError, match=message):
        JointClassifier(orientation=orientation, **options).fit(X, s)


def test_the_order_does_not_depend_on_units():
    X, _, s, *_ = sample(2, beta=2.0, gamma=0.5)
    units = 10.0 ** np.linspace(-3, 3, P)
    plain, _ = fitted(X, s, C=np.inf, propensity_C=np.inf)
    scaled, _ = fitted(X * units, s, C=np.inf, propensity_C=np.inf)
    np.testing.assert_allclose(scaled.coef_ * units, plain.coef_, rtol=1e-2, atol=1e-3)
    assert scaled.orientation_.gap == pytest.approx(plain.orientation_.gap, rel=0.01)


def test_the_strength_gap_is_that_of_simulated_coefficients():
    """Mean and variance of b'Sb - g'Sg against draws of (b, g) about the fit."""
    X, _, s, *_ = sample(3, beta=2.0, gamma=0.5)
    problem = Problem(memory_rows(X, s), 1.0, 1.0)
    fit = joint(problem, n_starts=1)
    theta = np.concatenate([fit.beta, fit.gamma])
    V = inverse_information(problem, theta)
    draws = np.random.default_rng(0).multivariate_normal(theta, V, size=20000)
    S = np.cov(X.T, bias=True)
    b, g = draws[:, :P], draws[:, P + 1 : -1]
    difference = ((b @ S) * b).sum(axis=1) - ((g @ S) * g).sum(axis=1)
    at_fit = theta[:P] @ S @ theta[:P] - theta[P + 1 : -1] @ S @ theta[P + 1 : -1]
    # a draw about the fit adds noise once more: the fit itself has it once
    wanted = (2 * at_fit - difference.mean()) / difference.std()
    assert strength_gap(problem, theta) == pytest.approx(wanted, rel=0.05)
    swapped_gap = strength_gap(problem, swapped_theta(problem, theta))
    assert swapped_gap == pytest.approx(-strength_gap(problem, theta))
