"""Readings of the labels: the components of a posterior by what they assume, named and coloured.

Lines are told apart by their mechanism of labelling; other classes by their shape.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from doublelogit.averaged.mechanisms import mechanism_named
from doublelogit.averaged.shapes import shape_named
from doublelogit.fitted import PosteriorMixture

Choice = NDArray[np.bool_]


class Reading(NamedTuple):
    """One way to read the labels: name, words, colour, and which components assume it."""

    name: str
    words: str
    colour: str
    components: Choice


def readings(mixture: PosteriorMixture) -> list[Reading]:
    """The readings that a posterior holds, in the order of its components."""
    by_shape = np.array(mixture.shape)
    by_mechanism = np.array(mixture.mechanism)
    every = []
    for name in dict.fromkeys(mixture.shape):
        shape, here = shape_named(name), by_shape == name
        if not shape.linear:
            every.append(Reading(shape.name, shape.words, shape.colour, here))
            continue
        for one in dict.fromkeys(by_mechanism[here].tolist()):
            mechanism, those = mechanism_named(one), here & (by_mechanism == one)
            every.append(Reading(mechanism.name, mechanism.words, mechanism.colour, those))
    return every


def weighed_readings(mixture: PosteriorMixture) -> list[tuple[str, str, float]]:
    """Name and words of every reading, and its share of the posterior."""
    return [
        (one.name, one.words, float(mixture.weight[one.components].sum()))
        for one in readings(mixture)
    ]


class ShapeShare(NamedTuple):
    """A shape of the class: its name, its share of the posterior and its mean prevalence."""

    name: str
    weight: float
    prevalence: float


def by_shape(mixture: PosteriorMixture) -> list[ShapeShare]:
    """The shapes that a posterior holds."""
    of_component, shares = np.array(mixture.shape), mixture.outcome_model.share
    shapes = []
    for name in dict.fromkeys(mixture.shape):
        weight = mixture.weight * (of_component == name)
        total = float(weight.sum())
        shapes.append(ShapeShare(name, total, float(weight @ shares) / total))
    return shapes


def linear(mixture: PosteriorMixture) -> Choice:
    """The components whose class is the double logistic model's."""
    return np.array([shape_named(name).linear for name in mixture.shape])


def varying(mixture: PosteriorMixture) -> Choice:
    """The components whose labelling depends on the features."""
    return np.array([mechanism_named(name).varies for name in mixture.mechanism])
