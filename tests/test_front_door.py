"""One front door for tables: one table gives one model, however it comes in."""

from collections import Counter

import numpy as np
import pandas as pd
import polars as pl
import pytest
from tables_of_tests import clinic

from doublelogit import (
    AveragedClassifier,
    JointClassifier,
    Report,
    Roles,
    TableClassifier,
    TableWarning,
    load,
    scan_parquet,
)
from doublelogit.findings import Finding
from doublelogit.tables import Table, TableEncoding

pytestmark = pytest.mark.filterwarnings("ignore::doublelogit.OrientationWarning")
ROLES = Roles("diagnosed", id="patient", propensity_features=["distance"], ignore=["sick"])


def mixed(n=900):
    """Columns of every kind: numbers with missing values, categories, dates, booleans, codes."""
    frame, rng = clinic(n), np.random.default_rng(1)
    frame["city"] = rng.choice(["Łódź", "Nice", "Paris", "Köln"], n, p=[0.2, 0.5, 0.2, 0.1])
    frame.loc[rng.random(n) < 0.1, "city"] = None
    frame["seen"] = pd.date_range("2019-03-01", periods=n, freq="D").strftime("%Y-%m-%d")
    frame["insured"] = rng.random(n) < 0.7
    frame["ward"] = rng.integers(1, 5, n)
    frame["note"] = [f"free text {i}" for i in range(n)]
    frame["diagnosed"] = frame["diagnosed"].replace("", None)
    return frame


@pytest.fixture(scope="module")
def doors(tmp_path_factory):
    """The same rows through every door."""
    folder, frame = tmp_path_factory.mktemp("doors"), mixed()
    frame.to_csv(folder / "t.csv", index=False)
    frame.to_parquet(folder / "t.parquet", index=False)
    (folder / "parts").mkdir()
    for i, start in enumerate(range(0, 900, 350)):
        part = frame[start : start + 350]
        part.to_parquet(folder / "parts" / f"{i}.parquet", index=False, row_group_size=100)
    return {
        "pandas": frame,
        "polars": pl.from_pandas(frame),
        "csv": folder / "t.csv",
        "parquet": folder / "t.parquet",
        "scan": scan_parquet(folder / "parts"),
        "cached scan": scan_parquet(folder / "parts", cache=True),
        "scan on workers": scan_parquet(folder / "parts", distributed=True),
    }


@pytest.fixture(scope="module")
def roles():
    return Roles(**{**vars(ROLES), "categorical": ("ward",)})


@pytest.fixture(scope="module")
def model(doors, roles):
    return TableClassifier(roles, "joint", parameters={"n_starts": 1, "tol": 1e-10}).fit(
        doors["pandas"]
    )


@pytest.mark.parametrize("door", ["polars", "csv", "parquet", "scan", "cached scan"])
def test_one_table_gives_one_model_through_every_door(door, doors, model, roles):
    again = TableClassifier(roles, "joint", parameters=model.parameters).fit(doors[door])
    assert again.encoding_.names == model.encoding_.names
    for mine, theirs in zip(again.encoding_.columns, model.encoding_.columns, strict=True):
        assert described(mine) == pytest.approx(described(theirs))
    for mine, theirs in zip(
        again.classifier_.model_.coefficients(),
        model.classifier_.model_.coefficients(),
        strict=True,
    ):
        np.testing.assert_allclose(mine, theirs, rtol=1e-8, atol=1e-8)
    assert again.roles_ == model.roles_


def described(column):
    return {k: v for k, v in vars(column).items() if isinstance(v, int | float)}


@pytest.mark.parametrize("door", ["polars", "csv", "scan", "scan on workers"])
def test_predictions_and_lists_are_the_same_through_every_door(door, doors, model):
    wanted, got = model.predict(doors["pandas"]), model.predict(doors[door])
    assert got["patient"].tolist() == wanted["patient"].tolist()
    for name in ("positive", "propensity", "label", "hidden"):
        np.testing.assert_allclose(got[name], wanted[name], rtol=1e-9)
    ranking = model.rank(doors[door], top=20)
    pd.testing.assert_frame_equal(ranking, model.rank(doors["pandas"], top=20), rtol=1e-9)
    assert ranking["probability"].is_monotonic_decreasing
    assert "expected to be positive" in ranking.attrs["sentence"]


