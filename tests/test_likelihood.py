"""Per-row formulas against high-precision arithmetic over the whole range."""

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit

from doublelogit.core import likelihood
from doublelogit.core.labels import Labels, labels_of

mpmath.mp.dps = 60
EXTREME = 1e4
anywhere = st.one_of(st.floats(-30, 30), st.floats(-EXTREME, EXTREME))
chance = st.floats(0, 1)
observed = st.sampled_from([(0.0, np.nan), (1.0, 1.0), (0.0, 0.0), (0.0, 1.0)])


def sigma(z):
    return 1 / (1 + mpmath.exp(-z))


def exact_loss(s, known, a, b):
    """-log P(what was observed), in arithmetic of 60 digits beyond the leading one."""
    y, e = sigma(a), sigma(b)
    if s == 1:
        return -mpmath.log(y * e)
    if np.isnan(known):
        return -mpmath.log((1 - y) + y * (1 - e))
    return -mpmath.log(y * (1 - e)) if known == 1 else -mpmath.log(1 - y)


def exact_derivatives(s, known, a, b):
    """Value, gradient and Hessian by differentiating the formulas in high precision."""
    with mpmath.workdps(60 + int((abs(a) + abs(b)) / 2.3)):  # room for 1 - sigma(1e4)
        a, b = mpmath.mpf(a), mpmath.mpf(b)
        y, e = sigma(a), sigma(b)
        if np.isnan(known):
            u = y * e / (1 - y * e)  # d/da of -log(1-ye) is u (1-y), and so on
            d_a, d_b = u * (1 - y), u * (1 - e)
            ratio = 1 / (1 - y * e)
            h_aa = d_a * ((1 - y) * ratio - y)
            h_bb = d_b * ((1 - e) * ratio - e)
            h_ab = u * (1 - y) * (1 - e) * ratio
        else:
            d_a = y - known
            d_b = known * (e - s)
            h_aa, h_ab, h_bb = y * (1 - y), mpmath.mpf(0), known * e * (1 - e)
        return [exact_loss(s, known, a, b), d_a, d_b, h_aa, h_ab, h_bb]


@settings(max_examples=100, deadline=None)
@given(observed, anywhere, anywhere)
def test_double_logistic_agrees_with_high_precision_everywhere(row, a, b):
    s, known = row
    columns = [np.array([v]) for v in (s, known, a, b)]
    got = likelihood.double_logistic(Labels(*columns[:2]), *columns[2:])
    wanted = exact_derivatives(s, known, a, b)
    for name, value, exact in zip(got._fields, got, wanted, strict=True):
        exact = float(exact)
        # h_aa and h_bb change sign: near zero they are exact relative to their two terms
        slack = 4e-16 * max(abs(float(wanted[1])), abs(float(wanted[2]))) if name[0] == "h" else 0
        assert np.isfinite(value[0])
        assert value[0] == pytest.approx(exact, rel=1e-12, abs=slack + 1e-300), name


@settings(max_examples=100, deadline=None)
@given(observed, st.floats(-20, 20), st.floats(-20, 20))
def test_derivatives_are_those_of_the_value(row, a, b):
    """The closed forms above are themselves checked against numeric differentiation."""
    s, known = row
    exact = exact_derivatives(s, known, a, b)

    def f(x, z):
        return exact_loss(s, known, x, z)

    for k, order in enumerate([(1, 0), (0, 1), (2, 0), (1, 1), (0, 2)], start=1):
        numeric = mpmath.diff(f, (mpmath.mpf(a), mpmath.mpf(b)), order)
        assert float(numeric) == pytest.approx(float(exact[k]), rel=1e-9, abs=1e-20)


@settings(max_examples=200, deadline=None)
@given(anywhere, chance)
def test_logistic_agrees_with_high_precision_everywhere(a, target):
    got = likelihood.logistic(np.array([a]), np.array([target]))
    with mpmath.workdps(60 + int(abs(a) / 2.3)):
        p = sigma(mpmath.mpf(a))
        value = -target * mpmath.log(p) - (1 - target) * mpmath.log(1 - p)
        wanted = [float(v) for v in (value, p - target, p * (1 - p))]
    for found, exact in zip(got, wanted, strict=True):
        assert found[0] == pytest.approx(exact, rel=1e-12, abs=1e-15 * (1 + abs(a)))
    slope = likelihood.logistic_slope(np.array([a]), np.array([target]))
    assert slope[0] == pytest.approx(wanted[1], abs=1e-15)


