"""Tests of labelling at random. Size and power are studies of their own."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit

from doublelogit import scar_test
from doublelogit.inference.bending import bent_test
from doublelogit.inference.scar import ScarTest
from doublelogit.inference.scar_likelihood import (
    FAR_P_VALUE,
    LOOK,
    Hypotheses,
    by_law,
    cannot_reject,
    counted_range,
    settled,
)
from doublelogit.studies.scar import resampled_scar_test
from doublelogit.studies.scar_statistics import STATISTICS

METHODS = ["lr", "wald", "ks", "kl", "klcov", "nb"]
FEW = {"lr": 39, "wald": 39}


def outcome_of(X, s, method, **options):
    """The result of either kind of test; likelihoods are asked for few samples."""
    if method in FEW:
        return scar_test(X, s, method=method, **{"n_resamples": FEW[method]} | options)
    options.pop("n_jobs", None)
    return resampled_scar_test(X, s, method=method, **options)


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
    test = outcome_of(X, s, method)
    assert test.p_value <= 0.05
    assert "speaks against" in test.sentence
    assert 0 < test.draws <= FEW.get(method, 500)


@pytest.mark.parametrize("method", METHODS)
def test_random_labels_are_not_taken_for_biased(method):
    X, s = labelled(0.0, seed=3, class_slope=2.0 if method in FEW else 20.0)
    test = outcome_of(X, s, method)
    assert test.p_value > 0.05
    assert "does not speak against" in str(test)


@pytest.mark.parametrize("method", ["lr", "ks"])
def test_the_seed_decides_and_the_number_of_workers_does_not(method):
    X, s = labelled(0.5, n=300)
    options = {"method": method, "n_resamples": 6}
    one = outcome_of(X, s, **options, n_jobs=1)
    two = outcome_of(X, s, **options, n_jobs=2)
    other = outcome_of(X, s, **options, random_state=1)
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
    assert resampled_scar_test(X, s, label_frequency=0.5).label_frequency == 0.5
    estimated = resampled_scar_test(X, s).label_frequency
    assert 0.2 < estimated <= 1


@pytest.mark.parametrize(
    ("test", "options", "message"),
    [
        (scar_test, {"method": "chi2"}, "method must be one of lr, wald; got 'chi2'"),
        (resampled_scar_test, {"method": "lr"}, "must be one of ks, kl, klcov, nb; got 'lr'"),
        (resampled_scar_test, {"label_frequency": 1.5}, r"must be in \(0, 1\]; got 1.5"),
    ],
)
def test_wrong_options_get_a_sentence(test, options, message):
    X, s = labelled(0.0, n=100)
    with pytest.raises(ValueError, match=message):
        test(X, s, **options)


def bent_sample(bend, bias, n=6000, seed=0):
    """Labels of a class that bends, leaning on the third column by ``bias``."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = rng.random(n) < expit(1.5 * X[:, 0] - X[:, 1] + bend * X[:, 0] * X[:, 2])
    return X, y & (rng.random(n) < expit(bias * X[:, 2]))


def test_a_bent_class_is_not_taken_for_bias():
    """0.1 said "labelling depends on the features" as a fact."""
    found = scar_test(*bent_sample(bend=1.0, bias=0.0), asymptotic=True)
    assert found.rejects
    assert found.verdict == "undecided"
    assert "given that the class is logistic in these columns" in found.sentence
    assert "With a class that bends" in found.sentence


def test_a_real_bias_is_still_told_whether_or_not_the_class_bends():
    for bend in (0.0, 1.0):
        found = scar_test(*bent_sample(bend, bias=1.0), asymptotic=True)
        assert found.verdict == "bias"


def test_what_bends_the_class_is_kept_as_far_as_the_labels_can_bear():
    X, s = bent_sample(bend=1.0, bias=0.0)
    few = bent_test(X[:150], s[:150].astype(float), 100.0)
    many = bent_test(X, s.astype(float), 100.0)
    assert len(few.terms) < len(many.terms)
    assert (0, 2) in many.terms
    assert many.p_value > 0.05


