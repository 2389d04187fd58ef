"""The prevalence as a function of beta, and outside knowledge of it."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import approx_fprime

from doublelogit import JointClassifier
from doublelogit.engines.memory import memory_rows
from doublelogit.link import LINKS
from doublelogit.methods import Problem
from doublelogit.methods.prevalence import Belief, prevalence_first, prevalence_second


@pytest.fixture
def problem(sample):
    return Problem(memory_rows(sample.X, sample.s), 1.0, 0.5, belief=Belief(0.4, 0.02))


@pytest.mark.parametrize("link", LINKS.values(), ids=LINKS)
def test_derivatives_of_the_prevalence(problem, sample, link):
    beta = 0.5 * sample.beta
    problem = replace(problem, link=link)
    objective = problem.likelihood

    def at(b):
        return prevalence_first(objective, np.concatenate([b, sample.gamma]))

    def value(b):
        return at(b).value

    def grad(b):
        return at(b).grad

    first = at(beta)
    second = prevalence_second(objective, np.concatenate([beta, sample.gamma]))

    np.testing.assert_allclose(first.grad, approx_fprime(beta, value, 1e-7), rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(second.hess, approx_fprime(beta, grad, 1e-7), rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(second.grad, first.grad)
    assert second.value == pytest.approx(first.value)


@pytest.mark.parametrize("link", LINKS.values(), ids=LINKS)
def test_derivatives_of_the_likelihood_with_a_belief(problem, sample, link):
    theta = np.concatenate([0.5 * sample.beta, sample.gamma])
    objective = replace(problem, link=link).likelihood
    first, second = objective.first(theta), objective.second(theta)

    def value(t):
        return objective.first(t).value

    np.testing.assert_allclose(first.grad, approx_fprime(theta, value, 1e-7), rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(
        second.hess, approx_fprime(theta, objective.gradient, 1e-7), rtol=1e-4, atol=1e-5
    )
    np.testing.assert_allclose(second.grad, first.grad)
    assert second.value == pytest.approx(first.value)


@pytest.mark.parametrize("pi", [0.35, 0.5, 0.65])
def test_a_known_prevalence_is_met(sample, pi):
    model = JointClassifier(prevalence=pi).fit(sample.X, sample.s)
    assert model.predict_positive(sample.X).mean() == pytest.approx(pi, abs=1e-4)


def test_a_label_frequency_says_the_same_as_its_prevalence(sample):
    by_c = JointClassifier(label_frequency=0.6).fit(sample.X, sample.s)
    by_pi = JointClassifier(prevalence=sample.s.mean() / 0.6).fit(sample.X, sample.s)
    np.testing.assert_allclose(by_c.coef_, by_pi.coef_, atol=1e-6)


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
        ({"prevalence": 0.01}, "between the share of labelled rows"),
        ({"label_frequency": 0.1}, "between the share of labelled rows"),
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
