"""Standard errors and intervals: against statsmodels where it can say the same, and bootstrap."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from classifiers import FREE
from sklearn.base import clone

from doublelogit import (
    EMClassifier,
    JointClassifier,
    NaiveClassifier,
    TwoModelsClassifier,
    infer,
)
from doublelogit.exceptions import BootstrapWarning
from doublelogit.inference import bootstrap
from doublelogit.inference.estimate import check_level


@pytest.fixture
def audited(sample):
    """A sample whose class is known on every row: two ordinary logistic regressions."""
    model = JointClassifier(**FREE).fit(sample.X, sample.s, audited_y=sample.y)
    return model, {"X": sample.X, "y": sample.s, "audited_y": sample.y}


def ordinary(sample, **options):
    """The same two regressions by statsmodels: coefficients, intercept last, and errors."""
    positive = sample.y == 1
    designs = [(sample.X, sample.y), (sample.X[positive], sample.s[positive])]
    coef, errors = [], []
    for i, (X, target) in enumerate(designs):
        kwds = dict(options)
        if "groups" in kwds:
            groups = kwds.pop("groups")
            kwds["cov_kwds"] = {
                "groups": groups if i == 0 else groups[positive],
                "use_correction": False,
            }
        fit = sm.Logit(target, sm.add_constant(X, prepend=False)).fit(disp=0, tol=1e-12, **kwds)
        coef.append(fit.params)
        errors.append(fit.bse)
    return np.concatenate(coef), np.concatenate(errors)


def test_a_fully_audited_sample_is_two_logistic_regressions(audited, sample):
    model, data = audited
    result = infer(model, **data)
    coef, errors = ordinary(sample)
    np.testing.assert_allclose(result.coefficients, coef, atol=1e-6)
    np.testing.assert_allclose(np.sqrt(np.diagonal(result.covariance)), errors, atol=1e-6)


def test_robust_errors_of_a_fully_audited_sample_are_statsmodels(audited, sample):
    model, data = audited
    result = infer(model, **data, cov_type="robust")
    _, errors = ordinary(sample, cov_type="HC0")
    np.testing.assert_allclose(np.sqrt(np.diagonal(result.covariance)), errors, atol=1e-6)


def test_clustered_errors_of_the_outcome_are_statsmodels(audited, sample):
    model, data = audited
    groups = np.arange(len(sample.s)) % 50
    result = infer(model, **data, groups=groups)
    _, errors = ordinary(sample, cov_type="cluster", groups=groups)
    correction = np.sqrt(50 / 49)
    ours = np.sqrt(np.diagonal(result.covariance))
    np.testing.assert_allclose(ours, errors * correction, atol=1e-6)


def test_integer_weights_are_repeated_rows(sample):
    counts = np.random.default_rng(0).integers(1, 4, len(sample.s))
    X, s = np.repeat(sample.X, counts, axis=0), np.repeat(sample.s, counts)
    weighted = infer(
        JointClassifier(**FREE).fit(sample.X, sample.s, sample_weight=counts),
        sample.X,
        sample.s,
        sample_weight=counts,
    )
    repeated = infer(JointClassifier(**FREE).fit(X, s), X, s)
    np.testing.assert_allclose(weighted.covariance, repeated.covariance, rtol=1e-4, atol=1e-7)


def test_em_and_joint_have_the_same_errors_at_the_same_maximum(sample):
    joint = JointClassifier(tol=1e-8, scaled_penalty=False).fit(sample.X, sample.s)
    em = EMClassifier(tol=1e-8, max_iter=20000).fit(sample.X, sample.s)
    np.testing.assert_allclose(em.coef_, joint.coef_, atol=1e-3)
    a, b = (infer(m, sample.X, sample.s).covariance for m in (joint, em))
    np.testing.assert_allclose(a, b, rtol=0.01, atol=1e-4)


def test_the_mean_posterior_is_the_mean_prediction(identified):
    """The intercept's score equation: mean y(x) is mean P(Y=1 | x, s)."""
    model, X, s, _ = identified
    result = infer(model, X, s)
    hidden = result.hidden().value
    assert result.prevalence().value == pytest.approx(model.predict_positive(X).mean())
    total = hidden + s.sum()
    assert total / len(s) == pytest.approx(result.prevalence().value, abs=1e-5)
    c = result.label_frequency().value
    assert c == pytest.approx(s.sum() / total, abs=1e-5)


