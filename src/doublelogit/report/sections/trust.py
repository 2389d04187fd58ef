"""How far to trust the answer: other models, other methods, the labels, the profile."""

from dataclasses import asdict
from typing import Any

import numpy as np

from doublelogit.common.thresholds import ASTRAY, CLEARLY_BETTER, FITS_UNITS, LARGE_SAMPLE
from doublelogit.findings import Finding
from doublelogit.findings import doubt as doubted
from doublelogit.report.analysis import Analysis
from doublelogit.report.doubt import CLAIM_LEVEL, Doubt
from doublelogit.report.pictures import (
    BLUE,
    MUTED,
    Picture,
    legend_above,
    percents,
    short_label,
    truth,
)
from doublelogit.report.section import Checks, Numbers, Section, beside


def compute(analysis: Analysis) -> Numbers:
    """All opinions, the claim for the list, and the profile likelihood."""
    return {"doubt": _doubt(analysis.doubt), "profile": _profile(analysis)}


def _doubt(doubt: Doubt) -> dict[str, Any]:
    """Opinions as the page shows them: methods, then flexible classes with their gain."""
    better = {f.opinion.name: {"gain": f.gain, "error": f.error} for f in doubt.flexible}
    opinions = [doubt.own, *doubt.methods, *(f.opinion for f in doubt.flexible)]
    nothing = {"gain": None, "error": None}
    claim = doubt.claim
    return {
        "claim": {"value": claim.expected, **asdict(claim), "level": CLAIM_LEVEL},
        "opinions": [asdict(o) | better.get(o.name, nothing) for o in opinions],
        "misfits": [m for m in doubt.misfits if m.rejects],
        "residuals": doubt.residuals,
    }


def _profile(analysis: Analysis) -> dict[str, Any] | None:
    inference = analysis.inference
    if inference is None or (len(analysis.table) > LARGE_SAMPLE and not analysis.weak):
        return None
    walked = inference.profile
    if walked is None:
        return None
    regions = walked.fitting(FITS_UNITS)
    return {"prevalence": walked.prevalence, "drop": walked.drop, "regions": regions}


def findings(analysis: Analysis, _numbers: Numbers) -> list[Finding]:
    """Whether the answers survive other models and methods."""
    return [*model_findings(analysis.doubt), *method_findings(analysis.doubt)]


def checks(analysis: Analysis) -> Checks:
    """Whether the answers survive other models; other methods take too long for a check."""
    found = model_findings(analysis.model_doubt)
    return {"Model": found} if found else {}


def model_findings(doubt: Doubt) -> list[Finding]:
    """Whether the answers survive a flexible class, and what the labels say of the model."""
    found, length = [], len(doubt.first.rows)
    shown = doubt.broken or doubt.bent
    if shown is not None:
        said = shown.opinion
        numbers = (said.prevalence, round(said.overlap * length), length, shown.gain, shown.error)
        if doubt.broken is not None:
            found.append(doubted.straight_fails(said.name, *numbers))
        else:
            differs = doubt.differs(said)
            found.append(doubted.answers_survive(said.name, *numbers, differs=differs))
    if doubt.curves is not None and doubt.drivers:
        kept = [c.term for c in doubt.drivers if c.term not in doubt.turned]
        better = doubt.curves.better > CLEARLY_BETTER
        found.append(doubted.drivers_survive(kept, doubt.turned, better=better))
    worst = doubt.worst_misfit
    if worst is not None:
        asked = (worst.question, worst.feature, worst.p_value)
        found.append(doubted.misfit_noted(*asked, survives=doubt.survives))
    astray = doubt.residuals
    if astray is not None and astray.p_value <= ASTRAY:
        found.append(doubted.residuals(astray.column, astray.p_value, astray.gap))
    return found


def method_findings(doubt: Doubt) -> list[Finding]:
    """Whether methods and models agree on the list and on the prevalence."""
    found, claim = [], doubt.claim
    if claim.vague:
        found.append(doubted.vague_claim(claim.length, claim.low, claim.high))
    if doubt.dissenters:
        names, shares = zip(*((o.name, o.prevalence) for o in doubt.dissenters), strict=True)
        found.append(doubted.dissent(list(names), list(shares)))
    return found


def _residuals(ax: Any, summary: dict[str, Any]) -> bool:
    bins = summary["doubt"]["residuals"]
    if not bins:
        return False
    ax.plot(bins["value"], bins["predicted"], color=MUTED, lw=1.6, label="predicted")
    ax.plot(bins["value"], bins["observed"], "o", color=BLUE, ms=5, label="labelled share")
    percents(ax.yaxis)
    ax.grid(lw=0.6)
    legend_above(ax)
    ax.set(xlabel=short_label(bins["column"]), ylabel="share", ylim=(0, None))
    return True


def _walked(ax: Any, summary: dict[str, Any]) -> bool:
    profile = summary["profile"]
    if not profile:
        return False
    drop = -np.array(profile["drop"])
    for low, high in profile["regions"]:
        ax.axvspan(low, high, color=BLUE, alpha=0.15, lw=0)
    ax.plot(profile["prevalence"], drop, "o-", ms=3, lw=1.4, color=BLUE)
    ax.axhline(-FITS_UNITS, color=MUTED, lw=1, ls="--")
    truth(ax, summary)
    percents(ax.xaxis)
    ax.set(xlabel="share of positives", ylabel="log-likelihood, best = 0", ylim=(-5, 0.4))
    return True


SECTION = Section(
    "trust",
    "How far to trust it",
    compute,
    findings,
    checks,
    pictures={"residuals": Picture(_residuals), "profile": Picture(_walked)},
    fragment=beside(__file__),
    place=3,
)
