"""Calibration of probabilities by audited rows, which scikit-learn's cannot do.

``CalibratedClassifierCV`` compares P(Y=1 | x) with the labels and so turns it into P(S=1 | x). What
can be compared with P(Y=1 | x, S=0) is the class of unlabelled rows that somebody looked at::

    t(x) <- P(Y=1 | x, S=0) by a model of the labels alone
    (a, b) <- logistic regression of the audited class on logit t(x), drawn towards (0, 1)
    P(Y=1 | x, S=0) <- sigma(a + b logit t(x))
"""

from typing import Any, Self

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, log_expit, logit
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted

from doublelogit._types import Floats
from doublelogit.estimators.validation import check_audited

PRIOR_SD = 2.0  # of a and b about (0, 1): ten rows outweigh it
LOGIT_GUARD = 1e-6  # of probabilities whose logit is taken


class AuditCalibratedClassifier(ClassifierMixin, BaseEstimator):
    """A classifier whose probabilities are calibrated by audited rows.

    The model is fitted to the labels alone; the audited rows, which it has not seen, then correct
    how sure it is. Whether a row was audited may depend on its features or on its place in a list,
    but not on anything else that goes with its class.

    Parameters
    ----------
    estimator : classifier
        A classifier of this library.

    Attributes
    ----------
    estimator_ : classifier
        Fitted to the labels.
    intercept_, slope_ : float
        What was learned from the audited rows; 0 and 1 leave the probabilities as they are. A
        slope near zero says that the ranking is no better than chance.
    n_audited_ : int
        Number of unlabelled rows whose class was known.
    classes_ : ndarray of shape (2,)
        The values of y: unlabelled (negative) first, labelled (positive) second.

    Examples
    --------
    >>> import numpy as np
    >>> from doublelogit import AuditCalibratedClassifier, JointClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(500, 2))
    >>> y = rng.random(500) < 1 / (1 + np.exp(-2 * X[:, 0]))
    >>> s = y & (rng.random(500) < 0.5)
    >>> audited = np.where(~s & (rng.random(500) < 0.2), y, np.nan)
    >>> model = AuditCalibratedClassifier(JointClassifier()).fit(X, s, audited_y=audited)
    >>> model.predict_hidden(X).shape
    (500,)
    """

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    def fit(self, X: Any, y: Any, sample_weight: Any = None, audited_y: Any = None) -> Self:
        """Fit the model to the labels and calibrate it by the audited rows.

        Parameters
        ----------
        X, y, sample_weight
            As in the classifier's own ``fit``.
        audited_y : array-like of shape (n_samples,)
            The class of rows where it was found out: 1 positive, 0 negative, NaN elsewhere.

        Returns
        -------
        self : object
        """
        self.estimator_ = clone(self.estimator).fit(X, y, sample_weight)
        self.classes_ = self.estimator_.classes_
        s = (np.asarray(y) == self.classes_[1]).astype(float)
        audited = check_audited(audited_y, s)
        known = np.zeros(len(s), dtype=bool) if audited is None else np.isfinite(audited)
        rows = np.flatnonzero(known & (s == 0))
        if audited is None or len(rows) == 0:
            raise ValueError(
                "audited_y must give the class of some unlabelled rows, 1 or 0; got none. Find out "
                "the class of 50 to 100 of them."
            )
        self.n_audited_ = len(rows)
        t = self.estimator_.predict_hidden(X)[rows]
        self.intercept_, self.slope_ = _calibrated(_logit(t), audited[rows])
        return self

    def predict_hidden(self, X: Any) -> Floats:
        """Probability that an unlabelled row is positive, P(Y=1 | x, S=0), calibrated."""
        check_is_fitted(self)
        t = self.estimator_.predict_hidden(X)
        return np.asarray(expit(self.intercept_ + self.slope_ * _logit(t)))

    def predict_label_proba(self, X: Any) -> Floats:
        """Probability of a label s(x) = P(S=1 | x), by the model: labels are what it has seen."""
        check_is_fitted(self)
        return np.asarray(self.estimator_.predict_label_proba(X))

    def predict_positive(self, X: Any) -> Floats:
        """P(Y=1 | x) = s(x) + (1 - s(x)) P(Y=1 | x, S=0)."""
        s_x = self.predict_label_proba(X)
        return np.asarray(s_x + (1 - s_x) * self.predict_hidden(X))

    def predict_propensity(self, X: Any) -> Floats:
        """e(x) = s(x) / P(Y=1 | x)."""
        return self.predict_label_proba(X) / np.maximum(self.predict_positive(X), LOGIT_GUARD)

    def predict_proba(self, X: Any) -> Floats:
        """Probabilities P(Y=0 | x) and P(Y=1 | x), in the order of ``classes_``."""
        y_x = self.predict_positive(X)
        return np.column_stack([1 - y_x, y_x])

    def predict(self, X: Any) -> Any:
        """Predict the likelier class."""
        return self.classes_[(self.predict_positive(X) > 0.5).astype(int)]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Mean log-likelihood of the observed labels, by the model."""
        check_is_fitted(self)
        return float(self.estimator_.score(X, y, sample_weight))


def _logit(t: Floats) -> Floats:
    return np.asarray(logit(np.clip(t, LOGIT_GUARD, 1 - LOGIT_GUARD)))


def _calibrated(predictor: Floats, y: Floats) -> tuple[float, float]:
    """Intercept and slope of the calibration."""

    def loss(theta: Floats) -> tuple[float, Floats]:
        eta = theta[0] + theta[1] * predictor
        apart = theta - np.array([0.0, 1.0])
        value = -(y @ log_expit(eta) + (1 - y) @ log_expit(-eta)) + apart @ apart / PRIOR_SD**2 / 2
        slope = expit(eta) - y
        return float(value), np.array([slope.sum(), slope @ predictor]) + apart / PRIOR_SD**2

    optimum = minimize(loss, np.array([0.0, 1.0]), jac=True, method="BFGS")
    return float(optimum.x[0]), float(optimum.x[1])
