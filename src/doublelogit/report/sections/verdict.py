"""The verdict: what is assumed, what to do next, and whether the list may be worked off."""

from typing import Any

import numpy as np

from doublelogit._types import Floats
from doublelogit.audit.conclusions import suspicions
from doublelogit.common.wording import between, percent
from doublelogit.findings import FINE, PROBLEM, advice, worst
from doublelogit.findings import fit as fits
from doublelogit.report.analysis import Analysis
from doublelogit.report.section import Numbers, Section, beside

LIST = 50  # rows of the list that the advice is about
NONE_HIDDEN = 0.5  # expected positives among them below which a list would find none


def compute(analysis: Analysis) -> Numbers:
    """Sentences of the verdict beside the findings, and the truth where it is there."""
    truth = analysis.shown.truth
    return {
        "recommendation": recommendation(analysis),
        "caution": caution(analysis),
        "assumptions": assumptions(analysis),
        "truth": None if truth is None else beside_truth(analysis, *truth),
    }


def caution(analysis: Analysis) -> str:
    """Why the list should not be worked off yet; empty exactly where it may be."""
    if _leaking(analysis):
        return advice.LEAKING
    if analysis.audit is not None and suspicions(analysis.audit):
        return advice.AUDIT_SUSPECT
    if _audit_objects(analysis):
        return advice.AUDIT_OBJECTS
    if not analysis.clear:
        return advice.MODELS_UNCLEAR
    if worst(analysis.doubts.serious) == PROBLEM:
        return advice.FEW_LABELS
    if _expected(analysis) < NONE_HIDDEN:
        return advice.NOTHING_TO_FIND
    if analysis.doubt.broken is not None:
        return advice.ANOTHER_ANSWER
    return advice.METHODS_DISAGREE if analysis.doubt.claim.vague else ""


def recommendation(analysis: Analysis) -> str:
    """What to do next."""
    if leaking := _leaking(analysis):
        return advice.leave_out(leaking)
    if analysis.audit is not None and suspicions(analysis.audit):
        return advice.DRAW_AGAIN
    if _audit_objects(analysis):
        return advice.use_audit(list_off=_list_off(analysis))
    if not analysis.clear:
        named = analysis.table.roles.propensity_features is not None
        return advice.SETTLE + fits.settle(named=named, audited=analysis.audited)
    expected = _expected(analysis)
    if expected < NONE_HIDDEN:
        text = advice.HARDLY_HIDDEN
    elif caution(analysis):
        text = advice.FIND_OUT
    else:
        claim, listed = analysis.doubt.claim, len(_first(analysis))
        text = advice.work_off(listed, expected, claim.length, claim.low, claim.high)
    return text + (advice.pin_down(audited=analysis.audited) if analysis.weak else "")


def _leaking(analysis: Analysis) -> list[str]:
    """Columns that know the label."""
    return [finding.numbers["column"] for finding in analysis.doubts.leaks]


def _audit_objects(analysis: Analysis) -> bool:
    """Whether the audit contradicts the model or its list."""
    audit = analysis.audit
    if audit is None or audit.prevalence is None:
        return False
    return not audit.agrees or _list_off(analysis)


def _list_off(analysis: Analysis) -> bool:
    return analysis.audited_list is not None and analysis.audited_list.level != FINE


def _first(analysis: Analysis) -> Floats:
    """Probabilities of the first rows of the list."""
    hidden = analysis.probabilities.hidden[analysis.table.unlabelled]
    return np.sort(hidden)[::-1][:LIST]


def _expected(analysis: Analysis) -> float:
    return float(_first(analysis).sum())


def assumptions(analysis: Analysis) -> list[str]:
    """What must hold for the numbers to mean what they say."""
    model, table = analysis.model, analysis.table
    named = table.roles.propensity_features
    return [
        advice.ONE_SAMPLE,
        advice.labels_right(sure=model.model.false_label_rate == 0),
        advice.LOGISTIC,
        advice.labelling_depends(named),
        *advice.from_elsewhere(model.known),
        advice.INDEPENDENT,
        *([] if table.audited is None else [advice.AUDITED_AT_RANDOM]),
    ]


def beside_truth(analysis: Analysis, y: Floats, e_x: Floats) -> dict[str, Any]:
    """Prevalence, hidden positives, propensities and the list, true and estimated."""
    rows, s, main = analysis.probabilities, analysis.table.s, analysis.main
    hidden = (y == 1) & (s == 0)
    order = np.argsort(-np.where(s == 0, rows.hidden, -1.0), kind="stable")[:100]
    share = percent(float(np.mean(y)))
    lines = [
        ("share of positives", share, f"{percent(main.value)} ({between(main)})"),
        ("  if unlabelled were negative", share, percent(float(s.mean()))),
        ("  if labelling were at random", share, percent(analysis.scar.value)),
        (
            "hidden positives",
            f"{int(hidden.sum()):,}",
            f"{float((rows.hidden * (s == 0)).sum()):,.0f}",
        ),
        (
            "probability of a label, positives",
            percent(float(e_x[y == 1].mean())),
            percent(float(np.average(rows.propensity, weights=rows.positive))),
        ),
        (
            "positives in the first 100",
            str(int(hidden[order].sum())),
            f"{float(rows.hidden[order].sum()):.0f}",
        ),
    ]
    return {
        "prevalence": float(np.mean(y)),
        "hidden": int(hidden.sum()),
        "lines": [{"what": a, "truth": b, "estimate": c} for a, b, c in lines],
    }


SECTION = Section("verdict", "Verdict", compute, fragment=beside(__file__))
