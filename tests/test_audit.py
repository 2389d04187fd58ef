"""Audits from end to end: a plan, a filled sheet, an estimate, a report, on every engine."""

import numpy as np
import pandas as pd
import pytest
from tables_of_tests import clinic
from typer.testing import CliRunner

from doublelogit import JointClassifier, Roles, TableClassifier, TableError, scan_parquet
from doublelogit.audit import Audit, as_audit, estimate, joined, plan
from doublelogit.audit.conclusions import conclusions, expectations, suspicions
from doublelogit.audit.crossfit import audit_folds, fold_models
from doublelogit.cli import app
from doublelogit.registry import DEFAULT_METHOD
from doublelogit.tables import Table

ROLES = Roles("diagnosed", id="patient", propensity_features=["distance"], ignore=["sick"])
N = 1200


@pytest.fixture(scope="module")
def frame():
    return clinic(N).assign(village=np.arange(N) % 40, price=np.where(np.arange(N) % 2, 4.0, 1.0))


@pytest.fixture(scope="module")
def roles():
    return Roles(**{**vars(ROLES), "ignore": ("sick", "village", "price")})


@pytest.fixture(scope="module")
def model(frame, roles):
    return TableClassifier(roles, "joint", parameters={"n_starts": 1}).fit(frame)


def filled(drawn, frame, **changes):
    truth = frame.set_index("patient")["sick"]
    found = truth.loc[drawn.audit.ids].astype(str).to_numpy(dtype=object)
    for at, answer in changes.get("answers", {}).items():
        found[at] = answer
    return Audit(drawn.audit.frame.assign(**{"class": found}), changes.get("kind", "drawn"))


@pytest.fixture(scope="module")
def audit(model, frame):
    return filled(plan(model, frame, budget=100), frame)


def test_a_plan_draws_unlabelled_rows_once_with_their_chances(model, frame):
    drawn = plan(model, frame, budget=80)
    rows = frame.set_index("patient").loc[drawn.audit.ids]
    assert len(set(drawn.audit.ids)) == 80
    assert (rows["diagnosed"] == "").all()
    each = drawn.audit.frame.groupby("stratum").agg(
        n=("id", "size"), of=("of", "first"), chance=("chance", "first")
    )
    np.testing.assert_allclose(each["n"] / each["of"], each["chance"])
    assert each["of"].sum() == (frame["diagnosed"] == "").sum()
    assert frame["patient"].to_numpy()[drawn.rows].tolist() == drawn.audit.ids.tolist()


def test_the_sheet_has_no_scores_unless_they_are_asked_for(model, frame):
    drawn = plan(model, frame, budget=30)
    assert drawn.sheet().columns.tolist() == ["id", "class", "note"]
    assert "score" in drawn.sheet(show_scores=True)


@pytest.mark.parametrize("door", ["scan", "small scan", "workers", "table"])
def test_every_engine_draws_the_same_rows_and_makes_the_same_estimate(
    door, model, frame, audit, tmp_path, monkeypatch
):
    (tmp_path / "t").mkdir()
    frame[:500].to_parquet(tmp_path / "t" / "0.parquet", index=False)
    frame[500:].to_parquet(tmp_path / "t" / "1.parquet", index=False)
    if door == "small scan":
        monkeypatch.setattr("doublelogit.audit.blocks.AUDIT_BLOCK", 170)
    X = (
        Table.from_frame(frame, model.roles_)
        if door == "table"
        else scan_parquet(tmp_path / "t", model.roles_, distributed=door == "workers")
    )
    wanted = plan(model, frame, budget=60, goal=["prevalence", "list"], top=40)
    got = plan(model, X, budget=60, goal=["prevalence", "list"], top=40)
    pd.testing.assert_frame_equal(got.audit.frame, wanted.audit.frame)
    found, expected = (estimate(model, x, audit, by="smoker") for x in (X, frame))
    assert found.prevalence.value == pytest.approx(expected.prevalence.value)
    assert found.prevalence.high == pytest.approx(expected.prevalence.high)
    assert {k: e.value for k, e in found.groups.items()} == pytest.approx(
        {k: e.value for k, e in expected.groups.items()}
    )


