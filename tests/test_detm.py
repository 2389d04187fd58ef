"""DETM: the softmax's formulas, its limits, its orientation and its intervals."""

import warnings

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from doublelogit import JointClassifier, infer
from doublelogit.core.labels import Labels
from doublelogit.core.link import DoubleResponse, probit
from doublelogit.engines.memory import memory_rows
from doublelogit.exceptions import OrientationWarning
from doublelogit.inference.covariance import Sampling
from doublelogit.inference.fitted_problem import FittedProblem
from doublelogit.inference.groups import Groups
from doublelogit.inference.shares import GroupShares
from doublelogit.methods import Problem
from doublelogit.methods.orientation import strength_gap, swapped_theta
from doublelogit.studies.methods import SoftmaxProblem, detm
from doublelogit.studies.methods.softmax_loss import softmax, softmax_logit
from doublelogit.studies.methods.softmax_response import SoftmaxResponse
from doublelogit.studies.rivals import DETMClassifier

mpmath.mp.dps = 60
anywhere = st.one_of(st.floats(-30, 30), st.floats(-2e3, 2e3))
observed = st.sampled_from([(0.0, np.nan), (1.0, 1.0), (0.0, 0.0), (0.0, 1.0)])
BETA, GAMMA = np.array([2.0, -1.5, 0.5, -0.5]), np.array([-0.3, 0.6, 0.2, 0.3])


def exact_loss(s, known, a, b):
    """-log P(what was observed), from the three classes of the softmax."""
    labelled, hidden = mpmath.exp(a + b), mpmath.exp(a)
    total = 1 + hidden + labelled
    if s == 1:
        return -mpmath.log(labelled / total)
    seen = {1.0: hidden, 0.0: mpmath.mpf(1)}.get(known, hidden + 1)
    return -mpmath.log(seen / total)


def exact_derivatives(s, known, a, b):
    """Value, gradient and Hessian: (y - T, ye - s), and their derivatives."""
    with mpmath.workdps(80 + int(2 * abs(a) + abs(b))):
        a, b = mpmath.mpf(a), mpmath.mpf(b)
        labelled, hidden = mpmath.exp(a + b), mpmath.exp(a)
        total = 1 + hidden + labelled
        s_x, y, t = labelled / total, (labelled + hidden) / total, hidden / (1 + hidden)
        T = t if np.isnan(known) else mpmath.mpf(known)
        h_aa = y * (1 - y) - (t * (1 - t) if np.isnan(known) else 0)
        loss = exact_loss(s, known, a, b)
        return [loss, y - T, s_x - s, h_aa, s_x * (1 - y), s_x * (1 - s_x)]


@settings(max_examples=80, deadline=None)
@given(observed, anywhere, anywhere)
def test_the_softmax_loss_agrees_with_high_precision_everywhere(row, a, b):
    s, known = row
    columns = [np.array([v]) for v in (s, known, a, b)]
    got = softmax(Labels(*columns[:2]), *columns[2:])
    wanted = exact_derivatives(s, known, a, b)
    for name, value, exact in zip(got._fields, got, wanted, strict=True):
        # h_aa changes sign: near zero it is exact relative to its two terms
        slack = 4e-16 * abs(float(wanted[1])) if name == "h_aa" else 0
        assert np.isfinite(value[0])
        assert value[0] == pytest.approx(float(exact), rel=4e-12, abs=slack + 1e-300), name


@settings(max_examples=60, deadline=None)
@given(observed, st.floats(-15, 15), st.floats(-15, 15))
def test_derivatives_are_those_of_the_value(row, a, b):
    exact = exact_derivatives(*row, a, b)
    for k, order in enumerate([(1, 0), (0, 1), (2, 0), (1, 1), (0, 2)], start=1):
        at = (mpmath.mpf(a), mpmath.mpf(b))
        numeric = mpmath.diff(lambda x, z: exact_loss(*row, x, z), at, order)
        assert float(numeric) == pytest.approx(float(exact[k]), rel=1e-9, abs=1e-20)


@pytest.mark.parametrize(
    "response", [SoftmaxResponse(), DoubleResponse(), DoubleResponse(probit, 0.1)]
)
@pytest.mark.parametrize("name", ["outcome", "labelled", "hidden"])
def test_probabilities_have_the_derivatives_of_finite_differences(response, name):
    rng = np.random.default_rng(0)
    a, b = rng.uniform(-4, 4, size=(2, 200))
    of, step = getattr(response, name), 1e-5
    found = of(a, b)
    by_a = [(u - d) / (2 * step) for u, d in zip(of(a + step, b), of(a - step, b), strict=True)]
    by_b = [(u - d) / (2 * step) for u, d in zip(of(a, b + step), of(a, b - step), strict=True)]
    numeric = [by_a[0], by_b[0], by_a[1], by_b[1], by_b[2]][: len(found) - 1]
    for derivative, wanted in zip(found[1:], numeric, strict=True):
        np.testing.assert_allclose(derivative, wanted, atol=1e-9)


