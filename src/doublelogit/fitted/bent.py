"""Models bent by trees that were added to their predictors."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from doublelogit._types import Floats
from doublelogit.core.design import predictor
from doublelogit.fitted.forest import Forest
from doublelogit.fitted.linear import uncentred_coef
from doublelogit.fitted.mixture import PosteriorSide


@dataclass(frozen=True)
class BentSide:
    """x'line, and the mean of some additions to it, which were made for x as it is."""

    line: Floats
    additions: tuple[Forest, ...]
    coef: None = None

    def logit(self, X: Any) -> Floats:
        X = np.asarray(X, dtype=np.float64)
        added = [addition.predict(X) for addition in self.additions]
        return predictor(X, self.line) + np.mean(added, axis=0)

    def uncentred(self, shift: Floats) -> "BentSide":
        return replace(self, line=uncentred_coef(self.line, shift))


@dataclass(frozen=True)
class BentPosteriorSide(PosteriorSide):
    """A model of a posterior with one more feature: the mean of some additions.

    Its slope comes before the intercept. Additions were made for x + origin.
    """

    additions: tuple[Forest, ...] = ()
    origin: Floats | None = None

    def features(self, X: Any) -> Floats:
        """X, and what the additions say of it."""
        X = np.asarray(X, dtype=np.float64)
        there = X if self.origin is None else X + self.origin
        added = np.mean([addition.predict(there) for addition in self.additions], axis=0)
        return np.column_stack([X, added])

    @property
    def mean_is_line(self) -> bool:
        return False

    @property
    def lines(self) -> PosteriorSide:
        """The model without its last feature."""
        columns = np.delete(np.arange(self.coef.shape[1]), -2)
        covariance = self.covariance[:, columns[:, None], columns]
        return PosteriorSide(self.coef[:, columns], covariance, self.share, self.share_sd)

    def uncentred(self, shift: Floats) -> "BentPosteriorSide":
        """The model of features x, given that of x - shift; what was added stays as it is."""
        moved = super().uncentred(np.append(shift, 0.0))
        origin = -shift if self.origin is None else self.origin - shift
        return replace(self, coef=moved.coef, covariance=moved.covariance, origin=origin)
