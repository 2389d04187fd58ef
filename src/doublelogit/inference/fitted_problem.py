"""A fitted model together with the sample it was fitted to: where inference begins."""

from copy import copy
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from doublelogit._types import Column, Floats
from doublelogit.design import predictor
from doublelogit.estimators import EMClassifier, JointClassifier
from doublelogit.estimators.base import AbstractPUClassifier
from doublelogit.fit import moved
from doublelogit.methods.orientation import inverse_information
from doublelogit.methods.problem import Problem, full, nearer_zero
from doublelogit.solvers import largest

# A gradient below is that of a fit that has converged; beyond, theta may be no maximum of this
# likelihood, so that its curvature says nothing.
STATIONARY = 1e-5
NOT_A_MAXIMUM = 0.01  # units of twice the log-likelihood: a tenth of a standard error


@dataclass(frozen=True)
class Fitted:
    """The maximum of a likelihood, in the coordinates in which it was found.

    Where the problem was shifted, slopes are the same and intercepts move.
    """

    problem: Problem
    theta: Floats
    feature_names: tuple[str, ...]

    @property
    def beta(self) -> Floats:
        """Outcome model, full-length, of the shifted features."""
        return full(self.problem, self.theta)[0]

    @property
    def gamma(self) -> Floats:
        """Propensity model, full-length, of the shifted features."""
        return full(self.problem, self.theta)[1]

    def predictors(self) -> tuple[Column, Column]:
        """X'beta and x'gamma of every row."""
        rows = self.problem.rows
        return (
            rows.map_rows(partial(predictor, coef=self.beta)),
            rows.map_rows(partial(predictor, coef=self.gamma)),
        )

    def terms(self) -> list[tuple[str, str]]:
        """(model, term) of every coefficient."""
        names = np.array([*self.feature_names, "intercept"], dtype=object)
        models = (("outcome", self.problem.outcome), ("propensity", self.problem.propensity))
        return [(model, str(term)) for model, terms in models for term in terms.take(names)]

    def to_original(self) -> Floats:
        """Matrix that takes theta to coefficients of the features as they were given."""
        k = len(self.theta)
        matrix = np.eye(k)
        if self.problem.shift is not None:
            start = 0
            for terms in (self.problem.outcome, self.problem.propensity):
                end = start + terms.size - 1
                matrix[end, start:end] = -terms.take(np.append(self.problem.shift, 0.0))[:-1]
                start = end + 1
        return matrix


def bind(
    model: AbstractPUClassifier,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    audited_y: Any = None,
) -> Fitted:
    """The model as a maximum of the likelihood of these rows; an error if it is none."""
    check_is_fitted(model)
    _check_kind(model)
    twin = copy(model)  # validation stores what it learns of X: not in the user's model
    rows = twin._rows(X, y, sample_weight, audited_y)
    problem = nearer_zero(twin._problem(rows))
    beta = np.append(model.coef_[0], model.intercept_)
    gamma = np.append(model.propensity_coef_[0], model.propensity_intercept_)
    if problem.shift is not None:
        beta, gamma = (moved(coef, -problem.shift) for coef in (beta, gamma))
    theta = np.concatenate([problem.outcome.take(beta), problem.propensity.take(gamma)])
    grad = problem.likelihood.value_grad(theta).grad
    # twice what the log-likelihood would gain by going on to the maximum
    gain = problem.n**2 * grad @ inverse_information(problem, theta) @ grad
    size = largest(grad)
    if size > STATIONARY and gain > NOT_A_MAXIMUM:
        raise ValueError(
            "inference needs the rows of fit and a fit that has converged: the gradient of the "
            f"mean log-likelihood of these rows at the model is {size:.2g}, from which "
            f"{gain / 2:.2g} of log-likelihood could be gained. Pass the same X, y, "
            "sample_weight and audited_y as to fit; if you did, increase max_iter."
        )
    names = getattr(model, "feature_names_in_", [f"x{i}" for i in range(rows.n_features)])
    return Fitted(problem, theta, tuple(map(str, names)))


def _check_kind(model: AbstractPUClassifier) -> None:
    name = type(model).__name__
    if not isinstance(model, JointClassifier | EMClassifier):
        raise TypeError(
            "standard errors need a maximum of the likelihood, which JointClassifier and "
            f"EMClassifier find; got {name}. For other methods use doublelogit.inference.bootstrap."
        )
    if not hasattr(model, "coef_") or not hasattr(model, "propensity_coef_"):
        raise TypeError(
            f"standard errors need logistic models; this {name} has another classifier in the "
            "place of one. Use doublelogit.inference.bootstrap."
        )
