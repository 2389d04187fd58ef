"""The prevalence and the label frequency as functions of theta, and outside knowledge of them."""

from dataclasses import replace

import numpy as np
import pytest
import statsmodels.api as sm
from scipy.optimize import approx_fprime
from scipy.special import expit
from statsmodels.genmod.families.links import Logit

from doublelogit import JointClassifier, infer
from doublelogit.core.link import LINKS
from doublelogit.engines.memory import memory_rows
from doublelogit.methods import Problem
from doublelogit.methods.belief import VALUE_GRAD, VALUE_GRAD_HESS, Belief
from doublelogit.methods.prevalence import label_frequency_at, prevalence_at

pytestmark = pytest.mark.filterwarnings("ignore::doublelogit.WeakIdentificationWarning")

BELIEFS = {
    "prevalence": Belief(0.4, 0.02),
    "label frequency": Belief(0.5, 0.03, "label frequency"),
}


@pytest.fixture(params=BELIEFS)
def belief(request):
    return BELIEFS[request.param]


@pytest.fixture
def problem(sample, belief):
    return Problem(memory_rows(sample.X, sample.s), 1.0, 0.5, beliefs=(belief,))


@pytest.mark.parametrize("link", LINKS.values(), ids=LINKS)
def test_derivatives_of_what_is_believed(problem, sample, belief, link):
    theta = np.concatenate([0.5 * sample.beta, sample.gamma])
    objective = replace(problem, link=link).likelihood
    first, second = (
        VALUE_GRAD[belief.about](objective, theta),
        VALUE_GRAD_HESS[belief.about](objective, theta),
    )

    def value(t):
        return VALUE_GRAD[belief.about](objective, t).value

    def grad(t):
        return VALUE_GRAD[belief.about](objective, t).grad

    np.testing.assert_allclose(first.grad, approx_fprime(theta, value, 1e-7), rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(second.hess, approx_fprime(theta, grad, 1e-7), rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(second.grad, first.grad)
    assert second.value == pytest.approx(first.value)


@pytest.mark.parametrize("link", LINKS.values(), ids=LINKS)
def test_derivatives_of_the_likelihood_with_a_belief(problem, sample, link):
    theta = np.concatenate([0.5 * sample.beta, sample.gamma])
    objective = replace(problem, link=link).likelihood
    first, second = objective.value_grad(theta), objective.value_grad_hess(theta)

    def value(t):
        return objective.value_grad(t).value

    np.testing.assert_allclose(first.grad, approx_fprime(theta, value, 1e-7), rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(
        second.hess, approx_fprime(theta, objective.gradient, 1e-7), rtol=1e-4, atol=1e-5
    )
    np.testing.assert_allclose(second.grad, first.grad)
    assert second.value == pytest.approx(first.value)


@pytest.mark.parametrize("pi", [0.35, 0.5, 0.65])
def test_a_known_prevalence_is_met(sample, pi):
    model = JointClassifier(prevalence=pi, n_starts=2).fit(sample.X, sample.s)
    assert model.predict_positive(sample.X).mean() == pytest.approx(pi, abs=1e-4)


@pytest.mark.parametrize("c", [0.5, 0.7])
def test_a_known_label_frequency_is_met(sample, c):
    model = JointClassifier(label_frequency=c, n_starts=2).fit(sample.X, sample.s)
    y_x, e_x = model.predict_positive(sample.X), model.predict_propensity(sample.X)
    assert (y_x * e_x).sum() / y_x.sum() == pytest.approx(c, abs=1e-4)


class Scaled(Logit):
    """P(S=1 | x) = c sigma(x'beta): the labels under SCAR with a known label frequency."""

    def __init__(self, c):
        self.c = c

    def __call__(self, p):
        return super().__call__(p / self.c)

    def inverse(self, z):
        return self.c * super().inverse(z)

    def deriv(self, p):
        return super().deriv(p / self.c) / self.c

    def deriv2(self, p):
        return super().deriv2(p / self.c) / self.c**2

    def inverse_deriv(self, z):
        return self.c * super().inverse_deriv(z)


def test_scar_with_a_known_label_frequency_is_a_generalised_linear_model():
    rng, c = np.random.default_rng(0), 0.6
    X = rng.normal(size=(2000, 2))
    y = rng.random(2000) < expit(X @ [1.5, -1.0] - 0.5)
    s = (y & (rng.random(2000) < c)).astype(int)
    free = {"C": np.inf, "propensity_C": np.inf, "tol": 1e-8}
    model = JointClassifier(propensity_features=[], label_frequency=c, **free).fit(X, s)
    glm = sm.GLM(s, sm.add_constant(X, prepend=False), sm.families.Binomial(Scaled(c)))
    theirs = glm.fit(start_params=np.append(model.coef_, model.intercept_), tol=1e-14)
    ours = np.append(model.coef_, model.intercept_)
    np.testing.assert_allclose(ours, theirs.params, atol=1e-6)
    errors = np.sqrt(np.diagonal(infer(model, X, s).covariance))[:3]
    information = -np.linalg.inv(glm.hessian(theirs.params, observed=True))
    np.testing.assert_allclose(errors, np.sqrt(np.diagonal(information)), rtol=1e-6)


def test_false_labels_change_what_a_label_frequency_implies():
    assert prevalence_at(0.5, mean_s=0.25) == 0.5
    pi = prevalence_at(0.5, mean_s=0.25, false_rate=0.1)
    assert pi == pytest.approx(0.375)
    assert label_frequency_at(pi, mean_s=0.25, false_rate=0.1) == pytest.approx(0.5)


def test_the_profile_of_the_label_frequency_is_that_of_the_prevalence(sample):
    model = JointClassifier(false_label_rate=0.05).fit(sample.X, sample.s)
    result = infer(model, sample.X, sample.s)
    c, pi = result.label_frequency(method="profile"), result.prevalence(method="profile")
    mean_s = sample.s.mean()
    assert c.low == pytest.approx(label_frequency_at(pi.high, mean_s, 0.05))
    assert c.value == pytest.approx(result.label_frequency().value)
    assert result.profile.bounds[0] == pytest.approx((mean_s - 0.05) / 0.95)


def test_a_vague_belief_changes_little_and_a_firm_one_pulls(sample):
    plain = JointClassifier().fit(sample.X, sample.s).predict_positive(sample.X).mean()
    estimates = [
        JointClassifier(prevalence=(0.9, sd)).fit(sample.X, sample.s).predict_positive(sample.X)
        for sd in (10.0, 0.05, 0.001)
    ]
    vague, firm, exact = (e.mean() for e in estimates)
    assert vague == pytest.approx(plain, abs=1e-3)
    assert plain < firm < exact
    assert exact == pytest.approx(0.9, abs=0.005)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"prevalence": 0.4, "label_frequency": 0.5}, "give one"),
        ({"prevalence": 0.01}, "must not be below what the labelled rows prove"),
        ({"label_frequency": 0.1}, "must be at least the share of labelled rows"),
        ({"prevalence": (0.4, -1)}, r"\(mean, sd\); got \(0.4, -1\)"),
        ({"prevalence": (0.4, 0.1, 0.1)}, r"\(mean, sd\); got"),
        ({"prevalence": 0.5, "solver": "mm"}, r"need solver='newton'"),
    ],
)
def test_impossible_knowledge_is_refused(sample, options, message):
    with pytest.raises(ValueError, match=message):
        JointClassifier(**options).fit(sample.X, sample.s)


def test_what_is_known_of_the_prevalence_tells_the_models_apart(sample):
    model = JointClassifier(prevalence=float(sample.y.mean())).fit(sample.X, sample.s)
    assert model.orientation_.rule == "prevalence"
