"""What was found, as data: a level, a topic, a sentence and its numbers.

Terminal, page and JSON show the same findings. Sentences are made here and nowhere else, from
plain numbers, so that one fact has one wording. A parameter that a reader may set stands in
backticks; the command line shows it as its option.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

# A note is neither good nor bad news: that a test does not reject, for instance.
NOTE, FINE, ATTENTION, PROBLEM = FINDING_LEVELS = ("note", "fine", "attention", "problem")


@dataclass(frozen=True)
class Finding:
    """A finding about a fit, its answer or its table.

    Parameters
    ----------
    level : {"note", "fine", "attention", "problem"}
        How much it matters.
    topic : str
        What it is about: prevalence, orientation, labelling, identification, propensity,
        calibration, convergence, separation, optima, curvature, overlap, data, labels, leak or
        methods.
    text : str
        The sentence for people.
    numbers : mapping, default={}
        The numbers in it, by name, for machines.
    """

    level: str
    topic: str
    text: str
    numbers: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.level not in FINDING_LEVELS:
            raise ValueError(
                f"level must be one of {', '.join(FINDING_LEVELS)}; got {self.level!r}."
            )

    def __str__(self) -> str:
        return f"{self.level:<9}  {self.text}"

    def to_dict(self) -> dict[str, Any]:
        """The finding as JSON holds it."""
        return {
            "level": self.level,
            "topic": self.topic,
            "text": self.text,
            "numbers": dict(self.numbers),
        }


def worst(findings: Iterable[Finding]) -> str:
    """The most serious level among some findings; "fine" if there are none, or notes alone."""
    return max((FINE, *(finding.level for finding in findings)), key=FINDING_LEVELS.index)
