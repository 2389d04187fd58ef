"""How far a page doubts itself: other models, other methods, what it claims of its list."""

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
from doublelogit.report.drivers import Coefficient
from doublelogit.report.opinions import SMOOTH_CURVES, Opinion, first_rows
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
    assert "With a flexible class" in model.text
    assert "by what other methods and models say" in straight.to_dict()["recommendation"]
    assert "Do not work off this list" not in straight.to_html()


def test_a_class_that_bends_fails_the_check(bent):
    """0.1 passed every check on such tables."""
    assert any("the straight-line model does not hold" in f.text for f in bent.findings)
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
    assert {"joint", "averaged", "tm", "em", "lbe", SMOOTH_CURVES} <= set(opinions)
    assert "naive" not in opinions
    assert opinions["joint"]["overlap"] == 1.0
    assert opinions["em"]["prevalence"] == pytest.approx(opinions["joint"]["prevalence"], abs=0.01)


def doubt(*precisions, overlap=0.9, gain=0.0, prevalence=0.3):
    """Opinions on a list of fifty rows: the page's, those of cautious methods, that of curves."""
    frame = patients(0.0, n=200)
    table = Table.from_frame(frame, Roles("diagnosed"))
    own, *others, curves = precisions
    names = ("averaged", "lbe")
    return Doubt(
        main=Answer("", 0.3, 0.25, 0.35),
        page=Opinion("joint", 0.3, 1.0, own),
        first=first_rows(table, np.arange(200.0)),
        methods=[
            Opinion(n, 0.3, 0.9, p, counts=True, contradicts=n == "averaged")
            for n, p in zip(names, others, strict=False)
        ],
        flexible=[
            Opinion(
                SMOOTH_CURVES,
                prevalence,
                overlap,
                curves,
                counts=True,
                contradicts=True,
                gain=gain,
                error=0.001,
            )
        ],
        misfits=[],
        residuals=None,
    )


def test_a_claim_shrinks_where_methods_disagree():
    """0.1 claimed 98% where methods disagreed completely."""
    agree, apart = doubt(0.9, 0.88, 0.85, 0.9).claim, doubt(0.98, 0.4, 0.1, 0.02).claim
    assert agree.high - agree.low < 0.25
    assert agree.low < 0.88 < agree.high
    assert apart.low < 0.22 < apart.high
    assert apart.vague
    assert not agree.vague
    assert method_findings(doubt(0.98, 0.4, 0.1, 0.02))[0].level == "attention"


def test_a_flexible_class_breaks_an_answer_only_if_it_is_better_and_another_one():
    assert doubt(0.9, 0.9, gain=0.01).refuting is None
    assert doubt(0.9, 0.9, overlap=0.1).refuting is None
    assert doubt(0.9, 0.9, overlap=0.1, gain=0.01).refuting is not None
    assert doubt(0.9, 0.9, prevalence=0.5, gain=0.01).refuting is not None
    levels = [model_findings(d)[0].level for d in (doubt(0.9, 0.9), doubt(0.9, 0.9, overlap=0.1))]
    assert levels == ["fine", "note"]


def test_an_answer_beyond_the_interval_is_a_dissent():
    assert not method_findings(doubt(0.9, 0.9, prevalence=0.38))
    found = method_findings(doubt(0.9, 0.9, prevalence=0.5))
    assert "Beyond the interval: curves of each number 50.0%" in found[0].text


def test_misfit_is_a_note_where_answers_survive_and_attention_where_nothing_was_tried():
    misfit = [Misfit("shape", "age", 1e-9)]
    survives, untried = (
        replace(doubt(0.9, 0.9), misfits=misfit, **d) for d in ({}, {"flexible": []})
    )
    assert model_findings(survives)[1].level == "note"
    assert model_findings(untried)[0].level == "attention"


def test_a_page_does_not_say_that_answers_differ_and_that_they_survive():
    apart = replace(doubt(0.9, 0.9, overlap=0.24), misfits=[Misfit("shape", "age", 2e-6)])
    flexible, misfit = model_findings(apart)
    assert "Labels alone do not tell which" in flexible.text
    assert misfit.level == "attention"
    assert "Its intervals hold only if the model does" in misfit.text
    assert doubt(0.9, 0.9).survives
    assert not doubt(0.9, 0.9, overlap=0.1, gain=0.01).survives


def test_what_drives_labelling_survives_a_class_that_bends(straight):
    drivers = next(f for f in straight.findings if f.topic == "drivers")
    assert drivers.level == "fine"
    assert "'distance' keeps its direction" in drivers.text


def test_drivers_that_turn_round_are_said_and_weigh_by_which_model_is_better():
    settled = [Coefficient("propensity", "distance", -0.8, -1.0, -0.6)]
    levels = {}
    for gain in (0.0, 0.01):
        turning = doubt(0.9, 0.9, gain=gain)
        curves = replace(turning.flexible[0], labelling={"distance": 0.5, "age": 1.0})
        found = model_findings(replace(turning, flexible=[curves], drivers=settled))
        levels[gain] = next(f for f in found if f.topic == "drivers")
    assert "'distance' turns round" in levels[0.0].text
    assert [f.level for f in levels.values()] == ["note", "attention"]
    assert settled[0].drives_labelling
    assert not Coefficient("propensity", "age", 0.2, -0.1, 0.5).drives_labelling


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
