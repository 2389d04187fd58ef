"""Findings about how far an answer hangs on its method and its model."""

from doublelogit.common.wording import listed, p_value, percent
from doublelogit.findings import ATTENTION, FINE, NOTE, Finding
from doublelogit.findings.fit import AGAINST

MOST_DRIVERS = 3  # that a sentence names


def straight_fails(
    name: str, prevalence: float, same: int, length: int, gain: float, error: float
) -> Finding:
    """A flexible class is clearly better and gives another answer."""
    text = (
        f"With a flexible class ({name}) the share would be {percent(prevalence)} and {same} of "
        f"the first {length} rows would be the same: the straight-line model does not hold here. "
        f"Labels that a fit has not seen are more likely by it (by {gain:.4f} per row, standard "
        f"error {error:.4f}). Do not act on the straight model's numbers; try another `learner`, "
        "or audit some rows (`audited_y`)."
    )
    numbers = {"prevalence": prevalence, "same": same, "gain": gain, "error": error}
    return Finding(ATTENTION, "model", text, numbers)


def answers_survive(
    name: str,
    prevalence: float,
    same: int,
    length: int,
    gain: float,
    error: float,
    *,
    differs: bool,
) -> Finding:
    """The answers survive a flexible class; or they differ, but it is no better."""
    how = "more" if gain > 2 * error else "no more"
    text = (
        f"With a flexible class ({name}) the share would be {percent(prevalence)} and {same} of "
        f"the first {length} rows would be the same; labels that a fit has not seen are {how} "
        f"likely by it ({gain:+.4f} per row, standard error {error:.4f})."
    )
    if differs:
        text += " Labels alone do not tell which of the two answers is right."
    numbers = {"prevalence": prevalence, "same": same, "gain": gain, "error": error}
    return Finding(NOTE if differs else FINE, "model", text, numbers)


def misfit_noted(question: str, feature: str, p: float, *, survives: bool) -> Finding:
    """The labels speak against the model; whether its answers survive a flexible class is known."""
    said = AGAINST[question].format(repr(feature))
    text = f"The labels speak against the model as it is ({p_value(p)}): {said}."
    if survives:
        text += " A flexible class changes the answers little."
        return Finding(NOTE, "model", text, {"p_value": p, "feature": feature})
    text += " Its intervals hold only if the model does."
    return Finding(ATTENTION, "model", text, {"p_value": p, "feature": feature})


def drivers_survive(kept: list[str], turned: list[str], *, better: bool) -> Finding:
    """Whether what drives labelling has the same direction beside a flexible class.

    ``better``: labels that a fit has not seen are clearly more likely by it.
    """
    numbers = {"kept": kept, "turned": turned}
    if not turned:
        said = listed([repr(name) for name in kept], MOST_DRIVERS)
        text = f"What drives labelling survives a flexible class: {said} "
        text += "keeps its direction." if len(kept) == 1 else "keep their directions."
        return Finding(FINE, "drivers", text, numbers)
    said = listed([repr(name) for name in turned])
    text = (
        f"What drives labelling does not survive a flexible class: {said} "
        f"{'turns' if len(turned) == 1 else 'turn'} round, though the straight model is sure of "
        f"the direction{'' if better else '; labels cannot tell which of the two is right'}. Say "
        f"nothing of {'its effect' if len(turned) == 1 else 'their effects'} on labelling."
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


def dissent(names: list[str], prevalences: list[float]) -> Finding:
    """Other methods or models have a prevalence beyond the interval."""
    said = listed([f"{n} {percent(p)}" for n, p in zip(names, prevalences, strict=True)])
    text = (
        f"Beyond the interval: {said}. The answer hangs on the model; audit some rows "
        "(`audited_y`), or report all of these numbers."
    )
    return Finding(ATTENTION, "methods", text, dict(zip(names, prevalences, strict=True)))