def test_a_p_value_is_told_within_the_error_of_its_samples():
    draws = np.concatenate([np.full(3, 9.0), np.zeros(96)])
    close = ScarTest("lr", 5.0, 4 / 100, draws, 0.5)
    assert close.p_interval[0] < 0.04 < 0.05 < close.p_interval[1]
    assert close.verdict == "undecided"
    assert "p = 0.011 to 0.069" in close.sentence
    certain = ScarTest("lr", 5.0, 1 / 100, np.zeros(99), 0.5)
    assert certain.verdict == "bias"
    assert ScarTest("lr", 5.0, 0.6, np.repeat([9.0, 0.0], [59, 40]), 0.5).verdict == "no evidence"


def test_drawing_ends_when_the_verdict_is_settled_and_the_result_says_so():
    X, s = labelled(0.0, n=400, seed=3)
    early = scar_test(X, s, n_jobs=2)
    assert early.draws < early.most == 199
    assert f"{early.draws} of at most 199 samples" in early.sentence
    low, high = early.p_interval
    assert 0.05 < low < early.p_value < high
    whole = scar_test(X, s, n_resamples=60, stop_early=False)
    assert whole.draws == 60
    assert "at most" not in whole.sentence
    np.testing.assert_array_equal(whole.null[: early.draws], early.null)


@pytest.mark.parametrize("p", [0.001, 0.02, 0.05, 0.2])
def test_a_settled_verdict_is_seldom_turned_by_more_draws(p):
    rng = np.random.default_rng(0)
    larger = np.cumsum(rng.random((4000, 199)) < p, axis=1)
    looks = [*range(LOOK, 199, LOOK), 199]
    first = [next((k for k in looks if settled(row[k - 1], k)), 199) for row in larger]
    at_end = (larger[:, -1] + 1) / 200 <= 0.05
    early = [(row[k - 1] + 1) / (k + 1) <= 0.05 for row, k in zip(larger, first, strict=True)]
    assert np.mean(at_end != early) < 0.04
    assert np.mean(first) < {0.001: 110, 0.2: 60}.get(p, 199)


def test_samples_are_fitted_as_well_from_the_null_as_from_scratch():
    X, s = labelled(0.3, n=400, seed=5)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    hypotheses = Hypotheses.about(Z, s.astype(float), 100.0)
    drawn = hypotheses.drawn(np.random.SeedSequence(4))
    own = Hypotheses.about(Z, drawn, 100.0).contrast(drawn)
    found = hypotheses.contrast(drawn)
    assert found.lr == pytest.approx(own.lr, abs=5e-3)
    assert found.wald == pytest.approx(own.wald, rel=0.02)


def test_a_statistic_far_beyond_a_few_draws_is_judged_by_a_stretched_law():
    X, s = labelled(2.0)
    test = scar_test(X, s)
    assert test.draws == LOOK
    assert test.freedom == 3
    assert not test.asymptotic
    low, high = test.p_interval
    assert low < test.p_value < high < FAR_P_VALUE
    assert test.p_value == pytest.approx(
        stats.chi2.sf(test.statistic * 3 / test.null.mean(), 3), rel=1e-9
    )
    assert "chi-square law of their mean" in test.sentence


@pytest.mark.parametrize(
    ("draws", "statistic"),
    [
        (np.r_[np.zeros(17), 20.0, 21.0, 22.0], 60.0),  # no chi-square law
        (stats.chi2.rvs(3, size=LOOK, random_state=0), 12.0),  # not so far away
        (stats.chi2.rvs(3, size=LOOK - 1, random_state=0), 90.0),  # too few
    ],
)
def test_the_stretched_law_is_silent_where_it_may_not_hold(draws, statistic):
    assert by_law(3, statistic, draws)[1:] == (0.0, 1.0)


def test_drawing_ends_where_no_further_sample_could_make_the_test_reject():
    assert cannot_reject(2, 60, 99)  # two of 99 may be a p-value above 5%
    assert not cannot_reject(1, 60, 99)
    assert not cannot_reject(2, 40, 99)  # too few to say that nothing speaks against it
    assert not cannot_reject(5, 60, 199)
    assert counted_range(1, 99)[1] <= 0.05 < counted_range(2, 99)[1]
    assert counted_range(5, 199)[1] <= 0.05 < counted_range(6, 199)[1]
