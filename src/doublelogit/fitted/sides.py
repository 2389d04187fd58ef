"""The two models of a posterior, in components: lines with their covariances, mixtures of shapes.

Components of one shape of the class stand together: each of the two models is a row of sides, one
for each shape.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from doublelogit._types import Floats, Matrix
from doublelogit.core.design import predictor, quadratic


def deviations(X: Matrix, covariance: Floats) -> Floats:
    """Standard deviation of [x, 1]'coef for each row and each covariance of coef."""
    variance = [
        quadratic(X, V, X) if V[:-1].any() else np.full(X.shape[0], V[-1, -1]) for V in covariance
    ]
    return np.sqrt(np.maximum(np.column_stack(variance), 0.0))


class ComponentSide(Protocol):
    """One of the two models in the components of one shape.

    ``features`` and ``covariance`` give the variance of each row's predictor, z'V_k z.
    """

    @property
    def covariance(self) -> Floats:
        """Covariances of what multiplies the features, (components, terms, terms)."""

    @property
    def share(self) -> Floats:
        """Mean of the expected probability over the rows of the sample, by component."""

    @property
    def share_sd(self) -> Floats:
        """Standard deviation of that share, including that of drawing the rows."""

    @property
    def lines(self) -> "PosteriorSide | None":
        """The part with a coefficient for every column of X; None if the shape has none."""

    @property
    def constant(self) -> bool:
        """Whether its probabilities do not depend on the features."""

    def predictor(self, X: Matrix) -> Floats:
        """Predictor of each row at the centre of each component."""

    def mean_predictor(self, X: Matrix, weight: Floats) -> Floats:
        """Sum of the predictors of a row by the weights of its components."""

    def features(self, X: Matrix) -> Matrix:
        """The columns that the coefficients of the components multiply."""

    def deviation(self, X: Matrix) -> Floats:
        """Standard deviation of the predictor within each component."""

    def beside(self, other: Any, X: Matrix) -> tuple[Floats, Floats]:
        """Predictors of this model and of the other one of the same components."""

    def uncentred(self, shift: Floats) -> "ComponentSide":
        """The model of features x, from that of x - shift."""

    def for_new_rows(self) -> "ComponentSide":
        """The model that predicts rows of fit as it predicts new ones."""


@dataclass(frozen=True)
class PosteriorSide:
    """Lines: one of the two models by coefficients, intercept last, with their covariances.

    ``share`` is the mean of its expected probability over the rows of the sample (for the outcome:
    the prevalence), ``share_sd`` its standard deviation, including that of drawing the rows.
    """

    coef: Floats  # (components, terms)
    covariance: Floats  # (components, terms, terms)
    share: Floats
    share_sd: Floats

    @property
    def errors(self) -> Floats:
        """Standard deviations of the coefficients."""
        return np.sqrt(np.maximum(np.diagonal(self.covariance, axis1=1, axis2=2), 0.0))

    @property
    def lines(self) -> "PosteriorSide":
        """The part of the model that has a coefficient for every column of X."""
        return self

    @property
    def constant(self) -> bool:
        """Whether its probabilities do not depend on the features."""
        return not self.coef[:, :-1].any()

    def predictor(self, X: Matrix) -> Floats:
        """Linear predictor of each row at the centre of each component."""
        return np.asarray(self.features(X) @ self.coef[:, :-1].T) + self.coef[:, -1]

    def mean_predictor(self, X: Matrix, weight: Floats) -> Floats:
        """Sum of the predictors of a row by the weights of its components."""
        return predictor(self.features(X), weight @ self.coef)

    def deviation(self, X: Matrix) -> Floats:
        """Standard deviation of the predictor within each component."""
        return deviations(self.features(X), self.covariance)

    def features(self, X: Matrix) -> Matrix:
        """The columns that the coefficients multiply."""
        return X

    def beside(self, other: Any, X: Matrix) -> tuple[Floats, Floats]:
        """Predictors of this model and of the other one of the same components."""
        return self.predictor(X), other.predictor(X)

    def for_new_rows(self) -> "PosteriorSide":
        """Lines predict rows of fit as they predict new ones."""
        return self

    def uncentred(self, shift: Floats) -> "PosteriorSide":
        """The coefficients of features x, from those of x - shift."""
        matrix = np.eye(len(shift) + 1)
        matrix[-1, :-1] = -shift
        covariance = matrix @ self.covariance @ matrix.T
        return replace(self, coef=self.coef @ matrix.T, covariance=covariance)


