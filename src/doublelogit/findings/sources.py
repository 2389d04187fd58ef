"""Findings about labels of several sources: how they overlap, and what hangs on it."""

from collections.abc import Sequence

from doublelogit.common.wording import Interval, counted, interval, p_value, percent
from doublelogit.findings import ATTENTION, FINE, Finding

TEST_LEVEL = 0.05
DIFFERENT = 0.05  # shares of positives that are no longer one answer

ONLY_TWO = (
    "Two sources cannot show whether they depend on each other; a third, or audited rows, can."
)


def answers(independent: Interval, as_usual: Interval) -> Finding:
    """The share of positives by independence, never without the one that allows for dependence."""
    text = (
        f"If sources work independently of each other, {percent(independent.value)} of the rows "
        f"are positive ({interval(independent)}); as sources usually depend on each other, "
        f"{percent(as_usual.value)} ({interval(as_usual)})."
    )
    apart = abs(independent.value - as_usual.value) > DIFFERENT
    numbers = {"independent": independent.value, "as_usual": as_usual.value}
    return Finding(ATTENTION if apart else FINE, "sources", text, numbers)


def dependence(p: float | None, value: float, overlaps: float, n_sources: int) -> Finding:
    """Whether labels show that sources depend on each other."""
    if p is None and n_sources == 2:
        return Finding(ATTENTION, "sources", ONLY_TWO, {"overlaps": overlaps})
    if p is None:
        text = (
            f"Only {counted(round(overlaps), 'row')} {'has' if round(overlaps) == 1 else 'have'} "
            "labels of two sources or more: too few to show whether sources depend on each other, "
            "so the page goes by what is usual in other tables."
        )
        return Finding(ATTENTION, "sources", text, {"overlaps": overlaps})
    if p >= TEST_LEVEL:
        text = f"Labels do not show that sources depend on each other ({p_value(p)})."
        return Finding(FINE, "sources", text, {"p_value": p})
    how = "the same positives" if value > 0 else "different positives"
    text = f"Sources depend on each other: they tend to find {how} ({p_value(p)})."
    return Finding(FINE, "sources", text, {"p_value": p, "log_odds_ratio": value})


def each(names: Sequence[str], shares: Sequence[float]) -> str:
    """What share of the positives each source finds, a sentence."""
    found = [f"{name} {percent(share)}" for name, share in zip(names, shares, strict=True)]
    return f"Of the positives sources label: {', '.join(found)}."
