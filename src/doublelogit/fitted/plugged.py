"""A pair of which at least one model is a classifier of another library."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import logit
from sklearn.utils import check_array

from doublelogit._types import Floats
from doublelogit.fitted.linear import LinearPair, LinearSide
from doublelogit.fitted.mixture import LIMIT


def positive_logit(estimator: Any, X: Any) -> Floats:
    """Logit of the probability that a fitted classifier gives to class 1."""
    column = estimator.classes_ == 1
    p = np.asarray(estimator.predict_proba(X), dtype=np.float64)[:, column].sum(axis=1)
    return np.asarray(logit(np.clip(p, LIMIT, 1 - LIMIT)))


@dataclass(frozen=True)
class PluggedSide:
    """A fitted classifier, given X as the user passed it: a pipeline may pick columns by name."""

    estimator: Any
    coef: None = None

    def logit(self, X: Any) -> Floats:
        return positive_logit(self.estimator, X)

    def uncentred(self, shift: Floats) -> "PluggedSide":
        return self  # it has seen the features as they are


@dataclass(frozen=True)
class NumericSide(LinearSide):
    """A linear model beside a plugged one: it needs numbers, whatever its neighbour reads."""

    def logit(self, X: Any) -> Floats:
        numbers = check_array(X, accept_sparse="csr", dtype=(np.float64, np.float32))
        return super().logit(numbers)


@dataclass(frozen=True)
class PluggedPair(LinearPair):
    """Two models of which at least one is a :class:`PluggedSide`."""
