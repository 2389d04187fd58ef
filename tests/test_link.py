"""The probit: its derivatives, its fits, its special case in statsmodels."""

import mpmath
import numpy as np
import pytest
import statsmodels.api as sm
from classifiers import FREE
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import approx_fprime
from scipy.stats import norm
from sklearn.linear_model import LogisticRegression

from doublelogit import EMClassifier, JointClassifier, infer
from doublelogit.core.labels import Labels
from doublelogit.core.link import DoubleResponse, probit


def exact(a):
    """Logit of the normal distribution function, with many digits."""
    return mpmath.log(mpmath.ncdf(a)) - mpmath.log(mpmath.ncdf(-a))


@given(st.floats(-30, 30))
def test_the_probit_against_many_digits(a):
    with mpmath.workdps(60):
        wanted = [float(mpmath.diff(exact, a, k)) for k in range(3)]
    got = [float(v[0]) for v in probit(np.array([a]))]
    np.testing.assert_allclose(got, wanted, rtol=1e-9, atol=1e-9)


# what may be known of a row; of a labelled one everything, unless negatives are labelled too
TRUE_LABELS = [(0.0, np.nan), (1.0, 1.0), (0.0, 1.0), (0.0, 0.0)]
FALSE_LABELS = [*TRUE_LABELS, (1.0, np.nan)]
RESPONSES = [(DoubleResponse(probit), row) for row in TRUE_LABELS] + [
    (response, row)
    for response in (DoubleResponse(None, 0.1), DoubleResponse(probit, 0.1))
    for row in FALSE_LABELS
]


@pytest.mark.parametrize(("response", "row"), RESPONSES)
@pytest.mark.parametrize(("a", "b"), [(0.3, -0.7), (-2.0, 1.5), (3.0, 3.0)])
def test_derivatives_of_the_linked_loss(response, row, a, b):
    labels = Labels(*(np.array([value]) for value in row))

    def value(z):
        return float(response.loss(labels, z[:1], z[1:]).value[0])

    def slopes(z):
        f = response.loss(labels, z[:1], z[1:])
        return np.array([f.d_a[0], f.d_b[0]])

    z = np.array([a, b])
    f = response.loss(labels, z[:1], z[1:])
    np.testing.assert_allclose(slopes(z), approx_fprime(z, value, 1e-7), atol=1e-5)
    hess = [[f.h_aa[0], f.h_ab[0]], [f.h_ab[0], f.h_bb[0]]]
    np.testing.assert_allclose(hess, approx_fprime(z, slopes, 1e-7), atol=1e-5)
    short = response.gradient(labels, z[:1], z[1:])
    np.testing.assert_allclose([short.value, short.d_a, short.d_b], f[:3])


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 2))
    y = rng.random(4000) < norm.cdf(1.2 * X[:, 0] - 0.2)
    s = y & (rng.random(4000) < norm.cdf(0.8 * X[:, 1] + 0.3))
    return X, y.astype(int), s.astype(int)


def test_a_fully_audited_sample_is_two_probit_regressions(data):
    X, y, s = data
    model = JointClassifier(link="probit", **FREE).fit(X, s, audited_y=y)
    result = infer(model, X, s, audited_y=y)
    fits = [
        sm.Probit(target, sm.add_constant(Z, prepend=False)).fit(disp=0, tol=1e-12)
        for Z, target in ((X, y), (X[y == 1], s[y == 1]))
    ]
    np.testing.assert_allclose(
        result.coefficients, np.concatenate([f.params for f in fits]), atol=1e-6
    )
    np.testing.assert_allclose(
        np.sqrt(np.diagonal(result.covariance)), np.concatenate([f.bse for f in fits]), atol=1e-6
    )


def test_joint_and_em_find_the_probit_and_meet(data):
    X, _, s = data
    named = {"outcome_features": [0], "propensity_features": [1]}
    joint = JointClassifier(link="probit", **named, **FREE).fit(X, s)
    em = EMClassifier(link="probit", **named, C=np.inf, propensity_C=np.inf, tol=1e-7).fit(X, s)
    np.testing.assert_allclose(em.coef_, joint.coef_, atol=1e-3)
    assert joint.coef_[0, 0] == pytest.approx(1.2, abs=0.25)
    assert joint.propensity_coef_[0, 1] == pytest.approx(0.8, abs=0.25)
    a = X @ joint.coef_[0] + joint.intercept_
    np.testing.assert_allclose(joint.predict_positive(X), norm.cdf(a), atol=1e-12)
    estimate = infer(joint, X, s).prevalence()
    assert estimate.low < norm.cdf(-0.2 / np.sqrt(1 + 1.2**2)) < estimate.high
    hidden = infer(joint, X, s).hidden()
    assert hidden.value == pytest.approx(joint.predict_hidden(X[s == 0]).sum())


def test_links_are_refused_where_they_are_not_known(data):
    X, _, s = data
    with pytest.raises(ValueError, match=r"link='probit' need solver='newton'"):
        JointClassifier(link="probit", solver="mm").fit(X, s)
    with pytest.raises(ValueError, match="is for the two models of the library"):
        EMClassifier(link="probit", outcome=LogisticRegression()).fit(X, s)
    with pytest.raises(ValueError, match="'link' parameter"):
        JointClassifier(link="cauchit").fit(X, s)
