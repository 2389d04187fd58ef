"""Labelling with slopes of its own, by whatever features the class may depend on."""

import numpy as np

from doublelogit._types import Floats
from doublelogit.averaged.coordinates import standardising
from doublelogit.averaged.expectation import FreePair
from doublelogit.averaged.mechanisms.protocol import (
    Arguments,
    Mechanism,
    Odds,
    constant_labelling,
)
from doublelogit.averaged.settings import Settings
from doublelogit.methods.problem import Problem

# By priors; the labelling is taken to depend on the features less than the class does.
WEAKER = (Odds(0.3, 0.6),)
# Where something tells class and labelling apart, labelling may be the stronger one.
EITHER = (Odds(0.15, 0.6), Odds(0.15, 1.7))


class OwnSlopes(Mechanism):
    """gamma_j ~ N(0, scale^2 / q) for q standardised features, independent of the class."""

    name = "own slopes"
    words = "labels with slopes of their own"
    colour = "#0072B2"
    own_slopes = True

    def odds(self, problem: Problem, settings: Settings) -> tuple[Odds, ...]:
        if problem.distinct_features or constant_labelling(problem):
            return ()
        size = problem.outcome.size + problem.propensity.size
        few = problem.n_labelled < settings.labels_per_slope * size
        if few and problem.outcome is problem.propensity:
            return ()
        return WEAKER if problem.symmetric else EITHER

    def arguments(self, problem: Problem) -> Arguments:
        matrix = standardising(problem)
        return Arguments(FreePair(problem.outcome, problem.propensity), matrix, matrix)

    def precision(self, problem: Problem, labelling_scale: float) -> Floats:
        q = problem.propensity.size - 1
        return np.full(q, q / labelling_scale**2)
