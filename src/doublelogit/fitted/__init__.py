"""What was fitted: one protocol, four kinds of model."""

from doublelogit.fitted.bent import BentPosteriorSide, BentSide
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
from doublelogit.fitted.selected import SelectedComponents, SelectedSide, Selection

__all__ = [
    "BentPosteriorSide",
    "BentSide",
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
