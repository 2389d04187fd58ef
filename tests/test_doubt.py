"""How far a page doubts itself: lines, other methods, what it claims of its list."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from doublelogit import Report, Roles, TableClassifier
from doublelogit.findings import worst
from doublelogit.findings.fit import orientation
from doublelogit.fitted.fit import Orientation
from doublelogit.inference.misfit import Misfit
from doublelogit.report.answers import Answer
from doublelogit.report.doubt import Doubt, list_claim
from doublelogit.report.opinions import LabelGain, Opinion, first_rows
from doublelogit.report.residuals import worst_residuals
from doublelogit.report.sections.trust import method_findings, model_findings
from doublelogit.tables import Table


def patients(bend, n=2400):
    """A class that is straight in age or rises at both of its ends; labels by distance."""
    rng = np.random.default_rng(3)
    age, distance, score = rng.normal(size=(3, n))
    a = (1 - bend) * 1.8 * age + bend * (2.2 * age**2 - 2.5) + 1.2 * score - 0.3
    y = rng.random(n) < expit(a)
    s = y & (rng.random(n) < expit(0.8 - 1.2 * distance))
    columns = {"age": 50 + 15 * age, "distance": distance, "score": score}
    return pd.DataFrame(columns | {"diagnosed": np.where(s, "yes", "")})


def reported(frame):
    roles = Roles("diagnosed", propensity_features=["distance"])
    model = TableClassifier(roles, "joint", parameters={"n_starts": 2}).fit(frame)
    return Report(model, frame, n_resamples=19, n_jobs=1)


@pytest.fixture(scope="module")
def straight():
    return reported(patients(bend=0.0))


@pytest.fixture(scope="module")
def bent():
    return reported(patients(bend=1.0))


def test_a_page_of_a_straight_class_is_without_doubt(straight):
    assert worst(straight.findings) == "fine"
    model = next(f for f in straight.findings if f.topic == "model")
    assert "no likelier by a nonlinear model than by two lines" in model.text
    assert "by what other methods say" in straight.to_dict()["recommendation"]
    assert "Do not work off this list" not in straight.to_html()


def test_a_class_that_bends_fails_the_check(bent):
    """0.1 passed every check on such tables."""
    assert any("The straight-line model does not hold" in f.text for f in bent.findings)
    assert any("no straight line in 'age'" in f.text for f in bent.findings)
    doubt = bent.to_dict()["doubt"]
    assert doubt["residuals"]["column"] == "age"
    assert doubt["residuals"]["p_value"] < 1e-6
    page = bent.to_html()
    assert "Where the model misses most" in page
    assert "Do not work off this list yet:" in page


def test_a_check_in_the_terminal_can_fail_too(bent):
    assert worst(bent.checks()["Model"]) == "attention"


def test_every_method_that_applies_is_asked(straight):
    opinions = {o["name"]: o for o in straight.to_dict()["doubt"]["opinions"]}
    assert {"joint", "averaged", "tm", "em", "lbe"} <= set(opinions)
    assert "naive" not in opinions
    assert opinions["joint"]["overlap"] == 1.0
    assert opinions["em"]["prevalence"] == pytest.approx(opinions["joint"]["prevalence"], abs=0.01)


def doubt(*precisions, gain=0.0, prevalence=0.3, bends=False):
    """Opinions on a list of fifty rows: the page's, and those of cautious methods."""
    frame = patients(0.0, n=200)
    table = Table.from_frame(frame, Roles("diagnosed"))
    own, *others = precisions
    return Doubt(
        main=Answer("", 0.3, 0.25, 0.35),
        page=Opinion("joint", 0.3, 1.0, own),
        first=first_rows(table, np.arange(200.0)),
        methods=[
            Opinion(name, prevalence, 0.9, p, counts=True, contradicts=name == "averaged")
            for name, p in zip(("averaged", "lbe", "third"), others, strict=False)
        ],
        label_gain=LabelGain(gain, 0.001),
        bends=bends,
        misfits=[],
        residuals=None,
    )


def test_a_claim_shrinks_where_methods_disagree():
    """0.1 claimed 98% where methods disagreed completely."""
    agree, apart = doubt(0.9, 0.88, 0.85, 0.9).claim, doubt(0.98, 0.4, 0.1, 0.02).claim
    assert agree.high - agree.low < 0.3
    assert agree.low < 0.88 < agree.high
    assert apart.low < 0.22 < apart.high
    assert apart.vague
    assert not agree.vague
    assert method_findings(doubt(0.98, 0.4, 0.1, 0.02))[0].level == "attention"


