"""How class and labelling can swap places in a likelihood, and what would show it.

The likelihood of the labels does not change when beta and gamma swap places (Lemma 1). It does if
the two models have different features or penalties, if rows of known class or the prevalence are
in it, or if negatives are labelled too.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from doublelogit._types import Floats

if TYPE_CHECKING:
    from doublelogit.methods.problem import Problem

Combinations = tuple[tuple[int, int], tuple[int, int]]


@dataclass(frozen=True)
class Symmetry:
    """The swap that a likelihood of labels does not see.

    ``strengths`` are class and labelling, whose strengths tell them apart by assumption, as
    combinations of (beta, gamma); ``swap`` is (beta, gamma) of the swapped pair; ``assumption``
    names the rule that decides where nothing else does.
    """

    strengths: Combinations = ((1, 0), (0, 1))
    swap: Combinations = ((0, 1), (1, 0))
    assumption: str = "norm"

    def broken_by(self, problem: "Problem") -> str | None:
        """The first thing that tells the two models apart, None if they may swap unnoticed."""
        if self.features_differ(problem):
            return "features"
        if problem.audited:
            return "audit"
        if problem.beliefs:
            return "prevalence"
        if problem.false_label_rate > 0:
            return "false labels"
        return None if problem.l2 == problem.propensity_l2 else "penalty"

    def features_differ(self, problem: "Problem") -> bool:
        """Whether the features of the two models tell them apart; smooth terms do not."""
        if problem.smooth is None:
            return problem.outcome is not problem.propensity
        straight = [
            terms.without(problem.smooth) for terms in (problem.outcome, problem.propensity)
        ]
        return not straight[0].same(straight[1])

    def exact(self, problem: "Problem") -> bool:
        """Whether in a symmetric problem the swapped pair is as good to the last digit."""
        return problem.outcome is problem.propensity


def combined(weights: Combinations, beta: Floats, gamma: Floats) -> tuple[Floats, Floats]:
    """Two combinations of full-length coefficients."""
    one, other = (i * beta + j * gamma for i, j in weights)
    return one, other
