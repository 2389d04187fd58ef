"""Sheets of audits that cannot be true: one sentence each, and nothing is estimated from them."""

import numpy as np
import pandas as pd
import pytest
from tables_of_tests import clinic
from typer.testing import CliRunner

from doublelogit import Roles, TableClassifier
from doublelogit.audit import as_audit, estimate, joined, plan
from doublelogit.cli import app
from doublelogit.exceptions import SheetError
from doublelogit.tables import Table

ROLES = Roles("diagnosed", id="patient", ignore=("sick",), propensity_features=("distance",))


@pytest.fixture(scope="module")
def frame():
    return clinic(600)


@pytest.fixture(scope="module")
def model(frame):
    return TableClassifier(ROLES, "joint", parameters={"n_starts": 1}).fit(frame)


@pytest.fixture(scope="module")
def sheet(model, frame):
    drawn = plan(model, frame, budget=80).audit.frame
    classes = frame.set_index("patient")["sick"].loc[drawn["id"]].astype(str)
    return drawn.assign(**{"class": classes.to_numpy()})


def first(sheet, **cells):
    changed = sheet.astype(object)
    for name, value in cells.items():
        changed.loc[0, name.rstrip("_")] = value
    return changed


WRONG = {
    "of of 0": (lambda s: s.assign(of=0), "'of' of an audit must be whole numbers from 1"),
    "no of": (lambda s: s.assign(of=""), "got nothing for the row"),
    "one empty of": (lambda s: first(s, of=None), "got nothing for the row"),
    "of in a stratum": (lambda s: first(s, of=3), "of one stratum"),
    "half of": (lambda s: s.assign(of=s["of"] // 2), "must fit what was drawn"),
    "half chances": (lambda s: s.assign(chance=s["chance"] / 2), "must fit what was drawn"),
    "half, no of": (lambda s: s.assign(chance=s["chance"] / 2).drop(columns="of"), "drawn from"),
    "other sums": (lambda s: s.assign(chance=s["chance"] * 1.11), "must fit what was drawn"),
    "twice as many": (lambda s: s.assign(of=s["of"] * 2, chance=s["chance"] / 2), "drawn from"),
    "above 1": (lambda s: s.assign(chance=s["chance"] + 1), "'chance' of an audit must be above 0"),
    "words": (lambda s: first(s, chance="many"), "got many for the row"),
    "no chance": (lambda s: first(s, chance=None), "got nothing for the row"),
    "a round and a half": (lambda s: s.assign(round=1.5), "'round' of an audit"),
    "no round": (lambda s: first(s, round=None), "'round' of an audit"),
    "twice": (
        lambda s: pd.concat([s, s.head(1).assign(**{"class": "0"})]),
        "stands in round 1 more than once",
    ),
    "capitals": (lambda s: s.rename(columns=str.title), "small letters; got 'Id'. Write 'id'"),
    "a capital": (lambda s: s.rename(columns={"of": "Of"}), "small letters; got 'Of'"),
    "tiny": (lambda s: s.assign(chance=1e-300).drop(columns=["of", "stratum"]), "drawn from"),
    "tinier": (
        lambda s: s.assign(chance=1e-310).drop(columns=["of", "stratum"]),
        "must be above 0",
    ),
    "unknown": (lambda s: first(s, id="nobody"), "a row 'nobody' that is not in the table"),
    "no answers": (lambda s: s.assign(**{"class": ""}), "nobody has looked"),
    "no class": (lambda s: s.drop(columns="class"), "has the columns 'id' and 'class'"),
    "classes": (lambda s: first(s, class_="perhaps"), "got 'perhaps'"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_sheet_that_cannot_be_true_is_refused(case, model, frame, sheet):
    spoil, sentence = WRONG[case]
    with pytest.raises(SheetError, match=sentence):
        estimate(model, frame, spoil(sheet).reset_index(drop=True))
    if "drawn from" in sentence:  # before a fit, not after it
        with pytest.raises(SheetError, match=sentence):
            joined(Table.from_frame(frame, ROLES), as_audit(spoil(sheet)))


def test_a_sheet_with_rounded_chances_or_without_strata_is_taken(model, frame, sheet):
    rounded = sheet.assign(chance=[float(f"{c:.3g}") for c in sheet["chance"]])
    plain = estimate(model, frame, sheet).prevalence
    assert estimate(model, frame, rounded).prevalence.value == pytest.approx(plain.value, abs=1e-3)
    hidden = frame["patient"][frame["diagnosed"] != "yes"].to_numpy()
    rng = np.random.default_rng(0)
    picked = hidden[rng.random(len(hidden)) < 0.2]  # one by one, so that their number is chance
    classes = frame.set_index("patient")["sick"].loc[picked].astype(str).to_numpy()
    bernoulli = pd.DataFrame({"id": picked, "chance": 0.2, "class": classes})
    found = estimate(model, frame, bernoulli).prevalence
    assert found.low < frame["sick"].mean() < found.high


@pytest.fixture
def run(frame, sheet, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame.to_csv("t.csv", index=False)
    sheet.assign(**{"class": ""}).to_csv("a.csv", index=False)

    def invoke(*more, method="joint"):
        command = "rank t.csv --label diagnosed --id patient --ignore sick --audit a.csv"
        result = CliRunner().invoke(app, [*command.split(), "--method", method, *more])
        return result.exit_code, " ".join(result.output.split())

    return invoke


def test_a_reviewers_sheet_has_a_row_once_and_the_columns_of_a_sheet(run, sheet):
    answers = sheet[["id", "class"]]
    for wrong, sentence in (
        (pd.concat([answers, answers.head(1).assign(**{"class": "0"})]), "more than once"),
        (answers.rename(columns=str.upper), "small letters"),
        (answers[["id"]], "has the columns 'id' and 'class'"),
        (sheet.assign(**{"class": "1"})[["class"]], "has the columns 'id' and 'class'"),
    ):
        wrong.to_csv("a-sheet.csv", index=False)
        code, said = run()
        assert (code, sentence in said) == (2, True), said


def test_an_audit_of_labelled_or_unknown_rows_is_refused_before_a_fit(run, frame, sheet):
    labelled = frame["patient"][frame["diagnosed"] == "yes"].iloc[0]
    for name, sentence in (("nobody", "is not in the table"), (labelled, "is labelled")):
        first(sheet, id=name).to_csv("a.csv", index=False)
        code, said = run()
        assert (code, sentence in said) == (2, True), said


@pytest.mark.parametrize(
    "rate", ["", ",", "nan", "0.1,nan", "inf", "-0.1", "0.5", "0.1,0.2,0.3", "x"]
)
def test_reviewers_err_with_a_probability(run, rate):
    code, said = run("--reviewer-error", rate)
    assert code == 2
    assert "reviewer-error" in said


def test_sheets_that_are_not_there_or_no_tables_are_usage_errors(run, tmp_path):
    (tmp_path / "b.csv").write_bytes(b"\0\1\2")
    for name, sentence in (("none.csv", "no file"), ("b.csv", "zero bytes"), ("t.csv", "class")):
        code, said = run("--audit", name)
        assert (code, sentence in said) == (2, True), said
