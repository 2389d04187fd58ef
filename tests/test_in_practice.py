"""What new users tried and stumbled over: labels, pipelines, lists, advice."""

import warnings
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from plans import SMALL_PLAN
from scipy.special import expit
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tables_of_tests import clinic
from typer.testing import CliRunner

from doublelogit import (
    AuditCalibratedClassifier,
    JointClassifier,
    LabelOrderWarning,
    NaiveClassifier,
    PUPipeline,
    Roles,
    TableClassifier,
    TableWarning,
    metrics,
)
from doublelogit.cli import app
from doublelogit.findings import answer, fit
from doublelogit.fitted.fit import Orientation
from doublelogit.report import Analysis
from doublelogit.report.sections.verdict import decision
from doublelogit.table_models.table_doubts import TableDoubts
from doublelogit.tables import Table


@pytest.fixture(scope="module")
def sample():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = rng.random(300) < expit(2 * X[:, 0])
    return X, (y & (rng.random(300) < expit(X[:, 1]))).astype(int)


# Labels


@pytest.mark.parametrize(
    ("labels", "classes"),
    [
        (lambda s: np.where(s == 1, 1.0, np.nan), [0.0, 1.0]),
        (lambda s: [1 if x else None for x in s], [0, 1]),
        (lambda s: pd.Series(np.where(s == 1, 1, 0)).astype("Int64").replace(0, pd.NA), [0, 1]),
        (lambda s: [bool(x) or None for x in s], [False, True]),
        (lambda s: ["yes" if x else None for x in s], ["", "yes"]),
        (lambda s: ["sick" if x else None for x in s], ["", "sick"]),
        (lambda s: ["yes" if x else (None if i % 2 else "no") for i, x in enumerate(s)], None),
        (lambda s: np.where(s == 1, 1.0, np.where(np.arange(300) % 2, np.nan, -1.0)), [-1.0, 1.0]),
    ],
)
def test_a_missing_label_means_unlabelled(sample, labels, classes):
    X, s = sample
    with warnings.catch_warnings():
        warnings.simplefilter("error", LabelOrderWarning)
        model = NaiveClassifier().fit(X, labels(s))
    assert model.classes_.tolist() == (classes or ["no", "yes"])
    np.testing.assert_allclose(model.coef_, NaiveClassifier().fit(X, s).coef_)
    assert model.score(X, labels(s)) == pytest.approx(NaiveClassifier().fit(X, s).score(X, s))


def test_labels_that_are_all_missing_are_still_refused(sample):
    X, _ = sample
    with pytest.raises(ValueError, match="labelled"):
        NaiveClassifier().fit(X, np.full(300, np.nan))


def test_dask_labels_may_be_missing(sample):
    da = pytest.importorskip("dask.array")
    X, s = sample
    labels = da.from_array(np.where(s == 1, 1.0, np.nan), chunks=100)
    model = NaiveClassifier().fit(da.from_array(X, chunks=(100, 3)), labels)
    np.testing.assert_allclose(model.coef_, NaiveClassifier().fit(X, s).coef_, rtol=1e-6)


@pytest.mark.parametrize("pair", [("no", "yes"), ("No", "Yes"), ("n", "y"), ("false", "true")])
def test_yes_and_no_are_understood_without_a_word(sample, pair):
    X, s = sample
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = NaiveClassifier().fit(X, np.array(pair)[s])
    assert model.classes_.tolist() == list(pair)


# Pipelines and scores


def test_a_pipeline_offers_every_prediction_of_its_last_step(sample):
    X, s = sample
    pipe = PUPipeline([("scale", StandardScaler()), ("joint", JointClassifier(n_starts=1))])
    pipe.fit(X, s, joint__audited_y=np.where(np.arange(300) < 5, s, np.nan))
    Z = pipe[:-1].transform(X)
    for name in ("predict_hidden", "predict_positive", "predict_propensity", "predict_label_proba"):
        np.testing.assert_array_equal(getattr(pipe, name)(X), getattr(pipe[-1], name)(Z))
    alone = PUPipeline([("joint", JointClassifier(n_starts=1))]).fit(X, s)
    assert alone.predict_hidden(X).shape == (300,)
    assert isinstance(clone(pipe), PUPipeline)


