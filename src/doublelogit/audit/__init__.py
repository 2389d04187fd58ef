"""Audits: which rows to look at, and what may be claimed afterwards.

    plan        rows with known chances, and what to expect of them
    estimate    prevalence and hidden positives, right whatever the model; calibration; misuse
    Audit       rows drawn and what was found; ``as_audit`` reads a file

The theory is on one page of the documentation, docs/audits.md.
"""

from doublelogit.audit.crossfit import joined
from doublelogit.audit.estimate import AuditEstimate, error_of, estimate, model_error
from doublelogit.audit.plan import Plan, plan
from doublelogit.audit.sheet import Audit, as_audit

__all__ = [
    "Audit",
    "AuditEstimate",
    "Plan",
    "as_audit",
    "error_of",
    "estimate",
    "joined",
    "model_error",
    "plan",
]
