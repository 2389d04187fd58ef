"""Profile likelihood: intervals as unions of regions, and how far they reach."""

import numpy as np
import pytest
from classifiers import FREE
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.base import clone

from doublelogit import (
    JointClassifier,
    WeakIdentificationWarning,
    infer,
)
from doublelogit.inference.fitted_problem import bind
from doublelogit.inference.profile import Profile, Walk, _Stepper, merged, profile


def test_the_profile_is_the_constrained_maximum(identified):
    model, X, s, _ = identified
    fitted = bind(model, X, s)
    found = profile(fitted)
    problem, objective = fitted.problem, fitted.problem.likelihood
    i = len(found.prevalence) - 2
    target = found.prevalence[i]

    def gap(theta):
        beta = problem.outcome.embed(objective.split(theta)[0])
        return expit(X @ beta[:-1] + beta[-1]).mean() - target

    constrained = minimize(
        lambda t: objective.value_grad(t).value,
        fitted.theta,
        jac=objective.gradient,
        constraints={"type": "eq", "fun": gap},
        method="SLSQP",
        options={"ftol": 1e-13, "maxiter": 500},
    )
    drop = problem.n * (constrained.fun - objective.value_grad(fitted.theta).value)
    assert found.drop[i] == pytest.approx(drop, abs=0.01)


def test_profile_and_delta_agree_where_the_sample_is_informative(identified):
    model, X, s, _ = identified
    result = infer(model, X, s)
    delta, profiled = result.prevalence(), result.prevalence(method="profile")
    width = delta.high - delta.low
    assert profiled.value == delta.value
    assert profiled.low == pytest.approx(delta.low, abs=0.15 * width)
    assert profiled.high == pytest.approx(delta.high, abs=0.15 * width)
    c = result.label_frequency(method="profile")
    assert c.low < result.label_frequency().value < c.high


def test_the_profile_holds_with_exact_knowledge_rare_classes_and_high_levels(identified):
    model, X, s, _ = identified
    exact = clone(model).set_params(prevalence=0.5).fit(X, s)
    low, high = infer(exact, X, s).profile.interval()
    assert 0.499 < low < 0.5 < high < 0.501
    result = infer(model, X, s)
    wide, wider = (result.prevalence(method="profile", level=p) for p in (0.99, 0.9999))
    assert s.mean() < wider.low < wide.low < wide.high < wider.high < 1
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40_000, 1))
    y = rng.random(40_000) < expit(X[:, 0] - 7)
    s = (y & (rng.random(40_000) < 0.6)).astype(int)
    audited = np.where(rng.random(40_000) < 0.5, y, np.nan)
    model = JointClassifier(propensity_features=[], **FREE).fit(X, s, audited_y=audited)
    rare = infer(model, X, s, audited_y=audited)
    delta, profiled = rare.prevalence(), rare.prevalence(method="profile")
    assert profiled.high < 2 * delta.high
    assert profiled.low <= delta.value


def test_a_flat_ridge_is_told_and_the_profile_is_wide():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = rng.random(300) < expit(0.5 * X[:, 0])
    s = (y & (rng.random(300) < 0.3)).astype(int)
    result = infer(JointClassifier().fit(X, s), X, s)
    with pytest.warns(WeakIdentificationWarning, match="hardly determine the prevalence: from"):
        result.prevalence()
    low, high = result.profile.interval()
    assert high - low > 0.4
    assert low >= s.mean()


def two_hills():
    """Labels that fit nearly as well with few positives as with many: another basin has each."""
    rng = np.random.default_rng(8)
    X = rng.normal(size=(600, 3))
    y = rng.random(600) < expit(1.5 * X[:, 0] + 0.3 * X[:, 2] + 0.5)
    s = (y & (rng.random(600) < expit(1.5 * X[:, 1] - 0.5))).astype(int)
    return X, s


