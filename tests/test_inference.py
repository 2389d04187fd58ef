"""Standard errors and intervals: against statsmodels where it can say the same, and bootstrap."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy import sparse
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.base import clone

from doublelogit import (
    EMClassifier,
    JointClassifier,
    NaiveClassifier,
    TwoModelsClassifier,
    WeakIdentificationWarning,
    infer,
)
from doublelogit.exceptions import BootstrapWarning, MisfitWarning
from doublelogit.inference import bootstrap
from doublelogit.inference.estimate import check_level
from doublelogit.inference.fitted_problem import bind
from doublelogit.inference.misfit import worst_misfit
from doublelogit.inference.profile import Profile, Walk, _Stepper, merged, profile

FREE = {"C": np.inf, "propensity_C": np.inf, "tol": 1e-9}


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


@pytest.fixture
def identified():
    """Outcome and labelling by different features: a sample that determines its prevalence."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(1500, 2))
    y = rng.random(1500) < expit(2 * X[:, 0])
    s = (y & (rng.random(1500) < expit(0.5 + X[:, 1]))).astype(int)
    model = JointClassifier(outcome_features=[0], propensity_features=[1], **FREE).fit(X, s)
    return model, X, s, y


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
        again = infer(refitted, X, s, sample_weight=weight)
        return np.array([again.prevalence().value, again.label_frequency().value])

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


def test_the_profile_is_the_constrained_maximum(identified):
    model, X, s, _ = identified
    fitted = bind(model, X, s)
    found = profile(fitted)
    problem, objective = fitted.problem, fitted.problem.likelihood
    i = len(found.prevalence) - 2
    target = found.prevalence[i]

    def gap(theta):
        beta = problem.outcome.embed(objective.split(theta)[0])
        return expit(X @ beta[:-1] + beta[-1]).mean() - target

    constrained = minimize(
        lambda t: objective.value_grad(t).value,
        fitted.theta,
        jac=objective.gradient,
        constraints={"type": "eq", "fun": gap},
        method="SLSQP",
        options={"ftol": 1e-13, "maxiter": 500},
    )
    drop = problem.n * (constrained.fun - objective.value_grad(fitted.theta).value)
    assert found.drop[i] == pytest.approx(drop, abs=0.01)


def test_profile_and_delta_agree_where_the_sample_is_informative(identified):
    model, X, s, _ = identified
    result = infer(model, X, s)
    delta, profiled = result.prevalence(), result.prevalence(method="profile")
    width = delta.high - delta.low
    assert profiled.value == delta.value
    assert profiled.low == pytest.approx(delta.low, abs=0.15 * width)
    assert profiled.high == pytest.approx(delta.high, abs=0.15 * width)
    c = result.label_frequency(method="profile")
    assert c.low < result.label_frequency().value < c.high


def test_the_profile_holds_with_exact_knowledge_rare_classes_and_high_levels(identified):
    model, X, s, _ = identified
    exact = clone(model).set_params(prevalence=0.5).fit(X, s)
    low, high = infer(exact, X, s).profile.interval()
    assert 0.499 < low < 0.5 < high < 0.501
    result = infer(model, X, s)
    wide, wider = (result.prevalence(method="profile", level=p) for p in (0.99, 0.9999))
    assert s.mean() < wider.low < wide.low < wide.high < wider.high < 1
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40_000, 1))
    y = rng.random(40_000) < expit(X[:, 0] - 7)
    s = (y & (rng.random(40_000) < 0.6)).astype(int)
    audited = np.where(rng.random(40_000) < 0.5, y, np.nan)
    model = JointClassifier(propensity_features=[], **FREE).fit(X, s, audited_y=audited)
    rare = infer(model, X, s, audited_y=audited)
    delta, profiled = rare.prevalence(), rare.prevalence(method="profile")
    assert profiled.high < 2 * delta.high
    assert profiled.low <= delta.value


def test_a_flat_ridge_is_told_and_the_profile_is_wide():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = rng.random(300) < expit(0.5 * X[:, 0])
    s = (y & (rng.random(300) < 0.3)).astype(int)
    result = infer(JointClassifier().fit(X, s), X, s)
    with pytest.warns(WeakIdentificationWarning, match="hardly determine the prevalence: from"):
        result.prevalence()
    low, high = result.profile.interval()
    assert high - low > 0.4
    assert low >= s.mean()


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
    with pytest.raises(TypeError, match="EMClassifier and DETMClassifier have; got TwoModels"):
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


def two_hills():
    """Labels that fit nearly as well with few positives as with many: another basin has each."""
    rng = np.random.default_rng(8)
    X = rng.normal(size=(600, 3))
    y = rng.random(600) < expit(1.5 * X[:, 0] + 0.3 * X[:, 2] + 0.5)
    s = (y & (rng.random(600) < expit(1.5 * X[:, 1] - 0.5))).astype(int)
    return X, s


def test_an_interval_is_the_union_of_the_regions_that_fit():
    drop = np.array([6.0, 1.0, 4.0, 0.0, 3.0])
    walk = Walk(np.array([0.2, 0.3, 0.4, 0.5, 0.6]), drop, (0.2, 0.6), 0.1)
    found = Profile((walk,), (0.1, 1.0)).regions(0.95)
    assert len(found) == 2
    assert 0.2 < found[0][0] < 0.3 < found[0][1] < 0.4 < found[1][0] < 0.5 < found[1][1] < 0.6
    low, high = Profile((walk,), (0.1, 1.0)).interval(0.95)
    assert (low, high) == (found[0][0], found[1][1])


