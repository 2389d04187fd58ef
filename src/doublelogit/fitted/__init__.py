"""What was fitted: one protocol, four kinds of model."""

from doublelogit.fitted.forest import Forest
from doublelogit.fitted.label import ImpliedPropensity, ScaledLabel
from doublelogit.fitted.linear import CertainLabel, HalfwayLabel, LinearPair, LinearSide
from doublelogit.fitted.mixture import (
    ComponentSide,
    MixtureSide,
    PosteriorMixture,
    PosteriorSide,
)
from doublelogit.fitted.plugged import PluggedPair, PluggedSide
from doublelogit.fitted.protocol import Coefficients, FittedModel, Probabilities, Side

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
    "Side",
]
