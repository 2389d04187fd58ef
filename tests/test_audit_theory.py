"""The theory of audits: every test is named after what a formula of docs/audits.md says."""

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.proportion import proportion_confint

from doublelogit.audit import difference as differences
from doublelogit.audit.calibration import calibrate
from doublelogit.audit.difference import Drawn, as_random, difference
from doublelogit.audit.draw import row_keys, smallest
from doublelogit.audit.expectation import Earlier, budget_for, expect
from doublelogit.audit.interval import (
    Cells,
    exact_interval,
    linear_interval,
    score_interval,
    total_interval,
)
from doublelogit.audit.strata import H_BINS, UNIFORM, Sums, bin_of, make_strata

Z = 1.959963984540054


def cells(weight, drawn, positive):
    weight, drawn, positive = (np.array(x, float) for x in (weight, drawn, positive))
    return Cells(weight, drawn, positive, np.ones(len(weight)))


def sums_of(h, cost=None):
    """Sums of rows with these h, as one class."""
    h = np.asarray(h, float)
    cost = np.ones(len(h)) if cost is None else cost
    values = [np.ones(len(h)), h, h * (1 - h), cost, np.sqrt(h * (1 - h) / cost)]
    tables = [np.bincount(bin_of(h), weights=v, minlength=H_BINS)[None] for v in values]
    return Sums(*tables[:4], {"prevalence": tables[4]})


@pytest.mark.parametrize(("positive", "drawn"), [(3, 40), (20, 40), (0, 15), (15, 15), (1, 300)])
def test_in_one_stratum_the_score_interval_is_wilsons(positive, drawn):
    found = cells([1000], [drawn], [positive])
    low, high = score_interval(found, found.estimate, 1.0, Z)
    wanted = proportion_confint(positive, drawn, method="wilson")
    np.testing.assert_allclose([low / 1000, high / 1000], wanted, atol=1e-6)


@pytest.mark.parametrize(("positive", "drawn"), [(0, 30), (1, 30), (4, 100), (29, 30), (30, 30)])
def test_in_one_stratum_the_exact_interval_is_clopper_and_pearsons(positive, drawn):
    low, high = exact_interval(cells([500], [drawn], [positive]), 0.95)
    wanted = proportion_confint(positive, drawn, method="beta")
    np.testing.assert_allclose([low / 500, high / 500], np.nan_to_num(wanted), atol=1e-6)


def test_strata_of_one_kind_are_one_stratum():
    one = exact_interval(cells([900], [60], [2]), 0.95)
    three = exact_interval(cells([300, 300, 300], [20, 20, 20], [0, 2, 0]), 0.95)
    assert three == pytest.approx(one, rel=0.1)


@given(
    mu=st.floats(-5, 5).filter(lambda m: abs(m) > 1e-6),
    counts=st.lists(
        st.tuples(st.integers(1, 30), st.floats(0, 1), st.floats(0.1, 3)), min_size=1, max_size=5
    ),
)
def test_likeliest_shares_solve_y_over_p_less_n_minus_y_over_1_minus_p_equals_mu_w(mu, counts):
    drawn = np.array([float(n) for n, _, _ in counts])
    positive = np.round(drawn * np.array([share for _, share, _ in counts]))
    weight = np.array([w for _, _, w in counts])
    p = cells(weight, drawn, positive).shares(np.array([mu]))[0]
    inside = (p > 1e-9) & (p < 1 - 1e-9)
    left = positive[inside] / p[inside] - (drawn - positive)[inside] / (1 - p[inside])
    np.testing.assert_allclose(left, mu * weight[inside], rtol=1e-6, atol=1e-6)


def test_the_interval_by_students_t_is_that_of_a_mean_in_one_stratum():
    from scipy import stats

    z = np.array([3.0, 5.0, 4.0, 8.0])
    part = np.array([z.var(ddof=1) / 4])
    low, high = linear_interval(z.mean(), part, np.array([3.0]), 0.95)
    wanted = stats.t.interval(0.95, 3, z.mean(), stats.sem(z))
    np.testing.assert_allclose((low, high), wanted)


def drawn_from(y, h, strata, sample):
    """The draw of some rows of a small population."""
    sample = np.asarray(sample)
    size = np.bincount(strata).astype(float)
    return Drawn(
        y=y[sample],
        h=h[sample],
        stratum=strata[sample],
        round=np.zeros(len(sample), dtype=int),
        size=size,
        round_of=np.zeros(len(size), dtype=int),
        domain=np.ones(len(size)),
        all_h=float(h.sum()),
        all_rows=float(len(y)),
    )


