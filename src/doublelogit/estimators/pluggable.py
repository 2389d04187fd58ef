"""Classifiers whose two models may be any scikit-learn classifiers."""

from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import HasMethods
from sklearn.utils.validation import (
    _check_y,
    check_consistent_length,
    validate_data,
)

from doublelogit.core.design import Terms
from doublelogit.core.rows import Rows
from doublelogit.engines.memory import MemoryRows
from doublelogit.estimators.base import COUNT, AbstractPUClassifier
from doublelogit.estimators.out_of_core import is_distant
from doublelogit.estimators.validation import one_column, with_unlabelled
from doublelogit.fitted import LinearPair, PluggedPair, PluggedSide
from doublelogit.methods import Problem
from doublelogit.methods.classifiers import ClassifierModel


class PluggableModels(AbstractPUClassifier):
    """Parameters ``outcome`` and ``propensity``, predictions from whatever they were.

    A classifier that is plugged in gets X as the user passed it, so that a pipeline may pick
    columns by name; a logistic model needs numbers. If both are plugged in, X may hold
    anything that they can read.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **AbstractPUClassifier._parameter_constraints,
        "outcome": [HasMethods(["fit", "predict_proba"]), None],
        "propensity": [HasMethods(["fit", "predict_proba"]), None],
        "n_folds": COUNT,
    }

    outcome: Any
    propensity: Any
    n_folds: int
    model_: LinearPair

    def _rows(self, X: Any, y: Any, sample_weight: Any, audited_y: Any, groups: Any = None) -> Rows:
        plugged = self.outcome is not None, self.propensity is not None
        if any(plugged) and is_distant(X):
            raise ValueError(
                "a classifier of your own as outcome or propensity needs rows in memory; got "
                f"{type(X).__name__}. Leave it out, or read the rows first."
            )
        if not all(plugged):
            return super()._rows(X, y, sample_weight, audited_y, groups)
        validate_data(self, X, skip_check_array=True)
        y = with_unlabelled(one_column(y), self.pos_label)
        y = _check_y(y, multi_output=False, y_numeric=False)
        check_consistent_length(X, y)
        return self._labelled_rows(np.empty((len(y), 0)), y, sample_weight, audited_y, groups)

    def _terms(self, rows: Rows) -> tuple[Terms, Terms]:
        for model, features, parameter in (
            (self.outcome, self.outcome_features, "outcome_features"),
            (self.propensity, self.propensity_features, "propensity_features"),
        ):
            if model is not None and features is not None:
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
        s = problem.rows.labels.any
        fewest = int(min(s.sum(), (1 - s).sum()))
        if fewest < self.n_folds:
            raise ValueError(
                f"each of n_folds={self.n_folds} parts needs a labelled and an unlabelled row; got "
                f"{fewest} of one kind. Choose fewer folds."
            )
        return ClassifierModel(estimator, _shaped(X), problem.rows, self.n_folds)

    @property
    def outcome_(self) -> Any:
        """The classifier fitted as outcome model, where one was given."""
        return _plugged(self.model_.outcome_model, "outcome")

    @property
    def propensity_(self) -> Any:
        """The classifier fitted as propensity model, where one was given."""
        return _plugged(self.model_.propensity_model, "propensity")

    def _features(self, X: Any) -> Any:
        """New features; of a plugged-in classifier only their names and number are checked."""
        if not isinstance(self.model_, PluggedPair):
            return super()._features(X)
        X = _shaped(X)
        if len(X.shape) == 1:
            raise ValueError(
                "Expected 2D array, got 1D array instead. Reshape your data: one row is "
                "X.reshape(1, -1)."
            )
        validate_data(self, X, skip_check_array=True, reset=False)
        return X


def _plugged(side: Any, which: str) -> Any:
    """The classifier in a side; a logistic model is none, as scikit-learn's hasattr asks."""
    if not isinstance(side, PluggedSide):
        raise AttributeError(f"the {which} model is the library's own, not a classifier.")
    return side.estimator


def _shaped(X: Any) -> Any:
    """X itself if it is an array, a sparse matrix or a frame; lists become arrays."""
    return X if hasattr(X, "shape") else np.asarray(X)
