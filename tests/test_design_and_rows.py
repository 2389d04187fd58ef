"""Matrix verbs and rows: storage and blocks make no difference."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from doublelogit.core import design
from doublelogit.core.rows import labelled_share, plus, quantile
from doublelogit.engines.memory import memory_rows
from doublelogit.methods import Problem

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 4)) * (RNG.random((200, 4)) < 0.6)
ONES = np.column_stack([X, np.ones(200)])
STORED = {
    "dense": X,
    "fortran": np.asfortranarray(X),
    "csr_matrix": sparse.csr_matrix(X),
    "csr_array": sparse.csr_array(X),
}


@pytest.mark.parametrize("stored", STORED.values(), ids=STORED)
class TestVerbs:
    def test_predictor(self, stored):
        coef = RNG.normal(size=(5, 2))
        np.testing.assert_allclose(design.predictor(stored, coef), ONES @ coef)
        np.testing.assert_allclose(design.predictor(stored, coef[:, 0]), ONES @ coef[:, 0])

    def test_pull_back(self, stored):
        d = RNG.normal(size=(200, 2))
        np.testing.assert_allclose(design.pull_back(stored, d), ONES.T @ d)
        np.testing.assert_allclose(design.pull_back(stored, d[:, 0]), ONES.T @ d[:, 0])

    @pytest.mark.parametrize("low", [0, -1])
    def test_sandwich(self, stored, low):
        h = RNG.uniform(low, 1, size=200)
        np.testing.assert_allclose(design.sandwich(stored, h), ONES.T @ (h[:, None] * ONES))

    def test_cross(self, stored):
        h = RNG.normal(size=200)
        Z = stored[:, [1, 3]]
        wanted = ONES.T @ (h[:, None] * ONES[:, [1, 3, 4]])
        np.testing.assert_allclose(design.cross(stored, h, Z), wanted)
        np.testing.assert_allclose(design.cross(stored, h, stored), ONES.T @ (h[:, None] * ONES))

    def test_squares(self, stored):
        h = RNG.normal(size=200)
        np.testing.assert_allclose(design.squares(stored, h), (ONES**2).T @ h)

    def test_squares_about(self, stored):
        h, centre = RNG.random(200), X.mean(axis=0)
        wanted = ((X - centre) ** 2).T @ h
        np.testing.assert_allclose(design.squares_about(stored, h, centre), wanted)

    def test_column_extremes(self, stored):
        low, high = design.column_extremes(stored)
        np.testing.assert_array_equal(low, X.min(axis=0))
        np.testing.assert_array_equal(high, X.max(axis=0))


def test_terms_embed_and_take_are_inverse():
    terms = design.Terms(4, np.array([0, 2]))
    theta = np.array([1.0, 2.0, 3.0])
    np.testing.assert_array_equal(terms.embed(theta), [1, 0, 2, 0, 3])
    np.testing.assert_array_equal(terms.take(terms.embed(theta)), theta)
    assert terms.size == 3
    full = np.zeros((5, 5))
    full[np.ix_([0, 2, 4], [0, 2, 4])] = np.outer(theta, theta)
    np.testing.assert_array_equal(terms.embed_matrix(np.outer(theta, theta)), full)
    assert design.Terms(4).embed(theta) is theta


@pytest.mark.parametrize("stored", STORED.values(), ids=STORED)
@pytest.mark.parametrize("block_rows", [1, 7, 200, 1000])
def test_blocks_do_not_change_sums_or_columns(stored, block_rows):
    s = (RNG.random(200) < 0.4).astype(float)
    rows = memory_rows(stored, s, block_rows=block_rows)
    coef = RNG.normal(size=5)
    np.testing.assert_allclose(
        rows.sum_rows(design.sandwich, rows.labels.any), ONES.T @ (s[:, None] * ONES)
    )
    np.testing.assert_allclose(rows.map_rows(lambda Z: design.predictor(Z, coef)), ONES @ coef)
    assert labelled_share(rows) == pytest.approx(s.mean())


def test_blocks_of_a_sparse_matrix_share_its_memory():
    big = sparse.random_array((5000, 30), density=0.1, format="csr")
    rows = memory_rows(big, np.zeros(5000), block_rows=1000)
    blocks = []
    rows.sum_rows(lambda Z: blocks.append(Z) or 0)
    assert len(blocks) == 5
    assert all(np.shares_memory(block.data, big.data) for block in blocks)


def test_single_precision_is_summed_in_double():
    single = X.astype(np.float32)
    rows = memory_rows(single, np.zeros(200), block_rows=64)
    got = rows.sum_rows(design.sandwich, rows.weight)
    wide = np.column_stack([single.astype(np.float64), np.ones(200)])
    np.testing.assert_allclose(got, wide.T @ wide, rtol=1e-14)


def test_restricting_to_rows_with_weight_changes_no_sum():
    s = (RNG.random(200) < 0.4).astype(float)
    weight = np.where(RNG.random(200) < 0.1, 2.0, 0.0)
    rows = memory_rows(X, s)
    few, (target, cut) = rows.restrict(weight, rows.labels.any, weight)
    assert len(target) == np.count_nonzero(weight)
    np.testing.assert_allclose(
        few.sum_rows(design.sandwich, cut), rows.sum_rows(design.sandwich, weight)
    )
    same, columns = rows.restrict(np.ones(200), rows.labels.any)
    assert same is rows
    assert columns[0] is rows.labels.any


@given(
    st.lists(st.tuples(st.floats(-5, 5), st.integers(0, 4)), min_size=1, max_size=30),
    st.floats(0, 1),
)
def test_weighted_quantile_is_numpys_of_repeated_values(pairs, q):
    values, counts = (np.array(v) for v in zip(*pairs, strict=True))
    if counts.sum() == 0:
        return
    wanted = np.quantile(np.repeat(values, counts), q)
    assert quantile(values.astype(float), counts.astype(float), q) == pytest.approx(
        wanted, abs=1e-12
    )


def test_plus_adds_nested_tuples():
    assert plus((1, (2, 3)), (10, (20, 30))) == (11, (22, 33))


def test_a_labelled_row_is_known_to_be_positive():
    rows = memory_rows(X[:3], np.array([1.0, 0.0, 0.0]), audited=np.array([np.nan, 0.0, np.nan]))
    np.testing.assert_array_equal(rows.labels.known, [1.0, 0.0, np.nan])
    assert Problem(rows).audited
    assert not Problem(memory_rows(X[:3], np.array([1.0, 0.0, 0.0]))).audited


@pytest.mark.parametrize("p", [3, design.WIDE + 20])
@pytest.mark.parametrize("beyond", [0, 1, 4])
def test_squares_by_triangles_are_those_of_the_whole_product(p, beyond):
    rng = np.random.default_rng(p + beyond)
    X = rng.normal(size=(50, p))
    root = rng.normal(size=(p + 1, p + beyond))
    root[:p, :p] = np.triu(root[:p, :p])
    wanted = np.sum(design.predictor(X, root) ** 2, axis=1)
    for stored in (X, np.asfortranarray(X), sparse.csr_array(X)):
        np.testing.assert_allclose(design.row_squares(stored, root), wanted, rtol=1e-10)