@pytest.mark.parametrize("lam", [0.0, 0.6])
def test_the_difference_estimator_is_unbiased_whatever_h_is(lam, monkeypatch):
    monkeypatch.setattr(differences, "_tuned", lambda *_: (lam, 1.0))
    rng = np.random.default_rng(0)
    y = np.array([0, 1, 1, 0, 1, 0, 0.0, 1])
    h = rng.random(8) * 0.3 + 0.4
    strata = np.array([0, 0, 0, 0, 0, 1, 1, 1])
    pairs = product(combinations(range(5), 3), combinations(range(5, 8), 2))
    values = [difference(drawn_from(y, h, strata, (*a, *b))).value for a, b in pairs]
    assert np.mean(values) == pytest.approx(y.sum(), abs=1e-12)


def test_the_stratified_variance_is_the_mean_square_over_all_samples():
    rng = np.random.default_rng(1)
    y, h = np.array([0, 1, 1, 0, 1, 0, 1, 0.0]), rng.random(8) * 0.2 + 0.4
    strata = np.repeat([0, 1], 4)
    pairs = list(product(combinations(range(4), 2), combinations(range(4, 8), 2)))
    found = [difference(drawn_from(y, h, strata, (*a, *b))) for a, b in pairs]
    values, errors = np.array([f.value for f in found]), np.array([f.se for f in found])
    assert np.mean(errors**2) == pytest.approx(values.var(), rel=1e-10)


def test_lambda_makes_the_estimated_variance_smallest_between_0_and_1():
    rng = np.random.default_rng(2)
    h = rng.random(400)
    y = (rng.random(400) < h).astype(float)
    sample, strata = np.arange(200), np.zeros(400, dtype=int)
    good = difference(drawn_from(y, h, strata, sample))
    assert 0.7 < good.lam <= 1.0
    useless = difference(drawn_from(y, rng.random(400), strata, sample))
    assert useless.lam < 0.3
    assert difference(drawn_from(y, 1 - h, strata, sample)).lam == 0.0
    assert good.se < 0.9 * useless.se


def test_a_round_after_a_census_of_the_rest_knows_everything():
    y, h = np.array([1, 0, 0, 1, 0.0, 1, 1, 0]), np.full(8, 0.5)
    drawn = Drawn(
        y=y,
        h=h,
        stratum=np.array([0, 0, 0, 1, 1, 1, 1, 1]),
        round=np.array([0, 0, 0, 1, 1, 1, 1, 1]),
        size=np.array([8.0, 5.0]),
        round_of=np.array([0, 1]),
        domain=np.ones(2),
        all_h=4.0,
        all_rows=8.0,
    )
    found = difference(drawn)
    assert (found.low, found.value, found.high) == (4.0, 4.0, 4.0)


def test_two_rounds_together_are_unbiased_and_cover():
    rng = np.random.default_rng(3)
    y = (np.arange(400) % 4 == 0).astype(float)
    h = np.clip(0.25 + 0.1 * rng.standard_normal(400), 0.02, 0.9)
    values, covers = [], []
    for _ in range(150):
        order = rng.permutation(400)
        first, rest = order[:40], order[40:]
        second = rng.permutation(rest)[:60]
        drawn = Drawn(
            y=y[np.r_[first, second]],
            h=h[np.r_[first, second]],
            stratum=np.repeat([0, 1], [40, 60]),
            round=np.repeat([0, 1], [40, 60]),
            size=np.array([400.0, 360.0]),
            round_of=np.array([0, 1]),
            domain=np.ones(2),
            all_h=float(h.sum()),
            all_rows=400.0,
        )
        found = difference(drawn)
        values.append(found.value)
        covers.append(found.low <= 100 <= found.high)
    assert np.mean(values) == pytest.approx(100, abs=4)
    assert np.mean(covers) > 0.9


def test_clusters_are_units_with_the_sums_of_their_rows():
    drawn = drawn_from(np.ones(6), np.full(6, 0.5), np.zeros(6, dtype=int), np.arange(6))
    units = drawn.summed(np.array(list("aabbbc"), dtype=object))
    assert units.y.tolist() == [2.0, 3.0, 1.0]
    assert units.h.tolist() == [1.0, 1.5, 0.5]


@given(st.integers(10, 400), st.integers(0, 2**31))
def test_every_row_has_a_chance_of_at_least_about_uniform_times_that_of_a_random_audit(n, seed):
    h = np.random.default_rng(seed).beta(0.3, 2, 600)
    strata = make_strata(sums_of(h), n)
    drawn = strata.allocation(n)
    assert drawn.sum() == n
    chance = drawn / strata.rows
    assert chance.min() > 0
    assert (drawn >= np.floor(UNIFORM * n * strata.rows / 600 * 0.9) - 1).all()


def test_strata_hold_every_row_once_and_order_h():
    h = np.random.default_rng(0).random(1000)
    strata = make_strata(sums_of(h), 100)
    assert strata.rows.sum() == 1000
    assert strata.h @ strata.rows == pytest.approx(h.sum())
    assert (np.diff(strata.h) > 0).all()


