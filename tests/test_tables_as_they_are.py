"""Tables as they are: skewed and corrupt numbers, leaks, wide tables, units, outside knowledge."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit
from tables_of_tests import clinic
from typer.testing import CliRunner

from doublelogit import (
    JointClassifier,
    Report,
    Roles,
    TableClassifier,
    TableEncoder,
    TableWarning,
    infer,
    load,
    scan_parquet,
)
from doublelogit.cli import app
from doublelogit.cli.options import share_with_error
from doublelogit.datasets import load_benchmark
from doublelogit.findings import PROBLEM
from doublelogit.labelling import LogisticSar, draw
from doublelogit.report.sections.verdict import assumptions, decision
from doublelogit.table_models import table_doubts
from doublelogit.table_models.table_doubts import TableDoubts
from doublelogit.tables import Table, TableEncoding

ALONE = Roles("label", id="id")
ROLES = Roles("label", id="id", propensity_features=("visits",))


def patients(n=1000, seed=3):
    """A class that is linear in the logarithm of an income, labels by visits."""
    rng = np.random.default_rng(seed)
    age, visits = rng.normal(50, 12, n), rng.poisson(3, n).astype(float)
    income = np.exp(10 + 0.8 * rng.normal(size=n))
    y = rng.random(n) < expit(-1 + 2 * (np.log(income) - 10) + 0.08 * (age - 50))
    s = y & (rng.random(n) < expit(0.8 * (visits - 3)))
    columns = {"id": np.arange(n), "age": age, "income": income, "visits": visits}
    return pd.DataFrame(columns | {"label": np.where(s, "yes", "")}), y


@pytest.fixture(scope="module")
def fitted():
    frame, _ = patients()
    return frame, TableClassifier(ROLES).fit(frame)


def column(values, name="x"):
    return TableEncoder().fit(pd.DataFrame({name: values, "y": [0, 1] * 1000})).encoding_.columns[0]


# Shapes


@pytest.mark.parametrize(
    ("draw", "transform", "meaning"),
    [
        (lambda r: np.exp(9 + r.normal(size=2000)), "log", "per doubling"),
        (lambda r: np.where(r.random(2000) < 0.9, 0, np.exp(8 + r.normal(size=2000))), "log", None),
        (lambda r: np.exp(2 * r.normal(size=2000)) - 0.2, "root", None),
        (lambda r: r.normal(size=2000), "", None),
        (lambda r: r.integers(1990, 2020, 2000), "", None),
        (lambda r: r.poisson(1.0, 2000), "", None),
        (lambda r: r.random(2000), "", None),
    ],
)
def test_skewed_numbers_are_transformed_and_others_are_not(draw, transform, meaning):
    found = column(draw(np.random.default_rng(0)))
    assert found.transform == transform
    assert meaning in (None, found.meaning)


def test_a_transform_keeps_the_order_and_standardises():
    x = np.exp(9 + np.random.default_rng(0).normal(size=2000))
    z = column(x).encode(pd.Series(x))[0][:, 0]
    assert (np.diff(z[np.argsort(x)]) >= 0).all()
    assert (z.mean(), z.std()) == pytest.approx((0, 1), abs=1e-9)


def test_a_new_row_may_hold_what_has_no_logarithm():
    found = column(np.exp(9 + np.random.default_rng(0).normal(size=2000)))
    z = found.encode(pd.Series([-5.0, 0.0, 1e300, np.nan]))[0]
    assert np.isfinite(z).all()


def test_drivers_are_told_per_doubling(fitted):
    frame, model = fitted
    drivers = Report(model, frame, n_resamples=19, n_jobs=1).to_dict()["drivers"]["outcome"]
    income = next(driver for driver in drivers if driver["term"] == "income")
    assert income["unit"] == "per doubling"
    assert income["low"] < 2**2 < income["high"]  # the class has the slope 2 in log(income)
    coef = model.classifier_.coef_[0, 1] / model.encoding_.columns[1].scale
    assert income["odds"] == pytest.approx(np.exp(coef))


def test_a_frame_and_scans_have_one_shape_for_a_column(tmp_path):
    frame = patients()[0].assign(gain=lambda f: np.where(f["age"] < 60, 0, f["income"]))
    frame.loc[3, "income"] = 1e12
    frame.to_parquet(tmp_path / "t.parquet", row_group_size=100)
    here = TableClassifier(ALONE, "naive").fit(frame)
    for distributed in (False, True):
        scan = scan_parquet(tmp_path / "t.parquet", distributed=distributed)
        there = TableClassifier(ALONE, "naive").fit(scan)
        for mine, other in zip(*(m.encoding_.to_dict() for m in (here, there)), strict=True):
            assert other == pytest.approx(mine)
    assert {c.transform for c in here.encoding_.columns} == {"", "log"}
    income = here.encoding_.columns[1]
    assert (income.above, income.high < 1e9) == (1, True)


def test_a_model_file_keeps_transforms_and_caps(fitted, tmp_path):
    frame, model = fitted
    model.save(tmp_path / "m.dlm")
    again = load(tmp_path / "m.dlm")
    assert again.encoding_ == model.encoding_
    pd.testing.assert_frame_equal(again.predict(frame), model.predict(frame))


def test_a_file_without_shapes_is_a_file_of_plain_numbers():
    old = {"kind": "number", "name": "x", "fill": 1.0, "centre": 1.0, "scale": 2.0}
    found = TableEncoding.from_dict([{**old, "missing": False, "two": False}])
    values = found.encode(pd.DataFrame({"x": [3.0, 1e12]}))[0].to_numpy()[:, 0]
    assert values.tolist() == [1.0, (1e12 - 1) / 2]


def test_three_corrupt_cells_neither_move_the_answer_nor_go_unnoticed(fitted):
    frame, model = fitted
    corrupt = frame.copy()
    corrupt.loc[[5, 6, 7], "income"] = [1e12, -9e15, np.inf]
    spoilt = TableClassifier(ROLES).fit(corrupt)
    before, after = (
        m.predict(f)["positive"].mean() for m, f in ((model, frame), (spoilt, corrupt))
    )
    assert after == pytest.approx(before, abs=0.02)
    said = " ".join(finding.text for finding in spoilt.findings_)
    assert "1 cell of 'income' is infinite and counts as missing" in said
    assert "(as far as 1,000,000,000,000); taken for" in said
    assert "(as far as -9e+15); taken for" in said


def test_heavy_tails_are_capped_without_alarm():
    frame, _ = patients()
    frame["profit"] = np.random.default_rng(0).standard_t(2, len(frame)) * 1000
    table = Table.from_frame(frame, ROLES)
    assert table.encoding.columns[-1].above > 3
    assert TableDoubts.of(table).serious == ()


# Leaks


def found_leaks(**columns):
    frame, _ = patients()
    table = Table.from_frame(frame.assign(**columns), ROLES)
    return {f.numbers["column"]: f for f in TableDoubts.of(table).leaks}


def test_doubts_of_a_table_are_computed_once(monkeypatch):
    """Fit, check and report computed them three times."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=90), "s": np.arange(90) % 3 == 0})
    table, asked, look = Table.from_frame(frame, "s"), [], table_doubts._leak
    monkeypatch.setattr(table_doubts, "_leak", lambda *a: asked.append(a) or look(*a))
    model = TableClassifier("s", "joint", parameters={"n_starts": 1}).fit(table)
    report = Report(model, table, n_resamples=19, n_jobs=1)
    assert report.checks()["Data"]
    assert report.findings
    assert len(asked) == 1