def test_precision_is_not_scored_by_the_propensity_of_the_model_itself(sample):
    X, s = sample
    for metric, options in ((metrics.ipw_precision, {}), (metrics.ipw_precision_at_k, {"k": 9})):
        with pytest.raises(ValueError, match="grade itself by its own e"):
            metrics.scorer(metric, **options)
    model = JointClassifier(n_starts=1).fit(X, s)
    pipe = make_pipeline(StandardScaler(), JointClassifier(n_starts=1)).fit(X, s)
    by_model = metrics.scorer(metrics.ipw_precision, propensity=model)
    wanted = metrics.ipw_precision(
        s, pipe.predict_proba(X)[:, 1] > 0.5, model.predict_propensity(X)
    )
    assert by_model(pipe, X, s) == pytest.approx(wanted)
    assert metrics.scorer(metrics.ipw_precision, propensity=0.5)(pipe, X, s) > 0


def test_a_model_that_finds_nothing_has_the_precision_zero(sample):
    X, s = sample
    rare = np.where(np.arange(300) < 5, s[np.argsort(-s)], 0)
    model = NaiveClassifier(C=1e-6).fit(X, rare)
    assert metrics.scorer(metrics.ipw_precision, propensity=0.5)(model, X, rare) == 0.0


# Calibration


def test_audited_rows_calibrate_what_labels_cannot():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(2000, 2))
    y = rng.random(2000) < expit(1.5 * X[:, 0])
    s = y & (rng.random(2000) < 0.3)
    audited = np.where(~s & (rng.random(2000) < 0.1), y, np.nan)
    wrong = NaiveClassifier().fit(X, s)
    model = AuditCalibratedClassifier(JointClassifier(prevalence=0.2, n_starts=1))
    model.fit(X, s, audited_y=audited)
    hidden = model.predict_hidden(X)[~s]
    assert hidden.mean() == pytest.approx(y[~s].mean(), abs=0.06)
    assert abs(model.estimator_.predict_hidden(X)[~s].mean() - y[~s].mean()) > 0.2
    np.testing.assert_allclose(
        model.predict_positive(X) * model.predict_propensity(X), model.predict_label_proba(X)
    )
    by_labels = CalibratedClassifierCV(NaiveClassifier(), cv=2).fit(X, s).predict_proba(X)[:, 1]
    assert by_labels.mean() == pytest.approx(s.mean(), abs=0.02)  # scikit-learn's: to the labels
    assert wrong.score(X, s) == pytest.approx(model.score(X, s), abs=0.1)
    assert clone(model).estimator.prevalence == 0.2


def test_calibration_needs_an_unlabelled_row_of_known_class(sample):
    X, s = sample
    with pytest.raises(ValueError, match="class of some unlabelled rows"):
        AuditCalibratedClassifier(NaiveClassifier()).fit(X, s)


# Lists


def test_naive_lists_rows_by_their_likeness_to_labelled_ones_and_says_so():
    frame = clinic()
    model = TableClassifier(Roles("diagnosed", id="patient", ignore=("sick",)), "naive").fit(frame)
    ranked = model.rank(frame, top=20)
    assert (np.diff(ranked["probability"]) <= 0).all()
    assert ranked["probability"].iloc[0] > 0.3
    assert "takes every unlabelled row for negative" in ranked.attrs["sentence"]


def test_a_new_value_in_a_column_of_two_values_is_reported():
    frame = clinic().assign(smoker=lambda f: (f["smoker"] == "yes").astype(int))
    model = TableClassifier(Roles("diagnosed", id="patient", ignore=("sick",)), "naive").fit(frame)
    new = frame.assign(smoker=np.where(np.arange(600) < 3, 9, frame["smoker"]))
    said = "3 rows have values never seen .9. in 'smoker', where fit saw 0 and 1 alone"
    with pytest.warns(TableWarning, match=said):
        model.predict(new)