def test_arrays_and_dask_arrays_draw_the_same_rows(frame):
    import dask.array as da

    X, s = frame[["age", "distance"]].to_numpy(), (frame["diagnosed"] == "yes").to_numpy(int)
    model = JointClassifier(n_starts=1).fit(X, s)
    wanted = plan(model, X, s, budget=50)
    parts = da.from_array(X, chunks=(400, 2)), da.from_array(s, chunks=400)
    assert plan(model, *parts, budget=50).rows.tolist() == wanted.rows.tolist()
    audit = Audit(
        wanted.audit.frame.assign(**{"class": frame["sick"].to_numpy()[wanted.rows].astype(str)})
    )
    values = [estimate(model, x, audit, y).prevalence.value for x, y in ((X, s), parts)]
    assert values[0] == pytest.approx(values[1])


def test_the_interval_holds_the_truth_and_the_number_of_hidden_positives(model, frame, audit):
    found = estimate(model, frame, audit, by="smoker", top=50)
    truth = frame["sick"].mean()
    assert found.prevalence.low < truth < found.prevalence.high
    hidden = ((frame["sick"] == 1) & (frame["diagnosed"] == "")).sum()
    assert found.hidden.low < hidden < found.hidden.high
    for group, answer in found.groups.items():
        assert answer.low < frame["sick"][frame["smoker"] == group].mean() < answer.high
    assert found.listed.low <= found.listed.value <= found.listed.high


def test_an_audit_of_a_list_looks_at_the_list_and_tells_its_precision(model, frame):
    drawn = plan(model, frame, budget=40, goal="list", top=50)
    on_list = drawn.audit.frame["list"] == 1
    first = set(model.rank(frame, top=50)["id"])
    assert 30 <= on_list.sum() < 40
    assert set(drawn.audit.ids[on_list]) <= first
    expected = drawn.expected_of_list
    assert (expected.length, expected.rows) == (50, on_list.sum())
    assert "its precision to within" in expectations(drawn)[1].text
    found = estimate(model, frame, filled(drawn, frame))
    truth = frame.set_index("patient")["sick"].loc[list(first)].mean()
    assert found.listed.low <= truth <= found.listed.high
    assert any("Of the list that was audited" in f.text for f in conclusions(found))


def test_the_list_that_was_audited_stays_the_same_whatever_the_model_learns(model, frame):
    audit = filled(plan(model, frame, budget=40, goal="list", top=50), frame)
    before = estimate(model, frame, audit).listed
    table = joined(Table.from_frame(frame, model.roles_), audit)
    after = estimate(TableClassifier(model.roles_).fit(table), table, audit).listed
    assert (after.low, after.value, after.high) == (before.low, before.value, before.high)


def test_a_round_without_rows_of_a_group_says_nothing_of_it(model, frame, audit):
    more = plan(model, frame, budget=40, audit=audit).audit.frame
    smokers = frame.set_index("patient")["smoker"].loc[more["id"]].to_numpy() == "yes"
    second = filled(plan(model, frame, budget=40, audit=audit), frame).frame[~smokers]
    both = Audit(pd.concat([audit.frame, second], ignore_index=True))
    one, two = (estimate(model, frame, a, by="smoker").groups["yes"] for a in (audit, both))
    assert two.value == pytest.approx(one.value, abs=0.02)
    assert two.high - two.low == pytest.approx(one.high - one.low, rel=0.1)


def test_a_second_round_leaves_out_what_was_looked_at_and_narrows_the_interval(model, frame, audit):
    more = plan(model, frame, budget=60, audit=audit)
    assert not set(more.audit.ids) & set(audit.ids)
    assert more.audit.last_round == 2
    both = Audit(pd.concat([audit.frame, filled(more, frame).frame], ignore_index=True))
    one, two = (estimate(model, frame, a).prevalence for a in (audit, both))
    assert two.high - two.low < 0.9 * (one.high - one.low)
    assert two.low < frame["sick"].mean() < two.high


def test_nothing_is_drawn_when_the_width_is_reached(model, frame, audit):
    done = plan(model, frame, width=0.4, audit=audit)
    assert done.reached
    assert len(done.audit) == 0
    assert "Nothing more need be looked at" in expectations(done, 0.4)[0].text


def test_dont_knows_widen_the_interval_to_all_that_they_could_be(model, frame, audit):
    drawn = plan(model, frame, budget=100)
    unsure = filled(drawn, frame, answers=dict.fromkeys(range(10), "don't know"))
    found = estimate(model, frame, unsure)
    for all_of_them in ("0", "1"):
        known = filled(drawn, frame, answers=dict.fromkeys(range(10), all_of_them))
        answer = estimate(model, frame, known).prevalence
        assert found.prevalence.low <= answer.low + 1e-9
        assert found.prevalence.high >= answer.high - 1e-9
    assert found.unsure == 10
    assert any("could not be told" in finding.text for finding in conclusions(found))


