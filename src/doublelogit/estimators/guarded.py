"""What guarded classifiers share: folds, rounds, starts, and a class that is no straight line."""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from doublelogit._types import Floats, Ints
from doublelogit.bends.guarded import Guarded, Guards
from doublelogit.core.design import Terms
from doublelogit.core.folds import Keys, content_keys
from doublelogit.core.rows import Rows
from doublelogit.engines.memory import MemoryRows
from doublelogit.estimators.base import COUNT, FEATURES, AbstractPUClassifier
from doublelogit.estimators.validation import feature_index
from doublelogit.fitted.fit import PUFit
from doublelogit.methods import Problem

WHICH = [StrOptions({"outcome", "propensity", "both"})]


class GuardedClassifier(AbstractPUClassifier):
    """Two logistic models, one or both bent as far as held-out labels ask for it."""

    n_folds: int
    cross_fit: bool
    max_rounds: int
    patience: int
    start: str
    random_state: Any

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **{
            name: AbstractPUClassifier._parameter_constraints[name]
            for name in ("C", "propensity_C", "outcome_features", "propensity_features")
        },
        "pos_label": "no_validation",
        "smooth_features": FEATURES,
        "n_folds": COUNT,
        "cross_fit": ["boolean"],
        "max_rounds": COUNT,
        "patience": [Interval(Integral, 0, None, closed="left")],
        "start": [StrOptions({"best", "line", "constant"})],
        "random_state": ["random_state"],
    }

    def _fit(self, problem: Problem, X: Any) -> PUFit:
        features = dense_features(problem, type(self).__name__)
        problem, counted = without_empty(problem)
        self._check_folds(problem.rows)
        guards = self._guards(content_keys(X)[counted])
        self._found = self._bent(problem, features[counted], guards)
        return self._found.fit

    @abstractmethod
    def _bent(self, problem: Problem, X: Floats, guards: Guards) -> Guarded:
        """Fit the models, given features as the user passed them."""

    @property
    def held_out(self) -> Floats:
        """Log-likelihood of each row of fit by models that have not seen it; not kept in files."""
        return self._found.held_out

    def _check_folds(self, rows: Any) -> None:
        fewest = int(min(rows.labels.any.sum(), (1 - rows.labels.any).sum()))
        if fewest < 2 * self.n_folds:
            raise ValueError(
                f"each of n_folds={self.n_folds} parts needs two labelled and two unlabelled rows; "
                f"got {fewest} of one kind. Choose fewer folds, or JointClassifier."
            )

    def _sides(self, which: str, columns: Mapping[str, Ints]) -> list[Ints | None]:
        """Columns of the models that are bent, outcome first; None of one that is not."""
        wanted = columns if which == "both" else (which,)
        return [
            columns[name].astype(np.intp) if name in wanted and len(columns[name]) else None
            for name in ("outcome", "propensity")
        ]

    def _index(self, parameter: str, rows: Rows) -> Any:
        names = self._feature_names
        return feature_index(vars(self)[parameter], parameter, rows.n_features, names)

    def _guards(self, keys: Keys) -> Guards:
        seed = check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
        return Guards(
            keys,
            n_folds=self.n_folds,
            cross_fit=self.cross_fit,
            max_rounds=self.max_rounds,
            patience=self.patience,
            starts=("line", "constant") if self.start == "best" else (self.start,),
            random_state=seed,
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        return tags


def columns_of(terms: Terms) -> Ints:
    """Columns that a model may use."""
    return np.arange(terms.n_features) if terms.columns is None else terms.columns


def without_empty(problem: Problem) -> tuple[Problem, Ints]:
    """The rows that count, and their numbers: folds and bins would see those of weight zero."""
    rows = problem.rows
    assert isinstance(rows, MemoryRows)
    counted = np.flatnonzero(rows.weight)
    if len(counted) < len(rows):
        problem = replace(problem, rows=rows.some(counted))
    return problem, counted


def dense_features(problem: Problem, who: str) -> Floats:
    """Features in memory as the user passed them, for models that bend them."""
    rows = problem.rows
    if not isinstance(rows, MemoryRows) or sparse.issparse(rows.X):
        raise TypeError(
            f"{who} needs dense features in memory; got others. Use X.toarray(), or read the rows."
        )
    features = rows.X if problem.shift is None else rows.X + problem.shift
    return np.asarray(features, dtype=float)
