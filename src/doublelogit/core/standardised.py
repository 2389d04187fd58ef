"""Columns of a wide table in units of their standard deviations, a few of them at a time.

Dense columns are centred too. Sparse ones are scaled alone, since their zeros must stay zeros; the
intercept is free, so that both have the same penalised fits.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from doublelogit._types import Floats, Ints, Matrix
from doublelogit.core.design import pull_back


@dataclass(frozen=True)
class Standardised:
    """The columns of rows in memory, by their means and standard deviations.

    Columns that do not vary have a spread of zero, and are never asked for.
    """

    rows: Any
    centre: Floats
    spread: Floats

    @property
    def n_features(self) -> int:
        return len(self.spread)

    @cached_property
    def origin(self) -> Floats:
        """What is subtracted from each column."""
        return np.zeros(self.n_features) if sparse.issparse(self.rows.X) else self.centre

    @cached_property
    def unit(self) -> Floats:
        """What each column is divided by."""
        return np.where(self.spread > 0, self.spread, np.inf)

    @cached_property
    def _by_column(self) -> Matrix:
        X = self.rows.X
        return sparse.csc_matrix(X) if sparse.issparse(X) else X

    def some(self, columns: Ints) -> Matrix:
        """Some columns, standardised, as rows of their own."""
        unit = self.unit[columns]
        picked = self._by_column[:, columns]
        if sparse.issparse(picked):
            return sparse.csr_matrix(picked.multiply(1 / unit), dtype=np.float64)
        return (picked.astype(np.float64) - self.origin[columns]) / unit

    def pull_back(self, d: Floats) -> Floats:
        """Gradient of a function of the predictor whose derivative is d, without the intercept."""
        gradient = self.rows.sum_rows(pull_back, d)
        return np.asarray((gradient[:-1] - self.origin * gradient[-1]) / self.unit)

    def raw(self, coef: Floats) -> Floats:
        """Coefficients of the columns as they are, intercept last, from those of standard units."""
        slopes = coef[..., :-1] / self.unit
        if not self.origin.any():
            return np.concatenate([slopes, coef[..., -1:]], axis=-1)
        return np.concatenate([slopes, coef[..., -1:] - slopes @ self.origin[:, None]], axis=-1)
