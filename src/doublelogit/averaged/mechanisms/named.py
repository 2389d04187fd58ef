"""Labelling by features that were named for it."""

from doublelogit.averaged.mechanisms.own_slopes import OwnSlopes
from doublelogit.averaged.mechanisms.protocol import Odds, constant_labelling
from doublelogit.averaged.settings import Settings
from doublelogit.methods.problem import Problem

ODDS = (Odds(5 / 12, 0.6), Odds(5 / 12, 1.7))  # by priors


class Named(OwnSlopes):
    """Slopes of its own, of features that tell class and labelling apart."""

    name = "named"
    words = "labels by the features named for them"
    colour = "#D55E00"

    def odds(self, problem: Problem, settings: Settings) -> tuple[Odds, ...]:
        applies = problem.distinct_features and not constant_labelling(problem)
        return ODDS if applies else ()
