"""The protocol of a shape: what the class looks like, the other axis of AVERAGED.

A shape is one file of this folder and one entry of ``SHAPES``; the first is the line, whose
components come from the search along the prevalence. Every other shape may propose components of
its own and take a share of the lines' mass for them: of each a mechanism of labelling, a
prevalence, and the class and labelling as two sides (``fitted.ComponentSide``), which are its state
in a model file. A side gives the predictor of every row, its spread, and lines or None; all that is
asked of y(x), of rows and of groups is answered from these. Drivers of the class are the lines';
where a side has none, columns are shown by partial dependence and contributions by putting the
average in the place of a column.

A shape that sees only the labels has y(x) = s(x) / e(x) (``any.py``): it learns s, chooses the
prevalences, and returns sides whose predictor is the logit of that quotient.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from doublelogit._types import Floats
from doublelogit.averaged.settings import Settings
from doublelogit.fitted import ComponentSide, PosteriorSide
from doublelogit.methods.problem import Problem


@dataclass(frozen=True)
class Components:
    """Components of one shape before they are weighed: names, prior scales, both models.

    ``log_mass`` is up to a constant of the shape: what all its components hold together is what
    the shape has ``taken``. ``pooled`` says how probabilities of components are averaged
    (``fitted.MixtureSide``).
    """

    mechanism: tuple[str, ...]
    labelling_scale: Floats
    class_scale: Floats
    log_mass: Floats
    outcome: ComponentSide
    propensity: ComponentSide
    pooled: bool = True


@dataclass(frozen=True)
class Lines(Components):
    """The components of lines."""

    outcome: PosteriorSide
    propensity: PosteriorSide


class Proposal(NamedTuple):
    """Components of a shape, and the share of the mass of each line that they take together."""

    taken: Floats
    components: Components


class Shape(ABC):
    """What the class may look like.

    Attributes
    ----------
    name : str
        What ``evidence_`` and model files call it.
    words : str
        What findings and pictures call it.
    colour : str
        Its colour in pictures.
    linear : bool
        Whether its class is the double logistic model's: then components are told apart by their
        mechanisms, and else by the shape.
    records : tuple of type
        Dataclasses of its state, beyond those of ``fitted``, that model files may hold.
    """

    name: ClassVar[str]
    words: ClassVar[str]
    colour: ClassVar[str]
    linear: ClassVar[bool] = False
    records: ClassVar[tuple[type, ...]] = ()

    @abstractmethod
    def proposed(
        self, problem: Problem, mean_s: float, lines: Lines, settings: Settings
    ) -> Proposal | None:
        """Its components and what they take of the lines; None where the shape does not apply."""

    def graph(self, side: Any, X: Any, predictors: Callable[[Any, Any], Any]) -> Any:
        """The predictors of a side as nodes of ONNX; ``predictors`` makes those of lines.

        A shape that has no graph raises a TypeError whose sentence says so.
        """
        return predictors(side, X)
