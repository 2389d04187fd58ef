"""The reserve for classes of another shape, where the class was asked to be a line."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import expit, softmax

from doublelogit import AveragedClassifier
from doublelogit.averaged import prior
from doublelogit.averaged.readings import linear
from doublelogit.averaged.shapes.reserve import DOUBT, DOUBT_OF_OWN_SLOPES, NODES, prevalences
from doublelogit.common.thresholds import UNDETERMINED
from doublelogit.estimators.averaged import _reason
from doublelogit.findings.fit import UNDETERMINED_BY

pytestmark = pytest.mark.filterwarnings("ignore::doublelogit.WeakIdentificationWarning")


def shaped(model):
    """Whether each component is a class of any shape."""
    return ~linear(model.model_)


@pytest.fixture(scope="module")
def band():
    """A class in the middle of a feature, its labels given at random."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(1200, 3))
    y = rng.random(1200) < expit(4 - 14 * np.abs(X[:, 0] - 0.8))
    return X, y, (y & (rng.random(1200) < 0.6)).astype(int)


@pytest.mark.filterwarnings("ignore::doublelogit.OrientationWarning")
def test_a_class_in_the_middle_of_a_feature_is_not_taken_for_biased_labelling(band):
    X, y, s = band
    model = AveragedClassifier(shape="line").fit(X, s)
    low, high = model.prevalence_interval(0.9)
    assert low < y.mean() < high
    weight = model.model_.weight * ~shaped(model)
    straight = replace(model.model_, weight=weight / weight.sum())
    assert straight.prevalence_interval(0.9)[0] > y.mean()  # by lines alone it would be


def test_prevalences_are_equally_likely_where_c_is_uniform():
    mean_s = 0.1
    pi, sd = prevalences(mean_s)

    def mass(to):
        return quad(lambda v: np.exp(prior.log_prevalence(v)) / v, mean_s, to)[0]

    found = np.array([mass(v) for v in pi]) / mass(1.0)
    assert found == pytest.approx((np.arange(NODES) + 0.5) / NODES, abs=0.02)
    assert np.sum(sd * np.sqrt(12)) == pytest.approx(1 - mean_s, abs=1e-3)


def test_its_probabilities_average_to_its_prevalence_and_its_labels_to_theirs(sample):
    model = AveragedClassifier(shape="line").fit(sample.X, sample.s.astype(int))
    mixture, some = model.model_, shaped(model)
    y = expit(mixture.outcome_model.predictor(sample.X)[:, some])
    e = expit(mixture.propensity_model.predictor(sample.X)[:, some])
    assert y.mean(axis=0) == pytest.approx(mixture.outcome_model.share[some], abs=2e-3)
    assert (y * e).mean(axis=0) == pytest.approx(np.mean(sample.s), abs=2e-3)
    assert np.ptp(e, axis=0) == pytest.approx(0)


def test_more_is_kept_where_labelling_has_slopes_of_its_own(sample):
    model = AveragedClassifier(shape="line").fit(sample.X, sample.s.astype(int))
    weight = softmax(model.model_.log_evidence)
    kept = weight[shaped(model)].sum()
    assert DOUBT < kept < DOUBT_OF_OWN_SLOPES


def test_nothing_is_kept_where_something_was_named_or_audited(sample):
    s = sample.s.astype(int)
    audited = np.where(np.arange(len(s)) % 9 == 0, np.maximum(s, sample.X[:, 0] > 0), np.nan)
    named = AveragedClassifier(shape="line", propensity_features=[1]).fit(sample.X, s)
    told = AveragedClassifier(shape="line").fit(sample.X, s, audited_y=audited)
    assert not shaped(named).any()
    assert not shaped(told).any()


def test_an_interval_that_is_wide_for_the_shape_alone_says_so(sample):
    model = AveragedClassifier(shape="line").fit(sample.X, sample.s.astype(int)).model_
    some = ~linear(model)
    weight = np.where(some, 0.3 / some.sum(), 0.7 / (~some).sum())
    share = np.where(some, np.linspace(0.05, 0.95, len(some)), 0.4)
    shares = model.outcome_model.split(share)
    sides = tuple(
        replace(side, share=one, share_sd=np.full(len(one), 0.01))
        for side, one in zip(model.outcome_model.sides, shares, strict=True)
    )
    outcome = replace(model.outcome_model, sides=sides)
    wide = replace(model, mean_s=0.05, weight=weight, outcome_model=outcome)
    assert np.ptp(wide.prevalence_interval(0.9)) > UNDETERMINED
    assert _reason(wide) == "shape"
    assert "no straight line" in UNDETERMINED_BY["shape"]
