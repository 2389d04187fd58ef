"""Findings about how far an answer hangs on its method and its model."""

from collections.abc import Mapping

from doublelogit.common.wording import listed, p_value, percent
from doublelogit.findings import ATTENTION, FINE, NOTE, Finding
from doublelogit.findings.fit import AGAINST

MOST_DRIVERS = 3  # that a sentence names


def flexible(
    name: str,
    prevalence: float,
    shared: tuple[int, int],
    gain: tuple[float, float],
    *,
    refuted: bool,
    differs: bool,
) -> Finding:
    """Whether the answers survive a flexible class.

    ``shared`` of the first rows are the same; ``gain`` is that of held-out labels per row, and its
    standard error. ``refuted``: the class is clearly better, and its answer another one.
    """
    text = (
        f"With a flexible class ({name}) the share would be {percent(prevalence)} and {shared[0]} "
        f"of the first {shared[1]} rows would be the same"
    )
    numbers = {"prevalence": prevalence, "same": shared[0], "gain": gain[0], "error": gain[1]}
    if refuted:
        text += (
            ": the straight-line model does not hold here. Labels that a fit has not seen are more "
            f"likely by it (by {gain[0]:.4f} per row, standard error {gain[1]:.4f}). Do not act on "
            "the straight model's numbers; try another `learner`, or audit some rows (`audited_y`)."
        )
        return Finding(ATTENTION, "model", text, numbers)
    how = "more" if gain[0] > 2 * gain[1] else "no more"
    text += (
        f"; labels that a fit has not seen are {how} likely by it ({gain[0]:+.4f} per row, "
        f"standard error {gain[1]:.4f})."
    )
    if differs:
        text += " Labels alone do not tell which of the two answers is right."
    return Finding(NOTE if differs else FINE, "model", text, numbers)


def misfit_noted(question: str, feature: str, p: float, *, survives: bool) -> Finding:
    """The labels speak against the model; whether its answers survive a flexible class is known."""
    against = AGAINST[question].format(repr(feature))
    text = f"The labels speak against the model as it is ({p_value(p)}): {against}. " + (
        "A flexible class changes the answers little."
        if survives
        else "Its intervals hold only if the model does."
    )
    numbers = {"p_value": p, "feature": feature}
    return Finding(NOTE if survives else ATTENTION, "model", text, numbers)


def drivers_survive(settled: list[str], reversed_: list[str], *, better: bool) -> Finding:
    """Whether what drives labelling has the same direction beside a flexible class.

    ``better``: labels that a fit has not seen are clearly more likely by it.
    """
    numbers = {"kept": settled, "turned": reversed_}
    if not reversed_:
        names = listed([repr(name) for name in settled], MOST_DRIVERS)
        text = f"What drives labelling survives a flexible class: {names} "
        text += "keeps its direction." if len(settled) == 1 else "keep their directions."
        return Finding(FINE, "drivers", text, numbers)
    names = listed([repr(name) for name in reversed_])
    turn, effects = ("turns", "its effect") if len(reversed_) == 1 else ("turn", "their effects")
    text = (
        f"What drives labelling does not survive a flexible class: {names} {turn} round, though "
        "the straight model is sure of the direction"
        f"{'' if better else '; labels cannot tell which of the two is right'}. Say nothing of "
        f"{effects} on labelling."
    )
    return Finding(ATTENTION if better else NOTE, "drivers", text, numbers)


def claimed(length: int, expected: float, low: float, high: float, *, vague: bool) -> Finding:
    """What other methods and models expect of a list, beside the model itself."""
    text = (
        f"By what other methods and models say, {length * low:.0f} to {length * high:.0f} of these "
        f"{length} rows are positive (80% interval)."
    )
    if vague:
        text += " They disagree: audit some of them (doublelogit audit) before you act on it."
    numbers = {"expected": expected, "low": low, "high": high}
    return Finding(ATTENTION if vague else FINE, "methods", text, numbers)


def residuals(column: str, p: float, gap: float) -> Finding:
    """Labels stray from their probability along a column."""
    text = (
        f"Along {column!r} labels stray from the model's probability of a label ({p_value(p)}), "
        f"by up to {100 * gap:.0f} percentage points in a tenth of the rows."
    )
    return Finding(NOTE, "calibration", text, {"p_value": p, "gap": gap})


def vague_claim(length: int, low: float, high: float) -> Finding:
    """Methods and models say too different things of the first rows."""
    text = (
        f"Methods and models disagree on the list: of its first {length} rows {low:.0%} to "
        f"{high:.0%} are positive, depending on whom one believes. Audit some of them "
        "(`audited_y`) before you act on it."
    )
    return Finding(ATTENTION, "methods", text, {"low": low, "high": high})


def dissent(prevalences: Mapping[str, float]) -> Finding:
    """Other methods or models have a prevalence beyond the interval."""
    shares = listed([f"{name} {percent(share)}" for name, share in prevalences.items()])
    text = (
        f"Beyond the interval: {shares}. The answer hangs on the model; audit some rows "
        "(`audited_y`), or report all of these numbers."
    )
    return Finding(ATTENTION, "methods", text, prevalences)
