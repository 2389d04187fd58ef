"""A logistic model bent by what was added to its predictor: trees, or a network."""

from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from doublelogit._types import Floats
from doublelogit.design import predictor
from doublelogit.fitted.linear import uncentred_coef


class Addition(Protocol):
    """Something that gives each row a number."""

    def predict(self, X: Floats) -> Floats:
        """The number of each row."""


@dataclass(frozen=True)
class BentSide:
    """x'line, and the mean of some additions to it, which were made for x as it is."""

    line: Floats
    additions: tuple[Addition, ...]
    coef: None = None

    def logit(self, X: Any) -> Floats:
        X = np.asarray(X, dtype=np.float64)
        added = [addition.predict(X) for addition in self.additions]
        return predictor(X, self.line) + np.mean(added, axis=0)

    def uncentred(self, shift: Floats) -> "BentSide":
        return replace(self, line=uncentred_coef(self.line, shift))
