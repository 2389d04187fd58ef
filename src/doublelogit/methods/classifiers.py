"""Any scikit-learn classifier in the place of a logistic model."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from sklearn import config_context
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import has_fit_parameter

from doublelogit._types import Column, Floats
from doublelogit.core.folds import Split, content_keys, held_out_splits
from doublelogit.core.likelihood import logistic
from doublelogit.engines.memory import MemoryRows
from doublelogit.fitted.plugged import PluggedSide, positive_logit


@dataclass
class ClassifierModel:
    """A classifier fitted to soft targets: each row once per class, weighted by its target.

    With several folds it says of a row what classifiers of the other folds say, which have not seen
    it: a flexible one would otherwise hand on the label that it has memorised. The one that is kept
    is fitted to all rows, once, to the last targets.
    """

    estimator: Any
    X: Any
    rows: MemoryRows
    n_folds: int = 1
    last: tuple[Floats, Floats] | None = field(default=None, init=False)
    fitted: Any = field(default=None, init=False)  # of the last fold
    logit: Floats = field(init=False)
    worst: float = field(default=0.0, init=False)  # its convergence is its own business

    def fit(self, target: Column, weight: Column | None = None) -> float:
        weight = self.rows.weight if weight is None else weight
        self.last, self.logit = (target, weight), np.empty(len(target))
        for train, test in self._folds:
            outside = np.zeros(len(weight))
            outside[train] = weight[train]
            self.fitted = self._fitted(target, outside)
            self.logit[test] = positive_logit(self.fitted, _safe_indexing(self.X, test))
        loss = logistic(self.logit, target).value
        return float(weight @ loss / weight.sum())

    @cached_property
    def _folds(self) -> list[Split]:
        """Rows to fit and rows to be judged."""
        if self.n_folds == 1:
            every = np.arange(len(self.rows))
            return [(every, every)]
        return held_out_splits(
            content_keys(self.X), self.rows.labels.any, self.n_folds, self.rows.weight
        )

    def _fitted(self, target: Floats, weight: Floats) -> Any:
        shares = weight * target, weight * (1 - target)
        positive, negative = (np.flatnonzero(share > 0) for share in shares)
        index = np.concatenate([positive, negative])
        classes = np.repeat([1, 0], [len(positive), len(negative)])
        weights = np.concatenate([shares[0][positive], shares[1][negative]])
        # one class is no classification: where all likely positives are labelled, e(x) is 1
        template = self.estimator if len(np.unique(classes)) == 2 else DummyClassifier()
        fitted = clone(template)
        fit_weighted(fitted, _safe_indexing(self.X, index), classes, weights)
        return fitted

    def predictor(self) -> Floats:
        return self.logit

    def side(self) -> PluggedSide:
        if self.n_folds == 1:  # which has seen all rows
            return PluggedSide(self.fitted)
        assert self.last is not None
        return PluggedSide(self._fitted(*self.last))


def fit_weighted(estimator: Any, X: Any, y: Any, weights: Floats) -> None:
    """Fit with sample weights, which a pipeline takes under the name of its last step."""
    name, last = "", estimator
    while isinstance(last, Pipeline):
        step, last = last.steps[-1]
        name += f"{step}__"
    if not has_fit_parameter(last, "sample_weight"):
        raise ValueError(
            "outcome and propensity must be classifiers whose fit takes sample_weight; "
            f"{type(last).__name__} does not."
        )
    # by name, whatever the earlier steps would make of weights that are routed to all
    with config_context(enable_metadata_routing=False):
        estimator.fit(X, y, **{f"{name}sample_weight": weights})
