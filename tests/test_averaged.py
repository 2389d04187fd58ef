"""AVERAGED: its evidence against integrals, what must not matter, and what it says of itself."""

from dataclasses import replace
from importlib import import_module

import dask
import dask.array as da
import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from scipy import sparse
from scipy.optimize import approx_fprime
from scipy.special import expit, logit, logsumexp

from doublelogit import (
    AveragedClassifier,
    JointClassifier,
    OrientationWarning,
    WeakIdentificationWarning,
)
from doublelogit.datasets import make_half
from doublelogit.design import Terms
from doublelogit.engines.memory import memory_rows
from doublelogit.experiments import load_plan
from doublelogit.experiments.cell import labelled_draw
from doublelogit.fitted.mixture import quantile
from doublelogit.labelling import draw
from doublelogit.methods import Problem, averaged
from doublelogit.methods.averaged import MISFIT
from doublelogit.methods.posterior import INTERCEPT, SlicedPosterior, standardising

pytestmark = pytest.mark.filterwarnings("ignore::doublelogit.WeakIdentificationWarning")


def sliced(sample, rho):
    problem = Problem(memory_rows(sample.X, sample.s))
    if rho == 0:
        problem = replace(problem, propensity=Terms(sample.X.shape[1], np.array([], dtype=int)))
    return SlicedPosterior(problem, standardising(problem), rho)


@pytest.mark.parametrize("seed", [3, 4, 5])  # posteriors that end near the edge of a first cell
def test_cells_follow_a_posterior_wherever_it_lies(seed, monkeypatch):
    rng = np.random.default_rng([seed, 9, 4000])
    half = make_half(4000, random_state=rng)
    s = draw(half.target, np.full(4000, 0.5), rng)
    found = AveragedClassifier(propensity_features=[]).fit(half.data, s)
    monkeypatch.setattr(import_module("doublelogit.methods.exploration"), "CELLS", 150)
    fine = AveragedClassifier(propensity_features=[]).fit(half.data, s)
    ends = fine.prevalence_interval()
    width = ends[1] - ends[0]
    assert found.prevalence_ == pytest.approx(fine.prevalence_, abs=0.02 * width)
    assert found.prevalence_interval() == pytest.approx(ends, abs=0.03 * width)


@pytest.mark.parametrize("rho", [0.0, 0.7])
def test_derivatives_of_the_posterior(sample, rho):
    posterior = sliced(sample, rho).at(0.3)
    u = np.random.default_rng(0).normal(size=posterior.to_theta.shape[1]) / 2
    first, second = posterior.value_grad(u), posterior.value_grad_hess(u)

    def value(u):
        return posterior.value_grad(u).value

    np.testing.assert_allclose(first.grad, approx_fprime(u, value, 1e-7), atol=1e-6)
    slopes = approx_fprime(u, posterior.gradient, 1e-7)
    np.testing.assert_allclose(second.hess, slopes, atol=1e-6)
    np.testing.assert_allclose(second.grad, first.grad)


def test_the_coordinates_are_those_of_standardised_features(sample):
    X = sample.X * [1.0, 10.0, 0.1, 2.0] + [5.0, -3.0, 0.0, 1.0]
    problem = Problem(memory_rows(X, sample.s))
    u = np.random.default_rng(1).normal(size=10)
    beta, gamma = np.split(standardising(problem) @ u, 2)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    np.testing.assert_allclose(X @ beta[:-1] + beta[-1], Z @ u[:4] + u[4])
    np.testing.assert_allclose(X @ gamma[:-1] + gamma[-1], Z @ u[5:9] + u[9])


def test_laplaces_evidence_is_close_to_the_integral(double_logistic_sample):
    sample = double_logistic_sample(n=300, beta=(1.0, 0.3), gamma=(0.0, 0.0))
    posterior = sliced(sample, 0.0).at(0.0)
    slopes, intercepts = np.linspace(-1, 4, 81), np.linspace(-2, 3, 81)
    height = np.array(
        [
            [-posterior.n * posterior.value_grad(np.array([a, b])).value for b in intercepts]
            for a in slopes
        ]
    )
    cell = (slopes[1] - slopes[0]) * (intercepts[1] - intercepts[0])
    # the densities of both priors: their scales and powers of 2 pi
    exact = logsumexp(height) + np.log(cell) - np.log(2 * np.pi) - np.log(INTERCEPT)
    assert posterior.mode(np.zeros(2)).log_evidence == pytest.approx(exact, abs=0.1)