def test_lines_are_refuted_by_labels_that_are_clearly_likelier_without_them():
    assert not doubt(0.9, 0.9, gain=0.0019).refuted
    assert doubt(0.9, 0.9, gain=0.0021).refuted
    assert not doubt(0.9, 0.9, gain=0.0021, bends=True).refuted
    cases = doubt(0.9, 0.9), doubt(0.9, 0.9, gain=0.01), doubt(0.9, 0.9, gain=0.01, bends=True)
    found = [model_findings(case)[0] for case in cases]
    assert [finding.level for finding in found] == ["fine", "attention", "note"]
    assert "+0.0100 per row, standard error 0.0010" in found[1].text
    assert "The class of this answer may have any shape" in found[2].text


def test_an_answer_beyond_the_interval_is_a_dissent():
    assert not method_findings(doubt(0.9, 0.9, prevalence=0.38))
    found = method_findings(doubt(0.9, 0.9, prevalence=0.5))
    assert "Beyond the interval: averaged 50.0%" in found[0].text


@pytest.mark.parametrize(
    ("changes", "level", "words"),
    [
        ({"label_gain": LabelGain(0.0, 0.001)}, "note", "no likelier by a nonlinear model"),
        ({"label_gain": LabelGain(0.1, 0.001)}, "attention", "hold only if the model does"),
        ({"label_gain": None}, "attention", "hold only if the model does"),
        ({"label_gain": None, "bends": True}, "note", "may have any shape"),
    ],
)
def test_misfit_of_lines_weighs_by_whether_it_matters(changes, level, words):
    misfit = [Misfit("shape", "age", 1e-9)]
    finding = model_findings(replace(doubt(0.9, 0.9), misfits=misfit, **changes))[-1]
    assert finding.level == level
    assert "no straight line in 'age'" in finding.text
    assert words in finding.text


def test_the_gain_of_a_label_model_is_that_of_rows_it_has_not_seen():
    """Noise gains nothing, and copies of a row are held out with it."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(400, 3)), columns=["a", "b", "c"])
    frame["s"] = rng.random(400) < expit(frame["a"])
    table = Table.from_frame(pd.concat([frame, frame]), Roles("s"))
    found = LabelGain.of(table, table.encoded(table.encoding))
    assert abs(found.gain) < 0.02
    assert not found.clear
    alike = Table.from_frame(frame.assign(a=1.0, b=0.0, c=frame["s"] * 1.0), Roles("s"))
    assert LabelGain.of(alike, alike.encoded(alike.encoding)) is None


def test_a_list_has_the_claim_of_the_page_without_the_page(straight):
    analysis = straight.analysis
    page, alone = analysis.doubt.claim, list_claim(analysis.model, analysis.table, 50)
    assert (alone.low, alone.high) == pytest.approx((page.low, page.high), abs=1e-6)
    wide = list_claim(analysis.model, analysis.table, 400)
    assert wide.length == 400
    assert wide.expected < alone.expected


def test_whoever_has_audited_is_told_to_audit_more():
    unclear = Orientation("features", 1.0, "log-evidence", clear=False)
    assert "the class of 50 to 100 unlabelled rows" in orientation(unclear).text
    assert "the class of more unlabelled rows" in orientation(unclear, audited=True).text


def test_residuals_find_the_column_that_is_missed():
    frame = patients(0.0, n=1000).assign(empty=np.nan)
    table = Table.from_frame(frame, Roles("diagnosed"))
    even = np.full(1000, table.s.mean())
    found = worst_residuals(table, even)
    assert found.column == "age"
    assert found.p_value < 1e-6
    assert found.observed[-1] > found.predicted[-1] + 0.1


def test_labels_that_stray_both_ways_along_a_column_are_found():
    """A sum along the column is back at zero before it is far from it."""
    rng = np.random.default_rng(0)
    x = rng.random(4000)
    label = rng.random(4000) < 0.2 + 0.1 * np.sign(np.sin(20 * np.pi * x / 2))
    table = Table.from_frame(pd.DataFrame({"x": x, "s": label.astype(int)}), Roles("s"))
    assert worst_residuals(table, np.full(4000, 0.2)).p_value < 1e-6


@pytest.mark.parametrize(
    ("samples", "most"), [(40, 6), pytest.param(200, 18, marks=pytest.mark.slow)]
)
def test_residuals_of_a_right_model_hardly_ever_alarm(samples, most):
    """At 5% each, the chance that more alarm is below 1 in 170."""
    rng, alarms = np.random.default_rng(1), 0
    for _ in range(samples):
        frame = pd.DataFrame({"a": rng.normal(size=500), "b": rng.integers(0, 6, 500)})
        label = (rng.random(500) < expit(frame["a"] - 1)).astype(int)
        s_x = LogisticRegression(C=np.inf).fit(frame[["a"]], label).predict_proba(frame[["a"]])
        table = Table.from_frame(frame.assign(s=label), Roles("s"))
        alarms += worst_residuals(table, s_x[:, 1]).p_value <= 0.05
    assert alarms <= most
