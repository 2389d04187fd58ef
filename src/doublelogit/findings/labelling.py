"""Findings and sentences about the test of labelling at random."""

from typing import ClassVar, Protocol

from doublelogit.common.thresholds import BENT_LEVEL, SCAR_LEVEL
from doublelogit.common.wording import Interval, interval, p_value, p_values, percent
from doublelogit.findings import ATTENTION, NOTE, Finding

LABELS_ALONE = "The test looks at the labels alone: audited classes and weights take no part in it."


def asymptotic(rows: int) -> str:
    """The note of a test without samples."""
    return f"Above {rows:,} rows the chi-square law replaces resampling."


class ScarResult(Protocol):
    """Numbers of a test of labelling at random."""

    ASSUMED: ClassVar[str]

    @property
    def method(self) -> str: ...
    @property
    def statistic(self) -> float: ...
    @property
    def label_frequency(self) -> float: ...
    @property
    def rejects(self) -> bool: ...
    @property
    def p_interval(self) -> tuple[float, float]: ...
    @property
    def draws(self) -> int: ...
    @property
    def most(self) -> int: ...
    @property
    def freedom(self) -> int: ...
    @property
    def bias_explains_more(self) -> bool: ...
    @property
    def p_bent(self) -> float | None: ...
    @property
    def verdict(self) -> str: ...


def bias(test: ScarResult, scar: Interval, *, allowed: bool) -> Finding:
    """Whether labelling depends on the features; ``allowed``: the model lets it do so."""
    (low, high), p_bent = test.p_interval, test.p_bent
    numbers = {"p_low": low, "p_high": high, "p_bent": p_bent, "scar": scar.value}
    p, tested = p_values((low, high)), "labels at random and a class logistic in these columns"
    level = NOTE if allowed else ATTENTION
    if test.verdict == "bias":
        text = (
            f"Labelling depends on the features: {tested} do not explain the labels ({p}), and "
            "a class that bends does not explain them better. Methods that assume labelling at "
            f"random would say {percent(scar.value)}; do not use them for these data."
        )
    elif test.verdict == "undecided" and p_bent is not None and high <= SCAR_LEVEL:
        text = (
            f"Bias or curvature? {tested.capitalize()} do not explain the labels ({p}), but "
            f"labels at random and a class that bends do ({p_value(p_bent)}). Whether labelling "
            "depends on the features is open."
        )
    else:
        level = NOTE
        text = (
            f"Whether labelling depends on the features is open: {tested} are not ruled out "
            f"({p}). That is no proof of labelling at random, for such tests often miss a bias. If "
            f"it were at random, the share of positives would be {percent(scar.value)} "
            f"({interval(scar)})."
        )
    return Finding(level, "labelling", text, numbers)


def scar_result(test: ScarResult) -> str:
    """The result of the test in words."""
    against = "speaks against" if test.rejects else "does not speak against"
    text = (
        f"The {test.method} test {against} labelling at random{test.ASSUMED} (statistic "
        f"{test.statistic:.3g}, {p_values(test.p_interval)}, {_null(test)}; the label frequency "
        f"would be {test.label_frequency:.2f})."
    )
    return text if test.p_bent is None else f"{text} {_with_curves(test, test.p_bent)}"


def _null(test: ScarResult) -> str:
    """Origin of the p-value."""
    if not test.draws:
        return f"by the chi-square law of large samples with {test.freedom} degrees of freedom"
    enough = f" of at most {test.most}" if test.draws < test.most else ""
    text = f"{test.draws}{enough} samples drawn under the hypothesis"
    if test.freedom:
        text += ", far beyond which it lies, and a chi-square law of their mean"
    return text


def _with_curves(test: ScarResult, p: float) -> str:
    if p <= BENT_LEVEL:
        verdict = "labelling depends on the columns even so"
    elif test.bias_explains_more:
        verdict = "bias explains the labels better than bends"
    else:
        verdict = "bends explain the labels as well as bias"
    return f"With a class that bends: {p_values((p, p))}; {verdict}."
