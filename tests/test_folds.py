"""Folds by the content of a row: copies share one, and nothing but content decides."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse

from doublelogit.core.folds import (
    Folds,
    FoldsError,
    cluster_keys,
    content_keys,
    held_out_splits,
    hold_out,
)
from doublelogit.core.held_out import compared, cross_fitted, simplest


@pytest.fixture
def rng():
    return np.random.default_rng(0)


NUMBERS = st.one_of(
    st.sampled_from([0.0, -0.0, 1.0, np.nan]), st.floats(allow_nan=True, allow_infinity=True)
)
SHAPES = st.tuples(st.integers(1, 30), st.integers(1, 6))
MATRICES = arrays(np.float64, SHAPES, elements=NUMBERS)
KEYS = [4919949271004828909, 11204685374475044504]
CLUSTERS = [228826462701235172, 9317649594653240279, 228826462701235172]


@given(MATRICES, st.randoms(use_true_random=False))
def test_order_partition_and_copies_change_no_key(X, random):
    keys, order = content_keys(X), list(range(len(X)))
    random.shuffle(order)
    np.testing.assert_array_equal(content_keys(X[order]), keys[order])
    cut = random.randint(0, len(X))
    cuts = [content_keys(part) for part in (X[:cut], X[cut:])]
    np.testing.assert_array_equal(np.concatenate(cuts), keys)
    np.testing.assert_array_equal(content_keys(np.repeat(X, 2, axis=0)), np.repeat(keys, 2))


@given(MATRICES)
def test_dense_sparse_and_framed_numbers_have_the_same_keys(X):
    keys = content_keys(X)
    explicit = sparse.csr_matrix(np.ones_like(X))
    explicit.data = X.ravel().copy()  # zeros that are stored
    for other in (
        sparse.csr_matrix(X),
        explicit,
        sparse.csc_matrix(X),
        pd.DataFrame(X),
        np.asfortranarray(X),
    ):
        np.testing.assert_array_equal(content_keys(other), keys)


@given(MATRICES)
def test_rows_that_differ_have_keys_that_differ(X):
    clean = np.where(np.isnan(X), np.nan, X) + 0.0  # one NaN, no -0
    distinct = len({row.tobytes() for row in clean})
    assert len(np.unique(content_keys(X))) == distinct


def test_keys_are_the_same_on_every_machine():
    X = np.array([[0.0, 1.5, -2.0], [np.nan, 0.0, 3.0]])
    assert content_keys(X).tolist() == KEYS
    assert cluster_keys(["north", "south", "north"]).tolist() == CLUSTERS


def test_numbers_of_any_type_and_missing_values_of_any_kind_are_one():
    whole = np.array([[1, 0, 7], [0, 1, -3]])
    keys = content_keys(whole)
    for other in (
        whole.astype(np.float32),
        whole.astype(np.int8),
        pd.DataFrame(whole, dtype="Int64"),
    ):
        np.testing.assert_array_equal(content_keys(other), keys)
    missing = content_keys(pd.DataFrame({"a": [1, None]}, dtype="Int64"))
    np.testing.assert_array_equal(missing, content_keys([[1.0], [np.nan]]))
    np.testing.assert_array_equal(
        content_keys(pd.DataFrame({"b": [True, False]})), content_keys([[1.0], [0.0]])
    )
    words = [pd.Series(["x", None, "y"], dtype=kind) for kind in (object, "string", "category")]
    first, *others = [content_keys(pd.DataFrame({"w": w})) for w in words]
    assert len(set(first.tolist())) == 3
    for other in others:
        np.testing.assert_array_equal(other, first)


def test_columns_are_told_apart():
    assert len(set(content_keys([[1.0, 2.0], [2.0, 1.0], [0.0, 1.0], [1.0, 0.0]]).tolist())) == 4


@pytest.mark.parametrize("X", [np.arange(20_000.0)[:, None], np.eye(300), np.ones((1, 1)) * 5])
def test_folds_are_as_even_as_a_draw(X):
    for n_folds in (2, 3, 5):
        for salt in (0, 1, 64):
            sizes = np.bincount(Folds(n_folds, salt).of(content_keys(X)), minlength=n_folds)
            spread = np.sqrt(len(X) * (n_folds - 1)) / n_folds
            assert abs(sizes - len(X) / n_folds).max() <= 5 * spread


def test_folds_within_a_fold_are_independent_of_it(rng):
    keys = content_keys(rng.normal(size=(9000, 2)))
    s = (rng.random(9000) < 0.3).astype(float)
    outer, inner = (hold_out(keys, s, 3, level=level).of(keys) for level in (0, 1))
    counts = np.bincount(3 * outer + inner, minlength=9)
    assert abs(counts - 1000).max() < 5 * np.sqrt(1000)


@settings(max_examples=30)
@given(st.integers(0, 2**32 - 1))
def test_weight_two_is_two_rows_and_weight_zero_is_none(seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, size=(25, 2)).astype(float)
    s = (rng.random(25) < 0.4).astype(float)
    weight = rng.integers(0, 3, size=25)
    keys, repeated = content_keys(X), np.repeat(np.arange(25), weight)
    try:
        folds = hold_out(keys, s, 3, weight)
    except FoldsError:
        with pytest.raises(FoldsError):
            hold_out(keys[repeated], s[repeated], 3)
        return
    assert folds == hold_out(keys[repeated], s[repeated], 3)
    assert folds == hold_out(keys, s, 3, 0.7 * weight)


def test_every_fold_leaves_both_labels_outside():
    rng = np.random.default_rng(0)
    for _ in range(50):
        keys = content_keys(rng.normal(size=(40, 1)))
        s = np.zeros(40)
        s[rng.choice(40, 4, replace=False)] = 1
        for outside, inside in held_out_splits(keys, s, 3):
            assert set(s[outside]) == {0.0, 1.0} == set(s[inside])
            assert sorted([*outside, *inside]) == list(range(40))


def test_rows_that_are_all_alike_cannot_be_held_out():
    s = np.array([1.0, 0.0, 1.0, 0.0])
    with pytest.raises(FoldsError, match=r"2 labelled rows, 2 others, and 1 distinct rows"):
        hold_out(content_keys(np.ones((4, 2))), s, 3)
    splits = held_out_splits(content_keys([[1.0], [1.0], [2.0], [2.0]]), s, 3)
    assert [len(inside) for _, inside in splits] == [2, 2]


def test_cross_fitted_values_come_from_the_other_folds(rng):
    y = rng.normal(size=60)
    splits = Folds(4).splits(content_keys(y[:, None]))
    means = cross_fitted(
        60, splits, lambda outside, inside: np.full(len(inside), y[outside].mean())
    )
    for outside, inside in splits:
        np.testing.assert_array_equal(means[inside], y[outside].mean())


def test_the_simplest_within_a_standard_error_of_the_best_is_chosen():
    rng = np.random.default_rng(6)
    base, weight = rng.normal(size=400), np.ones(400)
    near = base + rng.normal(0.001, 0.1, 400)
    far = base + rng.normal(0.1, 0.1, 400)
    assert simplest({"a": base, "b": near}, weight) == "a"
    assert simplest({"a": base, "b": near, "c": far}, weight) == "c"
    spread = rng.normal(0.0, 4.0, 400)
    worse = base - 0.01 + spread - spread.mean()  # within a standard error of anything
    assert simplest({"a": base, "b": worse, "c": far}, weight) == "c"
    mean, error = compared(far, base, weight)
    assert mean == pytest.approx((far - base).mean())
    assert error == pytest.approx((far - base).std() / 20)
