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

NONE_HIDDEN = 0.5  # expected positives among the first rows below which a list would find none


def compute(analysis: Analysis) -> Numbers:
    """Sentences of the verdict beside the findings, and the truth where it is there."""
    caution, recommendation = decision(analysis)
    return {
        "recommendation": recommendation,
        "caution": caution,
        "assumptions": assumptions(analysis),
        "truth": None if analysis.truth is None else beside_truth(analysis, *analysis.truth),
    }


def decision(analysis: Analysis) -> tuple[str, str]:
    """Why the list should not be worked off yet, empty exactly where it may be; and what to do."""
    audit, listed = analysis.audit, analysis.audited_list
    list_off = listed is not None and listed.level != FINE
    if leaking := [finding.numbers["column"] for finding in analysis.doubts.leaks]:
        return advice.LEAKING, advice.leave_out(leaking)
    if audit is not None and suspicions(audit):
        return advice.AUDIT_SUSPECT, advice.DRAW_AGAIN
    if audit is not None and audit.prevalence is not None and (list_off or not audit.agrees):
        return advice.AUDIT_OBJECTS, advice.use_audit(list_off=list_off)
    if not analysis.clear:
        named = analysis.table.roles.propensity_features is not None
        settle = fits.settle(named=named, audited=analysis.audited)
        return advice.MODELS_UNCLEAR, advice.SETTLE + settle
    caution, recommendation = _on_the_list(analysis)
    more = advice.pin_down(audited=analysis.audited) if analysis.weak else ""
    return caution, recommendation + more


def _on_the_list(analysis: Analysis) -> tuple[str, str]:
    """Caution and recommendation where class and labelling are told apart."""
    chances, few_labels = analysis.first_chances, worst(analysis.doubts.serious) == PROBLEM
    if chances.sum() < NONE_HIDDEN:
        caution = advice.TOO_FEW_LABELS if few_labels else advice.NOTHING_TO_FIND
        return caution, advice.HARDLY_HIDDEN
    if few_labels:
        return advice.TOO_FEW_LABELS, advice.FIND_OUT
    claim = analysis.doubt.claim
    if analysis.doubt.refuted:
        return advice.NOT_LINES, advice.FIND_OUT
    if claim.vague:
        return advice.METHODS_DISAGREE, advice.FIND_OUT
    expected = float(chances.sum())
    return "", advice.work_off(len(chances), expected, claim.length, claim.low, claim.high)


def assumptions(analysis: Analysis) -> list[str]:
    """What must hold for the numbers to mean what they say."""
    model, table = analysis.model, analysis.table
    named = table.roles.propensity_features
    return [
        advice.ONE_SAMPLE,
        advice.labels_right(sure=model.model.false_label_rate == 0),
        advice.ANY_SHAPE if model.bends else advice.LOGISTIC,
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
