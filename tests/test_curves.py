"""Smooth terms of the class: their basis, their place in the two models, and every door to them."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit
from sklearn.base import clone
from tables_of_tests import clinic

from doublelogit import Roles, TableClassifier, load, scan_parquet
from doublelogit.exceptions import TableError
from doublelogit.inference.estimate import Estimate
from doublelogit.tables import TableEncoding
from doublelogit.tables.curves import MOST_SAMPLED, Curves, thinned

ROLES = Roles(label="s", propensity_features=["z"])


def bent_table(n=3000, seed=0, straight=False):
    """A class that is likeliest in the middle of x; labelling that leans on z."""
    rng = np.random.default_rng(seed)
    x, z, noise = rng.normal(size=(3, n))
    shape = 1.5 * x if straight else 2 * (1 - x**2)
    y = rng.random(n) < expit(shape + 0.5 * noise)
    s = y & (rng.random(n) < expit(0.5 + z))
    columns = {"x": x, "z": z, "noise": noise, "s": s.astype(int), "y": y.astype(int)}
    return pd.DataFrame(columns)


def fitted(frame, learner, method="joint", roles=ROLES, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return TableClassifier(roles, method, learner=learner, **options).fit(
            frame.drop(columns="y")
        )


def test_curves_are_no_lines_and_smoothest_first():
    x = np.random.default_rng(0).exponential(size=4000)
    curves = Curves.learn(x)
    near = np.clip(x, curves.knots[0], curves.knots[-1])
    values = curves.at(near)
    line = np.column_stack([np.ones_like(near), near])
    np.testing.assert_allclose(line.T @ values / len(x), 0, atol=1e-6)
    overlap = values.T @ values / len(x)
    np.testing.assert_allclose(overlap - np.diag(np.diag(overlap)), 0, atol=1e-6)
    scales = np.sqrt(np.diag(overlap))
    assert scales[0] == pytest.approx(1)
    assert (np.diff(scales) < 0).all()


def test_a_ridge_penalty_of_curves_is_one_of_squared_curvature():
    x = np.random.default_rng(1).normal(size=2000)
    curves = Curves.learn(x)
    grid = np.linspace(curves.knots[0], curves.knots[-1], 20_001)
    bend = np.gradient(np.gradient(curves.at(grid), grid, axis=0), grid, axis=0)
    energy = bend.T @ bend * (grid[1] - grid[0])
    np.testing.assert_allclose(energy / energy[0, 0], np.eye(len(curves)), atol=0.02)


@given(st.floats(0.1, 50))
def test_curves_are_straight_beyond_the_outer_knots(far):
    curves = Curves.learn(np.random.default_rng(2).normal(size=500))
    low, high = curves.knots[0], curves.knots[-1]
    for end, way in ((low, -1), (high, 1)):
        one, two, three = curves.at(end + way * np.array([0.0, far, 2 * far]))
        np.testing.assert_allclose(three - two, two - one, rtol=1e-6, atol=1e-9)


def test_a_value_that_most_rows_share_takes_one_knot():
    rng = np.random.default_rng(3)
    x = np.where(rng.random(2000) < 0.9, 0.0, rng.exponential(size=2000))
    curves = Curves.learn(x)
    assert len(curves.knots) == 5
    assert 0.0 in curves.knots


@pytest.mark.parametrize(("values", "terms"), [(2, None), (3, 1), (4, 2)])
def test_few_values_have_few_curves(values, terms):
    x = np.random.default_rng(4).integers(0, values, 1000).astype(float)
    curves = Curves.learn(x)
    assert (None if curves is None else len(curves)) == terms


def test_thinned_values_do_not_depend_on_the_parts_they_come_in():
    x = np.random.default_rng(5).normal(size=3 * MOST_SAMPLED)
    whole = thinned([x])
    assert MOST_SAMPLED / 2 <= len(whole) <= MOST_SAMPLED
    np.testing.assert_array_equal(whole, thinned(np.array_split(x, 17)))


def test_an_encoding_with_curves_is_kept_as_json_and_back():
    import json

    encoding = fitted(bent_table(400), "spline").encoding_
    again = TableEncoding.from_dict(json.loads(json.dumps(encoding.to_dict())))
    assert again == encoding
    assert len(again.curves) == 6  # of the columns that labelling does not lean on


def test_a_spline_finds_a_class_that_lines_miss():
    frame = bent_table()
    hidden = {
        learner: fitted(frame, learner).predict(frame)["hidden"] for learner in ("linear", "spline")
    }
    unlabelled = frame["s"] == 0
    found = {
        learner: frame["y"][unlabelled][p[unlabelled].nlargest(100).index].mean()
        for learner, p in hidden.items()
    }
    assert found["spline"] > 0.75 > 0.6 > found["linear"]


def test_a_class_is_straight_along_the_columns_of_labelling_unless_all_are():
    frame = bent_table(400)
    named = fitted(frame, "spline").encoding_.curves
    assert {name.partition(" ")[0] for name in named} == {"x", "noise"}
    every = Roles(label="s", propensity_features=["x", "z", "noise"])
    all_bend = fitted(frame, "spline", roles=every).encoding_.curves
    assert {name.partition(" ")[0] for name in all_bend} == {"x", "z", "noise"}


def test_an_interval_of_curves_holds_profile_and_curvature():
    frame = bent_table(800)
    found = fitted(frame, "spline").infer(frame.drop(columns="y"))
    both, delta = (found.prevalence(level=0.9, method=how) for how in (None, "delta"))
    assert both.low <= delta.low
    assert both.high >= delta.high
    assert both.method == "profile likelihood and delta method"
    straight = fitted(frame, "linear").infer(frame.drop(columns="y"))
    assert straight.prevalence(level=0.9).method == "profile likelihood"


def test_an_interval_that_holds_another_keeps_its_middle():
    one = Estimate("share", 0.4, 0.1, 0.3, 0.8, 0.9, "a", ((0.3, 0.45), (0.6, 0.8)))
    wide = Estimate("share", 0.4, 0.1, 0.25, 0.9, 0.9, "b")
    assert one.hull(wide).regions == ((0.25, 0.45), (0.6, 0.9))
    assert wide.hull(one).regions == ((0.25, 0.9),)


def test_labelling_stays_logistic_in_the_plain_columns():
    model = fitted(bent_table(), "spline")
    beta, gamma = model.classifier_.model_.coefficients()
    named = dict(zip(model.encoding_.names, gamma, strict=False))
    assert [name for name, value in named.items() if value] == ["z"]
    assert all(beta[:-1])


def test_intervals_of_a_spline_hold_the_truth_that_those_of_lines_miss():
    frame = bent_table(6000, seed=1)
    truth = frame["y"].mean()
    table = frame.drop(columns="y")
    found = {x: fitted(frame, x).infer(table).prevalence() for x in ("linear", "spline")}
    assert found["spline"].low < truth < found["spline"].high
    assert not found["linear"].low < truth < found["linear"].high


def test_curves_do_not_count_as_named_features():
    frame = bent_table(2000, straight=True)
    unnamed = Roles(label="s")
    lines, curves = (fitted(frame, x, roles=unnamed) for x in ("linear", "spline"))
    assert lines.classifier_.orientation_.rule == curves.classifier_.orientation_.rule == "norm"
    share = curves.predict(frame)["positive"].mean()
    assert abs(share - lines.predict(frame)["positive"].mean()) < 0.05


def test_a_bent_class_is_told_from_straight_labelling_by_its_curves():
    frame = bent_table(4000)
    model = fitted(frame, "spline", roles=Roles(label="s"))
    assert model.classifier_.orientation_.rule == "curves"
    assert np.corrcoef(model.predict(frame)["propensity"], frame["z"])[0, 1] > 0.9


@pytest.mark.parametrize("method", ["averaged", "em", "tm", "naive"])
def test_methods_take_curves(method):
    frame = bent_table(800)
    roles = ROLES if method != "naive" else Roles(label="s")
    model = fitted(frame, "spline", method, roles)
    assert model.classifier_.n_features_in_ == (12 if method == "naive" else 9)
    assert model.predict(frame)["positive"].between(0, 1).all()


def test_a_scan_gives_the_model_of_the_frame(tmp_path):
    frame = bent_table(1500).drop(columns="y")
    frame.loc[::7, "x"] = np.nan
    frame.to_parquet(tmp_path / "rows.parquet")
    scan = scan_parquet(tmp_path / "rows.parquet", ROLES)
    one = TableClassifier(ROLES, learner="spline").fit(frame)
    other = TableClassifier(ROLES, learner="spline").fit(scan)
    assert other.encoding_ == one.encoding_
    beta, again = (m.classifier_.model_.coefficients().beta for m in (one, other))
    np.testing.assert_allclose(again, beta, rtol=1e-6, atol=1e-8)
    expected = one.predict(frame)["hidden"].to_numpy()
    np.testing.assert_allclose(other.predict(scan)["hidden"], expected, atol=1e-8)


def test_a_spline_is_kept_in_the_open_format(tmp_path):
    frame = bent_table(500)
    model = fitted(frame, "spline")
    model.save(tmp_path / "model.dlm")
    again = load(tmp_path / "model.dlm")
    assert again.learner == "spline"
    pd.testing.assert_frame_equal(again.predict(frame), model.predict(frame))


def test_reasons_of_a_bent_column_are_of_the_column():
    model = fitted(bent_table(), "spline")
    ranked = model.rank(bent_table().drop(columns="y"), top=5)
    assert not ranked["reasons"].str.contains("curve").any()
    assert ranked["reasons"].str.contains("x = ").any()


def test_weights_and_audits_reach_a_spline():
    frame = clinic(400)
    frame["audit"] = np.where(np.arange(400) % 8 == 0, frame["sick"], np.nan)
    frame["times"] = 1 + (np.arange(400) % 2)
    roles = Roles(label="diagnosed", audited="audit", weight="times", ignore=["patient", "sick"])
    model = TableClassifier(roles, learner="spline").fit(frame)
    encoding, classifier = model.encoding_, model.classifier_
    doubled = frame.loc[np.repeat(np.arange(400), frame["times"])].reset_index(drop=True)
    X, s = encoding.encode(doubled)[0], (doubled["diagnosed"] == "yes").to_numpy()
    again = clone(classifier).fit(X, s, audited_y=doubled["audit"])
    np.testing.assert_allclose(again.coef_, classifier.coef_, atol=1e-4)
    ignorant = clone(classifier).fit(X, s)
    assert not np.allclose(ignorant.coef_, classifier.coef_, atol=1e-2)


def test_a_learner_that_is_not_known_gets_a_sentence():
    with pytest.raises(TableError, match=r"`learner` must be one of linear, spline.*'forest'"):
        TableClassifier(ROLES, learner="forest").fit(bent_table(100))
