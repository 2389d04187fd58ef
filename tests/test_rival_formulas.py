"""The rivals, formula by formula and by hand: risks, functions of the naive fit, prevalences."""

import numpy as np
import pytest
from mixtures import mixture
from scipy.optimize import minimize, nnls
from scipy.special import digamma, logit
from scipy.stats import norm
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from doublelogit.studies import rivals
from doublelogit.studies.rivals import dedpul, elkan_noto, km2, ntc_tmi, risk, tice

pytestmark = pytest.mark.usefixtures("few_rows")


@pytest.mark.parametrize("loss", sorted(risk.LOSSES))
def test_losses_are_linear_odd_and_have_their_slopes(loss):
    a = np.linspace(-4, 4, 81)
    value, slope = risk.LOSSES[loss]
    np.testing.assert_allclose(value(a) - value(-a), -a, atol=1e-12)
    numeric = (value(a + 1e-6) - value(a - 1e-6)) / 2e-6
    np.testing.assert_allclose(slope(a), numeric, atol=1e-6)
    if loss == "double_hinge":
        hinge = np.maximum(-a, np.maximum(0, (1 - a) / 2))
        np.testing.assert_allclose(value(a), hinge, atol=0.04)


def test_the_risk_of_four_rows_by_hand():
    Z, positive = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 0, 0.2, 0.3])
    a = 2 * Z[:, 0] - 1
    loss = lambda margin: np.log1p(np.exp(-margin))  # noqa: E731
    negative = loss(-a).mean() - positive @ loss(-a)
    pu = risk.PURisk(Z, positive, risk.LOSSES["logistic"], l2=4.0)
    wanted = positive @ loss(a) + negative + 4.0 / 4 * 2**2 / 2
    assert pu.value_grad(np.array([2.0, -1.0])).value == pytest.approx(wanted)
    assert pu.negative_part(np.array([2.0, -1.0])) == pytest.approx(negative)


@pytest.mark.parametrize("loss", sorted(risk.LOSSES))
def test_the_floored_risk_has_its_minimum_at_the_floor(loss):
    """Few labelled rows, many features, hardly a penalty: uPU's risk of negatives is negative."""
    X, _, s = mixture(60, c=0.3, apart=1.0, p=8)
    flat, floored = (
        kind(prevalence=0.5, C=100.0, loss=loss).fit(X, s)
        for kind in (rivals.UPUClassifier, rivals.NNPUClassifier)
    )
    Z, positive = (X - X.mean(axis=0)) / X.std(axis=0), 0.5 * s / s.sum()
    pu = risk.PURisk(Z, positive, risk.LOSSES[loss], l2=0.01)

    def value(theta):
        rest = pu.value_grad(theta).value - pu.negative_part(theta)
        return rest + max(pu.negative_part(theta), 0.0)

    def theta(model):
        slopes = model.coef_[0] * X.std(axis=0)
        return np.append(slopes, model.intercept_ + X.mean(axis=0) @ model.coef_[0])

    assert pu.negative_part(theta(flat)) < -0.01
    assert pu.negative_part(theta(floored)) == pytest.approx(0.0, abs=2e-4)
    best = value(theta(floored))
    assert best < value(theta(flat))
    rng = np.random.default_rng(0)
    for size in (1.0, 0.1, 0.01):
        for direction in rng.standard_normal((50, 9)):
            assert value(theta(floored) + size * direction) > best - 1e-4


def test_pusb_calls_as_many_rows_positive_as_the_prevalence_says(sample):
    model = rivals.PUSBClassifier(prevalence=0.7).fit(sample.X, sample.s)
    assert model.predict(sample.X).sum() == pytest.approx(700, abs=1)
    ranks = rivals.UPUClassifier(prevalence=0.7).fit(sample.X, sample.s)
    np.testing.assert_allclose(model.coef_, ranks.coef_)


def test_pue_weights_by_the_inverse_of_the_naive_fit(sample):
    model = rivals.PUeClassifier(prevalence=0.6).fit(sample.X, sample.s)
    Z = (sample.X - sample.X.mean(axis=0)) / sample.X.std(axis=0)
    naive = LogisticRegression(C=0.1, tol=1e-8).fit(Z, sample.s)
    s_x = naive.predict_proba(Z)[:, 1]
    assert s_x.sum() == pytest.approx(sample.s.sum(), rel=1e-4)  # what the penalty would ask for
    inverse = 1 / s_x[sample.s == 1]
    e_x = np.minimum(s_x * inverse.sum() / (0.6 * 1000), 1)
    np.testing.assert_allclose(model.predict_propensity(sample.X), e_x, atol=1e-4)
    positive = np.zeros(1000)
    positive[sample.s == 1] = 0.6 * inverse / inverse.sum()
    pu = risk.PURisk(Z, positive, risk.LOSSES["logistic"], l2=10.0)
    found = minimize(pu.value_grad, np.zeros(5), jac=True, tol=1e-9).x
    assert pu.negative_part(found) > 0
    np.testing.assert_allclose(model.coef_[0] * sample.X.std(axis=0), found[:-1], atol=1e-3)