@given(anywhere)
def test_sigmoid_and_its_logarithms_fit_together(a):
    p, not_p, log_p, log_not_p = (v[0] for v in likelihood.sigmoid(np.array([a])))
    assert p + not_p == pytest.approx(1, abs=1e-15)
    assert p == pytest.approx(expit(a), rel=1e-13, abs=1e-300)
    assert np.exp(log_p) == pytest.approx(p, rel=1e-11, abs=1e-300)
    assert log_p - log_not_p == pytest.approx(a, rel=1e-13, abs=1e-13)


@given(anywhere, anywhere)
def test_label_is_rarer_than_class_and_propensity(a, b):
    """s <= e <= 1 and s <= y."""
    y, e = expit(a), expit(b)
    s = -np.expm1(
        likelihood.log_not_label(np.array([a]), np.log1p([-e]) if e < 1 else np.array([-b]))
    )
    assert 0 <= s[0] <= min(y, e) * (1 + 1e-9) + 1e-15
    assert e <= 1


@given(st.floats(-15, 15), st.floats(-15, 15))
def test_odds_ratio_is_the_chance_of_a_hidden_positive(a, b):
    """OR = (1-e)/e / ((1-s)/s) = y(1-e)/(1-ye), in [0, 1]."""
    y, e = expit(a), expit(b)
    s = y * e
    ratio = (1 - e) / e / ((1 - s) / s)
    got = likelihood.positive_given_unlabelled(np.array([a]), np.log1p([-e]))[0]
    assert 0 <= got <= 1
    assert got == pytest.approx(ratio, rel=1e-7)
    assert got == pytest.approx(y * (1 - e) / (1 - y * e), rel=1e-7)


def test_odds_ratio_is_finite_where_the_propensity_is_one():
    got = likelihood.positive_given_unlabelled(np.array([1e4, 0.0, -1e4]), np.array([-np.inf] * 3))
    assert (got == 0).all()


@given(st.floats(-10, 10), st.floats(-10, 10), st.floats(-10, 10))
def test_weights_identity_of_lemma_2(a, b, other):
    """E_S[w1 log y' + w0 log(1-y')] = y log y' + (1-y) log(1-y'), for any other y'."""
    y, e, y_other = expit(a), expit(b), expit(other)
    s_x = y * e
    t = likelihood.positive_given_label(np.array([1.0, np.nan]), np.full(2, a), np.full(2, b))
    log_1, log_0 = np.log(y_other), np.log1p(-y_other)
    by_label = t * log_1 + (1 - t) * log_0  # given S=1, given S=0
    expectation = s_x * by_label[0] + (1 - s_x) * by_label[1]
    assert expectation == pytest.approx(y * log_1 + (1 - y) * log_0, rel=1e-9)


@given(chance, st.sampled_from([0.0, 1.0]), st.floats(-15, 15), st.floats(-15, 15))
def test_lbe_criterion_keeps_the_weight_on_the_propensity_term(q, s, a, b):
    h, eta = expit(a), expit(b)
    term_1 = -q * np.log(h) - (1 - q) * np.log1p(-h)
    term_2 = -(s * np.log(eta) + (1 - s) * np.log1p(-eta))
    columns = [np.array([v]) for v in (s, q, a, b)]
    got = likelihood.expected_complete(Labels(*columns[:2]), *columns[2:])
    assert got.value[0] == pytest.approx(term_1 + q * term_2, rel=1e-6, abs=1e-9)
    assert got.d_a[0] == pytest.approx(h - q, abs=1e-12)
    assert got.d_b[0] == pytest.approx(q * (eta - s), abs=1e-12)


def test_gradient_is_fishers_identity_and_hessian_louis():
    """(y - t, t(e - s)) and complete minus missing information, as in the docstring."""
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 500)) * 3
    s = (rng.random(500) < 0.3).astype(float)
    known = np.where(s == 1, 1.0, np.nan)
    y, e, t = expit(a), expit(b), likelihood.positive_given_label(known, a, b)
    f = likelihood.double_logistic(Labels(s, known), a, b)
    missing = t * (1 - t)
    np.testing.assert_allclose(f.d_a, y - t, atol=1e-14)
    np.testing.assert_allclose(f.d_b, t * (e - s), atol=1e-14)
    np.testing.assert_allclose(f.h_aa, y * (1 - y) - missing, atol=1e-14)
    np.testing.assert_allclose(f.h_ab, missing * e, atol=1e-14)
    np.testing.assert_allclose(f.h_bb, t * e * (1 - e) - missing * e**2, atol=1e-14)


def test_curvature_never_exceeds_a_quarter():
    """The bound of the minoriser of JOINT."""
    rng = np.random.default_rng(0)
    a, b = rng.uniform(-20, 20, size=(2, 20_000))
    f = likelihood.double_logistic(labels_of(np.zeros(20_000)), a, b)
    assert max(f.h_aa.max(), f.h_bb.max()) <= 0.25
