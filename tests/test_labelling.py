"""Labelling mechanisms and the draw."""

import numpy as np
import pytest
from scipy.special import expit

from doublelogit.labelling import LogisticSar, Scar, draw
from doublelogit.studies.labelling import (
    FollowingSar,
    PosteriorSar,
    ScaledProductSar,
    class_coefficients,
    most_correlated,
)

RNG = np.random.default_rng(0)
X = RNG.normal(size=(5000, 6))


def test_scenario_1_is_constant():
    assert (Scar(0.3).propensity(X) == 0.3).all()


def test_scenario_2_is_logistic_in_the_mean_direction():
    gamma = np.full(6, 0.7) / np.sqrt(6)
    np.testing.assert_allclose(LogisticSar(0.7).propensity(X), expit(X @ gamma))
    assert (LogisticSar(0).propensity(X) == 0.5).all()


def test_scenario_3_is_the_geometric_mean_of_scaled_features():
    mechanism = ScaledProductSar(0.2, 0.8, k=2, features=(4, 1))
    Z = X[:, [4, 1]]
    scaled = 0.2 + (Z - Z.min(0)) / (Z.max(0) - Z.min(0)) * 0.6
    np.testing.assert_allclose(mechanism.propensity(X), np.sqrt(scaled[:, 0] * scaled[:, 1]))
    e = ScaledProductSar(0.2, 0.6).propensity(X)
    assert 0.2 <= e.min() <= e.max() <= 0.6


def test_scenario_3_takes_the_first_features_unless_told():
    named = ScaledProductSar(features=(0, 1, 2, 3, 4))
    np.testing.assert_array_equal(ScaledProductSar().propensity(X), named.propensity(X))


def test_a_constant_feature_is_in_the_middle():
    assert ScaledProductSar(0.2, 0.6, k=1).propensity(np.ones((3, 1))) == pytest.approx(0.4)


def test_only_positives_are_labelled_and_with_the_right_frequency():
    y = (RNG.random(5000) < 0.5).astype(int)
    e = LogisticSar(1.0).propensity(X)
    s = draw(y, e, np.random.default_rng(0))
    assert not s[y == 0].any()
    assert s[y == 1].mean() == pytest.approx(e[y == 1].mean(), abs=0.03)
    assert set(np.unique(s)) == {0.0, 1.0}


def test_a_draw_without_labels_is_drawn_again():
    y = np.array([1, 0, 0])
    assert draw(y, np.full(3, 0.01), np.random.default_rng(0)).sum() == 1


def test_a_draw_that_can_not_succeed_says_so():
    with pytest.raises(ValueError, match="no positive was labelled in 10 draws: there are 0"):
        draw([0, 0], [0.5, 0.5], np.random.default_rng(0), max_draws=10)


@pytest.mark.parametrize("shape", ["logistic", "cauchy", "tenth power"])
@pytest.mark.parametrize("c", [0.3, 0.7])
def test_labelling_that_follows_the_class_labels_the_share_asked_for(shape, c):
    slopes = (1.0, -2.0, 0.0, 0.0, 0.0, 0.5, -0.3)  # intercept last
    e_x = FollowingSar(slopes, c, shape).propensity(X)
    along = X @ np.array(slopes[:-1]) + slopes[-1]
    y_x = np.clip(expit(along), 0.001, 0.999)
    assert y_x @ e_x / y_x.sum() == pytest.approx(c)
    assert (np.diff(e_x[np.argsort(along)]) >= 0).all()


def test_labelling_by_the_posterior_has_three_shapes():
    slopes = (1.0, 0.0, 0.0, 0.0, 0.0, 0.0, -1.0)
    p = np.clip(expit(X[:, 0] - 1), 0.001, 0.999)
    for shape, strength, expected in [
        ("proportional", 0.1, 0.1 * p),
        ("falling", -0.5, expit(-0.5 * p - 1.5)),
        ("opposed", -0.5, 0.5 * expit(-0.5 * np.log(p / (1 - p)))),
    ]:
        found = PosteriorSar(slopes, strength, shape).propensity(X)
        np.testing.assert_allclose(found, expected)


def test_coefficients_of_the_class_have_the_intercept_last():
    y = (X[:, 0] + 1 + RNG.logistic(size=5000) > 0).astype(float)
    found = class_coefficients(X, y)
    assert len(found) == 7
    assert found[0] == pytest.approx(1, abs=0.15)
    assert found[-1] == pytest.approx(1, abs=0.15)


def test_the_same_stream_gives_the_same_labels():
    y = np.ones(100)
    one, two = (draw(y, np.full(100, 0.5), np.random.default_rng(3)) for _ in range(2))
    np.testing.assert_array_equal(one, two)


def test_most_correlated_features_come_first():
    y = (X[:, 3] + 0.5 * X[:, 1] + 0.1 * RNG.normal(size=5000) > 0).astype(float)
    assert most_correlated(X, y, 2) == (3, 1)
    with_constant = np.column_stack([np.ones(5000), X])
    assert 0 not in most_correlated(with_constant, y, 3)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Scar(0), r"c must be in \(0, 1\]; got 0"),
        (lambda: ScaledProductSar(0.7, 0.2), "0 < p_minus <= p_plus <= 1; got 0.7 and 0.2"),
        (lambda: ScaledProductSar(k=2, features=(1,)), "must hold k=2 columns; got 1"),
        (lambda: ScaledProductSar(k=9).propensity(X), "at most the number of columns 6; got 9"),
        (lambda: FollowingSar((1.0, 0.0), 1.0), r"c must be in \(0, 1\); got 1.0"),
        (lambda: FollowingSar((1.0, 0.0), 0.5, "odd"), "shape must be one of logistic"),
        (lambda: draw([1, 0], [0.5], np.random.default_rng(0)), "must have one length"),
        (lambda: draw([1, 0], [0.5, 2.0], np.random.default_rng(0)), r"must be in \[0, 1\]"),
    ],
)
def test_mistakes_are_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()