def test_the_probabilities_are_those_of_three_classes():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 100)) * 3
    three = np.exp(np.column_stack([a + b, a, np.zeros(100)]))
    labelled, hidden, negative = (three / three.sum(axis=1, keepdims=True)).T
    response = SoftmaxResponse()
    np.testing.assert_allclose(response.outcome(a, b).value, 1 - negative)
    np.testing.assert_allclose(response.labelled(a, b).value, labelled)
    np.testing.assert_allclose(response.hidden(a, b).value, hidden / (hidden + negative))
    np.testing.assert_allclose(labelled / (labelled + hidden), expit(b))


def draw(seed, n=3000, beta=BETA, gamma=GAMMA):
    """Rows of the model: features, class and label."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, len(beta) - 1))
    a, b = X @ beta[:-1] + beta[-1], X @ gamma[:-1] + gamma[-1]
    y = rng.random(n) < expit(softmax_logit(a, b))
    return X, y.astype(float), (y & (rng.random(n) < expit(b))).astype(float)


def audit(y, s, n, seed=0):
    audited = np.full(len(y), np.nan)
    rows = np.random.default_rng(seed).choice(np.flatnonzero(s == 0), n, replace=False)
    audited[rows] = y[rows]
    return audited


def softmax_problem(X, s, l2=0.0, audited=None):
    return SoftmaxProblem(memory_rows(X, s, audited=audited), l2, l2)


def test_the_coefficients_of_simulated_rows_are_found_again():
    X, y, s = draw(0, n=20_000)
    model = DETMClassifier(C=np.inf, n_starts=1).fit(X, s, audited_y=audit(y, s, 2000))
    np.testing.assert_allclose(model.coef_[0], BETA[:-1], atol=0.15)
    np.testing.assert_allclose(model.propensity_coef_[0], GAMMA[:-1], atol=0.15)
    assert model.predict_positive(X).mean() == pytest.approx(y.mean(), abs=0.01)


def test_swapping_hidden_positives_and_negatives_leaves_the_likelihood():
    X, _, s = draw(1, n=500)
    problem = softmax_problem(X, s)
    theta = np.random.default_rng(0).normal(size=8)
    swapped = swapped_theta(problem, theta)
    values = [problem.likelihood.value_grad(t).value for t in (theta, swapped)]
    assert values[0] == pytest.approx(values[1], rel=1e-12)
    np.testing.assert_allclose(swapped_theta(problem, swapped), theta)
    one, other = problem.fitted(theta), problem.fitted(swapped)
    np.testing.assert_allclose(one.label_proba(X), other.label_proba(X))
    np.testing.assert_allclose(one.hidden_proba(X), 1 - other.hidden_proba(X))


def test_the_swapped_solution_is_stronger_by_as_much_less():
    X, _, s = draw(1)
    problem = softmax_problem(X, s)
    theta = problem.theta(detm(problem, n_starts=1, tol=1e-9).model)
    gap = strength_gap(problem, theta)
    assert gap > 0
    assert strength_gap(problem, swapped_theta(problem, theta)) == pytest.approx(-gap, rel=1e-6)


def test_with_a_constant_propensity_it_is_joint_under_labelling_at_random():
    X, _, s = draw(2)
    options = {"propensity_features": [], "C": np.inf, "n_starts": 3, "tol": 1e-9}
    one, other = DETMClassifier(**options).fit(X, s), JointClassifier(**options).fit(X, s)
    np.testing.assert_allclose(one.predict_positive(X), other.predict_positive(X), atol=1e-5)
    np.testing.assert_allclose(one.predict_propensity(X), other.predict_propensity(X), atol=1e-5)
    np.testing.assert_allclose(one.coef_, other.coef_, atol=1e-4)
    here, there = infer(one, X, s).prevalence(), infer(other, X, s).prevalence()
    assert here.value == pytest.approx(there.value, abs=1e-5)
    assert here.se == pytest.approx(there.se, rel=1e-3)


@pytest.mark.filterwarnings("ignore")
def test_where_every_positive_is_labelled_it_is_the_oracle():
    X, y, _ = draw(3)
    oracle = LogisticRegression(C=np.inf, tol=1e-8).fit(X, y).predict_proba(X)[:, 1]
    audited = DETMClassifier(C=np.inf).fit(X, y, audited_y=y)
    np.testing.assert_allclose(audited.predict_positive(X), oracle, atol=2e-3)
    assert audited.predict_propensity(X)[y == 1].mean() > 0.999


@pytest.mark.parametrize("seed", range(3))
def test_audited_rows_settle_the_orientation(seed):
    X, y, s = draw(seed)
    model = DETMClassifier(n_starts=2).fit(X, s, audited_y=audit(y, s, 200, seed))
    assert model.orientation_.rule == "audit"
    assert model.orientation_.clear
    assert np.corrcoef(model.coef_[0], BETA[:-1])[0, 1] > 0.9


@pytest.mark.parametrize("penalty", [np.inf, 1.0])
def test_hidden_positives_are_those_more_like_the_labelled(penalty):
    """Whichever of the two solutions a search ends in, that with the nearer positives is kept."""
    X, _, s = draw(4)
    model = DETMClassifier(C=penalty, propensity_C=penalty, tol=1e-9).fit(X, s)
    assert model.orientation_.rule == "likeness"
    other = model.swapped()
    assert model.propensity_coef_.var() < other.propensity_coef_.var()
    assert np.corrcoef(model.coef_[0], BETA[:-1])[0, 1] > 0.9
    close = 1e-5 if np.isinf(penalty) else 0.05  # each has a penalty of its own
    np.testing.assert_allclose(other.predict_hidden(X), 1 - model.predict_hidden(X), atol=close)
    np.testing.assert_allclose(other.swapped().coef_, model.coef_)
    assert infer(other, X, s).prevalence().value == pytest.approx(other.predict_positive(X).mean())


def test_an_unclear_orientation_is_said():
    """Rows of either kind equally like the labelled: gamma and beta + gamma of equal strength."""
    gamma = np.array([1.0, 0.0, 0.0, 0.0])
    beta = np.array([-2.0, 0.0, 0.0, 0.0])  # beta + gamma = -gamma
    X, _, s = draw(5, beta=beta, gamma=gamma)
    with pytest.warns(OrientationWarning, match="hidden positives are more like labelled rows"):
        model = DETMClassifier(n_starts=2).fit(X, s)
    assert not model.orientation_.clear


def test_features_tell_apart_only_if_the_propensity_lacks_one_of_the_outcome():
    """Otherwise beta + gamma fits in the place of gamma, and the swapped pair is a model too."""
    X, _, s = draw(6)
    rules = [
        DETMClassifier(n_starts=1, **named).fit(X, s).orientation_.rule
        for named in (
            {"propensity_features": [1, 2]},
            {"outcome_features": [0, 1], "propensity_features": [2]},
            {"outcome_features": [0, 1]},
        )
    ]
    assert rules == ["features", "features", "likeness"]


def test_a_known_prevalence_is_met():
    X, _, s = draw(7)
    model = DETMClassifier(prevalence=(0.8, 0.001), n_starts=2).fit(X, s)
    assert model.predict_positive(X).mean() == pytest.approx(0.8, abs=0.005)
    assert model.orientation_.rule == "prevalence"


def test_several_starts_are_never_worse_than_one():
    for seed in range(3):
        X, _, s = draw(seed, n=200)
        values = [detm(softmax_problem(X, s, 1.0), n_starts=n).trace[-1] for n in (1, 6)]
        assert values[1] <= values[0] + 1e-9


def test_shares_have_the_gradients_of_finite_differences():
    X, y, s = draw(8, n=400)
    problem = softmax_problem(X, s, audited=audit(y, s, 50))
    theta = np.concatenate([BETA, GAMMA])

    def sums(theta):
        fitted = FittedProblem(problem, theta, ("a", "b", "c"))
        return GroupShares.over(fitted, Groups.everyone(problem.rows), Sampling()).sums

    for k in range(len(theta)):
        step = np.zeros(len(theta))
        step[k] = 1e-5
        up, down = sums(theta + step), sums(theta - step)
        numeric = [(up.moments[0, 2] - down.moments[0, 2]), (up.hidden[0, 1] - down.hidden[0, 1])]
        found = [sums(theta).slopes[0, k], sums(theta).hidden_slopes[0, k]]
        np.testing.assert_allclose(found, np.array(numeric) / 2e-5, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("about", ["prevalence", "label frequency"])
def test_beliefs_have_the_gradients_of_finite_differences(about):
    from doublelogit.methods.belief import Belief

    X, _, s = draw(9, n=300)
    rows = memory_rows(X, s)
    problem = SoftmaxProblem(rows, 1.0, 1.0, beliefs=(Belief(0.6, 0.01, about),))
    theta = np.concatenate([BETA, GAMMA])
    found = problem.likelihood.value_grad_hess(theta)
    for k in range(len(theta)):
        step = np.zeros(len(theta))
        step[k] = 1e-5
        up, down = (problem.likelihood.value_grad(theta + sign * step) for sign in (1, -1))
        assert found.grad[k] == pytest.approx((up.value - down.value) / 2e-5, rel=1e-5, abs=1e-7)
        numeric = (up.grad - down.grad) / 2e-5
        np.testing.assert_allclose(found.hess[k], numeric, rtol=1e-5, atol=1e-6)


def covered(seeds, n=1500, audited=150):
    """Whether 95% intervals hold the prevalence of the population, one answer per sample."""
    truth = draw(10**6, n=400_000)[1].mean()
    answers = []
    for seed in seeds:
        X, y, s = draw(seed, n=n)
        known = audit(y, s, audited, seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = DETMClassifier(C=np.inf, propensity_C=np.inf, n_starts=1)
            found = infer(model.fit(X, s, audited_y=known), X, s, audited_y=known).prevalence()
        answers.append(found.low <= truth <= found.high)
    return np.array(answers)


@pytest.mark.parametrize(
    ("samples", "least"), [(12, 9), pytest.param(60, 52, marks=pytest.mark.slow)]
)
def test_intervals_of_the_prevalence_hold_it(samples, least):
    """The chance that fewer 95% intervals hold it is 1 in 450 of 12, and 1 in 350 of 60."""
    assert covered(range(samples)).sum() >= least


def test_everything_that_inference_offers_is_there():
    X, y, s = draw(10, n=1500)
    known = audit(y, s, 200)
    model = DETMClassifier(n_starts=2).fit(X, s, audited_y=known)
    found = infer(model, X, s, audited_y=known)
    by_delta, by_profile = found.prevalence(), found.prevalence(method="profile")
    assert by_profile.low == pytest.approx(by_delta.low, abs=0.02)
    assert by_profile.high == pytest.approx(by_delta.high, abs=0.02)
    assert found.hidden().low < y[s == 0].sum() < found.hidden().high
    assert found.label_frequency().low < s.sum() / y.sum() < found.label_frequency().high
    assert set(found.prevalence(by=X[:, 0] > 0)) == {False, True}
    assert "All 8 starts lead to one optimum" in str(found.diagnose())
    robust = infer(model, X, s, audited_y=known, cov_type="robust").prevalence()
    assert robust.se == pytest.approx(by_delta.se, rel=0.3)


def test_what_speaks_for_a_row_adds_up_to_its_logit():
    """The logit of a hidden positive is x'beta: labelling has no part in it."""
    X, _, s = draw(13, n=500)
    fitted = DETMClassifier(n_starts=1).fit(X, s)
    model, logit_t = (
        fitted.model_,
        np.log(fitted.predict_hidden(X) / (1 - fitted.predict_hidden(X))),
    )
    beta, gamma = model.coefficients()
    moved = X @ beta[:-1] + model.hidden_slope(X) * (X @ gamma[:-1])
    np.testing.assert_allclose(moved + beta[-1], logit_t, atol=1e-8)


def test_columns_far_from_zero_change_nothing():
    X, y, s = draw(11)
    known = audit(y, s, 200)
    options = {"n_starts": 1, "tol": 1e-10}
    near = DETMClassifier(**options).fit(X, s, audited_y=known)
    far = DETMClassifier(**options).fit(X + 1000.0, s, audited_y=known)
    np.testing.assert_allclose(far.coef_, near.coef_, atol=1e-6)
    np.testing.assert_allclose(far.predict_positive(X + 1000), near.predict_positive(X), atol=1e-6)


def test_the_start_is_the_tangent_of_the_double_logistic_model():
    """Exact where gamma has no slopes."""
    X, _, s = draw(12, n=200)
    problem = softmax_problem(X, s)
    theta = np.array([1.0, 2.0, -1.0, 0.5, 0.0, 0.0, 0.0, 0.7])
    double = Problem(problem.rows).fitted(theta)
    near = problem.fitted(problem.approximated(theta))
    np.testing.assert_allclose(near.outcome_proba(X), double.outcome_proba(X))
    np.testing.assert_allclose(near.hidden_proba(X), double.hidden_proba(X))
