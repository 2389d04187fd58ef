"""Labels of several sources, as a user passes them: a column for each."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from doublelogit.core.labels import Labels
from doublelogit.core.patterns import MOST_SOURCES
from doublelogit.tables.words import is_missing


def is_several(y: Any) -> bool:
    """Whether labels have a column for each of several sources."""
    shape = np.asarray(y).shape
    return len(shape) == 2 and shape[1] > 1


def source_columns(y: Any) -> NDArray[Any]:
    """Labels of several sources, (n, m), NaN where one did not look."""
    y = np.asarray(y)
    if y.shape[1] > MOST_SOURCES:
        raise ValueError(
            f"labels may come from at most {MOST_SOURCES} sources, y of shape (n, m); got "
            f"{y.shape[1]} columns. Join sources that work alike: np.nanmax of their columns."
        )
    if y.dtype.kind == "O":
        y = np.where(missing_labels(y), np.nan, y)
    return y


def source_names(y: Any) -> NDArray[Any]:
    """Names of the columns of y, where it has any; else source 1, source 2, and so on."""
    numbered = [f"source {j + 1}" for j in range(np.asarray(y).shape[1])]
    names = y.columns if hasattr(y, "columns") else numbered
    return np.array([str(name) for name in names], dtype=object)


def check_each_source(labels: Labels) -> None:
    """Every source must have labelled some row, or nothing is to be learned of it."""
    assert labels.by_source is not None
    silent = np.flatnonzero(np.nansum(labels.by_source, axis=0) == 0)
    if len(silent):
        raise ValueError(
            f"every source must have labelled some row; got none in column {silent[0]} of y. Leave "
            "that column out."
        )


def any_label(y: Any, classes: NDArray[Any]) -> NDArray[Any]:
    """Labels of several sources as one: that of any of them."""
    labelled = (np.asarray(y) == classes[1]).any(axis=1)
    return classes[labelled.astype(int)]


def present(y: NDArray[Any]) -> NDArray[Any]:
    """Labels as they are, of several sources those that are not missing."""
    return np.array(y[~missing_labels(y)].tolist()) if y.ndim > 1 else y


def missing_labels(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Where there is no label: NaN or None."""
    if values.dtype.kind == "f":
        return np.isnan(values)
    if values.dtype != object:
        return np.zeros(values.shape, dtype=bool)
    return np.reshape([is_missing(value) for value in values.ravel().tolist()], values.shape)
