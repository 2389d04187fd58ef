"""What an audit means, in findings: most important first."""

from doublelogit.audit.estimate import AuditEstimate
from doublelogit.audit.plan import Plan
from doublelogit.findings import Finding
from doublelogit.findings import audit as words


def conclusions(estimate: AuditEstimate) -> list[Finding]:
    """The findings of an audit."""
    if estimate.kind == "convenience":
        return [words.convenience(estimate.agreement.rows, estimate.bounds)]
    agreement = words.agreement(
        estimate.agreement.expected,
        estimate.agreement.found,
        estimate.agreement.p_value,
        _everywhere(estimate),
    )
    if estimate.prevalence is None or estimate.hidden is None:
        return [words.by_features(estimate.agreement.rows), agreement]
    return [
        *suspicions(estimate),
        words.prevalence(
            estimate.prevalence, estimate.hidden, estimate.agreement.found, estimate.agreement.rows
        ),
        *([words.by_group(estimate.groups)] if estimate.groups else []),
        agreement,
        *([] if estimate.listed is None else [words.precision(estimate.listed)]),
        *([words.blank(estimate.blank)] if estimate.blank else []),
        *([words.unsure(estimate.unsure)] if estimate.unsure else []),
        *([words.reviewers(*estimate.reviewer_error)] if any(estimate.reviewer_error) else []),
    ]


def suspicions(estimate: AuditEstimate) -> list[Finding]:
    """Findings that rows were not drawn as the audit says."""
    signs = estimate.signs
    if signs is None:
        return []
    return [
        *([words.all_positive(signs.answered)] if signs.all_positive else []),
        *([words.lost(signs.lost)] if signs.lost else []),
        *([words.unlike(signs.mean_drawn, signs.mean_all, signs.p_value)] if signs.unlike else []),
    ]


def _everywhere(estimate: AuditEstimate) -> str:
    """Whether there are more, or fewer, positives than expected in every band of scores."""
    gaps = [band["found"] - band["expected"] for band in estimate.calibration.bands]
    if len(gaps) < 2:
        return ""
    return "more" if min(gaps) > 0 else "fewer" if max(gaps) < 0 else ""


def expectations(plan: Plan, width: float | None = None) -> list[Finding]:
    """What a plan is expected to lead to, in words."""
    if plan.reached and plan.before is not None and plan.before.prevalence is not None:
        return [words.reached(plan.before.prevalence, width or 1.0)]
    each, more = plan.expected, plan.before is not None
    findings = [words.expected(each.rows, each.holds, each.nothing, each.worst, more=more)]
    of_list = plan.expected_of_list
    if of_list is not None:
        findings.append(words.expected_of_list(*vars(of_list).values()))
    if width is not None:
        holds, nothing = (plan.budget_for(width, truth) for truth in ("holds", "nothing"))
        findings.append(words.rows_for(holds, width, nothing, more=more))
    if plan.audit.cluster is not None:
        findings.append(words.clusters_alike())
    return findings
