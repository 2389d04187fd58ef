"""The sample of a label model from rows on any engine: two passes, and only what it needs travels.

All labelled rows up to a number are taken and as many others, drawn by content and weighted back,
so that order, partition and engine change nothing.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from doublelogit._types import Column, Floats, Ints, Matrix
from doublelogit.core.folds import Keys, content_keys, mix
from doublelogit.core.rows import Rows
from doublelogit.label_models.kinds import MANY_COLUMNS
from doublelogit.label_models.sample import DRAWN, Sample, distinct_rows

# Of 64 bits, those that a column in double precision holds.
UNUSED_BITS = np.uint64(11)


def sample_of(rows: Rows, most: int, columns: Ints | None = None) -> Sample:
    """Distinct rows, at most so many labelled and so many others; some columns of their features.

    Rows of one cluster share the fold of a label model.
    """
    draws = rows.map_rows(partial(_draws, columns))
    labelled, weight, drawn = (
        rows.collect(_as_it_is, column) for column in (rows.labels.any, rows.weight, draws)
    )
    limits = [_limit(drawn[(labelled == s) & (weight > 0)], most) for s in (0, 1)]
    totals = [weight[labelled == s].sum() for s in (0, 1)]
    del labelled, weight, drawn
    found = rows.sum_rows(
        partial(_chosen, columns, limits), draws, rows.labels.any, rows.weight, rows.cluster
    )
    X, s, weight, cluster = found.together()
    for kind in (0, 1):
        if limits[kind] < np.inf:
            weight = np.where(s == kind, weight * totals[kind] / weight[s == kind].sum(), weight)
    return distinct_rows(X, s, weight, cluster)


@dataclass(frozen=True)
class Gathered:
    """Rows of some blocks; the sum of two are those of both."""

    blocks: list[tuple[Any, ...]]

    def __add__(self, other: "Gathered") -> "Gathered":
        return Gathered(self.blocks + other.blocks)

    def together(self) -> tuple[Matrix, Floats, Floats, Keys | None]:
        """Features, labels, weights and keys of clusters."""
        X, s, weight, cluster = zip(*self.blocks, strict=True)
        stack: Callable[..., Any] = sparse.vstack if sparse.issparse(X[0]) else np.concatenate
        features = stack(X).tocsr() if sparse.issparse(X[0]) else stack(X)
        keys = None if cluster[0] is None else np.concatenate(cluster)
        return features, np.concatenate(s), np.concatenate(weight), keys


def features_of(X: Matrix, columns: Ints | None) -> Matrix:
    """What a label model sees of X: some of its columns, all if None; few columns as dense ones.

    So that sparse features have the answer of dense ones.
    """
    X = X if columns is None else X[:, columns]
    return X.toarray() if sparse.issparse(X) and X.shape[1] <= MANY_COLUMNS else X


def _draws(columns: Ints | None, X: Matrix) -> Floats:
    """A number of each row that follows from its content, as if drawn."""
    keys = mix(content_keys(X if columns is None else X[:, columns]) ^ DRAWN)
    return (keys >> UNUSED_BITS).astype(np.float64)


def _as_it_is(column: Column) -> Column:
    return column


def _limit(drawn: Floats, most: int) -> float:
    """The number up to which rows are taken: of so many distinct contents at most."""
    distinct = np.unique(drawn)
    return np.inf if len(distinct) <= most else float(distinct[most - 1])


def _chosen(
    columns: Ints | None,
    limits: list[float],
    X: Matrix,
    drawn: Floats,
    labelled: Floats,
    weight: Floats,
    cluster: Floats | None,
) -> Gathered:
    limit = np.where(labelled == 1, limits[1], limits[0])
    rows = np.flatnonzero((drawn <= limit) & (weight > 0))
    keys = None if cluster is None else mix(cluster[rows].astype(np.uint64))
    return Gathered([(features_of(X[rows], columns), labelled[rows], weight[rows], keys)])
