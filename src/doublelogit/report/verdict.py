"""What an analysis means: its findings in order, what is assumed, what to do next.

Where two answers fit, both are given; where labels speak against labelling at random, nothing that
assumes it is recommended.
"""

from typing import Any

import numpy as np

from doublelogit import findings
from doublelogit.audit.conclusions import conclusions, suspicions
from doublelogit.common.thresholds import ASTRAY, CLEARLY_BETTER, MANY_MISSING
from doublelogit.common.wording import share_words
from doublelogit.findings import Finding
from doublelogit.findings import answer as answers
from doublelogit.findings import doubt as doubted
from doublelogit.findings import fit as fits
from doublelogit.findings import table as tables
from doublelogit.registry import method_of
from doublelogit.report.analysis import Analysis
from doublelogit.report.audited import list_finding
from doublelogit.report.doubt import Doubt
from doublelogit.table_models.table_doubts import doubts, few_labels, leaks, shaped
from doublelogit.tables.columns import Ignored


def verdict(analysis: Analysis, calibration_gap: float) -> list[Finding]:
    """The findings, most important first."""
    rare = fits.rare_labels(analysis.rare_share)
    fit = [found for found in analysis.model.classifier.findings_ if found.topic != "orientation"]
    return [
        *doubts(analysis.table, analysis.model.encoding),
        *_audit(analysis),
        _prevalence(analysis),
        _orientation(analysis),
        *model_findings(analysis.doubt),
        *method_findings(analysis.doubt),
        _bias(analysis),
        *([rare] if rare.level != findings.FINE else []),
        answers.calibration(calibration_gap),
        *fit,
    ]


def checks(analysis: Analysis) -> dict[str, list[Finding]]:
    """The findings of ``check``, by the part that they belong to."""
    determined = answers.determined(
        analysis.main,
        converged=analysis.inference is not None,
        weak=analysis.weak,
        clear=analysis.clear,
    )
    orientation = _orientation(analysis)
    return {
        "Data": _data(analysis),
        "Labels": _labels(analysis),
        "Labelling at random": [_bias(analysis)],
        "Identifiability": [determined, orientation, _prevalence(analysis)],
        **({"Model": found} if (found := model_findings(analysis.model_doubt)) else {}),
        **({} if analysis.audit is None else {"Audit": _audit(analysis)}),
    }


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


def _prevalence(analysis: Analysis) -> Finding:
    main, labelled = analysis.main, analysis.naive.value
    if not analysis.clear and analysis.swapped is not None:
        return answers.two_answers(main, analysis.swapped, labelled)
    method = analysis.model.method
    has_intervals = method_of(analysis.model.classifier).intervals is not None
    without = (
        "There is no interval: the fit has not converged."
        if has_intervals
        else f"The method {method} has no interval for it."
    )
    return answers.prevalence(main, labelled, analysis.hidden, weak=analysis.weak, without=without)


def _audit(analysis: Analysis) -> list[Finding]:
    """What an audit says of the prevalence, the model and its list."""
    if analysis.audit is None:
        return []
    listed = list_finding(analysis)
    return [*conclusions(analysis.audit), *([] if listed is None else [listed])]


def _orientation(analysis: Analysis) -> Finding:
    return fits.orientation(analysis.orientation, audited=_looked_at(analysis))


def _looked_at(analysis: Analysis) -> bool:
    """Whether the class of some rows was found out."""
    audited = analysis.table.audited
    return audited is not None and bool(np.isfinite(audited).any())


def _bias(analysis: Analysis) -> Finding:
    return answers.bias(analysis.test, analysis.scar, allowed=_allows_bias(analysis))


def _allows_bias(analysis: Analysis) -> bool:
    """Whether the model lets labelling depend on features."""
    named = analysis.table.roles.propensity_features
    return named != () and not method_of(analysis.model.classifier).assumes_scar


def _data(analysis: Analysis) -> list[Finding]:
    table, encoding = analysis.table, analysis.model.encoding
    found = [tables.size(len(table), len(encoding.used), analysis.X.shape[1])]
    found += [tables.ignored(c.name, c.reason) for c in encoding.columns if isinstance(c, Ignored)]
    shares = table.features.isna().mean()
    found += [tables.missing(str(n), s) for n, s in shares.items() if s > MANY_MISSING]
    return [*found, *shaped(table, encoding), *leaks(table, encoding)]


