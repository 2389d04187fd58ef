"""What a diagnosis says of samples that are known to be good or bad."""

import numpy as np
import pytest
from scipy.special import expit

from doublelogit import EMClassifier, JointClassifier, infer
from doublelogit.findings import worst


@pytest.fixture(scope="module")
def good():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 2))
    y = rng.random(4000) < expit(3 * X[:, 0])
    s = (y & (rng.random(4000) < expit(1 + X[:, 1]))).astype(int)
    model = JointClassifier(outcome_features=[0], propensity_features=[1]).fit(X, s)
    return infer(model, X, s).diagnose()


@pytest.fixture(scope="module")
def bad():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = rng.random(300) < expit(0.5 * X[:, 0])
    s = (y & (rng.random(300) < expit(-1.5 + 2 * X[:, 1]))).astype(int)
    return infer(JointClassifier().fit(X, s), X, s).diagnose()


def test_a_good_sample_needs_no_attention(good):
    assert worst(good.findings) == "fine"
    assert "The prevalence is determined" in str(good)
    assert len(good.findings) == 6
    low, high = good.profile.within(2)
    assert low < 0.5 < high
    assert good.orientation.rule == "features"


def test_a_bad_sample_is_told_in_words(bad):
    text = str(bad)
    assert "The prevalence is not determined by this sample: any value from" in text
    assert "fits within 2 log-likelihood units" in text
    orientation = next(f for f in bad.findings if f.topic == "orientation")
    assert orientation.level == "problem"
    assert "by the assumption that the class depends on the features more strongly" in text


def test_starts_and_curvature(bad):
    assert bad.start_drop.min() == 0
    assert len(bad.start_drop) == len(bad.start_prevalence) == 8
    assert (np.diff(bad.eigenvalues) >= 0).all()
    assert sum(share**2 for _, share in bad.flattest) == pytest.approx(1)
    assert bad.flattest[0][0].split()[0] in ("outcome", "propensity")


def test_rare_propensities_and_overlap_are_shares(bad, good):
    for found in (bad, good):
        assert 0 <= found.rows.rare <= 1
        assert 0 <= found.rows.overlap <= 1


def test_a_method_without_an_orientation_rule_says_so():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(600, 2))
    y = rng.random(600) < expit(2 * X[:, 0])
    s = (y & (rng.random(600) < 0.7)).astype(int)
    model = EMClassifier(max_iter=20000).fit(X, s)
    assert "has no rule" in str(infer(model, X, s).diagnose(n_starts=2))


def test_separable_labels_are_told():
    X = np.linspace(-1, 1, 60)[:, None]
    s = (X[:, 0] > 0.5).astype(int)
    assert "perfectly separable" in str(infer(JointClassifier().fit(X, s), X, s).diagnose(2))


def test_the_picture_has_six_panels(bad, tmp_path):
    figure = bad.plot()
    assert len(figure.axes) == 6
    figure.savefig(tmp_path / "diagnosis.png")
