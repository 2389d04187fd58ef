"""Sentences of the verdict beside its findings: assumptions, advice, cautions."""

from collections.abc import Mapping, Sequence
from typing import Any

from doublelogit.common.wording import share_words

# Why a list should not be worked off yet, after a colon.
LEAKING = "the label is among the features"
AUDIT_SUSPECT = "it is open how the rows of the audit were chosen"
AUDIT_OBJECTS = "the audit contradicts the model or its list"
MODELS_UNCLEAR = "it is open which of the two models is the class"
TOO_FEW_LABELS = "there are fewer labels than coefficients"
NOTHING_TO_FIND = "by this model hardly any positive is hidden"
NOT_LINES = "labels are clearly likelier by a nonlinear class or labelling"
METHODS_DISAGREE = "methods disagree on it"

# What to do next.
DRAW_AGAIN = (
    "Settle how the rows of the audit were chosen. Draw new ones by doublelogit audit if they were "
    "not drawn at random."
)
SETTLE = "Settle which model is the class. "
HARDLY_HIDDEN = "By this model hardly any positive is hidden, so a list would find none."
FIND_OUT = (
    "Do not work off the list yet. Find out the class of some of its rows and of some drawn at "
    "random (doublelogit audit), and look again."
)

# What must hold for the numbers to mean what they say.
ONE_SAMPLE = "Labelled and unlabelled rows are one sample from one population."
LOGISTIC = (
    "The probability of the class, and the probability that a positive is labelled, are each "
    "logistic in the features."
)
ANY_SHAPE = (
    "The class is logistic in the features or has the shape of the label probability; the "
    "probability that a positive is labelled varies less, or is logistic in them."
)
INDEPENDENT = "Rows are independent of each other."
AUDITED_AT_RANDOM = (
    "Audited rows are missing at random: which rows were looked at depends on features, labels and "
    "chance alone, not on the class itself. The audit's own number needs no more than the chances."
)
ELSEWHERE = {"prevalence": "The share of positives", "label_frequency": "The label frequency"}


def leave_out(columns: Sequence[str]) -> str:
    """Advice where columns know the label."""
    return (
        f"Leave out {', '.join(map(repr, columns))} (`ignore`) and look again: while the label is "
        "among the features, nothing else on this page means much."
    )


def use_audit(*, list_off: bool) -> str:
    """Advice where an audit contradicts the model, or its list."""
    return (
        "Use the audit's number for the share of positives. "
        + ("The list is not what it claims to be. " if list_off else "")
        + "Before a list is worked through, find out why the model is off: name the columns that "
        "labelling depends on (`propensity_features`), try another `method` or features, or look "
        "at more rows (doublelogit audit)."
    )


def work_off(listed: int, expected: float, claimed: int, low: float, high: float) -> str:
    """Advice where the list may be used."""
    return (
        f"Check the rows of the list from the top: of the first {listed} about {expected:.0f} are "
        f"expected to be positive if the model holds, and {claimed * low:.0f} to "
        f"{claimed * high:.0f} by what other methods say."
    )


def pin_down(*, audited: bool) -> str:
    """Advice where the labels hardly determine the prevalence, after other advice."""
    rows = "more rows" if audited else "some rows"
    return f" Audit {rows} drawn at random as well: they pin down the prevalence."


def labels_right(*, sure: bool) -> str:
    """The assumption about labelled rows."""
    if sure:
        return "A labelled row is surely positive."
    return "Negatives may be labelled, at the rate given."


def labelling_depends(columns: Sequence[str] | None) -> str:
    """The assumption about the columns of labelling; None are all."""
    if columns is None:
        return "Labelling may depend on all features."
    named = ", ".join(columns) if columns else "nothing (labelling at random)"
    return f"Labelling may depend on {named}."


def from_elsewhere(values: Mapping[str, Any]) -> list[str]:
    """The numbers that were given from elsewhere."""
    return [
        f"{words} is known from elsewhere: {share_words(values[name])}."
        for name, words in ELSEWHERE.items()
        if name in values
    ]
