"""What an analysis means, in sentences that someone may act on.

Every sentence has a level: fine, attention, or problem. Where two answers fit, both are given;
where labels speak against labelling at random, nothing that assumes it is recommended.
"""

from typing import Any, NamedTuple

import numpy as np

from doublelogit.report.analysis import Analysis, Answer

WIDE = 0.2  # an interval of the prevalence that is no answer
GAP = 0.02  # mean distance of s(x) from the share of labels that needs attention
RARE = 0.05  # propensity below which the data say next to nothing
MANY = 0.1  # of the expected positives


class Sentence(NamedTuple):
    """A finding and how much it matters: fine, attention or problem."""

    level: str
    text: str


def verdict(analysis: Analysis, calibration_gap: float) -> list[Sentence]:
    """The findings, most important first."""
    found = [
        _prevalence(analysis),
        _orientation(analysis),
        _bias(analysis),
        _rare(analysis),
        _calibration(calibration_gap),
        *(Sentence("attention", _first_sentence(text)) for text in _other_warnings(analysis)),
    ]
    return [sentence for sentence in found if sentence is not None]


def percent(share: float) -> str:
    """A share for people."""
    return f"{share:.1%}"


def interval(answer: Answer) -> str:
    """Its interval in words, or that there is none."""
    if answer.low is None or answer.high is None:
        return "no interval"
    return f"95% interval {percent(answer.low)} to {percent(answer.high)}"


def _prevalence(analysis: Analysis) -> Sentence:
    main, other = analysis.main, analysis.swapped
    labelled = percent(analysis.naive.value)
    if not clear(analysis) and other is not None:
        return Sentence(
            "problem",
            f"Two answers fit these labels nearly equally well: {percent(main.value)} of the rows "
            f"are positive ({interval(main)}), or {percent(other.value)} ({interval(other)}). "
            f"Labelled are {labelled}. Do not use either number before the next point is settled.",
        )
    hidden = float(analysis.weight @ (analysis.chances.hidden * (analysis.table.s == 0)))
    text = (
        f"About {percent(main.value)} of the rows are positive ({interval(main)}), while "
        f"{labelled} are labelled: some {hidden:,.0f} positives are hidden."
    )
    if analysis.weak or (main.low is not None and main.high - main.low > WIDE):  # type: ignore[operator]
        return Sentence(
            "attention",
            f"{text} The labels hardly determine this number: report the interval, not the "
            "estimate.",
        )
    if main.low is None:
        return Sentence(
            "attention", f"{text} The method {analysis.model.method} has no interval for it."
        )
    return Sentence("fine", text)


RULES = {
    "features": "by the columns named for the outcome or the labelling",
    "audit": "by the audited rows",
    "prevalence": "by the prevalence given",
    "penalty": "by their penalties",
    "false labels": "by the false labels allowed for",
    "norm": "only by the assumption that the class depends on the features more strongly than "
    "labelling does",
}


def clear(analysis: Analysis) -> bool:
    """Whether class and labelling are told apart, as far as the method knows."""
    decided = analysis.orientation
    return decided is None or bool(decided.clear)


def orientation_text(analysis: Analysis) -> str:
    """How class and labelling were told apart."""
    decided = analysis.orientation
    if decided is None:
        return "This method has no rule to tell the class from the labelling."
    how = RULES.get(decided.rule, decided.rule)
    if np.isinf(decided.gap):
        return f"Class and labelling are told apart {how}; the exchanged models fit nowhere."
    apart = f"{abs(decided.gap):.1f} {decided.unit}" if np.isfinite(decided.gap) else "unknown"
    return f"Class and labelling are told apart {how} (distance of the exchanged models: {apart})."


def _orientation(analysis: Analysis) -> Sentence:
    text = orientation_text(analysis)
    if not clear(analysis):
        return Sentence(
            "problem",
            f"{text} That is not clear enough. Name columns that can only matter for labelling, "
            "or find out the class of 50 to 100 unlabelled rows, and run this again.",
        )
    decided = analysis.orientation
    if decided is None or decided.rule == "norm":
        return Sentence(
            "attention",
            f"{text} If labelling could depend on the features more strongly than the class "
            "does, name columns for it or audit some rows.",
        )
    return Sentence("fine", text)


def _bias(analysis: Analysis) -> Sentence | None:
    test, scar = analysis.test, analysis.scar
    if test is None:
        return None
    p = "p < 0.000001" if test.p_value < 1e-6 else f"p = {test.p_value:.3g}"
    if test.rejects:
        return Sentence(
            "attention",
            f"Labelling depends on the features ({p}). Methods that assume labelling at random "
            f"would say {percent(scar.value)}; do not use them for these data.",
        )
    return Sentence(
        "fine",
        f"Nothing speaks against labelling at random ({p}), which is no proof of it. Under that "
        f"assumption the share of positives would be {percent(scar.value)} ({interval(scar)}).",
    )


def rare_share(analysis: Analysis) -> float:
    """Share of the expected positives whose chance of a label is below 5%."""
    positives = analysis.weight * analysis.chances.positive
    return float(positives @ (analysis.chances.propensity < RARE) / positives.sum())


def _rare(analysis: Analysis) -> Sentence | None:
    share = rare_share(analysis)
    if share <= MANY:
        return None
    return Sentence(
        "attention",
        f"{share:.0%} of the expected positives have a chance below {RARE:.0%} to be labelled: of "
        "such rows the data say next to nothing.",
    )


def _calibration(gap: float) -> Sentence:
    if gap > GAP:
        return Sentence(
            "attention",
            f"The chance of a label is off by {gap:.3f} on average: the model misses something, "
            "and its numbers deserve less trust.",
        )
    return Sentence(
        "fine",
        f"The model reproduces how often rows are labelled (mean gap {gap:.3f}). That tests the "
        "product of class and labelling, not each of them.",
    )


def _other_warnings(analysis: Analysis) -> list[str]:
    """What the fit warned of, besides orientation, which has its own sentence."""
    return [text for text in analysis.model.warned if "changed places" not in text]


def _first_sentence(text: str) -> str:
    return text[0].upper() + text[1:]


def assumptions(analysis: Analysis) -> list[str]:
    """What must hold for the numbers to mean what they say."""
    roles = analysis.table.roles
    named = roles.propensity_features

    def columns(names: Any) -> str:
        return ", ".join(names) if names else "nothing (labelling at random)"

    certain = getattr(analysis.model.classifier, "false_label_rate", 0.0) == 0
    return [
        "Labelled and unlabelled rows are one sample from one population.",
        "A labelled row is surely positive."
        if certain
        else "Negatives may be labelled, at the rate given.",
        "The chance to be positive, and the chance of a positive to be labelled, are each logistic "
        "in the features.",
        f"Labelling may depend on {'all features' if named is None else columns(named)}.",
        "Rows are independent of each other.",
    ]


def recommendation(analysis: Analysis) -> str:
    """What to do next."""
    if not clear(analysis):
        return (
            "Settle which model is the class: name --propensity-features, or audit 50 to 100 "
            "unlabelled rows and pass their class as --audited."
        )
    unlabelled = analysis.chances.hidden[analysis.table.s == 0]
    first = np.sort(unlabelled)[::-1][:50]
    text = (
        f"Check the rows of the list from the top: of the first {len(first)} about "
        f"{first.sum():.0f} are expected to be positive, if the model holds."
    )
    if analysis.weak:
        text += " Audit some rows drawn at random as well: they pin down the prevalence."
    return text