def test_a_column_that_knows_the_label_is_called_a_leak():
    frame, _ = patients()
    s, rng = frame["label"] == "yes", np.random.default_rng(0)
    found = found_leaks(
        copied=s.astype(int),
        word=np.where(s, "ill", "well"),
        cause=np.where(s & (rng.random(len(s)) < 0.5), rng.choice(["a", "b"], len(s)), None),
        seen=np.where(s, rng.integers(100, 200, len(s)), np.nan),
        dose=np.where(s, rng.uniform(5, 9, len(s)), rng.uniform(0, 5, len(s))),
        harmless=rng.normal(size=len(s)),
    )
    assert list(found) == ["copied", "word", "cause", "seen", "dose"]
    assert "is a copy of the label" in found["copied"].text
    assert "exists only where labelled" in found["cause"].text
    assert "exists only where labelled" in found["seen"].text
    assert all("(`ignore`)" in f.text and f.level == PROBLEM for f in found.values())


def test_the_class_itself_is_no_leak_where_half_of_it_is_labelled():
    _, y = patients()
    assert found_leaks(sick=y.astype(int)) == {}


@pytest.mark.parametrize("name", ["BreastCancer", "wdbc", "vote"])
def test_strong_features_are_no_leaks(name):
    data = load_benchmark(name)
    e_x = LogisticSar(g=2.0).propensity((data.data - data.data.mean(0)) / data.data.std(0))
    frame = pd.DataFrame(data.data).rename(columns=str)
    frame["label"] = draw(data.target, e_x, 0)
    table = Table.from_frame(frame, "label")
    assert TableDoubts.of(table).leaks == ()


def test_leaks_come_first_on_the_page():
    frame, _ = patients()
    frame["copy"] = (frame["label"] == "yes").astype(int)
    with pytest.warns(TableWarning, match="'copy' is a copy of the label.*out .ignore"):
        model = TableClassifier(ALONE, "naive").fit(frame)
    report = Report(model, frame, n_resamples=19, n_jobs=1)
    assert report.findings[0].topic == "leak"
    assert decision(report.analysis)[1].startswith("Leave out 'copy' (`ignore`)")
    assert [f.topic for f in report.checks()["Data"]][-1] == "leak"