@dataclass(frozen=True)
class MixtureSide:
    """One of the two models in all components: a side for each shape.

    The probability that components mean together is that of their mean logit where they are
    ``pooled``, as lines are: a mean of probabilities would draw each of them towards one half, as
    no fit that knows the classes does. Of other shapes, each calibrated, it is the mean
    probability. ``level`` is added to the mean logit, so that pooled probabilities average to their
    mean share.
    """

    sides: tuple[ComponentSide, ...]
    level: float = 0.0
    pooled: tuple[bool, ...] | None = None  # by side; None: all of them

    @cached_property
    def share(self) -> Floats:
        """Mean of the expected probability over the rows of the sample, by component."""
        return np.concatenate([side.share for side in self.sides])

    @cached_property
    def share_sd(self) -> Floats:
        """Standard deviation of that share."""
        return np.concatenate([side.share_sd for side in self.sides])

    @property
    def sizes(self) -> list[int]:
        """Number of components of each side."""
        return [len(side.share) for side in self.sides]

    def split(self, values: Floats) -> list[Floats]:
        """Values of all components, by side; the last axis is cut."""
        return np.split(values, np.cumsum(self.sizes)[:-1], axis=-1)

    def predictor(self, X: Matrix) -> Floats:
        """Predictor of each row at the centre of each component."""
        return np.column_stack([side.predictor(X) for side in self.sides])

    def deviation(self, X: Matrix) -> Floats:
        """Standard deviation of the predictor within each component."""
        return np.column_stack([side.deviation(X) for side in self.sides])

    @cached_property
    def pools(self) -> NDArray[np.bool_]:
        """Whether a component is pooled with others."""
        pooled = (True,) * len(self.sides) if self.pooled is None else self.pooled
        return np.repeat(pooled, self.sizes)

    def pooled_logit(self, X: Matrix, weight: Floats) -> Floats:
        """Mean of the predictor over the pooled components."""
        weight = weight * self.pools
        by_side = zip(self.sides, self.split(weight / weight.sum()), strict=True)
        return np.asarray(sum(side.mean_predictor(X, part) for side, part in by_side if part.any()))

    def proba(self, X: Matrix, weight: Floats) -> Floats:
        """The probability that all components together mean."""
        if self.pools.all():
            return np.asarray(expit(self.pooled_logit(X, weight) + self.level))
        return self.proba_at(self.predictor(X), weight)

    def proba_at(self, a: Floats, weight: Floats) -> Floats:
        """The same, from the predictors of the components."""
        pools, apart = self.pools, ~self.pools
        share = weight[pools].sum()
        total = share * expit(a[:, pools] @ (weight[pools] / share) + self.level)
        return np.asarray(total + expit(a[:, apart]) @ weight[apart])

    def lines(self, weight: Floats) -> "tuple[Floats, PosteriorSide]":
        """Weights and coefficients of the components whose shape has any."""
        by_side = [
            (part, side.lines) for side, part in zip(self.sides, self.split(weight), strict=True)
        ]
        weights = np.concatenate([part for part, lines in by_side if lines is not None])
        every = [lines for _, lines in by_side if lines is not None]
        columns = (
            np.concatenate([getattr(lines, name) for lines in every])
            for name in ("coef", "covariance", "share", "share_sd")
        )
        return weights / weights.sum(), PosteriorSide(*columns)

    def mean_coef(self, weight: Floats) -> Floats:
        """Mean of the coefficients over the lines."""
        weight, lines = self.lines(weight)
        return np.asarray(weight @ lines.coef)

    def some(self, chosen: list[int]) -> "MixtureSide":
        """The model in the components of some sides, all of them pooled."""
        return replace(self, sides=tuple(self.sides[i] for i in chosen), pooled=None)

    @property
    def constant(self) -> bool:
        """Whether no probability depends on the features."""
        return all(side.constant for side in self.sides)

    def changed(self, change: Callable[[Any], Any]) -> "MixtureSide":
        """The model with every side changed."""
        return replace(self, sides=tuple(map(change, self.sides)))