def test_units_and_origin_of_features_move_only_what_they_should(identified):
    """Columns far from zero are centred for the fit; intercepts and errors come back right."""
    model, X, s, _ = identified
    plain, moved = infer(model, X, s), 10 * X + 500
    far = infer(clone(model).fit(moved, s), moved, s)
    # (slope, intercept) of x in terms of those of 10 x + 500
    back = np.kron(np.eye(2), np.array([[0.1, 0.0], [-50.0, 1.0]]))
    np.testing.assert_allclose(back @ plain.coefficients, far.coefficients, rtol=1e-3)
    np.testing.assert_allclose(back @ plain.covariance @ back.T, far.covariance, rtol=1e-3)


def test_the_delta_method_agrees_with_the_bootstrap(identified):
    model, X, s, _ = identified
    result = infer(model, X, s)

    def both(refitted, weight):
        y_x, e_x = refitted.predict_positive(X), refitted.predict_propensity(X)
        return np.array([np.average(y_x, weights=weight), np.average(e_x, weights=weight * y_x)])

    draws = bootstrap(model, X, s, both, n_resamples=120)
    for delta, drawn in zip((result.prevalence(), result.label_frequency()), draws.T, strict=True):
        width, ends = delta.high - delta.low, np.quantile(drawn, [0.025, 0.975])
        assert delta.se == pytest.approx(drawn.std(ddof=1), rel=0.2)
        assert (delta.low, delta.high) == pytest.approx(ends, abs=0.3 * width)


def test_bootstrap_intervals_are_percentiles_of_the_draws(identified):
    model, X, s, _ = identified
    result = infer(model, X, s)
    found = result.prevalence(method="bootstrap", n_resamples=12, level=0.5)
    assert found.method == "bootstrap"
    assert found.low < found.high
    assert found.value == pytest.approx(result.prevalence().value)


def test_the_bootstrap_does_not_depend_on_the_number_of_workers(identified):
    model, X, s, _ = identified
    result = infer(model, X, s)
    one, two = (
        result.prevalence(method="bootstrap", n_resamples=6, n_jobs=jobs) for jobs in (1, 2)
    )
    assert one == two


def test_groups_have_their_own_prevalence(identified):
    model, X, s, _ = identified
    by = np.where(X[:, 0] > 0, "high", "low")
    groups = infer(model, X, s).prevalence(by=by)
    assert set(groups) == {"high", "low"}
    for name, estimate in groups.items():
        mean = model.predict_positive(X[by == name]).mean()
        assert estimate.value == pytest.approx(mean)
        assert estimate.low < mean < estimate.high
    hidden = infer(model, X, s).hidden(by=by)
    assert sum(h.value for h in hidden.values()) == pytest.approx(infer(model, X, s).hidden().value)


def test_false_labels_are_undone_when_their_rate_is_known(identified):
    model, X, s, y = identified
    rng = np.random.default_rng(0)
    rate = 0.05
    spoiled = np.where(~y & (rng.random(len(y)) < rate), 1, s)
    result = infer(clone(model).fit(X, spoiled), X, spoiled)
    found = result.sensitivity([0.0, rate])
    assert found[0.0].value == pytest.approx(result.prevalence().value)
    truth = infer(model, X, s).prevalence()
    assert found[rate].low < truth.value < found[rate].high
    again = clone(model).set_params(false_label_rate=rate).fit(X, spoiled)
    c = infer(again, X, spoiled).label_frequency().value
    assert spoiled.mean() == pytest.approx(c * found[rate].value + rate * (1 - found[rate].value))
    audited = np.where(rng.random(len(y)) < 0.2, y, np.nan)  # labelled negatives among them
    JointClassifier(false_label_rate=rate).fit(X, spoiled, audited_y=audited)
    with pytest.raises(ValueError, match="give JointClassifier a false_label_rate"):
        JointClassifier().fit(X, spoiled, audited_y=audited)
    em = EMClassifier(max_iter=20000).fit(X, s)
    with pytest.raises(TypeError, match="needs a JointClassifier; got EMClassifier"):
        infer(em, X, s).sensitivity()


def test_weights_that_count_rows_are_repeated_rows_for_shares_too(identified):
    model, X, s, _ = identified
    four = np.full(len(s), 4.0)
    weighted = infer(clone(model).fit(X, s, sample_weight=four), X, s, sample_weight=four)
    X4, s4 = np.repeat(X, 4, axis=0), np.repeat(s, 4)
    repeated = infer(clone(model).fit(X4, s4), X4, s4)
    for what in ("prevalence", "label_frequency", "hidden"):
        assert getattr(weighted, what)().se == pytest.approx(getattr(repeated, what)().se, rel=1e-3)


