"""A maximum of the likelihood together with its rows: where inference begins.

Models do not keep their rows. A model is bound to rows again, and the gradient of their likelihood
must vanish at it: other rows, or a fit that has not converged, are refused.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from doublelogit._types import Floats
from doublelogit.core.objective import Pair
from doublelogit.core.solvers import largest
from doublelogit.methods.information import inverted
from doublelogit.methods.problem import Problem, full

# Below this gradient a fit has converged; beyond it theta may be no maximum of this likelihood, and
# its curvature says nothing.
STATIONARY = 1e-5
NOT_A_MAXIMUM = 0.01  # units of twice the log-likelihood: a tenth of a standard error


@dataclass(frozen=True)
class FittedProblem:
    """The maximum of a likelihood, in the coordinates in which it was found.

    Where the features were centred, slopes are the same and intercepts move.
    """

    problem: Problem
    theta: Floats
    feature_names: tuple[str, ...]

    @property
    def pair(self) -> Pair:
        """Both models with their coefficients."""
        return self.problem.likelihood.models(self.theta)

    @property
    def beta(self) -> Floats:
        """Coefficients of the outcome model, full length, for the centred features."""
        return full(self.problem, self.theta)[0]

    @property
    def gamma(self) -> Floats:
        """Coefficients of the propensity model, full length, for the centred features."""
        return full(self.problem, self.theta)[1]

    @cached_property
    def information(self) -> Floats:
        """Observed information of theta, penalties included: one pass with a Hessian, made once."""
        return self.problem.n * self.problem.likelihood.value_grad_hess(self.theta).hess

    @cached_property
    def inverse_information(self) -> Floats:
        """Inverse of the observed information."""
        return inverted(self.information)

    def terms(self) -> list[tuple[str, str]]:
        """(model, term) of every coefficient."""
        names = np.array([*self.feature_names, "intercept"], dtype=object)
        models = (("outcome", self.problem.outcome), ("propensity", self.problem.propensity))
        return [(model, str(term)) for model, terms in models for term in terms.take(names)]

    def to_original(self) -> Floats:
        """Matrix that takes theta to coefficients of the features as they were given."""
        matrix = np.eye(len(self.theta))
        if self.problem.shift is not None:
            start = 0
            for terms in (self.problem.outcome, self.problem.propensity):
                end = start + terms.size - 1
                matrix[end, start:end] = -terms.take(np.append(self.problem.shift, 0.0))[:-1]
                start = end + 1
        return matrix


def feature_names(classifier: Any) -> tuple[str, ...]:
    """Names of the features of a fitted classifier; x0, x1, ... if it was fitted without."""
    numbered = [f"x{i}" for i in range(classifier.n_features_in_)]
    return tuple(map(str, vars(classifier).get("feature_names_in_", numbered)))


def bind(
    classifier: Any, X: Any, y: Any, sample_weight: Any = None, audited_y: Any = None
) -> FittedProblem:
    """The model as a maximum of the likelihood of these rows; an error if it is none."""
    check_is_fitted(classifier)
    problem = classifier.bind(X, y, sample_weight, audited_y)
    model = classifier.model_
    centred = model if problem.shift is None else model.uncentred(-problem.shift)
    fitted = FittedProblem(problem, problem.theta(centred), feature_names(classifier))
    _check_maximum(fitted)
    return fitted


def _check_maximum(fitted: FittedProblem) -> None:
    problem = fitted.problem
    grad = problem.likelihood.value_grad(fitted.theta).grad
    size = largest(grad, problem.likelihood.unit)
    if size <= STATIONARY:
        return
    # twice what the log-likelihood would gain by going on to the maximum
    gain = problem.n**2 * grad @ fitted.inverse_information @ grad
    if gain > NOT_A_MAXIMUM:
        raise ValueError(
            "inference needs the rows of fit and a fit that has converged: the gradient of the "
            f"mean log-likelihood of these rows at the model is {size:.2g}, from which "
            f"{gain / 2:.2g} of log-likelihood could be gained. Pass the same X, y, "
            "sample_weight and audited_y as to fit; if you did, increase max_iter."
        )
