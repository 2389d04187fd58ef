"""Numbers as people read them, and parameters as a command line writes them."""

import re
from collections.abc import Sequence
from typing import Protocol

Regions = Sequence[tuple[float, float]]


class Interval(Protocol):
    """An estimate with the ends of its interval; None where the method has none.

    ``regions`` are the parts of an interval that has several; else it may be empty.
    """

    @property
    def value(self) -> float: ...
    @property
    def low(self) -> float | None: ...
    @property
    def high(self) -> float | None: ...
    @property
    def regions(self) -> Regions: ...


def percent(share: float) -> str:
    """A share in percent."""
    return f"{share:.1%}"


def share_words(share: float | Sequence[float]) -> str:
    """A share that is known, with its standard deviation if that was given."""
    mean, *deviation = share if isinstance(share, Sequence) else [share]
    return percent(mean) + "".join(f" ± {percent(sd)}" for sd in deviation)


def between(answer: Interval) -> str:
    """The ends of an interval."""
    if answer.low is None or answer.high is None:
        return "no interval"
    regions = answer.regions or ((answer.low, answer.high),)
    return " or ".join(f"{percent(low)} to {percent(high)}" for low, high in regions)


def ranges(regions: Regions) -> str:
    """Regions of a share, as numbers."""
    return " or ".join(f"from {low:.2f} to {high:.2f}" for low, high in regions)


def interval(answer: Interval) -> str:
    """The interval of an estimate in words."""
    return "no interval" if answer.low is None else f"95% interval {between(answer)}"


def p_value(p: float) -> str:
    """A p-value, never as zero."""
    return f"p = {p:.3g}" if p >= 1e-6 else "p < 0.000001"


def p_values(between: tuple[float, float]) -> str:
    """A p-value that is known within an error."""
    low, high = (float(f"{p:.2g}") for p in between)
    if low == high:
        return p_value(between[0])
    return f"p < {high:g}" if low < 0.001 else f"p = {low:g} to {high:g}"


# What moves the cursor, changes colours or turns the direction of writing; not tab and line feed.
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def visible(text: str) -> str:
    """A text as it stands, characters that a terminal would obey written as their codes."""
    return CONTROL.sub(lambda match: ascii(match.group())[1:-1], text)


def counted(n: int, noun: str, plural: str | None = None) -> str:
    """A number with its noun in the right form."""
    return f"{n:,} {noun if n == 1 else plural or noun + 's'}"


def listed(names: Sequence[str], most: int = 12) -> str:
    """The first names of a list, and how many more there are."""
    rest = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + rest


# Parameters of the library that the command line offers as options.
OPTIONS = {
    name: "--" + name.replace("_", "-")
    for name in (
        "audit",
        "audit_kind",
        "audited",
        "by",
        "categorical",
        "features",
        "id",
        "ignore",
        "false_label_rate",
        "label",
        "label_frequency",
        "label_model",
        "method",
        "outcome_features",
        "positive",
        "prevalence",
        "propensity_features",
        "reviewer_error",
        "weight",
    )
} | {"audited_y": "--audited", "sample_weight": "--weight"}


def as_options(text: str) -> str:
    """A sentence for a terminal: `propensity_features` is --propensity-features."""
    return re.sub(r"`(\w+)`", lambda match: OPTIONS.get(match[1], match[1]), text)


def as_parameters(text: str) -> str:
    """A sentence for Python: `propensity_features` is propensity_features."""
    return re.sub(r"`(\w+)`", r"\1", text)