def test_what_is_believed_adds_its_own_uncertainty(identified):
    model, X, s, _ = identified
    believed = clone(model).set_params(prevalence=(0.5, 0.03)).fit(X, s)
    free, told = infer(model, X, s).prevalence(), infer(believed, X, s).prevalence()
    profiled = infer(believed, X, s).prevalence(method="profile")
    assert told.se < free.se
    assert told.high - told.low == pytest.approx(profiled.high - profiled.low, rel=0.2)


def test_groups_without_unlabelled_rows_have_no_hidden_positives(identified):
    model, X, s, _ = identified
    by = np.where(s == 1, "labelled", "others")
    hidden = infer(model, X, s).hidden(by=by)
    assert (hidden["labelled"].value, hidden["labelled"].high) == (0.0, 0.0)
    frequency = infer(model, X, s).label_frequency(by=by)["labelled"]
    assert frequency.high <= 1
    with pytest.raises(ValueError, match="got missing values"):
        infer(model, X, s).prevalence(by=np.where(s == 1, 1.0, np.nan))


def test_a_summary_prints_and_is_a_frame(identified):
    model, X, s, _ = identified
    frame = pd.DataFrame(X, columns=["age", "dose"])
    model = JointClassifier(outcome_features=["age"], propensity_features=["dose"]).fit(frame, s)
    summary = infer(model, frame, s).summary(level=0.9)
    text = str(summary)
    assert "who is positive" in text
    assert "which positives get a label" in text
    assert "5.0%" in text
    table = summary.to_frame()
    assert table.index.tolist() == [
        ("outcome", "age"),
        ("outcome", "intercept"),
        ("propensity", "dose"),
        ("propensity", "intercept"),
    ]
    assert table.loc[("outcome", "age"), "coef"] == pytest.approx(model.coef_[0, 0])
    assert table["odds ratio"].to_numpy() == pytest.approx(np.exp(table["coef"]))
    assert "<table>" in summary._repr_html_()


def test_other_rows_than_those_of_fit_are_refused(identified):
    model, X, s, _ = identified
    with pytest.raises(ValueError, match="needs the rows of fit"):
        infer(model, X[:700] + 1, s[:700])


def test_methods_without_a_likelihood_are_refused(identified):
    _, X, s, _ = identified
    model = TwoModelsClassifier(tol=0, max_iter=5).fit(X, s)
    with pytest.raises(TypeError, match="JointClassifier and EMClassifier have; got TwoModels"):
        infer(model, X, s)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cov_type": "hc7"}, "cov_type must be one of observed, robust, cluster; got 'hc7'"),
        ({"cov_type": "cluster"}, "needs groups"),
        ({"groups": np.zeros(1500)}, "at least two clusters"),
        ({"groups": np.arange(3)}, "one value per row"),
    ],
)
def test_wrong_options_get_a_sentence(identified, options, message):
    model, X, s, _ = identified
    with pytest.raises(ValueError, match=message):
        _ = infer(model, X, s, **options).covariance


@pytest.mark.parametrize("level", [95, 0.0, 1.0])
def test_a_level_is_a_probability(level):
    with pytest.raises(ValueError, match=r"level must be between 0 and 1.*got"):
        check_level(level)


def fails_half_of_the_time(_, weight):
    if weight[0] > 0:
        raise ValueError("the first row was drawn")
    return weight.sum()


def test_resamples_that_fail_are_counted(sample):
    model = NaiveClassifier()
    with pytest.raises(ValueError, match="resamples could not be fitted: the first row was drawn"):
        bootstrap(model, sample.X, sample.s, fails_half_of_the_time, n_resamples=20)
    weight = np.where(np.arange(len(sample.s)) == 0, 0.0, 1.0)
    whole = bootstrap(
        model, sample.X, sample.s, fails_half_of_the_time, n_resamples=5, sample_weight=weight
    )
    assert whole.shape == (5, 1)
    with pytest.raises(ValueError, match="got one class"):
        bootstrap(model, sample.X, 0 * sample.s, fails_half_of_the_time)


def fails_seldom(_, weight):
    if weight[0] > 2:
        raise ValueError("the first row was drawn three times")
    return weight.sum()


def test_a_few_failed_resamples_are_left_out_with_a_warning(sample):
    with pytest.warns(BootstrapWarning, match="They were left out"):
        draws = bootstrap(NaiveClassifier(), sample.X, sample.s, fails_seldom, n_resamples=40)
    assert 35 <= len(draws) < 40
