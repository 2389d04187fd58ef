"""Labelling that follows the class: the surest positives are labelled first, gamma = beta."""

import numpy as np

from doublelogit._types import Floats
from doublelogit.averaged.coordinates import following
from doublelogit.averaged.expectation import TiedPair
from doublelogit.averaged.mechanisms.protocol import (
    Arguments,
    Mechanism,
    Odds,
    constant_labelling,
)
from doublelogit.averaged.settings import Settings
from doublelogit.methods.problem import Problem

ODDS = 0.2  # by priors
# Where b = a + w, class and labelling swapped are the same likelihood to the last digit: the prior
# alone chooses between a rarer class, often labelled, and a commoner one. It leans to the former.
# By priors: Beta(1.25, 1).
OFTEN = 1.25


class Following(Mechanism):
    """e(x, y) = sigma(logit y(x) + w)."""

    name = "following"
    words = "labels that follow the class"
    colour = "#009E73"
    of_class = 1.0

    def odds(self, problem: Problem, settings: Settings) -> tuple[Odds, ...]:
        one_model = problem.outcome is problem.propensity and not problem.distinct_features
        return (Odds(ODDS, 1.0),) if one_model and not constant_labelling(problem) else ()

    def arguments(self, problem: Problem) -> Arguments:
        pair = TiedPair(problem.outcome, self.of_class)
        return Arguments(pair, *following(problem, self.of_class))

    def log_frequency(self, c: Floats) -> Floats:
        """Logarithm of the density of Beta(OFTEN, 1)."""
        return np.asarray(np.log(OFTEN) + (OFTEN - 1) * np.log(c))
