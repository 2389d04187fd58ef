"""A posterior over a few columns of a wide table, and an index of the others.

The posterior is that of AVERAGED on the selected columns and, where held-out labels ask for it, one
more feature: a fixed index of the columns that were not selected. Full rows go in; what multiplies
features is as small as the selection. Coefficients are zero outside of it in every output.
"""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from doublelogit._types import Floats, Ints, Matrix
from doublelogit.fitted.sides import ComponentSide, MixtureSide, PosteriorSide


@dataclass(frozen=True)
class Selection:
    """From all columns to the selected ones and the index of the rest.

    The index is ``sum_j rest_coef_j x_j - rest_level`` over ``rest_columns``; without these there
    is none.
    """

    n_features: int
    columns: Ints
    rest_columns: Ints
    rest_coef: Floats
    rest_level: float = 0.0

    @classmethod
    def only(cls, n_features: int, columns: Ints) -> "Selection":
        """A selection without an index of the rest."""
        return cls(n_features, columns, np.array([], dtype=np.intp), np.array([]))

    @property
    def has_rest(self) -> bool:
        """Whether what was not selected has an index."""
        return len(self.rest_columns) > 0

    def features(self, X: Matrix) -> Floats:
        """The selected columns of some rows and, last, the index of the rest."""
        Z = X[:, self.columns]
        Z = np.asarray(Z.toarray() if sparse.issparse(Z) else Z, dtype=np.float64)
        if not self.has_rest:
            return Z
        index = np.asarray(X[:, self.rest_columns] @ self.rest_coef) - self.rest_level
        return np.column_stack([Z, index])

    def embed(self, values: Floats) -> Floats:
        """Values of the selected columns and the intercept at their places among all columns."""
        full = np.zeros((*values.shape[:-1], self.n_features + 1))
        full[..., self.columns] = values[..., : len(self.columns)]
        full[..., -1] = values[..., -1]
        return full

    def uncentred(self, shift: Floats) -> "Selection":
        """The selection for features x, given that for x - shift; its index stays as it is."""
        level = self.rest_level + float(shift[self.rest_columns] @ self.rest_coef)
        return replace(self, rest_level=level)

    def moved(self, shift: Floats) -> Floats:
        """The shift of the features that this makes."""
        return np.append(shift[self.columns], np.zeros(int(self.has_rest)))


class EmbeddedLines(NamedTuple):
    """Coefficients of all columns by component, zero outside of a selection, and their errors."""

    coef: Floats
    errors: Floats


@dataclass(frozen=True)
class SelectedComponents:
    """Components of one shape over selected columns.

    ``omitted`` is the variance that columns which were missed add to the predictor of a row,
    ``omitted_share`` what they add to that of the logit of the share.
    """

    inner: ComponentSide
    selection: Selection
    omitted: float = 0.0
    omitted_share: float = 0.0

    @property
    def covariance(self) -> Floats:
        return self.inner.covariance

    @property
    def share(self) -> Floats:
        return self.inner.share

    @property
    def share_sd(self) -> Floats:
        free = self.share * (1 - self.share)
        return np.sqrt(self.inner.share_sd**2 + self.omitted_share * free**2)

    @property
    def lines(self) -> PosteriorSide | None:
        """The lines over the selected columns, for a caller who embeds them."""
        return self.inner.lines

    @property
    def constant(self) -> bool:
        return self.inner.constant

    def predictor(self, X: Matrix) -> Floats:
        return self.inner.predictor(self.selection.features(X))

    def mean_predictor(self, X: Matrix, weight: Floats) -> Floats:
        return self.inner.mean_predictor(self.selection.features(X), weight)

    def features(self, X: Matrix) -> Matrix:
        return self.inner.features(self.selection.features(X))

    def deviation(self, X: Matrix) -> Floats:
        within = self.inner.deviation(self.selection.features(X))
        return np.sqrt(within**2 + self.omitted)

    def beside(self, other: Any, X: Matrix) -> tuple[Floats, Floats]:
        return self.inner.beside(other.inner, self.selection.features(X))

    def for_new_rows(self) -> "SelectedComponents":
        return replace(self, inner=self.inner.for_new_rows())

    def uncentred(self, shift: Floats) -> "SelectedComponents":
        inner = self.inner.uncentred(self.selection.moved(shift))
        return replace(self, inner=inner, selection=self.selection.uncentred(shift))


@dataclass(frozen=True)
class SelectedSide(MixtureSide):
    """One of the two models in all components, over selected columns."""

    sides: tuple[SelectedComponents, ...]

    @property
    def selection(self) -> Selection:
        """The selection, which is that of every component."""
        return self.sides[0].selection

    def lines(self, weight: Floats) -> "tuple[Floats, EmbeddedLines]":  # type: ignore[override]
        weights, lines = super().lines(weight)
        return weights, EmbeddedLines(
            self.selection.embed(lines.coef), self.selection.embed(lines.errors)
        )

    @classmethod
    def of(
        cls,
        side: MixtureSide,
        selection: Selection,
        omitted: float = 0.0,
        omitted_share: float = 0.0,
    ) -> "SelectedSide":
        """A model of the features that a selection makes, as one of all columns."""
        components = (
            SelectedComponents(each, selection, omitted, omitted_share) for each in side.sides
        )
        return cls(tuple(components), side.level, side.pooled)