def test_dear_rows_are_drawn_less_often_by_the_root_of_their_cost():
    h, cost = np.full(400, 0.3), np.repeat([1.0, 4.0], 200)
    tables = [sums_of(h[half], cost[half]) for half in (slice(0, 200), slice(200, 400))]
    both = Sums(
        *(np.concatenate([vars(t)[k] for t in tables]) for k in ("rows", "h", "spread", "cost")),
        {"prevalence": np.concatenate([t.teaches["prevalence"] for t in tables])},
    )
    strata = make_strata(both, 150)
    drawn = strata.allocation(150)
    assert drawn @ strata.cost <= 150
    cheap, dear = drawn[strata.cost == 1].sum(), drawn[strata.cost == 4].sum()
    assert cheap / dear == pytest.approx(2.0, rel=0.15)


def test_the_smallest_keys_of_parts_are_the_smallest_of_the_whole():
    rows, stratum = np.arange(500), np.arange(500) % 3
    keys, wanted = row_keys(rows, 7), np.array([5, 10, 2])
    whole = set(smallest(keys, stratum, wanted))
    halves = [rows[:200], rows[200:]]
    kept = np.concatenate([r[smallest(keys[r], stratum[r], wanted)] for r in halves])
    assert set(kept[smallest(keys[kept], stratum[kept], wanted)]) == whole
    assert len(whole) == 17


def test_every_row_of_a_stratum_is_drawn_equally_often():
    times = np.zeros(20)
    for seed in range(2000):
        times[smallest(row_keys(np.arange(20), seed), np.zeros(20, int), np.array([5]))] += 1
    assert abs(times - 500).max() < 5 * np.sqrt(2000 * 0.25 * 0.75)


def test_a_later_round_is_planned_for_the_interval_of_all_rounds():
    """Adding up precisions of intervals, each wide because it is small, draws rows in vain."""
    h = np.random.default_rng(0).beta(1, 3, 3000)
    strata = make_strata(sums_of(h), 100)
    drawn = strata.allocation(100).astype(float)
    found = Cells(strata.rows, drawn, np.round(drawn * strata.h), 1 - drawn / strata.rows)
    earlier = Earlier(found, 1.0, 1.0)
    one = total_interval(found, found.estimate, 1.0, 0.95)
    both = expect(strata, 100, 3000.0, earlier)
    assert both.holds == pytest.approx((one[1] - one[0]) / 3000 / np.sqrt(2), rel=0.07)
    budget = budget_for(strata, 0.08, 3000.0, "holds", earlier)
    assert budget < budget_for(strata, 0.08, 3000.0) - 80
    assert expect(strata, budget, 3000.0, earlier).holds == pytest.approx(0.08, rel=0.03)


def test_what_reviewers_could_not_tell_widens_what_a_later_round_promises():
    strata = make_strata(sums_of(np.random.default_rng(0).beta(1, 3, 3000)), 100)
    found = as_random(750.0, 90.0, 3000.0)
    plain, stretched = (
        expect(strata, 100, 3000.0, Earlier(found, 1.0, s)).holds for s in (1.0, 1.3)
    )
    assert stretched == pytest.approx(1.3 * plain)


def test_clusters_count_as_the_random_audit_of_the_same_precision():
    cells = as_random(600.0, 80.0, 3000.0)
    assert cells.estimate == pytest.approx(600.0)
    assert cells.variance(cells.positive / cells.drawn) == pytest.approx(80.0**2)
    assert not as_random(600.0, 0.0, 3000.0).unseen.any()


def test_a_width_is_turned_into_the_budget_that_is_expected_to_reach_it():
    strata = make_strata(sums_of(np.random.default_rng(0).beta(1, 3, 3000)), 100)
    budget = budget_for(strata, 0.08, 3000.0)
    assert expect(strata, budget, 3000.0).holds <= 0.081
    assert expect(strata, 0.9 * budget, 3000.0).holds > 0.08


def test_the_worst_truth_is_at_least_as_wide_as_the_others():
    strata = make_strata(sums_of(np.random.default_rng(0).beta(1, 6, 3000)), 100)
    found = expect(strata, 100, 3000.0)
    assert found.holds <= found.nothing * 1.05
    assert found.nothing <= found.worst


def test_logit_p_is_a_plus_b_logit_h_puts_a_shifted_h_right():
    rng = np.random.default_rng(0)
    p = rng.random(3000)
    y = (rng.random(3000) < p).astype(float)
    h = 1 / (1 + (1 - p) / p * np.exp(1.0))  # the odds are too low by e
    line = calibrate(y, h, np.ones(3000))
    assert line.a == pytest.approx(1.0, abs=0.15)
    assert line.b == pytest.approx(1.0, abs=0.1)
    assert np.mean(line.recalibrate(h)) == pytest.approx(y.mean(), abs=0.01)
    value, low, high = line.mean(h[:200])
    assert low < p[:200].mean() < high
    assert low < value < high


def test_few_rows_hardly_move_the_line():
    line = calibrate(np.array([1.0, 0.0]), np.array([0.6, 0.4]), np.ones(2))
    assert abs(line.a) < 0.5
    assert abs(line.b - 1) < 0.5