# Advice


def share(value, low=0.1, high=0.4):
    return SimpleNamespace(value=value, low=low, high=high, regions=())


def test_two_answers_that_are_nearly_one_are_called_so():
    near = answer.two_answers(share(0.206), share(0.209), 0.1).text
    assert "this share may be used, but neither the list nor the drivers" in near
    assert "Use neither" not in near
    far = answer.two_answers(share(0.2), share(0.6), 0.1).text
    assert far.endswith("before it is settled which of the two models is the class.")


def test_nobody_reads_of_zero_positives():
    sentence = answer.prevalence(share(0.1), 0.1, 0.2, weak=False, without="").text
    assert "no positive is hidden" in sentence
    sentence = answer.prevalence(share(0.1), 0.1, 1.2, weak=False, without="").text
    assert "some 1 positive is hidden" in sentence


@pytest.mark.parametrize(
    ("rule", "has", "has_not"),
    [
        ("norm", ["Name columns", "50 to 100"], []),
        ("features", ["50 to 100"], ["propensity_features"]),
        ("audit", ["Name columns", "more unlabelled rows"], ["50 to 100"]),
    ],
)
def test_what_has_been_done_is_not_advised(rule, has, has_not):
    text = fit.orientation(Orientation(rule, 0.5, "log-likelihood", clear=False)).text
    assert all(words in text for words in has)
    assert not any(words in text for words in has_not)


def advised(hidden, *, clear=True, weak=False, audited=None, named=None):
    """What is advised after an analysis with these probabilities."""
    n = len(hidden)
    table = Table(
        features=pd.DataFrame(index=range(n)),
        s=np.zeros(n),
        ids=None,
        weight=None,
        audited=audited,
        cluster=None,
        group=None,
        roles=Roles("s", propensity_features=named),
        notes=(),
    )
    found = SimpleNamespace(hidden=np.array(hidden))
    claim = SimpleNamespace(vague=False, length=50, low=0.2, high=0.6)
    analysis = SimpleNamespace(
        table=table,
        probabilities=found,
        clear=clear,
        weak=weak,
        audit=None,
        audited_list=None,
        audited=audited is not None,
        doubt=SimpleNamespace(refuted=False, claim=claim),
        doubts=TableDoubts(),
    )
    analysis.first_chances = Analysis.first_chances.fget(analysis)
    return decision(analysis)[1]


def test_next_steps_are_those_not_yet_taken():
    nothing = advised([0.001] * 60)
    assert "a list would find none" in nothing
    assert "about 0" not in nothing
    audited = np.where(np.arange(60) < 30, 0.0, np.nan)
    both = advised([0.4] * 60, clear=False, audited=audited, named=("x",))
    assert "propensity_features" not in both
    assert "more unlabelled rows" in both
    assert "(`prevalence`)" in both
    assert "Audit more rows" in advised([0.5] * 60, weak=True, audited=audited)
    assert "first 30" in advised([0.5] * 60, audited=audited)  # audited rows are not listed


# Experiments


def test_data_sets_of_ones_own_in_a_paper_s_plan_need_no_printed_numbers(tmp_path):
    plan = SMALL_PLAN.replace('name = "small"', 'name = "ecai2023"', 1)
    plan = plan.replace('name = "heart-c"\nload', 'name = "mine"\nload')
    plan += "[repetitions]\nfirst = 1\n"
    (tmp_path / "plan.toml").write_text(plan)
    arguments = ["--plan", str(tmp_path / "plan.toml"), "--out", str(tmp_path / "out")]
    result = CliRunner().invoke(app, ["reproduce", *arguments, "--datasets", "mine", "--jobs", "1"])
    assert result.exit_code == 0, result.output
    text = (tmp_path / "out" / "tables" / "table2_first.md").read_text()
    assert "mine" in text
    assert "printed" not in text
