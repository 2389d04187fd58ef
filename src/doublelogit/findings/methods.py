"""Findings about methods set side by side."""

from collections.abc import Sequence

from doublelogit.common.thresholds import DISAGREEMENT
from doublelogit.findings import ATTENTION, FINE, NOTE, PROBLEM, Finding


def tested(sentence: str, p: float) -> Finding:
    """What a test of labelling at random says."""
    return Finding(NOTE, "labelling", sentence, {"p_value": p})


def ruled_out(methods: Sequence[str]) -> Finding:
    """Methods that biased labels rule out."""
    text = (
        f"Methods that assume labelling at random ({', '.join(methods)}) are not to be used here, "
        "however well they score."
    )
    return Finding(ATTENTION, "methods", text)


def best(better: str | None, default: str) -> Finding:
    """The method that predicts held-out labels clearly better than the default, if any does."""
    text = f"No method makes held-out labels clearly more likely than {default} does."
    if better is not None:
        text = f"Held-out labels are clearly more likely by {better} than by {default}."
    return Finding(FINE, "methods", text)


def opposed(methods: Sequence[str]) -> Finding:
    """Methods whose ranking is opposed to those of the others."""
    text = (
        f"The list of {', '.join(methods)} is opposed to those of the other methods: what comes "
        "first by the one comes last by most. Use no list before some rows are audited "
        "(`audited_y`)."
    )
    return Finding(PROBLEM, "methods", text)


def agreement(shares: Sequence[float], *, audited: bool) -> Finding:
    """Whether the methods that allow for bias agree on the prevalence."""
    low, high = min(shares), max(shares)
    text = (
        "The methods that allow for biased labels put the share of positives between "
        f"{low:.1%} and {high:.1%}."
    )
    numbers = {"low": low, "high": high}
    if high - low <= DISAGREEMENT:
        return Finding(FINE, "methods", text, numbers)
    advice = "use the audit's number" if audited else "audit some rows (`audited_y`)"
    text += f" They disagree: {advice}."
    return Finding(ATTENTION, "methods", text, numbers)


def recommended(method: str | None) -> Finding:
    """The method to use, if any."""
    if method is None:
        return Finding(PROBLEM, "methods", "No method is recommended for these data.")
    return Finding(FINE, "methods", f"Recommended: {method}.")
