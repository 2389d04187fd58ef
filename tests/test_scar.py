"""Tests of labelling at random. Size and power are studies of their own."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit

from doublelogit import scar_test
from doublelogit.inference.scar import STATISTICS

METHODS = ["lr", "wald", "ks", "kl", "klcov", "nb"]
FEW = {"lr": 39, "wald": 39}


def labelled(strength, n=1200, seed=0, class_slope=2.0):
    """Labels that depend on the second feature by so much, class on the first."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = rng.random(n) < expit(class_slope * X[:, 0])
    s = y & (rng.random(n) < expit(strength * X[:, 1]))
    return X, s.astype(int)


@pytest.mark.parametrize("method", METHODS)
def test_strong_bias_is_seen(method):
    X, s = labelled(2.0)
    test = scar_test(X, s, method=method, n_resamples=FEW.get(method))
    assert test.p_value <= 0.05
    assert "speaks against" in test.sentence
    assert len(test.null) == FEW.get(method, 500)


@pytest.mark.parametrize("method", METHODS)
def test_random_labels_are_not_taken_for_biased(method):
    X, s = labelled(0.0, seed=3, class_slope=2.0 if method in FEW else 20.0)
    test = scar_test(X, s, method=method, n_resamples=FEW.get(method))
    assert test.p_value > 0.05
    assert "does not speak against" in str(test)


@pytest.mark.parametrize("method", ["lr", "ks"])
def test_the_seed_decides_and_the_number_of_workers_does_not(method):
    X, s = labelled(0.5, n=300)
    options = {"method": method, "n_resamples": 6}
    one = scar_test(X, s, **options, n_jobs=1)
    two = scar_test(X, s, **options, n_jobs=2)
    other = scar_test(X, s, **options, random_state=1)
    np.testing.assert_array_equal(one.null, two.null)
    assert not np.array_equal(one.null, other.null)


def test_the_likelihood_ratio_is_never_negative():
    for seed in range(5):
        X, s = labelled(0.0, n=200, seed=seed)
        test = scar_test(X, s, n_resamples=3)
        assert test.statistic >= -1e-6
        assert (test.null >= -1e-6).all()


def test_the_ks_statistic_is_scipys():
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(80, 4)), 1)  # with ties
    drawn = rng.random(80) < 0.4
    wanted = sum(stats.ks_2samp(X[drawn, j], X[:, j]).statistic for j in range(4))
    assert STATISTICS["ks"](X)(drawn) == pytest.approx(wanted)


def test_the_kl_statistics_are_zero_for_the_whole_and_agree_on_one_feature():
    X = np.random.default_rng(0).normal(size=(200, 3))
    everything = np.ones(200, dtype=bool)
    assert STATISTICS["kl"](X)(everything) == pytest.approx(0)
    assert STATISTICS["klcov"](X)(everything) == pytest.approx(0)
    drawn = X[:, 0] > 0
    one = X[:, :1]
    assert STATISTICS["kl"](one)(drawn) == pytest.approx(STATISTICS["klcov"](one)(drawn), rel=0.05)


def test_a_given_label_frequency_is_used():
    X, s = labelled(0.0)
    assert scar_test(X, s, method="ks", label_frequency=0.5).label_frequency == 0.5
    estimated = scar_test(X, s, method="ks").label_frequency
    assert 0.2 < estimated <= 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "chi2"}, "method must be one of lr, wald, ks, kl, klcov, nb; got 'chi2'"),
        ({"method": "ks", "label_frequency": 1.5}, r"label_frequency must be in \(0, 1\]; got 1.5"),
    ],
)
def test_wrong_options_get_a_sentence(options, message):
    X, s = labelled(0.0, n=100)
    with pytest.raises(ValueError, match=message):
        scar_test(X, s, **options)
