"""Folds by the content of a row, so that whoever holds a row out holds its copies out with it.

A key is 64 bits mixed from the numbers of a row, or from the name of its cluster; its fold is the
key, mixed once more with a salt, modulo the number of folds. What follows:

- copies of a row, and the rows of a cluster, are in one fold;
- order, weights, engine, partition, sparsity and the machine change nothing, and nothing is drawn;
- the fold of a row can be computed again when the row is predicted.

What is guaranteed of the sizes: folds of n distinct contents are multinomial draws of n, so that a
fold of k has n/k of them give or take sqrt(n (k-1))/k. :func:`hold_out` takes the first salt with
which the rows outside every fold, and if possible those inside, have both labels; it raises
:class:`FoldsError` if there is none, as where two contents are all there is.
"""

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from doublelogit._types import Floats, Ints, Matrix

Keys = NDArray[np.uint64]
Split = tuple[Ints, Ints]

GOLDEN_RATIO = 0x9E3779B97F4A7C15  # 2^64 / 1.618...: increments that spread evenly over 64 bits
SALTS = 64
NUMBERS, DATES = "buif", "mM"  # kinds of numpy's dtypes
BLOCK_CELLS = 2**20  # numbers that are mixed at once: three temporary arrays of 8 MiB


class FoldsError(ValueError):
    """Rows that cannot be held out: too few labels, or contents that are all alike."""


def mix(z: Keys) -> Keys:
    """The finalizer of SplitMix64: every bit of the result depends on every bit."""
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def content_keys(X: Any) -> Keys:
    """A key per row: of a dense or sparse matrix, or of a data frame or array with texts in it.

    Numbers are taken in double precision, so that 1, 1.0 and True are one value; zeros have no
    sign, and all missing numbers are one, as are all missing and empty texts. A frame of numbers
    has the keys of its matrix.
    """
    if sparse.issparse(X):
        return _sparse_keys(sparse.csr_matrix(X))
    if hasattr(X, "iloc"):
        return _frame_keys(X)
    X = np.asarray(X)
    X = X if X.ndim > 1 else X[:, None]
    if X.dtype.kind in NUMBERS:
        return _dense_keys(X.astype(np.float64, copy=False))
    return _summed([_cells(X[:, j], j) for j in range(X.shape[1])], len(X))


def cluster_keys(cluster: Any) -> Keys:
    """A key per row from the name or number of its cluster."""
    return mix(_cells(np.asarray(cluster), 0))


@dataclass(frozen=True)
class Folds:
    """The fold of any row by its key: one of ``n_folds``, under a salt."""

    n_folds: int
    salt: int = 0

    def of(self, keys: Keys) -> Ints:
        """Fold of each key."""
        moved = mix(keys + np.uint64((self.salt + 1) * GOLDEN_RATIO % 2**64))
        return (moved % np.uint64(self.n_folds)).astype(np.intp)

    def splits(self, keys: Keys) -> list[Split]:
        """Rows outside and inside of every fold that has a row."""
        fold = self.of(keys)
        present = np.unique(fold).tolist()
        return [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in present]


def hold_out(
    keys: Keys, s: Floats, n_folds: int, weight: Floats | None = None, level: int = 0
) -> Folds:
    """Folds with which models of the label can be fitted outside and judged inside.

    Rows without weight are not counted. Folds of different ``level`` are independent: of rows
    within a fold, to cut them again.
    """
    counts = slice(None) if weight is None else np.flatnonzero(weight)
    keys, labelled = keys[counts], np.asarray(s)[counts] == 1
    possible = []
    for folds in _salted(n_folds, level):
        fold = folds.of(keys)
        sizes = [np.bincount(fold[kind], minlength=n_folds) for kind in (labelled, ~labelled)]
        if min(size.min() for size in sizes) > 0:
            return folds
        if min((size.sum() - size).min() for size in sizes) > 0:
            possible.append(folds)
    if not possible:
        raise FoldsError(
            f"no {n_folds} folds leave labelled and unlabelled rows outside of each: there are "
            f"{int(labelled.sum())} labelled rows, {int((~labelled).sum())} others, and "
            f"{len(np.unique(keys))} distinct rows in all."
        )
    return possible[0]


def held_out_splits(
    keys: Keys, s: Floats, n_folds: int, weight: Floats | None = None, level: int = 0
) -> list[Split]:
    """Rows to fit and rows to judge, by :func:`hold_out`."""
    return hold_out(keys, s, n_folds, weight, level).splits(keys)


def _salted(n_folds: int, level: int) -> Iterator[Folds]:
    return (Folds(n_folds, level * SALTS + i) for i in range(SALTS))


def _dense_keys(X: Floats) -> Keys:
    keys = np.empty(len(X), dtype=np.uint64)
    step = max(1, BLOCK_CELLS // max(1, X.shape[1]))
    salts = _column_salts(X.shape[1])
    for i in range(0, len(X), step):
        keys[i : i + step] = _mixed_numbers(X[i : i + step], salts).sum(axis=1, dtype=np.uint64)
    return mix(keys)


def _sparse_keys(X: Matrix) -> Keys:
    """The same: zeros add nothing, whether they are stored or not."""
    X = X if X.has_canonical_format else _canonical(X)
    cells = _mixed_numbers(X.data.astype(np.float64), _column_salts(X.shape[1])[X.indices])
    total = np.concatenate([np.zeros(1, np.uint64), np.cumsum(cells, dtype=np.uint64)])
    return mix(total[X.indptr[1:]] - total[X.indptr[:-1]])


def _canonical(X: Matrix) -> Matrix:
    """A copy whose repeated entries are added up."""
    X = X.copy()
    X.sum_duplicates()
    return X


def _frame_keys(frame: Any) -> Keys:
    cells = (_cells(_values(frame.iloc[:, j]), j) for j in range(frame.shape[1]))
    return _summed(cells, len(frame))


def _summed(cells: Iterable[Keys], n: int) -> Keys:
    keys = np.zeros(n, dtype=np.uint64)
    for column in cells:
        keys += column
    return mix(keys)


def _values(column: Any) -> NDArray[Any]:
    """Numbers as they are, also of pandas' dtypes with missing values; texts without them."""
    if column.dtype.kind in NUMBERS:
        return column.to_numpy(dtype=np.float64, na_value=np.nan)
    if column.dtype.kind in DATES:
        return column.to_numpy()
    return column.astype(object).where(column.notna(), "").to_numpy()


def _cells(values: NDArray[Any], column: int) -> Keys:
    """What each value of a column adds to the key of its row."""
    salt = _column_salts(column + 1)[-1:]
    if values.dtype.kind in NUMBERS:
        return _mixed_numbers(values.astype(np.float64), salt)
    if values.dtype.kind in DATES:
        return mix(values.astype(np.int64).view(np.uint64) + salt)
    distinct, at = np.unique(values.astype(str), return_inverse=True)
    return mix(np.array([_text_key(text) for text in distinct], np.uint64) + salt)[at]


def _text_key(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")


def _column_salts(n: int) -> Keys:
    return mix(np.arange(1, n + 1, dtype=np.uint64) * np.uint64(GOLDEN_RATIO))


def _mixed_numbers(X: Floats, salts: Keys) -> Keys:
    """Mixed bits of numbers; nothing of zeros, and one pattern for whatever is missing."""
    bits = np.where(np.isnan(X), np.nan, X).view(np.uint64)
    return np.where(X == 0, np.uint64(0), mix(mix(bits) + salts))
