"""An audit's numbers: beside the model, by bands of scores, on the list."""

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

from doublelogit.audit.conclusions import conclusions
from doublelogit.findings import Finding
from doublelogit.report.analysis import Analysis
from doublelogit.report.section import Checks, Numbers, Section, beside

IN_FIT = "the model, which has learned from the audited rows"
ALONE = "the model, without the audited rows"


def compute(analysis: Analysis) -> Numbers:
    """The audit's numbers; None where there is no audit."""
    audit = analysis.audit
    if audit is None:
        return {"audit": None}
    assumption = ALONE if analysis.table.audited is None else IN_FIT
    model = replace(analysis.main, assumption=assumption)
    numbers = {
        "kind": audit.kind,
        **asdict(audit.agreement),
        "blank": audit.blank,
        "unsure": audit.unsure,
        "rounds": audit.rounds,
        "lambda": audit.lam,
        "answers": [answer for answer in (analysis.audit_answer, model) if answer is not None],
        "hidden": audit.hidden,
        "groups": [{"group": name, **asdict(share)} for name, share in audit.groups.items()],
        "bands": list(audit.calibration.bands),
        "listed": analysis.audited_list,
    }
    return {"audit": numbers}


def findings(analysis: Analysis, _numbers: Numbers) -> list[Finding]:
    """The audit's view of the prevalence, the model and its list."""
    if analysis.audit is None:
        return []
    listed = analysis.audited_list
    return [*conclusions(analysis.audit), *([] if listed is None else [listed])]


def checks(analysis: Analysis) -> Checks:
    """The findings, where there is an audit."""
    return {} if analysis.audit is None else {"Audit": findings(analysis, {})}


def _shown(summary: Mapping[str, Any]) -> bool:
    return bool(summary["audit"])


SECTION = Section(
    "audit",
    "What the audit says",
    compute,
    findings,
    checks,
    fragment=beside(__file__),
    shown=_shown,
    link="Audit",
    place=1,
)
