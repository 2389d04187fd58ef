"""How much the curves of a class may bend, by labels that were held out.

The ridge of a method has one strength for all slopes; how large smooth terms are made says how hard
it pulls them to the line. Sizes are tried from the smallest, and the first is kept whose likelihood
of labels that were held out is within a standard error of the best.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.base import clone

from doublelogit._types import Floats, Ints
from doublelogit.core.folds import FoldsError, content_keys, held_out_splits
from doublelogit.core.held_out import cross_fitted, simplest
from doublelogit.metrics import label_log_likelihoods
from doublelogit.tables import TableEncoding

SIZES = (0.05, 0.2, 0.8)
FOLDS = 3
FEWEST_TO_SMOOTH = (
    10  # labels; below, or if rows are all alike, the curves stay as flat as they can be
)


def chosen_size(classifier: Any, X: Any, encoding: TableEncoding, rows: Mapping[str, Any]) -> float:
    """The size of smooth terms, given a classifier of lines and curves and encoded rows.

    ``rows`` holds s, sample_weight and audited_y of fit.
    """
    s = np.asarray(rows["s"])
    if s.sum() < FEWEST_TO_SMOOTH:
        return SIZES[0]
    curves = np.isin(np.asarray(X.columns), encoding.curves)
    weight = np.ones(len(s)) if rows["sample_weight"] is None else rows["sample_weight"]
    try:
        splits = held_out_splits(content_keys(X.loc[:, ~curves]), s, FOLDS, weight)
    except FoldsError:
        return SIZES[0]
    columns = {"sample_weight": rows["sample_weight"], "audited_y": rows["audited_y"]}
    columns = {name: np.asarray(v) for name, v in columns.items() if v is not None}

    def scored(size: float) -> Floats:
        Z = X * np.where(curves, size, 1.0)

        def values(train: Ints, test: Ints) -> Floats:
            fitting = {name: column[train] for name, column in columns.items()}
            fitted = clone(classifier).fit(Z.iloc[train], s[train], **fitting)
            return label_log_likelihoods(s[test], fitted.predict_label_proba(Z.iloc[test]))

        return cross_fitted(len(s), splits, values)

    return float(simplest({size: scored(size) for size in SIZES}, np.asarray(weight)))
