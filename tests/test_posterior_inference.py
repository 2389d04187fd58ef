"""Inference from a posterior: the same questions as of a likelihood, answered by draws."""

import numpy as np
import pytest
from scipy.special import expit

from doublelogit import AveragedClassifier, JointClassifier, infer
from doublelogit.findings import Finding
from doublelogit.inference import LikelihoodInference, PosteriorInference

SHARED = ("prevalence", "label_frequency", "hidden")


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(1500, 3)) + np.array([0.0, 20.0, 0.0])
    y = rng.random(1500) < expit(2 * X[:, 0] - 0.5)
    s = (y & (rng.random(1500) < expit(1.2 * X[:, 2]))).astype(int)
    return X, y, s, np.where(X[:, 0] > 0, "old", "young")


@pytest.fixture(scope="module")
def model(rows):
    X, _, s, _ = rows
    return AveragedClassifier(shape="line", propensity_features=[2]).fit(X, s)


@pytest.fixture(scope="module")
def found(rows, model):
    X, _, s, _ = rows
    return infer(model, X, s)


def drawn(model, X, n=4000, seed=0):
    """Draws of y(x) of every row from the mixture, without the spread within cells."""
    rng, mixture = np.random.default_rng(seed), model.model_
    _, side = mixture.outcome_model.lines(mixture.weight)
    draws = []
    for k in rng.choice(len(mixture.weight), n, p=mixture.weight):
        coef = rng.multivariate_normal(side.coef[k], side.covariance[k])
        draws.append(expit(X @ coef[:-1] + coef[-1]))
    return np.array(draws)


def test_both_kinds_of_inference_answer_the_same_questions(rows, found):
    X, _, s, groups = rows
    joint = JointClassifier(propensity_features=[2]).fit(X, s)
    other = infer(joint, X, s)
    assert isinstance(found, PosteriorInference)
    assert isinstance(other, LikelihoodInference)
    for name in SHARED:
        mine, theirs = getattr(found, name)(), getattr(other, name)()
        assert mine.value == pytest.approx(theirs.value, rel=0.15)
        assert mine.low < mine.value < mine.high
        assert getattr(found, name)(by=groups).keys() == getattr(other, name)(by=groups).keys()
    for result in (found, other):
        assert "Outcome: who is positive" in str(result.summary())
        assert all(isinstance(f, Finding) for f in result.diagnose().findings)


def test_the_prevalence_is_that_of_the_model(model, found):
    estimate = found.prevalence(level=0.9)
    assert estimate.value == pytest.approx(model.prevalence_)
    assert (estimate.low, estimate.high) == pytest.approx(model.prevalence_interval(0.9), abs=1e-6)
    frequency = found.label_frequency(level=0.9)
    assert frequency.value == pytest.approx(model.label_frequency_)
    interval = model.label_frequency_interval(0.9)
    assert (frequency.low, frequency.high) == pytest.approx(interval, abs=1e-5)


def test_groups_are_as_sure_as_draws_of_their_coefficients(rows, model, found):
    X, _, _, groups = rows
    draws = drawn(model, X)
    for name, estimate in found.prevalence(by=groups, level=0.9).items():
        inside = draws[:, groups == name].mean(axis=1)
        assert estimate.value == pytest.approx(inside.mean(), abs=0.01)
        width = np.subtract(*np.quantile(inside, [0.95, 0.05]))
        # the estimate also has what drawing the rows adds, and the spread within a cell; draws are
        # of the middles of cells, from which their mass leans towards the peak
        assert 0.94 * width < estimate.high - estimate.low < 1.5 * width


def test_groups_add_up_to_all_rows(rows, found):
    _, _, _, groups = rows
    for name in ("prevalence", "hidden"):
        whole, parts = getattr(found, name)(), getattr(found, name)(by=groups)
        sizes = {g: (groups == g).mean() if name == "prevalence" else 1.0 for g in parts}
        total = sum(sizes[g] * part.value for g, part in parts.items())
        assert total == pytest.approx(whole.value)


def test_hidden_positives_are_the_expected_ones(rows, model, found):
    X, y, s, _ = rows
    estimate = found.hidden()
    assert estimate.value == pytest.approx(model.predict_hidden(X)[s == 0].sum(), rel=0.02)
    assert estimate.low < (y & (s == 0)).sum() < estimate.high


def test_a_posterior_summary_has_only_the_terms_of_each_model(model, found):
    summary = found.summary()
    assert [term for which, term in summary.terms if which == "propensity"] == ["x2", "intercept"]
    ends = model.coef_interval(0.95)
    low, high = summary.column("low"), summary.column("high")
    np.testing.assert_allclose(np.column_stack([low, high])[:4], ends[0])
    assert ((summary.column("P(>0)") >= 0) & (summary.column("P(>0)") <= 1)).all()
    assert summary.to_frame().shape == (6, 6)


def test_a_posterior_diagnosis_is_drawn_in_three_panels(found, tmp_path):
    diagnosis = found.diagnose()
    assert "on labels by the features named for them" in str(diagnosis)
    figure = diagnosis.plot()
    assert len(figure.axes) == 3
    figure.savefig(tmp_path / "diagnosis.png")


@pytest.mark.parametrize("options", [{"cov_type": "robust"}, {"groups": np.arange(1500) % 9}])
def test_a_posterior_has_no_other_covariances(rows, model, options):
    X, _, s, _ = rows
    with pytest.raises(ValueError, match="are for maximum-likelihood models"):
        infer(model, X, s, **options)


def test_a_posterior_takes_no_other_method(found):
    with pytest.raises(ValueError, match="take no options; got method='profile'"):
        found.prevalence(method="profile")