def test_more_features_than_labels_can_bear_is_said_before_the_fit():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(200, 120))).rename(columns=str)
    frame["label"] = (rng.random(200) < 0.3).astype(int)

    class StoppedError(Exception):
        pass

    def stop(*_, **__):
        raise StoppedError

    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        patch.setattr("doublelogit.table_models.table_model.fit_rows", stop)
        with pytest.raises(StoppedError):
            TableClassifier("label").fit(frame)
    assert "labelled rows per coefficient" in str(caught[0].message)


def test_a_scan_says_so_too(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(60, 30))).rename(columns=str)
    frame["label"] = (np.arange(60) < 12).astype(int)
    frame.to_parquet(tmp_path / "t.parquet")
    with pytest.warns(TableWarning, match="0.4 labelled rows per coefficient .12 for 30."):
        TableClassifier("label", "naive").fit(scan_parquet(tmp_path / "t.parquet"))


# Units


def test_units_do_not_matter_to_joint():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 3))
    s = (rng.random(600) < expit(2 * X[:, 0])) & (rng.random(600) < expit(X[:, 2]))
    units = np.array([1e-9, 1.0, 1e6])
    plain, scaled = (JointClassifier(n_starts=2).fit(X * u, s) for u in (1.0, units))
    np.testing.assert_allclose(scaled.coef_ * units, plain.coef_, rtol=1e-5)
    wanted = infer(plain, X, s).prevalence()
    assert infer(scaled, X * units, s).prevalence().low == pytest.approx(wanted.low, rel=1e-4)
    raw = [JointClassifier(n_starts=2, scaled_penalty=False).fit(X * u, s) for u in (1.0, units)]
    shares = [m.predict_positive(X * u).mean() for m, u in zip(raw, (1.0, units), strict=True)]
    assert abs(shares[0] - shares[1]) > 0.1


# Knowledge from elsewhere


@pytest.mark.parametrize(
    ("text", "share"),
    [
        ("0.2", 0.2),
        ("0.2±0.05", (0.2, 0.05)),
        ("0.2+-0.05", (0.2, 0.05)),
        ("0.2 +/- .05", (0.2, 0.05)),
        ("20%±5%", (0.2, 0.05)),
        ("1e-3", 0.001),
    ],
)
def test_a_share_may_be_written_with_its_error(text, share):
    assert share_with_error(text) == pytest.approx(share)


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    clinic(300).to_csv("clinic.csv", index=False)
    roles = ["--label", "diagnosed", "--id", "patient", "--ignore", "sick"]

    def invoke(command, *arguments, code=0):
        asked = [command, "clinic.csv", *roles, "--propensity-features", "distance", *arguments]
        result = CliRunner().invoke(app, asked)
        assert result.exit_code == code, result.output
        return " ".join(result.output.split())

    return invoke


def test_what_is_known_enters_a_fit_of_the_command_line(run):
    run("fit", "--prevalence", "0.7±0.001")
    kept = load("clinic.dlm").classifier_
    assert kept.prevalence == (0.7, 0.001)
    assert kept.prevalence_ == pytest.approx(0.7, abs=0.002)
    run("fit", "--method", "joint", "--label-frequency", "40%±10%", "--false-label-rate", "0.01")
    kept = load("clinic.dlm").classifier_
    assert (kept.label_frequency, kept.false_label_rate) == ((0.4, 0.1), 0.01)


@pytest.mark.parametrize("command", ["fit", "rank", "report", "check", "compare", "diagnose"])
def test_every_command_that_fits_takes_what_is_known(run, monkeypatch, command):
    class StoppedError(ValueError):
        pass

    def stop(method, roles, encoding, parameters=None, *_, **__):
        raise StoppedError(f"given {parameters}")

    monkeypatch.setattr("doublelogit.table_models.table_model.make_classifier", stop)
    known = ["--prevalence", "0.7+-0.001"]
    tested = ["--resamples", "19"] if command == "compare" else []
    assert "given {'prevalence': (0.7, 0.001)}" in run(command, *known, *tested, code=3)


def test_the_page_says_what_was_given():
    frame = clinic(300)
    roles = Roles("diagnosed", id="patient", ignore=("sick",), propensity_features=("distance",))
    model = TableClassifier(roles, parameters={"prevalence": (0.7, 0.01)}).fit(frame)
    said = assumptions(Report(model, frame, n_resamples=19, n_jobs=1).analysis)
    assert "The share of positives is known from elsewhere: 70.0% ± 1.0%." in said
    assert model.fitted_.known == {"prevalence": (0.7, 0.01)}  # so that checks are told it too


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--prevalence", "3"], 2, "is no share"),
        (["--prevalence", "0.1±0.1±0.1"], 2, "is no share"),
        (["--false-label-rate", "0.1±0.1"], 2, "one number, without ±"),
        (["--prevalence", "0.5", "--method", "em"], 3, "choose one of averaged, sparse"),
        (["--prevalence", "0.01"], 3, "must not be below what the labelled rows prove"),
    ],
)
def test_what_cannot_be_known_is_refused(run, arguments, code, said):
    assert said in run("fit", *arguments, code=code)
