"""A model that can be fitted to soft targets again and again: what TM and EM alternate."""

from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Protocol

import numpy as np

from doublelogit._types import Column, Floats, Matrix
from doublelogit.design import Terms, predictor
from doublelogit.objective import LogisticObjective, curvature_scale
from doublelogit.rows import Rows
from doublelogit.solvers import Factor, Solution, lbfgs, newton

# Rounds of TM and EM build on each other, and a row of TM may cross its threshold for a
# difference in the last digits: fits inside a method are converged far below any tolerance.
INNER_TOL = 1e-9
DENSE_LIMIT = 1000  # coefficients; beyond, a Hessian costs more memory than it saves passes


class Model(Protocol):
    """Something that learns P(target=1 | x) from soft targets and gives its logit."""

    def fit(self, target: Column, weight: Column | None = None) -> float:
        """Fit, starting from the last fit, and return the objective reached."""

    def predictor(self) -> Column:
        """Logit of the fitted probability, one value per row."""


@dataclass
class LogisticModel:
    """Penalised logistic regression on rows; keeps coefficients and curvature between fits."""

    rows: Rows
    terms: Terms
    n: float
    l2: float
    tol: float = INNER_TOL
    max_iter: int = 100
    theta: Floats = field(init=False)
    _factor: Factor | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self.theta = np.zeros(self.terms.size)

    @cached_property
    def _scale(self) -> Floats:
        return curvature_scale(self.rows, self.terms, self.n, self.l2)

    @property
    def coef(self) -> Floats:
        """Full-length coefficients, intercept last."""
        return self.terms.embed(self.theta)

    def fit(self, target: Column, weight: Column | None = None) -> float:
        return self.solve(target, weight).value

    def solve(self, target: Column, weight: Column | None = None) -> Solution:
        """As fit, returning all that the solver says."""
        weight = self.rows.weight if weight is None else weight
        rows, (target, weight) = self.rows.restrict(weight, target, weight)
        objective = LogisticObjective(
            rows, self.terms, target, weight, self.n, self.l2, self._scale
        )
        if self.terms.size > DENSE_LIMIT:
            # a first-order method does not reach INNER_TOL; this is as far as it is worth
            solution = lbfgs(objective, self.theta, tol=max(self.tol, 1e-8), max_iter=1000)
        else:
            solution = newton(
                objective, self.theta, tol=self.tol, max_iter=self.max_iter, factor=self._factor
            )
        self.theta, self._factor = solution.theta, solution.factor
        return solution

    def predictor(self) -> Column:
        return self.rows.derive(partial(_predictor, self.coef))


def coefficients(model: Model) -> Floats | None:
    """Coefficients of a logistic model; another classifier has none."""
    return model.coef if isinstance(model, LogisticModel) else None


def _predictor(coef: Floats, X: Matrix) -> Floats:
    return predictor(X, coef)