def test_pglin_by_hand(sample):
    Z = (sample.X - sample.X.mean(axis=0)) / sample.X.std(axis=0)
    s_x = LogisticRegression(C=1.0, tol=1e-8).fit(Z, sample.s).predict_proba(Z)[:, 1]
    model = rivals.PGlinClassifier().fit(sample.X, sample.s)
    np.testing.assert_allclose(
        model.predict_positive(sample.X), np.sqrt(s_x / s_x.max()), atol=1e-4
    )
    np.testing.assert_allclose(
        model.predict_propensity(sample.X), np.sqrt(s_x * s_x.max()), atol=1e-4
    )
    assert model.prevalence_ == pytest.approx(model.predict_positive(sample.X).mean())
    beyond = 10 * sample.X[[np.argmax(s_x)]]  # s(x) above the sample's largest
    assert model.predict_positive(beyond) == pytest.approx(1)
    assert model.predict_propensity(beyond) > s_x.max()


def test_the_three_frequencies_of_elkan_and_noto_by_hand():
    s_x, s = np.array([0.1, 0.2, 0.4, 0.5]), np.array([0, 0, 1, 1])
    found = {name: f(s_x, s) for name, f in elkan_noto.FREQUENCIES.items()}
    assert found == pytest.approx({"mean": 0.45, "ratio": 0.75, "max": 0.5})
    targets = elkan_noto.hidden_targets(logit(s_x), s, 0.5)
    np.testing.assert_allclose(targets, [1 / 9, 1 / 4, 1, 1])


@pytest.mark.parametrize("k", [1, 3])
def test_mutual_information_is_that_of_all_neighbours_counted(k):
    z = np.sort(np.random.default_rng(0).standard_normal(60))
    for t in np.linspace(z[10], z[50], 9):
        side, psi = z > t, []
        for i in range(60):
            distance = np.abs(z - z[i])
            own = np.sort(distance[(side == side[i]) & (np.arange(60) != i)])
            psi.append(digamma(np.count_nonzero(distance <= own[k - 1]) - 1))
        n1 = side.sum()
        shares = sum(n / 60 * digamma(n) for n in (60 - n1, n1))
        wanted = digamma(60) + digamma(k) - np.mean(psi) - shares
        assert ntc_tmi.mutual_information(z, t, k) == pytest.approx(wanted)


def test_the_threshold_is_found_between_two_groups_and_within_its_range():
    rng = np.random.default_rng(0)
    groups = np.concatenate([rng.normal(-3, 1, 500), rng.normal(3, 1, 500)])
    assert -1.5 < ntc_tmi.best_threshold(groups, 3) < 1.5
    r, T = ntc_tmi.smallest_share(1000, 3), 1000
    most = digamma(T) - r * digamma(r * T) - (1 - r) * digamma((1 - r) * T)
    half = digamma(T) - digamma(500) + 6 / T * (digamma(3) - digamma(503))
    assert most == pytest.approx(half)
    uneven = np.concatenate([rng.normal(-3, 1, 900), rng.normal(30, 1, 100)])
    assert (uneven > ntc_tmi.best_threshold(uneven, 3)).mean() >= r  # no cut beyond the range
    assert ntc_tmi.best_threshold(np.repeat([0.0, 1.0, 2.0], [10, 100, 10]), 3) == 1.0
    with pytest.raises(ValueError, match="needs at least 8 unlabelled rows"):
        ntc_tmi.best_threshold(groups[:7], 3)


def test_ntc_tmi_moves_the_threshold_of_the_naive_fit(sample):
    model = rivals.NTCtMIClassifier().fit(sample.X, sample.s)
    Z = (sample.X - sample.X.mean(axis=0)) / sample.X.std(axis=0)
    naive = LogisticRegression(C=1.0, tol=1e-8).fit(Z, sample.s)
    z = naive.decision_function(Z)
    t = ntc_tmi.best_threshold(z[sample.s == 0], 3)
    np.testing.assert_allclose(model.decision_function(sample.X), z - t, atol=1e-2)


def test_tices_bound_by_hand():
    assert tice.allowance(100) == pytest.approx(1 / 1.4)
    assert tice.allowance(100_000) == 0.025
    # 30 of 50 labelled, c = 0.5, delta = 0.2: 0.6 - sqrt(0.25 * 0.8 / (0.2 * 50))
    assert tice.lower_bound(30, 50, 0.5, 0.2) == pytest.approx(0.6 - np.sqrt(0.02))


def test_tice_splits_on_the_feature_with_the_purest_part():
    parts = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 10)
    labelled = parts[:, 1] == 1
    assert tice.best_split(parts, labelled, [0, 1]) == 1
    assert tice.best_split(parts, labelled, [0]) == 0
    assert tice.best_split(parts[:, :1] * 0, labelled, [0]) == -1


