"""NAIVE as a scikit-learn classifier."""

from typing import Any

import numpy as np

from doublelogit.core.labels import Labels
from doublelogit.core.rows import Rows
from doublelogit.estimators.base import AbstractPUClassifier
from doublelogit.fitted.fit import PUFit
from doublelogit.methods import Problem, naive


class NaiveClassifier(AbstractPUClassifier):
    """NAIVE: logistic regression of the label, unlabelled rows taken for negative.

    The baseline. It underestimates P(Y=1 | x) by the factor e(x): it believes that every
    positive is labelled, so ``predict_propensity`` is 1 and ``predict_hidden`` is 0.

    Parameters
    ----------
    C : float, default=1.0
        Inverse strength of the L2 penalty on the slopes, as in scikit-learn: the penalty
        ``|w|^2 / (2C)`` is added to the sum of the losses. ``np.inf`` for none.
    tol : float, default=1e-6
        Largest entry allowed in the gradient of the mean loss.
    max_iter : int, default=1000
        Maximum number of Newton steps.
    pos_label : object, default=None
        The value of y that means labelled. Not needed for 0/1, -1/1 and booleans.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features)
        Slopes of the outcome model.
    intercept_ : ndarray of shape (1,)
        Its intercept.
    classes_ : ndarray of shape (2,)
        The values of y: unlabelled (negative) first, labelled (positive) second.
    n_iter_ : int
        Newton steps made.
    converged_ : bool
        Whether the stopping rule was met.
    trace_ : ndarray
        Value of the penalised mean loss reached.
    n_features_in_ : int
        Number of features seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X had string names for all.

    Examples
    --------
    >>> from doublelogit import NaiveClassifier
    >>> X, s = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
    >>> NaiveClassifier().fit(X, s).predict(X)
    array([0, 0, 1, 1])
    """

    def __init__(
        self, *, C: float = 1.0, tol: float = 1e-6, max_iter: int = 1000, pos_label: Any = None
    ) -> None:
        self.C = C
        self.tol = tol
        self.max_iter = max_iter
        self.pos_label = pos_label

    def _fit(self, problem: Problem, X: Any) -> PUFit:
        return naive(problem, tol=self.tol, max_iter=self.max_iter)

    def _rows(self, X: Any, y: Any, sample_weight: Any, audited_y: Any, groups: Any = None) -> Rows:
        rows = super()._rows(X, y, sample_weight, audited_y, groups)
        if rows.sum_columns(_known_beyond_labels, rows.labels):
            raise ValueError(
                "NaiveClassifier models the label, not the class, so it has no use for audited_y; "
                "leave it out, or choose a method that models both."
            )
        return rows


def _known_beyond_labels(labels: Labels) -> int:
    return int(np.count_nonzero(~np.isnan(labels.known) & (labels.any == 0)))
