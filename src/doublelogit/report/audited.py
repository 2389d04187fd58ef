"""What an audit says, as numbers of a report: beside the model, by bands of scores, on the list."""

from dataclasses import asdict, replace
from typing import Any

import numpy as np

from doublelogit.findings import Finding
from doublelogit.findings import audit as words
from doublelogit.report.analysis import Analysis
from doublelogit.report.answers import AUDITED, Answer

LIST = 50  # rows of the list whose precision is put right


def audit_answer(analysis: Analysis) -> Answer | None:
    """The prevalence by the audit, whatever the model; None if no chances are known."""
    found = analysis.audit
    if found is None or found.prevalence is None:
        return None
    return Answer.from_estimate(AUDITED, found.prevalence)


def audit_numbers(analysis: Analysis) -> dict[str, Any] | None:
    """All numbers of an audit; None where there is none."""
    found = analysis.audit
    if found is None:
        return None
    answer, listed = audit_answer(analysis), list_finding(analysis)
    in_fit = "the model, which has learned from the audited rows"
    alone = "the model, without the audited rows"
    known = analysis.table.audited is not None
    model = replace(analysis.main, assumption=in_fit if known else alone)
    return {
        "kind": found.kind,
        **asdict(found.agreement),
        "blank": found.blank,
        "unsure": found.unsure,
        "rounds": found.rounds,
        "lambda": found.lam,
        "answers": [asdict(a) for a in (answer, model) if a is not None],
        "hidden": None if found.hidden is None else asdict(found.hidden),
        "groups": [{"group": name, **asdict(e)} for name, e in found.groups.items()],
        "bands": list(found.calibration.bands),
        "listed": None if listed is None else listed.to_dict(),
    }


def list_finding(analysis: Analysis) -> Finding | None:
    """The first rows of the list: what the model claims, and that put right by the audit."""
    found = analysis.audit
    hidden = analysis.probabilities.hidden[analysis.table.unlabelled]
    first = np.sort(hidden)[::-1][:LIST]
    if found is None or len(first) == 0 or found.kind == "convenience":
        return None
    return words.listed(len(first), float(first.sum()), found.calibration.mean(first))
