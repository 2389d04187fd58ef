"""What was fitted: one protocol, four kinds of model."""

from doublelogit.fitted.forest import Forest
from doublelogit.fitted.label import ImpliedPropensity, ScaledLabel
from doublelogit.fitted.linear import CertainLabel, HalfwayLabel, LinearPair, LinearSide
from doublelogit.fitted.mixture import PosteriorMixture
from doublelogit.fitted.plugged import PluggedPair, PluggedSide
from doublelogit.fitted.protocol import Coefficients, FittedModel, Probabilities, Side
from doublelogit.fitted.selected import SelectedComponents, SelectedSide, Selection
from doublelogit.fitted.sides import ComponentSide, MixtureSide, PosteriorSide

__all__ = [
    "CertainLabel",
    "Coefficients",
    "ComponentSide",
    "FittedModel",
    "Forest",
    "HalfwayLabel",
    "ImpliedPropensity",
    "LinearPair",
    "LinearSide",
    "MixtureSide",
    "PluggedPair",
    "PluggedSide",
    "PosteriorMixture",
    "PosteriorSide",
    "Probabilities",
    "ScaledLabel",
    "SelectedComponents",
    "SelectedSide",
    "Selection",
    "Side",
]
