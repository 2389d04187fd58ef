"""Linear algebra of the design matrix: the only code that knows how X is stored.

Every coefficient vector ends with the intercept. Dense arrays and scipy CSR matrices go
through the same verbs.

Two predictors are two products with a vector. A matrix of two columns would be one pass over X, but
BLAS is twice as slow at it, and a block is in the cache anyway.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse
from scipy.linalg.blas import dtrmm

from doublelogit._types import Floats, Ints, Matrix

SMALL = 20_000  # entries of which a product costs less than the choice of the best kernel
WIDE = 100  # columns from which half of a product is worth a call of its own
CACHE_BYTES = 2**18  # scaled rows at once: written and read again while still in the cache


def predictor(X: Matrix, coef: Floats) -> Floats:
    """Linear predictor ``X @ coef[:-1] + coef[-1]``."""
    return np.asarray(X @ coef[:-1] + coef[-1])


def pull_back(X: Matrix, d: Floats) -> Floats:
    """Gradient ``[X, 1]' d`` of a function of the predictor whose derivative is d."""
    return np.concatenate([X.T @ d, d.sum(axis=0, keepdims=True)])


def sandwich(X: Matrix, h: Floats) -> Floats:
    """Curvature ``[X, 1]' diag(h) [X, 1]``."""
    if not h.any():  # a model that something does not depend on costs nothing
        return np.zeros((X.shape[1] + 1, X.shape[1] + 1))
    edge = X.T @ h
    return _bordered(_core(X, h), edge, edge, h.sum())


def cross(X: Matrix, h: Floats, Z: Matrix) -> Floats:
    """Mixed curvature ``[X, 1]' diag(h) [Z, 1]`` of two models with columns of their own."""
    if X is Z:
        return sandwich(X, h)
    if not h.any():
        return np.zeros((X.shape[1] + 1, Z.shape[1] + 1))
    if sparse.issparse(Z):
        core = _dense(X.T @ Z.multiply(h[:, None]).tocsr())
    else:
        core = sum(X[part].T @ (h[part, None] * Z[part]) for part in _slices(Z))
    return _bordered(core, X.T @ h, Z.T @ h, h.sum())


def quadratic(X: Matrix, V: Floats, Z: Matrix) -> Floats:
    """``[x, 1]' V [z, 1]`` of each row."""
    core = X @ V[:-1, :-1]
    if sparse.issparse(Z):
        total = np.asarray(Z.multiply(core).sum(axis=1)).ravel()
    else:
        total = row_products(np.asarray(Z), _dense(core))
    return np.asarray(total + X @ V[:-1, -1] + Z @ V[-1, :-1] + V[-1, -1])


def row_products(Z: Floats, W: Floats) -> Floats:
    """Products ``z'w`` of the rows of two dense matrices."""
    return np.asarray(np.einsum("ij,ij->i", Z, W))


def row_squares(X: Matrix, root: Floats) -> Floats:
    """Squared lengths of ``[x, 1]'root``, the slopes of an upper triangular root coming first."""
    p = X.shape[1]
    if sparse.issparse(X) or p < WIDE:
        along = predictor(X, root)
        return row_products(along, along)
    # half the work of a product; what is left are the columns beyond the square
    along = dtrmm(1.0, root[:p, :p], X.T, trans_a=1).T
    along += root[-1, :p]
    beyond = predictor(X, root[:, p:])
    return row_products(along, along) + row_products(beyond, beyond)


def squares(X: Matrix, h: Floats) -> Floats:
    """Diagonal of :func:`sandwich`, without the matrix."""
    if sparse.issparse(X):
        return np.append(X.multiply(X).T @ h, h.sum())
    return np.append(sum((X[part] ** 2).T @ h[part] for part in _slices(X)), h.sum())


def squares_about(X: Matrix, h: Floats, centre: Floats) -> Floats:
    """``sum_i h_i (x_ij - centre_j)^2`` for each column; a sparse X is not centred for it."""
    if sparse.issparse(X):
        sums = X.multiply(X).T @ h - 2 * centre * (X.T @ h) + centre**2 * h.sum()
        return np.maximum(sums, 0.0)
    return np.asarray(sum(((X[part] - centre) ** 2).T @ h[part] for part in _slices(X)))