def test_tice_finds_the_frequency_in_a_corner_of_the_space():
    """All positives are where both features are large; elsewhere are negatives only."""
    rng = np.random.default_rng(0)
    X = rng.random((8000, 4))
    y = (X[:, 0] > 0.5) & (X[:, 2] > 0.5)
    labelled = y & (rng.random(8000) < 0.6)
    c = tice.label_frequency(X, labelled, np.random.RandomState(0))
    # a part is a quarter of both ranges: a sixteenth of the 6,400 rows that judge
    by_hand = tice.lower_bound(0.6 * 400, 400, 0.5, tice.allowance(6400))
    assert by_hand == pytest.approx(0.6 - np.sqrt(0.25 * 25.6 / 400))  # delta = 1 / 26.6
    assert by_hand < c < 0.6
    assert c == pytest.approx(by_hand, abs=0.03)


@pytest.mark.parametrize("share", [0.2, 0.5])
def test_km2_and_dedpul_find_the_share_of_a_mixture(share):
    rng = np.random.default_rng(1)
    positive = rng.random(600) < share
    X = rng.standard_normal((800, 2))
    X[:600, 0] += 3 * positive
    X[600:, 0] += 3
    s = np.arange(800) >= 600
    wanted = 0.25 + 0.75 * positive.mean()
    assert rivals.KM2Classifier().fit(X, s).prevalence_ == pytest.approx(wanted, abs=0.07)
    assert rivals.DEDPULClassifier().fit(X, s).prevalence_ == pytest.approx(wanted, abs=0.07)


def test_km2_projects_onto_the_hull():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 3))
    K = km2.gaussian_kernel(X)
    distance = np.linalg.norm(X[3] - X[5])
    pairs = np.linalg.norm(X[:, None] - X, axis=2)[np.triu_indices(40, 1)]
    assert K[3, 5] == pytest.approx(np.exp(-(distance**2) / (2 * np.median(pairs) ** 2)))
    point = np.append(np.full(30, 3 / 30), np.full(10, -2 / 10))
    weight = km2.project(K, point, np.full(40, 1 / 40))
    assert weight.min() >= 0
    assert weight.sum() == pytest.approx(1)
    values, vectors = np.linalg.eigh(K)
    root = (vectors * np.sqrt(np.maximum(values, 0))) @ vectors.T
    tied = np.vstack([root, np.full(40, 1e3)])  # the sum of the weights, all but exactly one
    best = nnls(tied, np.append(root @ point, 1e3))[0]
    squares = [(point - w) @ K @ (point - w) for w in (weight, best)]
    assert squares[0] == pytest.approx(squares[1], abs=2e-5)


def test_km2_says_when_its_projection_does_not_settle(monkeypatch):
    X, _, s = mixture(60, apart=1.0)
    monkeypatch.setattr(km2, "STEPS", 5)
    with pytest.warns(ConvergenceWarning, match="in at most 5 steps"):
        rivals.KM2Classifier().fit(X, s)


def test_km2_takes_some_rows_of_many(monkeypatch):
    X, _, s = mixture(500)
    whole = rivals.KM2Classifier().fit(X, s).prevalence_
    monkeypatch.setattr(km2, "ROWS", 300)
    assert rivals.KM2Classifier().fit(X, s).prevalence_ == pytest.approx(whole, abs=0.1)


@pytest.mark.parametrize("share", [0.1, 0.4, 0.8])
def test_dedpul_finds_the_share_from_known_densities(share):
    rng = np.random.default_rng(0)
    z = rng.standard_normal(4000) + 4 * (np.arange(4000) < 4000 * share)
    ratio = norm.pdf(z, 4) / (share * norm.pdf(z, 4) + (1 - share) * norm.pdf(z))
    assert dedpul.mixture_share(np.sort(ratio)) == pytest.approx(share, abs=0.03)


def test_dedpuls_ratio_rises_and_falls_back_to_the_bend():
    rng = np.random.default_rng(0)
    ratio = dedpul.density_ratio(rng.normal(2, 1, 300), rng.normal(0, 1.5, 900))
    assert (np.diff(ratio) >= 0).all()
    assert ratio[0] < 0.1 < 1 < ratio[-1]
    # two in three rows have ratio 0 and one has 3: up to alpha = 1/3 no posterior is above one
    assert dedpul.mixture_share(np.repeat([0.0, 3.0], [200, 100])) == pytest.approx(1 / 3, abs=0.01)
    # labelled rows are where no others are
    assert dedpul.mixture_share(np.full(100, 1e-6)) < dedpul.LARGEST_ERROR
    # ratios too small by a tenth: EM passes the bend at 1/3, where posteriors leave one
    small = np.repeat([0.0, 2.7], [200, 100])
    assert dedpul.mixture_share(small) == pytest.approx(1 / 2.7, abs=0.04)
