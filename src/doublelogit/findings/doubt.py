"""Findings about how far an answer hangs on its method and on lines."""

from collections.abc import Mapping

from doublelogit.common.wording import listed, p_value, percent
from doublelogit.findings import ATTENTION, FINE, NOTE, Finding
from doublelogit.findings.fit import AGAINST


def nonlinear(gain: float, error: float, *, clear: bool, bends: bool) -> Finding:
    """Whether labels that a fit has not seen are likelier by a label model of any shape.

    ``gain`` is that of held-out log-likelihood per row beyond straight label models, with its
    standard error; ``bends``: the class of the answer may have any shape.
    """
    numbers = {"gain": gain, "error": error}
    size = f"{gain:+.4f} per row, standard error {error:.4f}"
    if not clear:
        text = f"Held-out labels are no likelier by a nonlinear model than by two lines ({size})."
        return Finding(FINE, "model", text, numbers)
    text = (
        "A nonlinear class, or nonlinear labelling, fits the labels better than two lines: "
        f"held-out labels are likelier by it ({size})."
    )
    if bends:
        text += " The class of this answer may have any shape."
        return Finding(NOTE, "model", text, numbers)
    text += (
        " The straight-line model does not hold here. Do not act on its numbers; choose the "
        "`method` averaged, whose class may have any shape, or audit some rows (`audited_y`)."
    )
    return Finding(ATTENTION, "model", text, numbers)


def misfit_noted(
    question: str, feature: str, p: float, *, likelier: bool | None, bends: bool
) -> Finding:
    """The labels speak against two lines.

    ``likelier``: held-out labels are clearly likelier by a nonlinear model, None if that is not
    known; ``bends``: the class of the answer may have any shape.
    """
    against = AGAINST[question].format(repr(feature))
    survives = bends or likelier is False
    text = f"The labels speak against two lines ({p_value(p)}): {against}. "
    if bends:
        text += "The class of this answer may have any shape."
    elif survives:
        text += "Held-out labels are no likelier by a nonlinear model."
    else:
        text += "Intervals hold only if the model does."
    numbers = {"p_value": p, "feature": feature}
    return Finding(NOTE if survives else ATTENTION, "model", text, numbers)


def claimed(length: int, expected: float, low: float, high: float, *, vague: bool) -> Finding:
    """What other methods expect of a list, beside the model itself."""
    text = (
        f"By what other methods say, {length * low:.0f} to {length * high:.0f} of these "
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
    """Methods say too different things of the first rows."""
    text = (
        f"Methods disagree on the list: of its first {length} rows {low:.0%} to "
        f"{high:.0%} are positive, depending on whom one believes. Audit some of them "
        "(`audited_y`) before you act on it."
    )
    return Finding(ATTENTION, "methods", text, {"low": low, "high": high})


def dissent(prevalences: Mapping[str, float]) -> Finding:
    """Other methods have a prevalence beyond the interval."""
    shares = listed([f"{name} {percent(share)}" for name, share in prevalences.items()])
    text = (
        f"Beyond the interval: {shares}. The answer hangs on the method; audit some rows "
        "(`audited_y`), or report all of these numbers."
    )
    return Finding(ATTENTION, "methods", text, prevalences)