def test_an_interval_is_the_union_of_the_regions_that_fit():
    drop = np.array([6.0, 1.0, 4.0, 0.0, 3.0])
    walk = Walk(np.array([0.2, 0.3, 0.4, 0.5, 0.6]), drop, (0.2, 0.6), 0.1)
    found = Profile((walk,), (0.1, 1.0)).regions(0.95)
    assert len(found) == 2
    assert 0.2 < found[0][0] < 0.3 < found[0][1] < 0.4 < found[1][0] < 0.5 < found[1][1] < 0.6
    low, high = Profile((walk,), (0.1, 1.0)).interval(0.95)
    assert (low, high) == (found[0][0], found[1][1])


def test_regions_of_several_walks_are_merged_where_they_touch():
    assert merged([(0.4, 0.6), (0.1, 0.2), (0.15, 0.3)]) == ((0.1, 0.3), (0.4, 0.6))
    other = Walk(np.array([0.7, 0.8, 0.9]), np.array([9.0, 1.0, 9.0]), (0.7, 0.9), 0.1)
    own = Walk(np.array([0.2, 0.3, 0.4]), np.array([9.0, 0.0, 9.0]), (0.2, 0.4), 0.1)
    both = Profile((own, other), (0.1, 1.0))
    assert len(both.regions()) == 2
    assert both.prevalence.tolist() == [0.2, 0.3, 0.4, 0.7, 0.8, 0.9]
    assert both.drop.min() == 0


def test_every_interval_holds_its_own_estimate():
    X, s = two_hills()
    model = JointClassifier(propensity_features=[0, 1]).fit(X, s)
    main, swapped = (infer(one, X, s).prevalence() for one in (model, model.swapped()))
    for found in (main, swapped):
        assert any(low <= found.value <= high for low, high in found.regions)
    assert swapped.high < main.value  # it has not slid into the better basin


def test_an_interval_at_the_bound_is_wide_where_the_curvature_is_not():
    """0.1 said .190 to .219 where .413 is true: at the bound the standard error vanishes."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(3000, 3))
    y = rng.random(3000) < expit(0.6 * X[:, 0] - 0.4)
    s = y & (rng.random(3000) < 0.5)
    result = infer(JointClassifier(propensity_features=[], n_starts=1).fit(X, s), X, s)
    with pytest.warns(WeakIdentificationWarning, match="no positive is hidden"):
        found = result.prevalence()
    assert found.method == "profile likelihood"
    assert found.low == pytest.approx(s.mean(), rel=1e-3)
    assert found.high > 0.35
    hidden, c = result.hidden(), result.label_frequency()
    assert hidden.high == pytest.approx(3000 * (found.high - s.mean()), rel=0.1)
    assert c.low == pytest.approx(s.mean() / found.high)


def test_profile_intervals_stretch_with_what_a_sandwich_adds(identified):
    model, X, s, _ = identified
    twice, labels = np.repeat(X, 2, axis=0), np.repeat(s, 2)
    doubled = clone(model).fit(twice, labels)
    pairs = infer(doubled, twice, labels, groups=np.repeat(np.arange(len(s)), 2)).prevalence()
    once = infer(model, X, s, cov_type="robust").prevalence()
    assert pairs.high - pairs.low == pytest.approx(once.high - once.low, rel=0.05)


def test_a_walk_leaves_the_plateau_where_every_positive_is_labelled(identified):
    """Where e(x) is one the likelihood is flat: a walk went on there, and intervals were short."""
    model, X, s, _ = identified
    fitted = bind(model, X, s)
    problem, bound = fitted.problem, s.mean()
    stuck = fitted.theta.copy()
    stuck[problem.outcome.size :] = 0.0, 40.0
    top = problem.likelihood.value_grad(fitted.theta).value
    stepper = _Stepper(problem, top, bound, 5.0, False)
    theta, attained, jumped = stepper._next(stuck, bound, 1.5 * bound)
    assert jumped
    assert attained == pytest.approx(1.5 * bound, rel=0.01)
    assert stepper.drop(theta) < stepper.drop(stepper._pulled(stuck, bound, 1.5 * bound)[0]) - 1
