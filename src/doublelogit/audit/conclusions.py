"""What an audit means, in findings: most important first."""

from doublelogit.audit.estimate import AuditEstimate
from doublelogit.audit.plan import Plan
from doublelogit.findings import Finding
from doublelogit.findings import audit as words


def conclusions(found: AuditEstimate) -> list[Finding]:
    """The findings of an audit."""
    if found.kind == "convenience":
        return [words.convenience(found.agreement.rows, found.bounds)]
    agreement = words.agreement(
        found.agreement.expected, found.agreement.found, found.agreement.p_value, _everywhere(found)
    )
    if found.prevalence is None or found.hidden is None:
        return [words.by_features(found.agreement.rows), agreement]
    return [
        *suspicions(found),
        words.prevalence(
            found.prevalence, found.hidden, found.agreement.found, found.agreement.rows
        ),
        *([words.by_group(found.groups)] if found.groups else []),
        agreement,
        *([] if found.listed is None else [words.precision(found.listed)]),
        *([words.blank(found.blank)] if found.blank else []),
        *([words.unsure(found.unsure)] if found.unsure else []),
        *([words.reviewers(*found.reviewer_error)] if any(found.reviewer_error) else []),
    ]


def suspicions(found: AuditEstimate) -> list[Finding]:
    """Findings that rows were not drawn as the audit says."""
    signs = found.signs
    if signs is None:
        return []
    return [
        *([words.all_positive(signs.answered)] if signs.all_positive else []),
        *([words.lost(signs.lost)] if signs.lost else []),
        *([words.unlike(signs.mean_drawn, signs.mean_all, signs.p_value)] if signs.unlike else []),
    ]


def _everywhere(found: AuditEstimate) -> str:
    """Whether there are more, or fewer, positives than expected in every band of scores."""
    gaps = [band["found"] - band["expected"] for band in found.calibration.bands]
    if len(gaps) < 2:
        return ""
    return "more" if min(gaps) > 0 else "fewer" if max(gaps) < 0 else ""


def expectations(plan: Plan, width: float | None = None) -> list[Finding]:
    """What a plan is expected to lead to, in words."""
    if plan.reached and plan.before is not None and plan.before.prevalence is not None:
        return [words.reached(plan.before.prevalence, width or 1.0)]
    each, more = plan.expected, plan.before is not None
    found = [words.expected(each.rows, each.holds, each.nothing, each.worst, more=more)]
    of_list = plan.expected_of_list
    if of_list is not None:
        found.append(words.expected_of_list(*vars(of_list).values()))
    if width is not None:
        holds, nothing = (plan.budget_for(width, truth) for truth in ("holds", "nothing"))
        found.append(words.turned_round(holds, width, nothing, more=more))
    if plan.audit.cluster is not None:
        found.append(words.clusters_alike())
    return found
