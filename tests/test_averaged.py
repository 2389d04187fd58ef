"""AVERAGED: its evidence against integrals, what must not matter, and what it says of itself."""

from dataclasses import replace

import dask
import dask.array as da
import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from scipy import sparse
from scipy.special import expit, logit
from scipy.stats import beta

from doublelogit import (
    AveragedClassifier,
    JointClassifier,
    OrientationWarning,
    WeakIdentificationWarning,
)
from doublelogit.averaged import prior
from doublelogit.averaged.settings import Settings
from doublelogit.labelling import draw
from doublelogit.studies.datasets import make_half
from doublelogit.studies.experiments import load_plan
from doublelogit.studies.experiments.cell import labelled_draw

pytestmark = pytest.mark.filterwarnings("ignore::doublelogit.WeakIdentificationWarning")


def test_units_and_origins_of_features_do_not_matter(sample):
    mine = AveragedClassifier(shape="line").fit(sample.X, sample.s)
    X = sample.X * [1.0, 1e3, 1e-2, 2.0] + [0.0, 5e4, 0.0, -7.0]
    theirs = AveragedClassifier(shape="line").fit(X, sample.s)
    np.testing.assert_allclose(
        mine.predict_positive(sample.X), theirs.predict_positive(X), atol=1e-6
    )
    np.testing.assert_allclose(
        mine.predict_interval(sample.X), theirs.predict_interval(X), atol=1e-6
    )


def test_sparse_features_give_the_same_intervals(sample):
    X = np.where(np.abs(sample.X) > 0.5, sample.X, 0.0)
    dense = AveragedClassifier(shape="line").fit(X, sample.s)
    thin = AveragedClassifier(shape="line").fit(sparse.csr_array(X), sample.s)
    np.testing.assert_allclose(
        thin.predict_interval(sparse.csr_array(X)), dense.predict_interval(X), atol=1e-8
    )


def test_the_pieces_are_a_table_whose_weights_sum_to_one(sample):
    model = AveragedClassifier(shape="line").fit(sample.X, sample.s)
    table = pd.DataFrame(model.evidence_)
    assert table["weight"].sum() == pytest.approx(1)
    assert model.prevalence_ == pytest.approx((table["weight"] * table["prevalence"]).sum())
    scales = set(table["class_scale"][table["shape"] == "line"])
    assert scales <= set(prior.class_scales(4, Settings()))
    assert set(table["shape"]) == {"line", "any"}
    assert set(table["mechanism"]) == {"at random", "following", "own slopes"}
    at_random = table["mechanism"] == "at random"
    assert (table["labelling_scale"][at_random] == 0).all()
    assert (table["labelling_scale"][~at_random] > 0).all()


def test_intervals_hold_the_means_and_widen_with_the_level(sample):
    model = AveragedClassifier(shape="line").fit(sample.X, sample.s)
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


def test_the_probability_of_a_label_has_the_propensity_of_positives(sample):
    model = AveragedClassifier(shape="line").fit(sample.X, sample.s)
    mixture = model.model_
    a, b = (side.predictor(sample.X) for side in (mixture.outcome_model, mixture.propensity_model))
    both = sum(w * expit(u) * expit(v) for w, u, v in zip(mixture.weight, a.T, b.T, strict=True))
    got, y = model.predict_label_proba(sample.X), model.predict_positive(sample.X)
    np.testing.assert_allclose(got, y * both / (expit(a) @ mixture.weight))
    assert np.abs(got - both).max() < 0.1  # of which the mean is the share of labels
    product = model.predict_positive(sample.X) * model.predict_propensity(sample.X)
    assert np.abs(got - product).max() > 1e-3
    likelihood = [np.log(np.where(sample.s == 1, p, 1 - p)).mean() for p in (got, product)]
    assert likelihood[0] > likelihood[1]
    assert model.score(sample.X, sample.s) == pytest.approx(likelihood[0])


def test_components_whose_steps_are_used_up_are_named_with_their_weight(sample, monkeypatch):
    steps = Settings(most_steps=1, few_coefficients=0.0)
    monkeypatch.setattr(AveragedClassifier, "_settings", steps)
    with pytest.warns(UserWarning, match=r"used up its steps in components that hold [\d.]+%"):
        model = AveragedClassifier(shape="line").fit(sample.X, sample.s)
    assert not model.converged_
    (finding,) = (one for one in model.findings_ if one.topic == "convergence")
    assert 0.1 < finding.numbers["share"] <= 1
    monkeypatch.undo()
    assert AveragedClassifier(shape="line").fit(sample.X, sample.s).converged_