def test_regions_of_several_walks_are_merged_where_they_touch():
    assert merged([(0.4, 0.6), (0.1, 0.2), (0.15, 0.3)]) == ((0.1, 0.3), (0.4, 0.6))
    other = Walk(np.array([0.7, 0.8, 0.9]), np.array([9.0, 1.0, 9.0]), (0.7, 0.9), 0.1)
    own = Walk(np.array([0.2, 0.3, 0.4]), np.array([9.0, 0.0, 9.0]), (0.2, 0.4), 0.1)
    both = Profile((own, other), (0.1, 1.0))
    assert len(both.regions()) == 2
    assert both.prevalence.tolist() == [0.2, 0.3, 0.4, 0.7, 0.8, 0.9]
    assert both.drop.min() == 0


def test_every_interval_holds_its_own_estimate():
    X, s = two_hills()
    model = JointClassifier(propensity_features=[0, 1]).fit(X, s)
    main, swapped = (infer(one, X, s).prevalence() for one in (model, model.swapped()))
    for found in (main, swapped):
        assert any(low <= found.value <= high for low, high in found.regions)
    assert swapped.high < main.value  # it has not slid into the better basin


def test_an_interval_at_the_bound_is_wide_where_the_curvature_is_not():
    """0.1 said .190 to .219 where .413 is true: at the bound the standard error vanishes."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(3000, 3))
    y = rng.random(3000) < expit(0.6 * X[:, 0] - 0.4)
    s = y & (rng.random(3000) < 0.5)
    result = infer(JointClassifier(propensity_features=[], n_starts=1).fit(X, s), X, s)
    with pytest.warns(WeakIdentificationWarning, match="no positive is hidden"):
        found = result.prevalence()
    assert found.method == "profile likelihood"
    assert found.low == pytest.approx(s.mean(), rel=1e-3)
    assert found.high > 0.35
    hidden, c = result.hidden(), result.label_frequency()
    assert hidden.high == pytest.approx(3000 * (found.high - s.mean()), rel=0.1)
    assert c.low == pytest.approx(s.mean() / found.high)


def test_profile_intervals_stretch_with_what_a_sandwich_adds(identified):
    model, X, s, _ = identified
    twice, labels = np.repeat(X, 2, axis=0), np.repeat(s, 2)
    doubled = clone(model).fit(twice, labels)
    pairs = infer(doubled, twice, labels, groups=np.repeat(np.arange(len(s)), 2)).prevalence()
    once = infer(model, X, s, cov_type="robust").prevalence()
    assert pairs.high - pairs.low == pytest.approx(once.high - once.low, rel=0.05)


def test_labels_speak_against_a_class_that_is_no_straight_line():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(3000, 3))
    straight = {"outcome_features": [0, 1], "propensity_features": [2]}
    e_x = expit(X[:, 2])
    for bend, said in ((0.0, None), (1.0, ("shape", "x0"))):
        y = rng.random(3000) < expit(X[:, 0] + X[:, 1] + bend * (X[:, 0] ** 2 - 1))
        s = (y & (rng.random(3000) < e_x)).astype(int)
        worst = worst_misfit(infer(JointClassifier(**straight).fit(X, s), X, s).misfits)
        assert (worst and (worst.question, worst.feature)) == said


def test_labels_speak_against_a_column_left_out_of_a_model():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(4000, 3))
    y = rng.random(4000) < expit(1.5 * X[:, 0] + X[:, 1])
    s = (y & (rng.random(4000) < expit(X[:, 2] - 1.2 * X[:, 1]))).astype(int)
    model = JointClassifier(outcome_features=[0, 1], propensity_features=[2]).fit(X, s)
    with pytest.warns(MisfitWarning, match="labelling depends on 'x1'"):
        infer(model, X, s).prevalence()


def test_misfit_is_the_same_wherever_the_rows_are(identified):
    model, X, s, _ = identified
    dense = infer(model, X, s).misfits
    thin = sparse.csr_matrix(X)
    again = infer(clone(model).fit(thin, s), thin, s).misfits
    for one, other in zip(dense, again, strict=True):
        assert (one.question, one.feature) == (other.question, other.feature)
        assert one.p_value == pytest.approx(other.p_value, rel=1e-3)


def test_misfit_does_not_ask_what_a_two_valued_column_cannot_answer():
    rng = np.random.default_rng(6)
    X = np.column_stack([rng.integers(0, 2, 800), rng.normal(size=800)])
    s = rng.random(800) < 0.5 * expit(X @ [1.0, 1.0])
    model = JointClassifier(propensity_features=[], n_starts=1).fit(X, s)
    shapes = [m.feature for m in infer(model, X, s).misfits if m.question == "shape"]
    assert shapes == ["x1"]


def test_a_walk_leaves_the_plateau_where_every_positive_is_labelled(identified):
    """Where e(x) is one the likelihood is flat: a walk went on there, and intervals were short."""
    model, X, s, _ = identified
    fitted = bind(model, X, s)
    problem, bound = fitted.problem, s.mean()
    stuck = fitted.theta.copy()
    stuck[problem.outcome.size :] = 0.0, 40.0
    top = problem.likelihood.value_grad(fitted.theta).value
    stepper = _Stepper(problem, top, bound, 5.0, False)
    theta, attained, jumped = stepper._next(stuck, bound, 1.5 * bound)
    assert jumped
    assert attained == pytest.approx(1.5 * bound, rel=0.01)
    assert stepper.drop(theta) < stepper.drop(stepper._pulled(stuck, bound, 1.5 * bound)[0]) - 1
