"""Labelling by several sources: the chance of any label is held, as their patterns have it."""

from doublelogit._types import Column
from doublelogit.averaged.coordinates import following
from doublelogit.averaged.expectation import TiedPair
from doublelogit.averaged.mechanisms.protocol import Arguments, Mechanism, Odds
from doublelogit.averaged.settings import Settings
from doublelogit.methods.problem import Problem


class Sources(Mechanism):
    """p*(x) of a law of the patterns of labels, a logit for each row."""

    def __init__(self, law: str, words: str, colour: str, offset: Column | None = None) -> None:
        self.law, self.offset = law, offset
        self.name, self.words, self.colour = f"sources, {law}", words, colour  # type: ignore[misc]

    def holding(self, offset: Column) -> "Sources":
        """The mechanism with a logit of p* for each row."""
        return Sources(self.law, self.words, self.colour, offset)

    def odds(self, problem: Problem, settings: Settings) -> tuple[Odds, ...]:
        """None: it is no reading of one label, but what the patterns of several say."""
        return ()

    def arguments(self, problem: Problem) -> Arguments:
        pair = TiedPair(problem.outcome, 0.0)
        return Arguments(pair, *following(problem, 0.0), offset=self.offset)


PAIRS = Sources("pairs", "sources that depend on each other in pairs", "#CC79A7")
SHARED_EFFORT = Sources("shared effort", "positives that are easy for every source", "#E69F00")
SOURCES = {one.law: one for one in (PAIRS, SHARED_EFFORT)}