def column_extremes(X: Matrix) -> tuple[Floats, Floats]:
    """Smallest and largest value of each column."""
    low, high = X.min(axis=0), X.max(axis=0)
    return (_dense(low).ravel(), _dense(high).ravel()) if sparse.issparse(X) else (low, high)


def _core(X: Matrix, h: Floats) -> Floats:
    """``X' diag(h) X``, by a symmetric kernel where h allows it."""
    if sparse.issparse(X):
        return _dense(X.T @ X.multiply(h[:, None]).tocsr())
    p = X.shape[1]
    if X.size <= SMALL:
        return np.asarray(X.T @ (X * h[:, None]))
    slices, total = _slices(X), np.zeros((p, p))
    scaled = np.empty(X[slices[0]].shape)
    definite = bool((h >= 0).all())
    root = np.sqrt(h) if definite else h
    for part in slices:
        x = X[part]
        z = np.multiply(x, root[part, None], out=scaled[: len(x)])
        # numpy sends z'z to BLAS syrk, half the work of gemm
        total += z.T @ z if definite else x.T @ z
    return total


def _slices(X: Floats) -> list[slice]:
    """Rows whose products are made at once, so that no copy of a whole block is.

    They are as many as columns at least: each product is added to a matrix of that size.
    """
    step = max(CACHE_BYTES // (8 * max(X.shape[1], 1)), X.shape[1], 64)
    return [slice(i, i + step) for i in range(0, max(len(X), 1), step)]


def _bordered(core: Floats, right: Floats, below: Floats, corner: float) -> Floats:
    """Add the intercept's row and column."""
    full = np.empty((core.shape[0] + 1, core.shape[1] + 1))
    full[:-1, :-1], full[:-1, -1], full[-1, :-1], full[-1, -1] = core, right, below, corner
    return full


def _dense(core: Matrix) -> Floats:
    return np.asarray(core.toarray() if sparse.issparse(core) else core)


@dataclass(frozen=True)
class Terms:
    """The terms of one model: some of the columns (None: all of them) and the intercept.

    Coefficients of a model are short, one per term; ``embed`` makes them full-length. ``unit`` is
    the size of every column by which its slope is penalised; None is one.
    """

    n_features: int
    columns: Ints | None = None
    unit: Floats | None = None

    @property
    def size(self) -> int:
        """Number of coefficients, with the intercept."""
        return 1 + (self.n_features if self.columns is None else len(self.columns))

    @property
    def used(self) -> Ints:
        """Numbers of the columns that the model uses."""
        return np.arange(self.n_features) if self.columns is None else self.columns

    def same(self, other: "Terms") -> bool:
        """Whether the other model has the same terms."""
        return np.array_equal(self.used, other.used)

    def without(self, others: Ints) -> "Terms":
        """The terms that are not among these columns."""
        return replace(self, columns=np.setdiff1d(self.used, others))

    def embed(self, theta: Floats) -> Floats:
        """Full-length coefficients, zero where the model has no term."""
        if self.columns is None:
            return theta
        coef = np.zeros(self.n_features + 1)
        coef[self.columns], coef[-1] = theta[:-1], theta[-1]
        return coef

    def embed_matrix(self, matrix: Floats) -> Floats:
        """A matrix of all pairs of full-length coefficients, likewise."""
        if self.columns is None:
            return matrix
        full = np.zeros((self.n_features + 1, self.n_features + 1))
        own = np.append(self.columns, self.n_features)
        full[np.ix_(own, own)] = matrix
        return full

    def take(self, coef: Floats) -> Floats:
        """The entries of a full-length vector that belong to the terms."""
        return coef if self.columns is None else np.append(coef[self.columns], coef[-1])

    def select(self, X: Matrix) -> Matrix:
        """The columns of X that are terms."""
        return X if self.columns is None else X[:, self.columns]