def test_blanks_leave_a_smaller_random_sample(model, frame):
    drawn = plan(model, frame, budget=100)
    half = filled(drawn, frame, answers=dict.fromkeys(range(50, 100), ""))
    found = estimate(model, frame, half)
    assert found.blank == 50
    assert found.prevalence.low < frame["sick"].mean() < found.prevalence.high


def test_reviewers_errors_are_undone_t_is_t_hat_less_n_fp_over_1_less_fp_less_fn(
    model, frame, audit
):
    plain = estimate(model, frame, audit).hidden.value
    wrong = Audit(audit.frame, reviewer_error=(0.05, 0.1))
    hidden = (frame["diagnosed"] == "").sum()
    found = estimate(model, frame, wrong).hidden.value
    assert found == pytest.approx((plain - 0.05 * hidden) / 0.85)
    with pytest.raises(ValueError, match="must be a probability below"):
        as_audit(audit.frame, reviewer_error=0.7)


def test_clusters_are_drawn_whole_and_their_interval_is_students(model, frame):
    drawn = plan(model, frame, budget=150, clusters="village")
    for name in drawn.audit.frame["cluster"].unique():
        inside = (frame["village"].astype(str) == name) & (frame["diagnosed"] == "")
        assert (drawn.audit.frame["cluster"] == name).sum() == inside.sum()
    found = estimate(model, frame, filled(drawn, frame)).prevalence
    assert found.method == "audit, Student's t"
    assert found.low < frame["sick"].mean() < found.high


def test_a_budget_of_money_is_kept_to(model, frame):
    drawn = plan(model, frame, budget=120, cost="price")
    assert frame["price"].to_numpy()[drawn.rows].sum() <= 120
    assert len(drawn.audit) > 120 / 4


def test_all_positive_rows_deleted_rows_and_unlike_rows_are_noticed(model, frame, audit):
    every = Audit(audit.frame.assign(**{"class": "1"}))
    assert any("are positive" in f.text for f in suspicions(estimate(model, frame, every)))
    fewer = Audit(audit.frame[audit.y == 1])
    assert estimate(model, frame, fewer).signs.lost > 40
    hidden = frame[frame["diagnosed"] == ""]
    top = model.rank(frame, top=100)["id"]
    picked = pd.DataFrame({"id": top, "chance": 100 / len(hidden), "class": "1"})
    picked.loc[::3, "class"] = "0"
    assert estimate(model, frame, picked).signs.unlike
    assert suspicions(estimate(model, frame, audit)) == []


def test_rows_without_chances_need_a_kind(model, frame, audit):
    bare = audit.frame[["id", "class"]]
    with pytest.raises(TableError, match="`audit_kind`"):
        estimate(model, frame, bare)
    chosen = estimate(model, frame, as_audit(bare, "features"))
    assert chosen.prevalence is None
    assert "chosen by scores" in conclusions(chosen)[0].text
    hunch = estimate(model, frame, as_audit(bare, "convenience"))
    low, high = hunch.bounds
    assert low < frame["sick"].mean() < high
    assert "left out of the fit" in conclusions(hunch)[0].text
    table = Table.from_frame(frame, model.roles_)
    assert joined(table, as_audit(bare, "convenience")).audited is None


def test_rows_that_are_not_in_the_table_or_labelled_are_refused(model, frame, audit):
    other = audit.frame.assign(id=[f"X{i}" for i in range(len(audit))])
    with pytest.raises(TableError, match="not in the table"):
        estimate(model, frame, Audit(other))
    labelled = audit.frame.assign(id=frame["patient"][frame["diagnosed"] == "yes"][:100].to_numpy())
    with pytest.raises(TableError, match="is labelled"):
        estimate(model, frame, Audit(labelled))


def test_cross_fitted_h_does_not_know_the_rows_own_class(model, frame, audit, roles):
    table = joined(Table.from_frame(frame, roles), audit)
    fold = audit_folds(audit, table)
    assert len(np.bincount(fold)) == 5
    assert abs(np.bincount(fold) - 20).max() < 4 * np.sqrt(100 * 4) / 5
    lied = Audit(audit.frame.assign(**{"class": np.where(fold == 0, "1", audit.frame["class"])}))
    table_lied = joined(Table.from_frame(frame, roles), lied)
    X = table.encoded(model.encoding_)
    mine, theirs = (
        fold_models(model.fitted_, t, audit, fold)[0].predict_hidden(X) for t in (table, table_lied)
    )
    np.testing.assert_allclose(mine, theirs)


