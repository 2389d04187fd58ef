"""Classifiers whose two models may be any scikit-learn classifiers."""

from typing import Any

import numpy as np
from sklearn.utils.validation import (
    _check_y,
    check_consistent_length,
    check_is_fitted,
    validate_data,
)

from doublelogit._types import Floats
from doublelogit.design import Terms
from doublelogit.engines.memory import MemoryRows
from doublelogit.estimators.base import AbstractPUClassifier
from doublelogit.estimators.out_of_core import is_distant, over_blocks
from doublelogit.methods import Problem
from doublelogit.methods.classifiers import ClassifierModel, positive_logit
from doublelogit.rows import Rows


class PluggableModels(AbstractPUClassifier):
    """Parameters ``outcome`` and ``propensity``, predictions from whatever they were.

    A classifier that is plugged in gets X as the user passed it, so that a pipeline may pick
    columns by name; a logistic model needs numbers. If both are plugged in, X may hold
    anything that they can read.
    """

    outcome: Any
    propensity: Any

    def _rows(self, X: Any, y: Any, sample_weight: Any, audited_y: Any) -> Rows:
        own = self.outcome is not None, self.propensity is not None
        if any(own) and is_distant(X):
            raise ValueError(
                "a classifier of your own as outcome or propensity needs rows in memory; got "
                f"{type(X).__name__}. Leave it out, or read the rows first."
            )
        if not all(own):
            return super()._rows(X, y, sample_weight, audited_y)
        validate_data(self, X, skip_check_array=True)
        y = _check_y(y, multi_output=False, y_numeric=False)
        check_consistent_length(X, y)
        return self._labelled_rows(np.empty((len(y), 0)), y, sample_weight, audited_y)

    def _terms(self, rows: Rows) -> tuple[Terms, Terms]:
        for model, parameter in (
            (self.outcome, "outcome_features"),
            (self.propensity, "propensity_features"),
        ):
            if model is not None and getattr(self, parameter) is not None:
                raise ValueError(
                    f"{parameter} restricts the logistic model; let the classifier given as "
                    f"{parameter.removesuffix('_features')} choose its columns itself."
                )
        return super()._terms(rows)

    def _classifier(self, estimator: Any, problem: Problem, X: Any) -> ClassifierModel | None:
        """The model that wraps a classifier; None for the logistic default."""
        if estimator is None:
            return None
        assert isinstance(problem.rows, MemoryRows)
        return ClassifierModel(estimator, _shaped(X), problem.rows)

    def _keep(self, outcome: ClassifierModel | None, propensity: ClassifierModel | None) -> None:
        for name, model in (("outcome_", outcome), ("propensity_", propensity)):
            self.__dict__.pop(name, None)  # of an earlier fit, which may have had other models
            if model is not None:
                setattr(self, name, model.fitted)

    @over_blocks
    def decision_function(self, X: Any) -> Floats:
        check_is_fitted(self)
        if not hasattr(self, "outcome_"):
            return super().decision_function(X)
        return positive_logit(self.outcome_, self._unchecked(X))

    def _propensity_logit(self, X: Any) -> Floats:
        check_is_fitted(self)
        if not hasattr(self, "propensity_"):
            return super()._propensity_logit(X)
        return positive_logit(self.propensity_, self._unchecked(X))

    def _unchecked(self, X: Any) -> Any:
        """Names and number of features are checked, the values are the classifier's business."""
        X = _shaped(X)
        if len(X.shape) == 1:
            raise ValueError(
                "Expected 2D array, got 1D array instead. Reshape your data: one row is "
                "X.reshape(1, -1)."
            )
        validate_data(self, X, skip_check_array=True, reset=False)
        return X

    decision_function.__doc__ = AbstractPUClassifier.decision_function.__doc__


def _shaped(X: Any) -> Any:
    """X itself if it is an array, a sparse matrix or a frame; lists become arrays."""
    return X if hasattr(X, "shape") else np.asarray(X)
