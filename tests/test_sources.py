"""Several label sources: patterns of labels, the propensity of any label, the class."""

from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.exceptions import DataConversionWarning

from doublelogit import (
    AveragedClassifier,
    JointClassifier,
    NaiveClassifier,
    Report,
    Roles,
    TableClassifier,
    infer,
    load,
)
from doublelogit.averaged.nodes import COMMON
from doublelogit.core.labels import labels_of
from doublelogit.core.patterns import Pairs, SharedEffort, law_named
from doublelogit.engines.memory import memory_rows
from doublelogit.exceptions import TableError, WeakIdentificationWarning
from doublelogit.fitted.sources import SourceLaw
from doublelogit.methods.patterns import (
    GaussianPrior,
    PatternsObjective,
    fit_patterns,
    labelled_patterns,
)
from doublelogit.methods.problem import Problem
from doublelogit.methods.units import from_standardised
from doublelogit.tables import Table

NAN = np.nan
LAWS = [Pairs(2), Pairs(3, triples=True), Pairs(4), SharedEffort(3)]


def sources(n=1500, m=3, seed=0, effort=0.0):
    """Features, labels by source and the class: a logistic class, sources with slopes."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = rng.random(n) < expit(1.5 * X[:, 0] - X[:, 1] - 0.8)
    b = X @ rng.normal(size=(3, m)) * 0.4 - 0.3 + effort * rng.normal(size=(n, 1))
    return X, ((rng.random((n, m)) < expit(b)) & y[:, None]).astype(float), y


def some_patterns(law, seed=0, n=30):
    """Patterns of labelled rows, some sources not looking, with predictors and weights."""
    rng = np.random.default_rng(seed)
    s = (rng.random((n, law.n_sources)) < 0.5).astype(float)
    s[rng.random(s.shape) < 0.2] = NAN
    s = s[np.fmax.reduce(s, axis=1, initial=0.0) == 1]
    phi = rng.normal(size=law.size) * 0.5
    return s, rng.normal(size=s.shape), phi, rng.random(len(s))


def slope(fn, at, eps=1e-6):
    """Derivatives of a function by finite differences, one line a coordinate."""
    steps = eps * np.eye(len(at))
    return np.array([(fn(at + step) - fn(at - step)) / (2 * eps) for step in steps])


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_laws_have_the_derivatives_of_finite_differences(law):
    s, b, phi, weight = some_patterns(law)
    f = law.loss(s, b, phi, weight)
    flat = (lambda column: column.reshape(b.shape),)[0]
    by_b = slope(lambda at: law.loss(s, flat(at), phi, weight).value, b.ravel())
    np.testing.assert_allclose(flat(by_b), weight[:, None] * f.d_b, atol=1e-7)
    by_phi = slope(lambda at: law.loss(s, b, at, weight).value, phi)
    np.testing.assert_allclose(by_phi, f.d_phi, atol=1e-7)
    curved = slope(lambda at: law.loss(s, b, at, weight).d_phi, phi)
    np.testing.assert_allclose(curved, f.h_phi, atol=1e-7)
    mixed = slope(lambda at: law.loss(s, b, at, weight).d_b, phi)
    np.testing.assert_allclose(np.moveaxis(mixed, 0, -1), f.h_bphi, atol=1e-7)
    for j in range(law.n_sources):
        step = np.zeros_like(b)
        step[:, j] = 1e-6
        change = law.loss(s, b + step, phi, weight).d_b - law.loss(s, b - step, phi, weight).d_b
        np.testing.assert_allclose(change / 2e-6, f.h_bb[:, j], atol=1e-7)


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_the_chance_of_no_label_has_the_derivatives_of_finite_differences(law):
    s, b, phi, _ = some_patterns(law)
    seen = (~np.isnan(s)).astype(float)
    value, d_b, d_phi = law.none_slopes(b, phi, seen)
    np.testing.assert_allclose(value, law.log_none(b, phi, seen), atol=1e-12)
    by_phi = slope(lambda at: law.log_none(b, at, seen), phi)
    np.testing.assert_allclose(by_phi.T, d_phi, atol=1e-7)
    step = np.zeros_like(b)
    step[:, 0] = 1e-6
    change = law.log_none(b + step, phi, seen) - law.log_none(b - step, phi, seen)
    np.testing.assert_allclose(change / 2e-6, d_b[:, 0], atol=1e-7)


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_patterns_that_agree_with_what_was_seen_add_up(law):
    """A source that did not look is summed over, by the definition of a marginal probability."""
    rng = np.random.default_rng(1)
    m, phi = law.n_sources, rng.normal(size=law.size) * 0.5
    b = rng.normal(size=(1, m))

    def chance(pattern):
        one, seen = np.array([pattern]), np.ones((1, m))
        some = -np.expm1(law.log_none(b, phi, seen))[0]
        return some * np.exp(-law.loss(one, b, phi, np.ones(1)).value)

    unseen = np.array([1.0, *[0.0] * (m - 2), NAN])
    both = [np.append(unseen[:-1], last) for last in (0.0, 1.0)]
    seen = (~np.isnan(unseen)).astype(float)[None]
    some = -np.expm1(law.log_none(b, phi, seen))[0]
    marginal = some * np.exp(-law.loss(unseen[None], b, phi, np.ones(1)).value)
    assert marginal == pytest.approx(sum(map(chance, both)), rel=1e-10)
    every = [np.array(s) for s in product((0.0, 1.0), repeat=m) if any(s)]
    none = np.exp(law.log_none(b, phi, np.ones((1, m))))[0]
    assert sum(map(chance, every)) + none == pytest.approx(1.0, rel=1e-10)
    each = sum(np.array(s) * chance(s) for s in every)
    np.testing.assert_allclose(law.each(b, phi)[0], each, rtol=1e-10)


@pytest.mark.parametrize("law", [Pairs(3), SharedEffort(3)], ids=str)
def test_without_dependence_sources_are_independent(law):
    b = np.random.default_rng(2).normal(size=(5, 3))
    phi = np.zeros(law.size) if isinstance(law, Pairs) else np.array([-20.0])
    wanted = np.log1p(-expit(b)).sum(axis=1)
    np.testing.assert_allclose(law.log_none(b, phi, np.ones_like(b)), wanted, atol=1e-10)
    np.testing.assert_allclose(law.each(b, phi), expit(b), atol=1e-10)


def saturated(S, phi_held=None, triples=False):
    """Part 1 without features and with hardly any prior."""
    m = S.shape[1]
    problem = Problem(memory_rows(np.zeros((len(S), 0)), S))
    law = Pairs(m, triples)
    size = m + (0 if phi_held is not None else law.size)
    prior = GaussianPrior(np.zeros(size), 1e-12 * np.eye(size))
    terms, rows = problem.propensity, labelled_patterns(problem)
    to_gamma = from_standardised(problem, terms)
    objective = PatternsObjective(rows, terms, law, to_gamma, prior, problem.n_labelled, phi_held)
    return fit_patterns(objective)


def counted(counts):
    """Rows with each pattern of labels as often as is said."""
    return np.array([s for s, times in counts.items() for _ in range(times)], dtype=float)


@pytest.mark.parametrize("dependence", [-1.0, 0.0, 0.7])
def test_two_sources_in_a_cell_hide_as_many_as_the_closed_formula(dependence):
    S = counted({(1, 0): 40, (0, 1): 25, (1, 1): 17, (0, 0): 100})
    fit = saturated(S, np.array([dependence]))
    hidden = fit.hidden(fit.theta).positives - 82
    assert hidden == pytest.approx(np.exp(dependence) * 40 * 25 / 17, rel=1e-10)


def test_three_sources_in_a_cell_hide_as_many_as_the_closed_formula():
    counts = {(1, 0, 0): 40, (0, 1, 0): 30, (0, 0, 1): 20, (1, 1, 0): 15, (1, 0, 1): 12}
    S = counted({**counts, (0, 1, 1): 9, (1, 1, 1): 7, (0, 0, 0): 50})
    fit = saturated(S)
    hidden = fit.hidden(fit.theta).positives - 133
    assert hidden == pytest.approx(7 * 40 * 30 * 20 / (15 * 12 * 9), rel=1e-10)
    phi = fit.objective.phi(fit.theta)
    # the odds ratio of two sources among positives that the third did not label
    assert phi[0] == pytest.approx(np.log(15 * hidden / (40 * 30)), rel=1e-8)


def occupancy(theta, X, S):
    """Minus the log-likelihood of a site-occupancy model, y(x) prod_j e_j(x), written out."""
    m, Z = S.shape[1], np.column_stack([X, np.ones(len(X))])
    beta, gammas = theta[: Z.shape[1]], theta[Z.shape[1] :].reshape(m, -1)
    y, e = expit(Z @ beta), expit(Z @ gammas.T)
    seen = y * np.prod(np.where(S == 1, e, 1 - e), axis=1)
    return -np.log(np.where(S.any(axis=1), seen, seen + 1 - y)).sum()


def test_independent_sources_have_the_patterns_of_an_occupancy_model():
    """The conditional likelihood of part 1 and that of any label multiply to the occupancy one."""
    X, S, _ = sources(n=400, m=2)
    rng = np.random.default_rng(0)
    beta, gammas = rng.normal(size=4) * 0.5, rng.normal(size=(2, 4)) * 0.5
    law = SourceLaw("pairs", gammas, np.zeros(1))
    y, p_any = expit(X @ beta[:-1] + beta[-1]), expit(law.logit_any(X))
    labelled = S.any(axis=1)
    b = X @ gammas[:, :-1].T + gammas[:, -1]
    patterns = law.law.loss(S[labelled], b[labelled], law.phi, np.ones(labelled.sum())).value
    any_label = -np.log(np.where(labelled, y * p_any, 1 - y * p_any)).sum()
    wanted = occupancy(np.append(beta, gammas.ravel()), X, S)
    assert patterns + any_label == pytest.approx(wanted, rel=1e-12)


def test_joint_agrees_with_an_occupancy_model_where_both_are_right():
    X, S, _ = sources(n=3000, m=3)
    model = JointClassifier(C=np.inf).fit(X, S)
    whole = minimize(occupancy, np.zeros(16), args=(X, S), method="BFGS")
    e = expit(np.column_stack([X, np.ones(len(X))]) @ whole.x[4:].reshape(3, 4).T)
    assert np.abs(model.predict_source_propensity(X) - e).mean() < 0.03
    y = expit(X @ whole.x[:3] + whole.x[3])
    assert np.abs(model.predict_positive(X) - y).mean() < 0.03


@pytest.mark.parametrize("classifier", [JointClassifier, AveragedClassifier])
def test_one_column_of_labels_is_a_vector_to_the_bit(classifier):
    X, S, _ = sources(n=300, m=1)
    vector = classifier().fit(X, S[:, 0])
    with pytest.warns(DataConversionWarning, match="column-vector"):
        column = classifier().fit(X, S)
    np.testing.assert_array_equal(column.predict_hidden(X), vector.predict_hidden(X))
    with pytest.raises(ValueError, match="needs a fit to labels of several sources"):
        vector.predict_source_propensity(X)


@pytest.fixture(scope="module")
def averaged_by_two():
    X, S, _ = sources(n=1000, m=2)
    frame = pd.DataFrame(S, columns=["clinic", "register"])
    return infer(AveragedClassifier().fit(X, frame), X, frame), S


@pytest.fixture(scope="module", params=[JointClassifier, AveragedClassifier])
def fitted(request):
    X, S, y = sources()
    return request.param().fit(X, S), X, S, y


def test_predictions_mean_what_they_say(fitted, tmp_path):
    model, X, S, y = fitted
    each, any_, positive = (
        model.predict_source_propensity(X),
        model.predict_propensity(X),
        model.predict_positive(X),
    )
    assert each.shape == S.shape
    assert (any_ >= each.max(axis=1) - 0.02).all()
    assert abs(positive.mean() - y.mean()) < 0.05
    np.testing.assert_allclose(each[y].mean(axis=0), S[y].mean(axis=0), atol=0.08)
    label, hidden = model.predict_label_proba(X), model.predict_hidden(X)
    assert abs(label.mean() - S.any(axis=1).mean()) < 0.02
    np.testing.assert_allclose(hidden, (positive - label) / (1 - label), atol=1e-6)
    assert model.orientation_.rule == "sources"
    assert model.orientation_.clear
    model.save(tmp_path / "m.dlm")
    again = load(tmp_path / "m.dlm")
    np.testing.assert_array_equal(again.predict_hidden(X), hidden)
    np.testing.assert_array_equal(again.predict_source_propensity(X), each)


def test_the_order_of_rows_and_sources_does_not_matter(fitted):
    model, X, S, _ = fitted
    order = np.random.default_rng(0).permutation(len(X))
    again = type(model)().fit(X[order], S[order][:, ::-1])
    np.testing.assert_allclose(again.predict_positive(X), model.predict_positive(X), atol=1e-5)
    swapped = again.predict_source_propensity(X)[:, ::-1]
    np.testing.assert_allclose(swapped, model.predict_source_propensity(X), atol=1e-5)


def test_a_weight_of_two_is_a_row_twice(fitted):
    model, X, S, _ = fitted
    weight = 1.0 + (np.arange(len(X)) < 200)
    twice = np.append(np.arange(len(X)), np.arange(200))
    one = type(model)().fit(X, S, sample_weight=weight)
    other = type(model)().fit(X[twice], S[twice])
    np.testing.assert_allclose(one.predict_hidden(X), other.predict_hidden(X), atol=1e-5)


def test_a_row_that_nobody_looked_at_says_nothing(fitted):
    model, X, S, _ = fitted
    more = np.vstack([X, X[:40]])
    unseen = np.vstack([S, np.full((40, 3), NAN)])
    kind = JointClassifier(C=np.inf) if isinstance(model, JointClassifier) else model
    whole, fewer = type(model)(**kind.get_params()).fit(more, unseen), None
    fewer = type(model)(**kind.get_params()).fit(X, S)
    np.testing.assert_allclose(
        whole.predict_source_propensity(X), fewer.predict_source_propensity(X), atol=2e-3
    )
    np.testing.assert_allclose(whole.predict_positive(X), fewer.predict_positive(X), atol=5e-3)


def test_a_source_that_did_not_look_leaves_others_as_good():
    X, S, y = sources(n=3000)
    S[:1500, 2] = NAN
    model = JointClassifier().fit(X, S)
    assert abs(model.predict_positive(X).mean() - y.mean()) < 0.04
    np.testing.assert_allclose(
        model.predict_source_propensity(X[y]).mean(axis=0), np.nanmean(S[y], axis=0), atol=0.06
    )


def test_only_sums_travel(fitted):
    """Rows in small blocks, which no step sees together, have the answer of all at once."""
    model, X, S, _ = fitted
    blocks = replace(model.bind(X, S), rows=memory_rows(X, S, block_rows=100))
    again = model._fit(blocks, X).model
    np.testing.assert_allclose(again.hidden_proba(X), model.predict_hidden(X), atol=1e-6)


def test_inference_says_what_sources_overlap_in(averaged_by_two):
    inference, S = averaged_by_two
    frame = inference.overlaps().to_frame()
    assert frame["rows"].sum() == len(S)
    both = frame[(frame["clinic"] == 1) & (frame["register"] == 1)]["rows"].item()
    assert both == S.all(axis=1).sum()
    assert frame["rows"].is_monotonic_decreasing


def test_the_answer_grows_with_the_odds_ratio_of_the_sources(averaged_by_two):
    inference, _ = averaged_by_two
    curve = inference.curve()
    values = [curve[ratio].value for ratio in sorted(curve)]
    assert values == sorted(values)
    independent = inference.prevalence(dependence=0.0)
    assert curve[1.0].value == independent.value
    averaged = inference.prevalence()
    assert averaged.high - averaged.low > independent.high - independent.low


def test_two_sources_cannot_show_their_dependence(averaged_by_two):
    inference, _ = averaged_by_two
    dependence = inference.dependence()
    assert dependence.p_value is None
    assert not dependence.learned
    assert dependence.mean.value == COMMON
    assert "two sources cannot show whether" in str(dependence)
    assert any("two sources cannot" in one.text for one in inference.model.findings_)


def test_three_sources_show_a_common_effort():
    X, S, y = sources(n=2000, effort=1.5)
    model = AveragedClassifier().fit(X, S)
    inference = infer(model, X, S)
    dependence = inference.dependence()
    assert dependence.p_value < 0.01
    assert dependence.mean.low > 0
    assert list(dependence.pairs) == [
        ("source 1", "source 2"),
        ("source 1", "source 3"),
        ("source 2", "source 3"),
    ]
    low, high = model.prevalence_interval()
    assert low <= y.mean() <= high
    assert inference.prevalence(dependence=0.0).high < y.mean()


def test_few_overlaps_leave_dependence_to_its_prior():
    X, S, _ = sources(n=1500)
    both = np.flatnonzero(S.sum(axis=1) > 1)[12:]
    S[both] *= np.array([1, 0, 0])
    with pytest.warns(WeakIdentificationWarning, match="only 12 rows have labels of two sources"):
        model = AveragedClassifier().fit(X, S)
    dependence = infer(model, X, S).dependence()
    assert dependence.p_value is None
    assert "only 12 rows" in str(dependence)
    assert np.ptp(model.prevalence_interval()) > 0.3


def test_joint_has_no_intervals_with_several_sources():
    X, S, _ = sources(n=300, m=2)
    with pytest.raises(TypeError, match="takes the dependence of several sources as given"):
        infer(JointClassifier().fit(X, S), X, S)


def test_dependence_that_is_given_moves_the_answer_up():
    X, S, _ = sources(m=2)
    shares = [
        JointClassifier(dependence=d).fit(X, S).predict_positive(X).mean() for d in (-1, 0, 1)
    ]
    assert shares[0] < shares[1] < shares[2]


def test_audited_rows_weigh_how_sources_depend():
    """Hidden positives among audited rows say that sources find the same people."""
    X, S, y = sources(n=1500, m=2, effort=1.5)
    model = AveragedClassifier().fit(X, S)
    audited = np.full(len(X), NAN)
    looked = np.flatnonzero(~S.any(axis=1))[:400]
    audited[looked] = y[looked]
    told = AveragedClassifier().fit(X, S, audited_y=audited)
    widths = [np.ptp(one.prevalence_interval()) for one in (model, told)]
    assert widths[1] < 0.6 * widths[0]
    low, high = told.prevalence_interval()
    assert low <= y.mean() <= high


def test_a_prevalence_from_elsewhere_is_taken_at_its_word():
    X, S, _ = sources(m=2)
    told = AveragedClassifier(prevalence=(0.5, 0.01)).fit(X, S)
    assert told.prevalence_ == pytest.approx(0.5, abs=0.03)


def test_labels_that_cannot_be_several_sources_are_refused():
    X, S, _ = sources(n=200)
    with pytest.raises(ValueError, match=r"learns from labels of one source .* got 3 columns"):
        NaiveClassifier().fit(X, S)
    with pytest.raises(ValueError, match=r"at most 6 sources, .* got 7 columns"):
        JointClassifier().fit(X, np.tile(S[:, :1], 7))
    with pytest.raises(ValueError, match=r"every source must have labelled some row; .* column 1"):
        JointClassifier().fit(X, S * [1, 0, 1])
    with pytest.raises(ValueError, match="fitted without prevalence"):
        JointClassifier(prevalence=0.5).fit(X, S)
    with pytest.raises(ValueError, match="no law of label sources 'none'"):
        law_named("none", 2)


def test_words_and_missing_values_are_labels_of_sources():
    X, S, _ = sources(n=400, m=2)
    words = np.where(S == 1, "sick", "unknown").astype(object)
    words[0, 0] = None
    numbers = S.copy()
    numbers[0, 0] = NAN
    by_words = JointClassifier(pos_label="sick").fit(X, words)
    by_numbers = JointClassifier().fit(X, numbers)
    np.testing.assert_array_equal(by_words.predict_hidden(X), by_numbers.predict_hidden(X))
    assert by_words.classes_.tolist() == ["unknown", "sick"]
    assert by_words.score(X, words) == pytest.approx(by_numbers.score(X, numbers))


@pytest.fixture(scope="module")
def table():
    X, S, _ = sources(n=600, m=3, effort=1.0)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    frame["clinic"] = np.where(S[:, 0] == 1, "yes", "no")
    frame["visits"] = (S[:, 1] * (1 + np.arange(600) % 3)).astype(int)
    days = [f"2026-03-{1 + i % 28:02d}" for i in range(600)]
    frame["seen_on"] = np.where(S[:, 2] == 1, days, "")
    return frame, S


def test_words_counts_and_dates_are_labels_of_tables(table):
    frame, S = table
    roles = Roles(label=("clinic", "visits", "seen_on"))
    coded = Table.from_frame(frame, roles)
    np.testing.assert_array_equal(coded.sources, S)
    np.testing.assert_array_equal(coded.s, S.any(axis=1))
    assert any("Numbers above 0 in 'visits'" in note for note in coded.notes)
    assert any("Dates in 'seen_on'" in note for note in coded.notes)
    assert list(coded.features.columns) == ["a", "b", "c"]


def test_unseen_rows_of_tables_are_not_looked_at(table):
    frame, S = table
    frame = frame.assign(clinic=np.where(np.arange(600) < 50, "elsewhere", frame["clinic"]))
    roles = Roles(label=("clinic", "visits"), unseen="elsewhere")
    coded = Table.from_frame(frame.drop(columns="seen_on"), roles)
    assert np.isnan(coded.sources[:50, 0]).all()
    np.testing.assert_array_equal(coded.sources[50:], S[50:, :2])
    assert not np.isnan(coded.sources[:, 1]).any()


@pytest.mark.parametrize(
    ("roles", "message"),
    [
        ({"label": ("clinic", "clinic")}, "must name different columns"),
        ({"label": "clinic", "unseen": "x"}, "value of label columns of several sources"),
    ],
)
def test_roles_of_sources_that_cannot_be_are_refused(roles, message):
    with pytest.raises(TableError, match=message):
        Roles(**roles)


def test_one_label_column_in_a_list_is_one_label():
    assert Roles(label=("clinic",)) == Roles("clinic")


def test_a_method_of_one_source_refuses_several_columns(table):
    frame, _ = table
    model = TableClassifier(Roles(label=("clinic", "visits"), ignore=["seen_on"]), "naive")
    with pytest.raises(TableError, match=r"naive learns from one\. Choose one of averaged"):
        model.fit(frame)


def test_tables_of_several_sources_come_back_from_files(table, tmp_path):
    frame, S = table
    roles = Roles(label=("clinic", "visits"), ignore=["seen_on"])
    model = TableClassifier(roles, "joint").fit(frame)
    model.save(tmp_path / "m.dlm")
    again = load(tmp_path / "m.dlm")
    assert again.roles_.labels == ("clinic", "visits")
    pd.testing.assert_frame_equal(again.predict(frame), model.predict(frame))
    listed = again.rank(frame, 1000)["id"].astype(int).to_numpy() - 1
    assert not S[listed, :2].any()


def test_a_page_of_several_sources_never_says_the_independent_answer_alone(table):
    frame, S = table
    roles = Roles(label=("clinic", "visits"), ignore=["seen_on"])
    model = TableClassifier(roles).fit(frame)
    report = Report(model, frame, n_resamples=19)
    numbers = report.to_dict()["sources"]
    assert numbers["names"] == ["clinic", "visits"]
    assert sum(one["rows"] for one in numbers["patterns"]) == S[:, :2].any(axis=1).sum()
    assert numbers["alone"] == [
        ((S[:, 0] == 1) & (S[:, 1] == 0)).sum(),
        ((S[:, 1] == 1) & (S[:, 0] == 0)).sum(),
    ]
    values = [point["value"] for point in numbers["curve"]]
    assert values == sorted(values)
    texts = [finding.text for finding in report.findings if finding.topic == "sources"]
    assert "If sources work independently" in texts[0]
    assert "as sources usually depend on each other" in texts[0]
    assert "Two sources cannot show whether they depend on each other" in texts[1]
    html = report.to_html()
    assert 'id="sources"' in html
    one = TableClassifier(Roles("clinic", ignore=["visits", "seen_on"]), "joint").fit(frame)
    alone = Report(one, frame, n_resamples=19)
    assert alone.to_dict()["sources"] is None
    assert 'id="sources"' not in alone.to_html()


def test_labels_of_sources_are_found_by_any_of_them():
    assert labels_of(np.array([[1.0, 0.0], [0.0, NAN]])).any.tolist() == [1.0, 0.0]
