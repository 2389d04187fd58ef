"""Findings about the answer that a fit gives: prevalence, calibration."""

from doublelogit.common.thresholds import CALIBRATION_GAP, SAME_ANSWER, WIDE_INTERVAL
from doublelogit.common.wording import Interval, counted, interval, percent
from doublelogit.findings import ATTENTION, FINE, NOTE, PROBLEM, Finding


def two_answers(main: Interval, swapped: Interval, labelled: float) -> Finding:
    """Both orders of class and labelling fit."""
    if abs(main.value - swapped.value) <= SAME_ANSWER:
        text = (
            f"About {percent(main.value)} of the rows are positive ({interval(main)}), and "
            f"{percent(swapped.value)} with class and labelling swapped ({interval(swapped)}); "
            f"{percent(labelled)} are labelled. Which of the two models is the class is open, so "
            "this share may be used, but neither the list nor the drivers."
        )
    else:
        text = (
            f"Two answers fit these labels nearly equally well: {percent(main.value)} of the rows "
            f"are positive ({interval(main)}), or {percent(swapped.value)} ({interval(swapped)}). "
            f"{percent(labelled)} are labelled. Use neither number before it is settled which of "
            "the two models is the class."
        )
    numbers = {"value": main.value, "swapped": swapped.value, "labelled": labelled}
    return Finding(PROBLEM, "prevalence", text, numbers)


def prevalence(
    main: Interval, labelled: float, hidden: float, *, weak: bool, without: str
) -> Finding:
    """The share of positives; ``without`` says why it has no interval, if it has none."""
    hiding = "no positive" if hidden < 0.5 else f"some {counted(round(hidden), 'positive')}"
    text = (
        f"About {percent(main.value)} of the rows are positive ({interval(main)}), while "
        f"{percent(labelled)} are labelled: {hiding} {'is' if hidden < 1.5 else 'are'} hidden."
    )
    numbers = {
        "value": main.value,
        "low": main.low,
        "high": main.high,
        "labelled": labelled,
        "hidden": hidden,
    }
    if main.low is None or main.high is None:
        return Finding(ATTENTION, "prevalence", f"{text} {without}", numbers)
    if weak or main.high - main.low > WIDE_INTERVAL:
        text += " The labels hardly determine this number: report the interval, not the estimate."
        return Finding(ATTENTION, "prevalence", text, numbers)
    return Finding(FINE, "prevalence", text, numbers)


def class_of_any_shape(share: float, by_shape: float, by_line: float) -> Finding:
    """What a nonlinear class assumes, and what it did to the answer."""
    text = (
        f"In {percent(share)} of this answer the class may be nonlinear: its shape is that of a "
        f"model of the label, which gives {percent(by_shape)} positive; a logistic class gives "
        f"{percent(by_line)}. The former assumes that labelling varies with the features less "
        "than the class does, and that a positive is labelled about as often as in other tables "
        "with labels like these."
    )
    numbers = {"share": share, "by_shape": by_shape, "by_line": by_line}
    return Finding(NOTE, "shape", text, numbers)


def no_interval(method: str, *, has_intervals: bool) -> str:
    """Why the share of positives has no interval."""
    if has_intervals:
        return "There is no interval: the fit has not converged."
    return f"The method {method} has no interval for it."


def determined(main: Interval, *, converged: bool, weak: bool, clear: bool) -> Finding:
    """Whether the labels determine the prevalence at all."""
    if not converged:
        text = "The fit has not converged; no interval can be given."
        return Finding(PROBLEM, "identification", text)
    if weak:
        text = (
            f"The labels hardly determine the prevalence ({interval(main)}). Audit some rows "
            "(`audited_y`), or tell the model what is known of it."
        )
        return Finding(PROBLEM, "identification", text)
    wide = main.low is not None and main.high is not None and main.high - main.low > WIDE_INTERVAL
    roughly = " only roughly" if wide else ""
    text = (
        f"Given which model is which, the labels determine the prevalence{roughly} "
        f"({interval(main)})."
    )
    return Finding(FINE if clear and not wide else ATTENTION, "identification", text)


def calibration(gap: float) -> Finding:
    """Whether the model reproduces how often rows are labelled."""
    if gap > CALIBRATION_GAP:
        text = (
            f"The probability of a label is off by {gap:.3f} on average: the model misses "
            "something, and its numbers deserve less trust."
        )
        return Finding(ATTENTION, "calibration", text, {"gap": gap})
    text = (
        f"The model reproduces how often rows are labelled (mean gap {gap:.3f}). That tests the "
        "product of class and labelling, not each of them."
    )
    return Finding(FINE, "calibration", text, {"gap": gap})
