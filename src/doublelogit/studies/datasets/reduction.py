"""Smaller tables for large comparisons, by the protocol of the paper's follow-ups."""

from typing import Any

import numpy as np
from sklearn.feature_selection import mutual_info_classif
from sklearn.model_selection import train_test_split
from sklearn.utils import check_random_state

from doublelogit._types import Floats, Ints

MOST_CORRELATED = 0.95  # a column this close to an earlier one is its copy


def reduce_rows(X: Floats, y: Ints, max_rows: int, random_state: Any) -> tuple[Floats, Ints]:
    """At most so many rows in their order, each class in its proportion."""
    if max_rows < 2:
        raise ValueError(f"max_rows must be at least 2; got {max_rows}.")
    if len(y) <= max_rows:
        return X, y
    chosen, _ = train_test_split(
        np.arange(len(y)),
        train_size=max_rows,
        stratify=y,
        random_state=check_random_state(random_state),
    )
    chosen = np.sort(chosen)
    return X[chosen], y[chosen]


def reduce_columns(X: Floats, y: Ints, max_columns: int, random_state: Any) -> list[int]:
    """Columns that are no copies, at most so many: those that tell most about the class."""
    if max_columns < 1:
        raise ValueError(f"max_columns must be at least 1; got {max_columns}.")
    distinct = _no_copies(X)
    if len(distinct) <= max_columns:
        return distinct
    information = mutual_info_classif(
        X[:, distinct], y, random_state=check_random_state(random_state)
    )
    best = np.argsort(-information, kind="stable")[:max_columns]
    return sorted(distinct[j] for j in best)


def _no_copies(X: Floats) -> list[int]:
    """Columns that vary and correlate less than .95 with every one kept before them."""
    centred = X - X.mean(axis=0)
    size = np.linalg.norm(centred, axis=0)
    distinct: list[int] = []
    for j in np.flatnonzero(size > 0):
        r = np.abs(centred[:, distinct].T @ centred[:, j]) / (size[distinct] * size[j])
        if not np.any(r >= MOST_CORRELATED):
            distinct.append(int(j))
    return distinct
