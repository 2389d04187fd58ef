"""Bundled tables, artificial data, scores."""

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import cauchy

from doublelogit.datasets import BENCHMARKS, load_benchmark
from doublelogit.metrics import approximation_error, label_log_likelihood
from doublelogit.studies.datasets import make_artif1, make_artif2

# n, p and prior of the paper's Table 1; wdbc there counts the patient id as a feature.
TABLE_1 = {
    "diabetes": (768, 8, 0.35),
    "BreastCancer": (683, 9, 0.35),
    "heart-c": (303, 19, 0.46),
    "credit-a": (690, 38, 0.44),
    "adult": (32561, 57, 0.24),
    "vote": (435, 32, 0.39),
    "wdbc_id": (569, 31, 0.37),
    "wdbc": (569, 30, 0.37),
    "spambase": (4601, 57, 0.39),
    "heart-c_uci": (303, 19, 0.46),
}


def test_every_table_is_listed():
    assert set(TABLE_1) == set(BENCHMARKS)


@pytest.mark.parametrize("name", TABLE_1)
def test_tables_have_the_shape_of_the_paper(name):
    data = load_benchmark(name)
    n, p, prior = TABLE_1[name]
    assert data.data.shape == (n, p)
    assert data.target.mean() == pytest.approx(prior, abs=0.006)
    assert set(np.unique(data.target)) == {0, 1}
    assert np.isfinite(data.data).all()
    assert len(data.feature_names) == len(set(data.feature_names)) == p


def test_tables_come_as_frames_with_names():
    X, y = load_benchmark("spambase", return_X_y=True, as_frame=True)
    assert X.columns[0] == "word_freq_make"
    assert X.columns[-1] == "capital_run_length_total"
    assert y.name == "y"


def test_an_unknown_table_lists_the_known_ones():
    with pytest.raises(ValueError, match=r"diabetes, .*spambase; got 'iris'"):
        load_benchmark("iris")


def test_a_damaged_table_is_noticed(monkeypatch):
    from doublelogit.datasets import benchmark

    wrong = ("diabetes", "0" * 64)
    monkeypatch.setitem(benchmark.BENCHMARKS, "diabetes", wrong)
    with pytest.raises(OSError, match="damaged"):
        load_benchmark("diabetes")


@pytest.mark.parametrize(("make", "F"), [(make_artif1, expit), (make_artif2, cauchy.cdf)])
def test_artificial_data_follow_their_response(make, F):
    data = make(20_000, 50, random_state=0)
    assert data.data.shape == (20_000, 50)
    np.testing.assert_allclose(data.posterior, F(data.data.sum(axis=1)))
    bins = np.digitize(data.posterior, [0.2, 0.4, 0.6, 0.8])
    for k in range(5):
        inside = bins == k
        expected = data.posterior[inside].mean()
        error = 4 * np.sqrt(0.25 / inside.sum())
        assert data.target[inside].mean() == pytest.approx(expected, abs=error)


def test_artificial_data_as_written_have_unit_variance_of_the_predictor():
    data = make_artif1(20_000, 50, scale="written", random_state=np.random.default_rng(0))
    assert (data.data @ data.coef).std() == pytest.approx(1, abs=0.05)
    with pytest.raises(ValueError, match="'published' or 'written'; got 'other'"):
        make_artif1(scale="other")


def test_seeds_fix_artificial_data():
    for seed in (0, np.random.RandomState(0)):
        again = np.random.RandomState(0) if seed != 0 else 0
        np.testing.assert_array_equal(
            make_artif2(50, random_state=seed).data, make_artif2(50, random_state=again).data
        )


def test_approximation_error_is_the_mean_distance():
    assert approximation_error([0.0, 1.0], [0.5, 0.5]) == 0.5
    assert approximation_error([0.0, 1.0], [0.0, 0.5], sample_weight=[3, 1]) == 0.125
    with pytest.raises(ValueError, match="must have one length; got 1 and 2"):
        approximation_error([0.1], [0.1, 0.2])
    with pytest.raises(ValueError, match="one value per row; got an array of shape"):
        approximation_error([[0.1]], [0.1])


def test_label_log_likelihood_is_finite_for_impossible_labels():
    assert label_log_likelihood([1, 0], [0.5, 0.5]) == pytest.approx(np.log(0.5))
    assert np.isfinite(label_log_likelihood([1, 0], [0.0, 1.0]))
    assert label_log_likelihood([1, 0], [0.0, 0.5]) < -100