def _labels(analysis: Analysis) -> list[Finding]:
    table = analysis.table
    labelled, share, roles = int(table.s.sum()), float(table.s.mean()), table.roles
    found = [tables.labels(labelled, share, roles.label, str(roles.positive))]
    found += few_labels(labelled, analysis.model.encoding)
    return found + [tables.note(text) for text in table.notes]


def assumptions(analysis: Analysis) -> list[str]:
    """What must hold for the numbers to mean what they say."""
    named = analysis.table.roles.propensity_features

    def columns(names: Any) -> str:
        return ", ".join(names) if names else "nothing (labelling at random)"

    return [
        "Labelled and unlabelled rows are one sample from one population.",
        "A labelled row is surely positive."
        if analysis.model.model.false_label_rate == 0
        else "Negatives may be labelled, at the rate given.",
        "The probability of the class, and the probability that a positive is "
        "labelled, are each logistic in the features.",
        f"Labelling may depend on {'all features' if named is None else columns(named)}.",
        *_given(analysis),
        "Rows are independent of each other.",
        *_of_audits(analysis),
    ]


def _of_audits(analysis: Analysis) -> list[str]:
    if analysis.table.audited is None:
        return []
    return [
        "Audited rows are missing at random: which rows were looked at depends on features, labels "
        "and chance alone, not on the class itself. The audit's own number needs no more than "
        "the chances."
    ]


def _given(analysis: Analysis) -> list[str]:
    """What was given as known from elsewhere."""
    names = {"prevalence": "The share of positives", "label_frequency": "The label frequency"}
    given = analysis.model.known
    return [
        f"{what} is known from elsewhere: {share_words(given[name])}."
        for name, what in names.items()
        if name in given
    ]


def recommendation(analysis: Analysis) -> str:
    """What to do next."""
    table = analysis.table
    leaking = [found.numbers["column"] for found in leaks(table, analysis.model.encoding)]
    if leaking:
        return (
            f"Leave out {', '.join(map(repr, leaking))} (`ignore`) and look again: while the label "
            "is among the features, nothing else on this page means much."
        )
    advice = _advice(analysis)
    if advice:
        return advice
    audited = _looked_at(analysis)
    if not analysis.clear:
        named = table.roles.propensity_features is not None
        return "Settle which model is the class. " + fits.settle(named=named, audited=audited)
    first = np.sort(analysis.probabilities.hidden[table.unlabelled])[::-1][:50]
    if first.sum() < 0.5:
        text = "By this model hardly any positive is hidden, so a list would find none."
    elif caution(analysis):
        text = (
            "Do not work off the list yet. Find out the class of some of its rows and of some "
            "drawn at random (doublelogit audit), and look again."
        )
    else:
        claim = analysis.doubt.claim
        text = (
            f"Check the rows of the list from the top: of the first {len(first)} about "
            f"{first.sum():.0f} are expected to be positive if the model holds, and "
            f"{claim.length * claim.low:.0f} to {claim.length * claim.high:.0f} by what other "
            "methods and models say."
        )
    if analysis.weak:
        more = "more rows" if audited else "some rows"
        text += f" Audit {more} drawn at random as well: they pin down the prevalence."
    return text


def caution(analysis: Analysis) -> str:
    """Why the list should not be worked off yet; nothing where nothing speaks against it."""
    if not analysis.clear:
        return "it is open which of the two models is the class"
    if analysis.doubt.broken is not None:
        return "a flexible class, by which labels are likelier, gives another answer"
    return "methods and models disagree on it" if analysis.doubt.claim.vague else ""


def _advice(analysis: Analysis) -> str:
    """What an audit asks for before anything else; nothing if it asks for nothing."""
    audit, listed = analysis.audit, list_finding(analysis)
    if audit is None:
        return ""
    if suspicions(audit):
        return (
            "Settle how the rows of the audit were chosen. Draw new ones by doublelogit audit if "
            "they were not drawn at random."
        )
    off = listed is not None and listed.level != findings.FINE
    if audit.prevalence is None or (audit.agrees and not off):
        return ""
    return (
        "Use the audit's number for the share of positives. "
        + ("The list is not what it claims to be. " if off else "")
        + "Before a list is worked through, find out why the model is off: name the columns that "
        "labelling depends on (`propensity_features`), try another `method` or features, or look "
        "at more rows (doublelogit audit)."
    )
