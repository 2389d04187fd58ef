"""The protocol of a mechanism: how labels are given, one of the two axes of AVERAGED.

A mechanism is one file of this folder and one entry of ``MECHANISMS``. It says where it applies and
how likely it is beforehand, which coordinates a slice has under it, and what its labels depend on.
Everything else reads it by these attributes.

Its labelling has either slopes in the coordinates of a slice (``arguments`` name the predictors),
or a propensity that is held for each row: then ``Arguments.offset`` is a column of logits, which is
added to the predictor of labelling while the class is fitted, and the slice has no slopes but those
of the class (``TiedPair`` with a multiple of zero). Derivatives, ascent and evidence are the same.
"""

from abc import ABC, abstractmethod
from typing import ClassVar, NamedTuple

import numpy as np
from scipy.special import expit, logit

from doublelogit._types import Column, Floats, Matrix
from doublelogit.averaged.expectation import TwoPredictors
from doublelogit.averaged.settings import Settings
from doublelogit.methods.problem import Problem


class Odds(NamedTuple):
    """Prior odds of a mechanism, at one strength of labelling as a share of the class's."""

    prior: float
    strength: float


class Arguments(NamedTuple):
    """The arguments that a likelihood has under a mechanism, and the way to them.

    ``to_arguments`` takes the coordinates of a slice, the propensity's intercept last, to the
    arguments of ``pair``, ``to_theta`` takes them to both models. ``offset`` is a logit of
    labelling for each row.
    """

    pair: TwoPredictors
    to_arguments: Matrix
    to_theta: Matrix
    offset: Column | None = None


class Mechanism(ABC):
    """How labels are given.

    Attributes
    ----------
    name : str
        What ``evidence_`` and model files call it.
    words : str
        What findings and pictures call it.
    colour : str
        Its colour in pictures.
    varies : bool
        Whether labelling depends on the features.
    own_slopes : bool
        Whether it depends on them by slopes of its own.
    of_class : float
        The multiple of the class's predictor that labelling's has.
    """

    name: ClassVar[str]
    words: ClassVar[str]
    colour: ClassVar[str]
    varies: ClassVar[bool] = True
    own_slopes: ClassVar[bool] = False
    of_class: ClassVar[float] = 0.0

    @abstractmethod
    def odds(self, problem: Problem, settings: Settings) -> tuple[Odds, ...]:
        """Prior odds at each strength of labelling; none where the mechanism does not apply."""

    @abstractmethod
    def arguments(self, problem: Problem) -> Arguments:
        """Predictors of a slice, or a propensity held for each row."""

    def problem(self, problem: Problem) -> Problem:
        """The problem as the mechanism has it."""
        return problem

    def precision(self, problem: Problem, labelling_scale: float) -> Floats:
        """Prior precisions of the coordinates that labelling adds to those of the class."""
        return np.empty(0)

    def log_frequency(self, c: Floats) -> Floats:
        """Logarithm of the prior density of the label frequency, which is uniform."""
        return np.zeros(np.shape(c))

    def propensity(self, y: Floats, b: Floats) -> Floats:
        """e(x, y): chance of a label for a positive row, by y(x) and the logit of labelling."""
        with np.errstate(divide="ignore"):
            along = self.of_class * logit(y) if self.of_class else 0.0
        return np.asarray(expit(along + b))

    def draw(self, positive: Floats, y: Floats, b: Floats, rng: np.random.Generator) -> Floats:
        """Labels of rows, by their class, y(x) and the logit of labelling."""
        return np.asarray(positive * (rng.random(np.shape(y)) < self.propensity(y, b)), dtype=float)


def constant_labelling(problem: Problem) -> bool:
    """Whether a constant propensity was asked for."""
    return problem.propensity.size == 1
