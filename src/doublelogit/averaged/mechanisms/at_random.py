"""Labels at random: every positive is as likely to be labelled as any other (SCAR)."""

from dataclasses import replace

import numpy as np

from doublelogit.averaged.coordinates import following
from doublelogit.averaged.expectation import TiedPair
from doublelogit.averaged.mechanisms.protocol import (
    Arguments,
    Mechanism,
    Odds,
    constant_labelling,
)
from doublelogit.averaged.settings import Settings
from doublelogit.core.design import Terms
from doublelogit.methods.problem import Problem

ODDS = 1 / 2  # by priors
# A user who names the features of labelling believes that it depends on them.
ODDS_IF_NAMED = 1 / 6


class AtRandom(Mechanism):
    """Labelling that depends on nothing."""

    name = "at random"
    words = "labels at random"
    colour = "#56B4E9"
    varies = False

    def odds(self, problem: Problem, settings: Settings) -> tuple[Odds, ...]:
        named = problem.distinct_features and not constant_labelling(problem)
        return (Odds(ODDS_IF_NAMED if named else ODDS, 0.0),)

    def arguments(self, problem: Problem) -> Arguments:
        return Arguments(TiedPair(problem.outcome, 0.0), *following(problem, 0.0))

    def problem(self, problem: Problem) -> Problem:
        """The problem with a constant propensity."""
        constant = Terms(problem.rows.n_features, np.array([], dtype=np.intp))
        return replace(problem, propensity=constant)