def test_quantiles_of_a_mixture_are_those_of_its_draws():
    rng = np.random.default_rng(0)
    weight, mean, sd = np.array([0.3, 0.7]), np.array([[0.0, 3.0]]), np.array([[1.0, 0.5]])
    piece = (rng.random(200_000) < weight[1]).astype(int)
    draws = mean[0, piece] + sd[0, piece] * rng.normal(size=200_000)
    for q in (0.05, 0.5, 0.95):
        assert quantile(weight, mean, sd, q)[0] == pytest.approx(np.quantile(draws, q), abs=0.02)


def test_units_and_origins_of_features_do_not_matter(sample):
    mine = AveragedClassifier().fit(sample.X, sample.s)
    X = sample.X * [1.0, 1e3, 1e-2, 2.0] + [0.0, 5e4, 0.0, -7.0]
    theirs = AveragedClassifier().fit(X, sample.s)
    np.testing.assert_allclose(
        mine.predict_positive(sample.X), theirs.predict_positive(X), atol=1e-6
    )
    np.testing.assert_allclose(
        mine.predict_interval(sample.X), theirs.predict_interval(X), atol=1e-6
    )


def test_sparse_features_give_the_same_intervals(sample):
    X = np.where(np.abs(sample.X) > 0.5, sample.X, 0.0)
    dense = AveragedClassifier().fit(X, sample.s)
    thin = AveragedClassifier().fit(sparse.csr_array(X), sample.s)
    np.testing.assert_allclose(
        thin.predict_interval(sparse.csr_array(X)), dense.predict_interval(X), atol=1e-8
    )


def test_the_pieces_are_a_table_whose_weights_sum_to_one(sample):
    model = AveragedClassifier().fit(sample.X, sample.s)
    table = pd.DataFrame(model.evidence_)
    assert table["weight"].sum() == pytest.approx(1)
    assert model.prevalence_ == pytest.approx((table["weight"] * table["prevalence"]).sum())
    assert set(table["rho"]) <= {0.0, 0.7}


def test_intervals_hold_the_means_and_widen_with_the_level(sample):
    model = AveragedClassifier().fit(sample.X, sample.s)
    narrow, wide = model.predict_interval(sample.X, 0.5), model.predict_interval(sample.X, 0.95)
    assert (wide[:, 0] < narrow[:, 0]).all()
    assert (narrow[:, 1] < wide[:, 1]).all()
    low, high = model.prevalence_interval(0.95)
    assert low < model.prevalence_ < high
    c_low, c_high = model.label_frequency_interval(0.95)
    assert c_low < model.label_frequency_ < c_high
    assert model.coef_interval().shape == (2, 5, 2)
    with pytest.raises(ValueError, match=r"level must be between 0 and 1.*got 95"):
        model.predict_interval(sample.X, 95)


def test_the_probability_of_a_label_is_the_mean_of_the_product(sample):
    model = AveragedClassifier().fit(sample.X, sample.s)
    mixture = model.model_
    a, b = (side.predictor(sample.X) for side in (mixture.outcome_model, mixture.propensity_model))
    wanted = sum(w * expit(u) * expit(v) for w, u, v in zip(mixture.weight, a.T, b.T, strict=True))
    got = model.predict_label_proba(sample.X)
    np.testing.assert_allclose(got, wanted)
    product = model.predict_positive(sample.X) * model.predict_propensity(sample.X)
    assert np.abs(got - product).max() > 1e-3
    likelihood = [np.log(np.where(sample.s == 1, p, 1 - p)).mean() for p in (got, product)]
    assert likelihood[0] > likelihood[1]
    assert model.score(sample.X, sample.s) == pytest.approx(likelihood[0])