def test_a_bare_classifier_takes_the_numbers_of_a_scan_as_they_are(doors):
    roles = Roles("diagnosed", features=["age", "distance"])
    scan = scan_parquet(doors["parquet"], roles)
    frame = doors["pandas"]
    s = (frame["diagnosed"] == "yes").astype(int)
    wanted = JointClassifier(n_starts=1).fit(frame[["age", "distance"]], s)
    np.testing.assert_allclose(JointClassifier(n_starts=1).fit(scan).coef_, wanted.coef_, rtol=1e-8)


def test_a_table_is_encoded_once(doors, roles, monkeypatch):
    calls, encode = [], TableEncoding.encode

    def counted(self, frame):
        calls.append((self, len(frame)))  # the encoding is kept, so that its id stays its own
        return encode(self, frame)

    monkeypatch.setattr(TableEncoding, "encode", counted)
    table = Table.from_frame(doors["pandas"], roles)
    model = TableClassifier(roles, "joint", parameters={"n_starts": 1}).fit(table)
    Report(model, table, n_resamples=19, n_jobs=1).to_dict()
    model.predict(table), model.rank(table)
    whole = Counter(id(encoding) for encoding, rows in calls if rows == len(table))
    assert whole[id(model.encoding_)] == 1
    assert max(whole.values()) == 1  # those of other models beside it too


def test_roles_may_be_the_name_of_the_label_or_a_formula(doors):
    frame = doors["pandas"][["age", "distance", "diagnosed"]]
    by_name = TableClassifier("diagnosed").fit(frame)
    by_formula = TableClassifier("diagnosed ~ age + distance").fit(frame)
    np.testing.assert_allclose(by_name.classifier_.coef_, by_formula.classifier_.coef_)
    with pytest.raises(TypeError, match="roles must be Roles, a formula or the name"):
        TableClassifier(3).fit(frame)


def test_a_scan_with_other_roles_is_refused(doors, roles):
    with pytest.raises(ValueError, match="must be those of the classifier, or absent"):
        TableClassifier(roles).fit(scan_parquet(doors["parquet"], "diagnosed"))


def test_what_differs_from_fit_is_a_warning(doors, model):
    with pytest.warns(TableWarning, match="no column 'age'"):
        model.predict(doors["pandas"].drop(columns="age"))


def test_audited_and_labelled_rows_are_not_listed(doors):
    frame = doors["pandas"].assign(audit=None)
    frame.loc[::3, "audit"] = frame.loc[::3, "sick"]
    named = Roles("diagnosed", id="patient", audited="audit", ignore=["sick"])
    found = TableClassifier(named).fit(frame).rank(frame, top=900)
    known = frame["patient"][frame["audit"].notna() | (frame["diagnosed"] == "yes")]
    assert not set(found["id"]) & set(known)
    assert len(found) == len(frame) - len(known)


def test_a_fitted_table_answers_how_sure_it_is(doors, model):
    found = model.infer(doors["pandas"])
    truth = doors["pandas"]["sick"].mean()
    estimate = found.prevalence(method="profile")
    assert estimate.low < truth < estimate.high
    assert isinstance(model.report(doors["pandas"]), Report)


def test_findings_of_a_fit_are_data(doors):
    frame = doors["pandas"][["age", "distance", "diagnosed"]]
    model = TableClassifier("diagnosed", "averaged").fit(frame)
    assert isinstance(model.classifier_, AveragedClassifier)
    assert all(isinstance(finding, Finding) for finding in model.findings_)
    assert {f.topic for f in model.findings_} <= {"orientation", "identification"}


def test_findings_come_back_from_a_file(doors, tmp_path):
    frame = doors["pandas"][["age", "distance", "diagnosed"]]
    model = TableClassifier("diagnosed").fit(frame)
    model.save(tmp_path / "m.dlm")
    assert load(tmp_path / "m.dlm").findings_ == model.findings_


def test_a_model_of_a_scan_comes_back_from_a_file(doors, roles, tmp_path):
    model = TableClassifier(roles, "joint", parameters={"n_starts": 1}).fit(doors["scan"])
    model.save(tmp_path / "m.dlm")
    model.classifier_.save(tmp_path / "bare.dlm")
    again, bare = load(tmp_path / "m.dlm"), load(tmp_path / "bare.dlm")
    wanted = model.predict(doors["pandas"])["hidden"]
    np.testing.assert_array_equal(again.predict(doors["pandas"])["hidden"], wanted)
    np.testing.assert_allclose(bare.predict_hidden(doors["scan"]), wanted, rtol=1e-9)
