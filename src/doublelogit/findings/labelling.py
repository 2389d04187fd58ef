"""Sentences about the test of labelling at random."""

from typing import ClassVar, Protocol

from doublelogit.common.thresholds import BENT_LEVEL
from doublelogit.common.wording import p_values

LABELS_ALONE = "The test looks at the labels alone: audited classes and weights take no part in it."


def asymptotic(rows: int) -> str:
    """The note of a test without samples."""
    return f"Above {rows:,} rows the chi-square law replaces resampling."


class BentClass(Protocol):
    """Result of the test with a class that bends."""

    @property
    def p_value(self) -> float: ...


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
    def verdict(self) -> str: ...
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
    def bent(self) -> BentClass | None: ...


def scar_result(test: ScarResult) -> str:
    """The result of the test in words."""
    against = "speaks against" if test.rejects else "does not speak against"
    text = (
        f"The {test.method} test {against} labelling at random{test.ASSUMED} (statistic "
        f"{test.statistic:.3g}, {p_values(test.p_interval)}, {_null(test)}; the label frequency "
        f"would be {test.label_frequency:.2f})."
    )
    return text if test.bent is None else f"{text} {_bent(test, test.bent)}"


def _null(test: ScarResult) -> str:
    """Origin of the p-value."""
    if not test.draws:
        return f"by the chi-square law of large samples with {test.freedom} degrees of freedom"
    enough = f" of at most {test.most}" if test.draws < test.most else ""
    text = f"{test.draws}{enough} samples drawn under the hypothesis"
    if test.freedom:
        text += ", far beyond which it lies, and a chi-square law of their mean"
    return text


def _bent(test: ScarResult, bent: BentClass) -> str:
    if bent.p_value <= BENT_LEVEL:
        verdict = "labelling depends on the columns even so"
    elif test.bias_explains_more:
        verdict = "bias explains the labels better than bends"
    else:
        verdict = "bends explain the labels as well as bias"
    return f"With a class that bends: {p_values((bent.p_value,) * 2)}; {verdict}."