def test_intervals_do_not_lean_towards_labels_at_random():
    X, _, _, s = biased(500, 1.0, 0.4, seed=1)
    model = AveragedClassifier().fit(X, s)
    even = averaged(Problem(memory_rows(X, s)), {0.0: 1.0, 0.7: 1.0}, misfit=0.0).model
    assert even.even == pytest.approx(even.weight)
    mine = model.model_
    at_random = [weights[mine.rho == 0].sum() for weights in (mine.weight, mine.even)]
    assert at_random[1] == pytest.approx(even.weight[even.rho == 0].sum(), abs=1e-3)
    odds = [share / (1 - share) for share in at_random]
    assert odds[0] == pytest.approx(10 * np.exp(500 * MISFIT) * odds[1])
    assert mine.lean == pytest.approx(at_random[0] - at_random[1])
    assert mine.interval_weight == pytest.approx((mine.weight + mine.even) / 2)


def test_where_bias_and_an_ill_fitting_class_look_alike_it_says_so():
    X, _, y, s = biased(500, 1.0, 0.6, seed=3)
    with pytest.warns(WeakIdentificationWarning, match="the class is not quite logistic"):
        model = AveragedClassifier().fit(X, s)
    told = AveragedClassifier(propensity_features=range(6, 12)).fit(X, s)
    assert model.model_.lean > 0.5 > told.model_.lean
    low, high = model.prevalence_interval()
    assert low < y.mean() < high


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_class_of_two_conditions_is_not_taken_for_biased_labels(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(1500, 6))
    y = rng.random(1500) < expit(1.5 * X[:, :2].sum(axis=1) + 1) * expit(
        1.5 * X[:, 2:4].sum(axis=1) + 1
    )
    s = (y & (rng.random(1500) < 0.5)).astype(int)
    model = AveragedClassifier().fit(X, s)
    assert model.prevalence_ == pytest.approx(y.mean(), abs=0.08)
    credulous = averaged(Problem(memory_rows(X, s)), misfit=0.0).model
    assert credulous.weight @ credulous.outcome_model.share > y.mean() + 0.09


def test_few_labels_are_an_interval_as_wide_as_it_is_honest(double_logistic_sample):
    sample = double_logistic_sample(n=300, gamma=(0.0, 0.0, 0.0, 0.0, -3.0))
    with pytest.warns(WeakIdentificationWarning, match="is credible"):
        model = AveragedClassifier().fit(sample.X, sample.s)
    low, high = model.prevalence_interval()
    assert high - low > 0.5
    assert low < sample.y_x.mean() < high


def test_more_rows_are_a_shorter_interval(double_logistic_sample):
    widths = []
    for n in (300, 2400, 9600):
        samples = [double_logistic_sample(n, gamma=(0.0,) * 5, seed=seed) for seed in range(3)]
        ends = [AveragedClassifier().fit(one.X, one.s).prevalence_interval() for one in samples]
        widths.append(np.ptp(ends, axis=1).mean())
    assert widths[0] > widths[1] > widths[2]


