"""A small network as plain arrays: a model file holds it for ever, and numpy runs it."""

from dataclasses import dataclass

import numpy as np

from doublelogit._types import Floats, Ints


@dataclass(frozen=True)
class Layer:
    """Units, a row of ``weight`` each."""

    weight: Floats
    bias: Floats

    def apply(self, x: Floats) -> Floats:
        """What goes into the units."""
        return x @ self.weight.T + self.bias


@dataclass(frozen=True)
class Network:
    """Some standardised features through layers, with a hyperbolic tangent between any two."""

    columns: Ints
    centre: Floats
    scale: Floats
    layers: tuple[Layer, ...]

    def predict(self, X: Floats) -> Floats:
        """What the one unit of the last layer says of each row."""
        values = (X[:, self.columns] - self.centre) / self.scale
        for layer in self.layers[:-1]:
            values = np.tanh(layer.apply(values))
        return self.layers[-1].apply(values)[:, 0]
