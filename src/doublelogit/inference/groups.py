"""The groups of rows for which a number is wanted: all rows together, or those of ``by``."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from doublelogit._types import Column, Floats, Matrix
from doublelogit.core.rows import Rows, row_count


@dataclass(frozen=True)
class Groups:
    """Names of the groups, and a column with the number of each row's group."""

    names: tuple[Any, ...]
    codes: Column

    @classmethod
    def everyone(cls, rows: Rows) -> "Groups":
        """All rows as one group."""
        return cls((None,), rows.map_columns(np.zeros_like, rows.weight))

    @classmethod
    def from_values(cls, values: Any, rows: Rows, what: str) -> "Groups":
        """Groups by one value per row; ``what`` names the argument in errors."""
        n, array = row_count(rows), np.asarray(values)
        if len(array) != n:
            raise ValueError(f"{what} must have one value per row; got {len(array)} for {n} rows.")
        if any(value is None or value != value for value in array.tolist()):
            raise ValueError(f"{what} must name a group for every row; got missing values.")
        names, codes = np.unique(array, return_inverse=True)
        return cls(tuple(names.tolist()), rows.scatter(codes))

    def __len__(self) -> int:
        return len(self.names)


def gathered(codes: Floats, n: int, values: Matrix, weight: Floats) -> Floats:
    """Weighted sums of the rows of ``values`` within each of n groups."""
    members = (codes.astype(np.intp), np.arange(len(codes)))
    gather = sparse.csr_array((weight, members), shape=(n, len(codes)))
    sums = gather @ values
    return np.asarray(sums.toarray() if sparse.issparse(sums) else sums)


def gathered_terms(codes: Floats, n: int, X: Matrix, weight: Floats) -> Floats:
    """Weighted sums of [x, 1] within each of n groups."""
    intercept = np.bincount(codes.astype(np.intp), weight, n)
    return np.column_stack([gathered(codes, n, X, weight), intercept])