def test_few_labels_are_an_interval_as_wide_as_it_is_honest(double_logistic_sample):
    sample = double_logistic_sample(n=300, gamma=(0.0, 0.0, 0.0, 0.0, -3.0))
    with pytest.warns(WeakIdentificationWarning, match="is credible"):
        model = AveragedClassifier(shape="line").fit(sample.X, sample.s)
    low, high = model.prevalence_interval()
    assert high - low > 0.5
    assert low < sample.y_x.mean() < high


def weak(n, p, slope=0.2, seed=0, c=0.8):
    """Labels at random and a class that hardly separates: p features of which half matter."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    y = rng.random(n) < expit(slope * X[:, : p // 2].sum(axis=1) - 1)
    return X, y, (y & (rng.random(n) < c)).astype(int)


@pytest.mark.parametrize("seed", range(4))
def test_a_class_that_hardly_separates_is_not_taken_for_one_that_is_everywhere(seed):
    X, y, s = weak(4000, 10, seed=seed)
    low, high = AveragedClassifier(shape="line").fit(X, s).prevalence_interval()
    assert low < y.mean() < high
    assert high < 0.8


def test_features_of_noise_do_not_make_it_surer():
    widths = []
    for p in (3, 30):
        rng = np.random.default_rng(p)
        X = rng.normal(size=(1000, p))
        y = rng.random(1000) < expit(X[:, 0] - 0.5)
        s = (y & (rng.random(1000) < 0.5)).astype(int)
        low, high = AveragedClassifier(shape="line").fit(X, s).prevalence_interval()
        assert low < y.mean() < high
        widths.append(high - low)
    assert widths[1] > 0.8 * widths[0]


def test_labels_that_follow_the_class_are_covered():
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(1500, 6))
        along = X.sum(axis=1)
        y = rng.random(1500) < expit(along + 0.5)
        s = (y & (rng.random(1500) < expit(along - 0.5))).astype(int)
        low, high = AveragedClassifier(shape="line").fit(X, s).prevalence_interval()
        assert low < y.mean() < high


def test_more_rows_are_a_shorter_interval_until_misfit_counts():
    widths = []
    for n in (300, 2400, 9600):
        ends = []
        for seed in range(3):
            X, _, s = weak(n, 4, slope=1.5, seed=seed, c=0.5)
            ends.append(AveragedClassifier(shape="line").fit(X, s).prevalence_interval())
        widths.append(np.ptp(ends, axis=1).mean())
    assert widths[0] > 1.5 * widths[1]
    assert 1.2 * widths[1] > widths[2] > 0.5 * widths[1]


def test_it_says_why_the_prevalence_is_open():
    X, _, s = weak(500, 10, seed=1, c=0.3)
    with pytest.warns(WeakIdentificationWarning, match="the classes hardly separate"):
        AveragedClassifier(shape="line", propensity_features=[]).fit(X, s)


class TestKnowledge:
    def test_a_known_prevalence_is_met_and_told_apart_by(self):
        X, _, s = weak(1500, 6, slope=0.8, seed=2, c=0.4)
        told = AveragedClassifier(shape="line", prevalence=(0.45, 0.02)).fit(X, s)
        low, high = told.prevalence_interval()
        assert 0.36 < low < 0.45 < high < 0.52
        assert told.orientation_.rule == "prevalence"
        exact = AveragedClassifier(shape="line", prevalence=0.45).fit(X, s)
        assert exact.prevalence_ == pytest.approx(0.45, abs=0.01)
        assert np.ptp(exact.prevalence_interval()) < 0.05

    def test_a_known_label_frequency_says_the_same_of_the_prevalence(self):
        X, _, s = weak(1500, 6, slope=0.8, seed=2, c=0.4)
        told = AveragedClassifier(shape="line", label_frequency=(0.4, 0.02)).fit(X, s)
        assert told.label_frequency_ == pytest.approx(0.4, abs=0.03)
        assert told.prevalence_ == pytest.approx(s.mean() / 0.4, rel=0.1)

    def test_vague_knowledge_changes_next_to_nothing(self):
        X, _, s = weak(800, 4, slope=1.0, seed=3, c=0.5)
        scar = {"propensity_features": []}
        plain = AveragedClassifier(shape="line", **scar).fit(X, s)
        vague = AveragedClassifier(shape="line", **scar, prevalence=(0.5, 5.0)).fit(X, s)
        assert vague.prevalence_interval() == pytest.approx(plain.prevalence_interval(), abs=0.01)

    def test_impossible_knowledge_is_refused(self, sample):
        with pytest.raises(ValueError, match="must not be below what the labelled rows prove"):
            AveragedClassifier(shape="line", prevalence=0.01).fit(sample.X, sample.s)


@pytest.mark.parametrize("n", [1500, 12_000])
def test_audited_rows_count_whole_among_however_many_rows(n):
    """A class that hardly separates: its interval is hardly wider than the exact binomial one."""
    X, y, s = weak(n, 6, seed=1, c=0.5)
    rng = np.random.default_rng(n)
    drawn = rng.choice(np.flatnonzero(s == 0), 100, replace=False)
    audited = np.full(n, np.nan)
    audited[drawn] = y[drawn]
    model = AveragedClassifier(shape="line").fit(X, s, audited_y=audited)
    k = int(y[drawn].sum())
    exact = s.mean() + (1 - s.mean()) * beta.ppf([0.05, 0.95], [k, k + 1], [101 - k, 100 - k])
    width = np.ptp(model.prevalence_interval(0.9))
    assert 0.5 * np.ptp(exact) < width < 1.15 * np.ptp(exact)


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
        model = AveragedClassifier(shape="line").fit(X, s)
    joint = JointClassifier().fit(X, s)
    errors = [np.abs(m.predict_positive(X) - y_x).mean() for m in (model, joint)]
    assert errors[0] < 1.1 * errors[1]
    table = pd.DataFrame(model.evidence_)
    assert "at random" not in set(table["mechanism"][table["shape"] == "line"])


def test_where_labelling_is_the_stronger_model_features_or_an_audit_settle_it():
    X, y_x, y, s = biased(2000, 0.6, 1.0)
    with pytest.warns(OrientationWarning):
        swapped = AveragedClassifier(shape="line").fit(X, s)
    audited = np.where(np.arange(2000) < 100, y, np.nan)
    by_audit = AveragedClassifier(shape="line").fit(X, s, audited_y=audited)
    by_name = AveragedClassifier(shape="line", propensity_features=range(6, 12)).fit(X, s)
    errors = [np.abs(m.predict_positive(X) - y_x).mean() for m in (swapped, by_audit, by_name)]
    assert errors[0] > 0.2
    assert max(errors[1:]) < 0.15
    assert by_audit.orientation_.rule == "audit"
    assert by_name.orientation_.rule == "features"
    # what it warned of is the answer that it also keeps
    other = swapped.swapped()
    assert np.abs(other.predict_positive(X) - y_x).mean() < 0.15
    np.testing.assert_allclose(other.predict_positive(X), swapped.predict_propensity(X))
    assert other.prevalence_ == pytest.approx(other.predict_positive(X).mean(), abs=0.01)
    with pytest.raises(ValueError, match="told apart by the audited rows"):
        by_audit.swapped()


def test_asked_for_scar_it_averages_scar_only(sample):
    model = AveragedClassifier(shape="line", propensity_features=[]).fit(sample.X, sample.s)
    assert set(model.evidence_["mechanism"]) == {"at random"}
    assert np.ptp(model.predict_propensity(sample.X)) < 1e-12


def test_too_many_features_are_refused_with_the_way_out(double_logistic_sample):
    X = sparse.random(50, 1500, density=0.1, format="csr", random_state=0)
    s = (np.arange(50) % 5 == 0).astype(int)
    with pytest.raises(ValueError, match=r"at most 1000 of them; got .* Choose Sparse"):
        AveragedClassifier(shape="line").fit(X, s)


def test_the_mean_label_chance_is_that_of_the_sample(double_logistic_sample):
    sample = double_logistic_sample(n=2000)
    model = AveragedClassifier(shape="line").fit(sample.X, sample.s)
    assert model.predict_label_proba(sample.X).mean() == pytest.approx(sample.s.mean(), abs=0.02)
    assert logit(model.predict_positive(sample.X)) == pytest.approx(
        model.decision_function(sample.X)
    )


def test_the_posterior_of_the_prevalence_is_drawn():
    X, s = sample_of_half()
    model = AveragedClassifier(shape="line").fit(X, s)
    ax = model.plot_prevalence()
    low, high = model.prevalence_interval()
    assert f"{low:.2f} to {high:.2f} with 90% credibility" in ax.get_title()
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    some = pd.DataFrame(model.evidence_)
    lines = some["shape"] == "line"
    share = some["weight"][(some["mechanism"] == "at random") & lines].sum()
    assert labels[0] == f"labels at random ({share:.0%})"
    assert f"a class of any shape ({some['weight'][~lines].sum():.0%})" in labels
    other = Figure().subplots()
    assert model.plot_prevalence(other, level=0.5) is other
    assert "50% credibility" in other.get_title()


def test_intervals_of_rows_elsewhere_are_those_of_rows_in_memory():
    X, s = sample_of_half()
    model = AveragedClassifier(shape="line").fit(X, s)
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
    model = AveragedClassifier(shape="line").fit(drawn.X[drawn.train], drawn.s)
    assert model.evidence_["log_evidence"].max() < 0  # a chance, up to the priors' scales
    assert np.abs(model.model_.outcome_model.lines(model.model_.weight)[1].coef).max() < 10
    low, high = model.prevalence_interval()
    assert high - low > 0.35  # little is known