def test_audits_enter_the_likelihood_and_audited_rows_leave_the_list(frame, roles, audit):
    model = TableClassifier(roles, "joint", parameters={"n_starts": 1}).fit(frame, audit=audit)
    table = joined(Table.from_frame(frame, roles), audit)
    assert not set(model.rank(table, top=N)["id"]) & set(audit.ids)
    summary = model.report(frame, audit=audit, n_resamples=19, n_jobs=1).to_dict()
    assert summary["audit"]["found"] == audit.y.sum()
    assert summary["audit"]["answers"][1]["regions"] == summary["prevalence"]["main"]["regions"]
    assert summary["prevalence"]["by_assumption"][-1]["assumption"].startswith("the audit alone")
    assert summary["verdict"][0]["topic"] == "audit"


def test_a_model_that_is_off_is_told_to_use_the_audits_number(frame, roles):
    swapped = TableClassifier(
        Roles(**{**vars(roles), "propensity_features": ("age", "smoker", "bmi")}),
        "joint",
        parameters={"n_starts": 1},
    ).fit(frame)
    audit = filled(plan(swapped, frame, budget=150), frame)
    found = estimate(swapped, frame, audit)
    texts = " ".join(finding.text for finding in conclusions(found))
    assert not found.agrees
    assert "use the audit's number" in texts
    assert found.prevalence.low < frame["sick"].mean() < found.prevalence.high


def test_a_comparison_says_which_methods_the_audit_rules_out(frame, roles, audit, monkeypatch):
    from doublelogit.report import comparison

    few = [m for m in comparison.COMPARED if m.name == DEFAULT_METHOD or not m.takes_audits]
    monkeypatch.setattr(comparison, "COMPARED", few)
    table = joined(Table.from_frame(frame, roles), audit)
    found = comparison.compare_methods(table, n_resamples=19, progress=lambda *_: None)
    assert "rules out" in found.findings[-1].text
    assert few[-1].name in found.findings[-1].numbers["methods"]


COMMON = "--label diagnosed --id patient --ignore sick,village,price --propensity-features distance"


def run(command, folder, monkeypatch):
    monkeypatch.chdir(folder)
    return CliRunner().invoke(app, command.split(), env={"COLUMNS": "100"})


@pytest.fixture
def folder(frame, tmp_path):
    frame.to_csv(tmp_path / "t.csv", index=False)
    return tmp_path


def test_plan_sheet_and_report_on_the_command_line(frame, folder, monkeypatch):
    result = run(f"audit t.csv {COMMON} --budget 60 --out audit.csv", folder, monkeypatch)
    assert result.exit_code == 0, result.output
    assert "60 rows: the prevalence to within" in " ".join(result.output.split())
    sheet = pd.read_csv(folder / "audit-sheet.csv", dtype=str)
    sheet["class"] = frame.set_index("patient")["sick"].loc[sheet["id"]].astype(str).to_numpy()
    sheet.to_csv(folder / "audit-sheet.csv", index=False)
    again = run(f"audit t.csv {COMMON} --budget 60 --out audit.csv", folder, monkeypatch)
    assert again.exit_code == 2
    assert "Name another --out" in " ".join(again.output.split())
    fitted = run(
        f"fit t.csv {COMMON} --audit audit.csv --by smoker --out m.dlm", folder, monkeypatch
    )
    assert "By the audit" in fitted.output
    assert "By group, whatever the model: no" in " ".join(fitted.output.split())
    listed = run(f"rank t.csv {COMMON} --audit audit.csv --top 5", folder, monkeypatch)
    assert "put right by the audited rows" in " ".join(listed.output.split())


def test_options_that_make_no_plan_are_refused(folder, monkeypatch):
    for options in ("", "--budget 50 --width 0.1", "--budget 50 --goal riches"):
        assert run(f"audit t.csv {COMMON} {options}", folder, monkeypatch).exit_code == 2
    missing = run(f"audit t.csv {COMMON} --budget 50 --cost gold", folder, monkeypatch)
    assert "no column 'gold'" in missing.output
