"""How much the curves of a class may bend, by labels that were held out.

The ridge of a method has one strength for all slopes; how large smooth terms are made says how hard
it pulls them to the line. Sizes are tried from the smallest on two thirds of the rows, and the
smallest is kept whose likelihood of the other labels is within a standard error of the best.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold

from doublelogit.core.held_out import simplest
from doublelogit.metrics import label_log_likelihoods
from doublelogit.tables import TableEncoding

SIZES = (0.05, 0.2, 0.8)
FOLDS = 3
FEWEST = 10  # labels; below, the curves stay as flat as they can be


def chosen_size(classifier: Any, X: Any, encoding: TableEncoding, rows: Mapping[str, Any]) -> float:
    """The size of smooth terms, given a classifier of lines and curves and encoded rows.

    ``rows`` holds s, sample_weight and audited_y of fit.
    """
    s = np.asarray(rows["s"])
    if s.sum() < FEWEST:
        return SIZES[0]
    curves = np.isin(np.asarray(X.columns), encoding.curves)
    train, test = next(StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(X, s))
    weight = np.ones(len(s)) if rows["sample_weight"] is None else rows["sample_weight"]
    fitting = {"sample_weight": rows["sample_weight"], "audited_y": rows["audited_y"]}
    fitting = {name: None if v is None else np.asarray(v)[train] for name, v in fitting.items()}
    scores = {}
    for size in SIZES:
        Z = X * np.where(curves, size, 1.0)
        fitted = clone(classifier).fit(Z.iloc[train], s[train], **fitting)
        scores[size] = label_log_likelihoods(s[test], fitted.predict_label_proba(Z.iloc[test]))
    return float(simplest(scores, np.asarray(weight)[test]))
