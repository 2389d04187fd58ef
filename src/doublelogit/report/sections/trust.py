"""How far to trust the answer: other methods, the labels, the profile."""

from dataclasses import asdict
from typing import Any

import numpy as np

from doublelogit.common.thresholds import ASTRAY, FITS_UNITS, LARGE_SAMPLE
from doublelogit.findings import Finding
from doublelogit.findings import doubt as doubts
from doublelogit.inference.misfit import worst_misfit
from doublelogit.report import pictures
from doublelogit.report.analysis import Analysis
from doublelogit.report.doubt import CLAIM_LEVEL, Doubt
from doublelogit.report.pictures import BLUE, MUTED, Picture
from doublelogit.report.section import Checks, Numbers, Section, beside


def compute(analysis: Analysis) -> Numbers:
    """All opinions, the claim for the list, and the profile likelihood."""
    return {"doubt": _doubt(analysis.doubt), "profile": _profile(analysis)}


def _doubt(doubt: Doubt) -> dict[str, Any]:
    return {
        "claim": {"value": doubt.claim.expected, **asdict(doubt.claim), "level": CLAIM_LEVEL},
        "opinions": [doubt.page, *doubt.methods],
        "label_gain": doubt.label_gain,
        "misfits": [m for m in doubt.misfits if m.rejects],
        "residuals": doubt.residuals,
    }


def _profile(analysis: Analysis) -> dict[str, Any] | None:
    inference = analysis.inference
    if inference is None or (len(analysis.table) > LARGE_SAMPLE and not analysis.weak):
        return None
    profile = inference.profile
    if profile is None:
        return None
    regions = profile.fitting(FITS_UNITS)
    return {"prevalence": profile.prevalence, "drop": profile.drop, "regions": regions}


def findings(analysis: Analysis, _numbers: Numbers) -> list[Finding]:
    """Whether the labels fit the model, and other methods agree with it."""
    return [*model_findings(analysis.doubt), *method_findings(analysis.doubt)]


def checks(analysis: Analysis) -> Checks:
    """Whether the labels fit the model; other methods take too long for a check."""
    conclusions = model_findings(analysis.model_doubt)
    return {"Model": conclusions} if conclusions else {}


def model_findings(doubt: Doubt) -> list[Finding]:
    """What the labels say of the model: of its lines, its features and its calibration."""
    conclusions, gain = [], doubt.label_gain
    if gain is not None:
        conclusions.append(
            doubts.nonlinear(gain.gain, gain.error, clear=gain.clear, bends=doubt.bends)
        )
    worst, residuals = worst_misfit(doubt.misfits), doubt.residuals
    if worst is not None:
        question = (worst.question, worst.feature, worst.p_value)
        likelier = None if gain is None else gain.clear
        conclusions.append(doubts.misfit_noted(*question, likelier=likelier, bends=doubt.bends))
    if residuals is not None and residuals.p_value <= ASTRAY:
        conclusions.append(doubts.residuals(residuals.column, residuals.p_value, residuals.gap))
    return conclusions


def method_findings(doubt: Doubt) -> list[Finding]:
    """Whether methods and models agree on the list and on the prevalence."""
    claim, dissenting = doubt.claim, {o.name: o.prevalence for o in doubt.dissenters}
    vague = [doubts.vague_claim(claim.length, claim.low, claim.high)] if claim.vague else []
    return [*vague, *([doubts.dissent(dissenting)] if dissenting else [])]


def _residuals(ax: Any, summary: dict[str, Any]) -> bool:
    bins = summary["doubt"]["residuals"]
    if not bins:
        return False
    ax.plot(bins["value"], bins["predicted"], color=MUTED, lw=1.6, label="predicted")
    ax.plot(bins["value"], bins["observed"], "o", color=BLUE, ms=5, label="labelled share")
    pictures.percents(ax.yaxis)
    ax.grid(lw=0.6)
    pictures.legend_above(ax)
    ax.set(xlabel=pictures.short_label(bins["column"]), ylabel="share", ylim=(0, None))
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
    pictures.truth(ax, summary)
    pictures.percents(ax.xaxis)
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