def biased(n, b, g, seed=0):
    """Six features for the class, six others for the labelling."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 12))
    y_x = expit(b * X[:, :6].sum(axis=1) - 0.3)
    y = rng.random(n) < y_x
    s = y & (rng.random(n) < expit(g * X[:, 6:].sum(axis=1) + 0.2))
    return X, y_x, y.astype(float), s.astype(int)


def test_under_strong_bias_it_is_as_good_as_the_maximum_of_the_likelihood():
    X, y_x, _, s = biased(4000, 1.0, 0.6)
    with pytest.warns(OrientationWarning, match="may be swapped"):
        model = AveragedClassifier().fit(X, s)
    joint = JointClassifier().fit(X, s)
    errors = [np.abs(m.predict_positive(X) - y_x).mean() for m in (model, joint)]
    assert errors[0] < 1.1 * errors[1]
    assert (model.evidence_["rho"] > 0).all()


def test_where_labelling_is_the_stronger_model_features_or_an_audit_settle_it():
    X, y_x, y, s = biased(2000, 0.6, 1.0)
    with pytest.warns(OrientationWarning):
        swapped = AveragedClassifier().fit(X, s)
    audited = np.where(np.arange(2000) < 100, y, np.nan)
    by_audit = AveragedClassifier().fit(X, s, audited_y=audited)
    by_name = AveragedClassifier(propensity_features=range(6, 12)).fit(X, s)
    errors = [np.abs(m.predict_positive(X) - y_x).mean() for m in (swapped, by_audit, by_name)]
    assert errors[0] > 0.2
    assert max(errors[1:]) < 0.15
    assert by_audit.orientation_.rule == "audit"
    assert by_name.orientation_.rule == "features"
    # what it warned of is the answer that it also keeps
    other = swapped.swapped()
    assert np.abs(other.predict_positive(X) - y_x).mean() < 0.15
    np.testing.assert_allclose(other.predict_positive(X), swapped.predict_propensity(X))
    assert other.prevalence_ == pytest.approx(other.predict_positive(X).mean())
    with pytest.raises(ValueError, match="told apart by the audited rows"):
        by_audit.swapped()


def test_asked_for_scar_it_averages_scar_only(sample):
    model = AveragedClassifier(propensity_features=[]).fit(sample.X, sample.s)
    assert (model.evidence_["rho"] == 0).all()
    assert np.ptp(model.predict_propensity(sample.X)) < 1e-12


def test_too_many_features_are_refused_with_the_way_out(double_logistic_sample):
    X = sparse.random(50, 1500, density=0.1, format="csr", random_state=0)
    s = (np.arange(50) % 5 == 0).astype(int)
    with pytest.raises(ValueError, match=r"at most 1000 of them; got .* Choose Joint"):
        AveragedClassifier().fit(X, s)


def test_the_mean_label_chance_is_that_of_the_sample(double_logistic_sample):
    sample = double_logistic_sample(n=2000)
    model = AveragedClassifier().fit(sample.X, sample.s)
    assert model.predict_label_proba(sample.X).mean() == pytest.approx(sample.s.mean(), abs=0.02)
    assert logit(model.predict_positive(sample.X)) == pytest.approx(
        model.decision_function(sample.X)
    )


def test_the_posterior_of_the_prevalence_is_drawn():
    X, s = sample_of_half()
    model = AveragedClassifier().fit(X, s)
    ax = model.plot_prevalence()
    low, high = model.prevalence_interval()
    assert f"{low:.2f} to {high:.2f} with 90% credibility" in ax.get_title()
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    share = model.evidence_["interval_weight"][model.evidence_["rho"] == 0].sum()
    assert labels[0] == f"labels at random ({share:.0%})"
    other = Figure().subplots()
    assert model.plot_prevalence(other, level=0.5) is other
    assert "50% credibility" in other.get_title()


def test_intervals_of_rows_elsewhere_are_those_of_rows_in_memory():
    X, s = sample_of_half()
    model = AveragedClassifier().fit(X, s)
    lazy = model.predict_interval(da.from_array(X, chunks=(150, 12)), level=0.8)
    assert dask.is_dask_collection(lazy)
    np.testing.assert_allclose(lazy.compute(), model.predict_interval(X, 0.8), rtol=1e-12)


def sample_of_half():
    sample = make_half(400, random_state=0)
    return sample.data, draw(sample.target, np.full(400, 0.5), np.random.default_rng(1))


@pytest.mark.parametrize(("dataset", "repetition"), [("heart-c", 6), ("vote", 7)])
def test_a_handful_of_labels_gives_no_part_of_the_posterior_infinite_weight(dataset, repetition):
    # six and seven labelled rows: all rows may be positive, and the outcome's intercept run away
    plan = load_plan("ecai2023")
    first = plan.draws("as_published", [dataset], 1)[0]
    drawn = labelled_draw(replace(first, repetition=repetition), plan.oracle("as_published"))
    model = AveragedClassifier().fit(drawn.X[drawn.train], drawn.s)
    assert model.evidence_["log_evidence"].max() < 0  # a chance, up to the priors' scales
    assert np.abs(model.model_.outcome_model.coef).max() < 10
    low, high = model.prevalence_interval()
    assert high - low > 0.35  # little is known
