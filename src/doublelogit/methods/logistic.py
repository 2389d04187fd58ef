"""A model that can be fitted to soft targets again and again: what TM and EM alternate.

Gradients are cheap, Hessians costly. A fit starts from the last solution and its inverse Hessian,
which BFGS updates correct; it is renewed when steps shrink the gradient so little that a new one
pays, or after as many steps as there are coefficients. A bound on how far a step moves predictors
stops Newton from running off along flat tails.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol

import numpy as np

from doublelogit._types import Column, Floats, Matrix
from doublelogit.core.design import Terms, predictor
from doublelogit.core.link import Link, link_name, to_logit
from doublelogit.core.objective import LogisticObjective, Predicted
from doublelogit.core.rows import Rows
from doublelogit.core.solvers import Factor, Solution, lbfgs, newton
from doublelogit.core.solvers.newton import LONGEST, Reach
from doublelogit.fitted import LinearPair, LinearSide, PluggedPair, Side
from doublelogit.fitted.plugged import NumericSide
from doublelogit.methods.problem import Problem

# Rounds of TM and EM build on each other, and a row of TM may cross its threshold for a
# difference in the last digits: fits inside a method are converged far below any tolerance.
INNER_TOL = 1e-9
ACCEPTABLE = 1e-6  # a gradient beyond, left by a fit inside a method, is non-convergence
DENSE_LIMIT = 1000  # coefficients; beyond, a Hessian costs more memory than it saves passes


class Model(Protocol):
    """Something that learns P(target=1 | x) from soft targets and gives its logit."""

    worst: float  # largest gradient that a fit has ended with

    def fit(self, target: Column, weight: Column | None = None) -> float:
        """Fit, starting from the last fit, and return the objective reached."""

    def predictor(self) -> Column:
        """Logit of the fitted probability, one value per row."""

    def side(self) -> Side:
        """The fitted model, without the rows it was fitted to."""


@dataclass
class LogisticModel:
    """Penalised logistic regression on rows; keeps coefficients and curvature between fits."""

    rows: Rows
    terms: Terms
    n: float
    l2: float
    link: Link
    units: Floats
    gram: Callable[[], Floats]  # mean of xx' over the rows
    tol: float = INNER_TOL
    max_iter: int | None = None
    valued: bool = True  # whether a fit says what it has reached
    # Whether it is fitted again and again: then a last step need not be looked at, since the next
    # fit begins there, and the value is that of the predictors, which are wanted anyway.
    again: bool = False
    worst: float = field(default=0.0, init=False)
    theta: Floats = field(init=False)
    _factor: Factor | None = field(default=None, init=False)
    _last: Predicted | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self.theta = np.zeros(self.terms.size)

    def _reach(self, rows: Rows, weight: Column, step: Floats) -> Reach:
        """How far a step moves the predictors of the rows that count in a fit.

        The metric of all rows is at hand and never less. Where it says too far, the rows of the fit
        are asked: one that has no weight in it must not hold the others back, however far away.
        """
        with np.errstate(over="ignore"):  # beyond all numbers is too far
            reach = float(np.sqrt(max(float(step @ self.gram() @ step), 0.0)))
        if reach <= LONGEST:
            return reach, reach
        moved = rows.sum_rows(partial(_moved, self.terms.embed(step)), weight)
        all_rows, most_rows = np.sqrt(moved / self.n).tolist()
        return all_rows, most_rows

    @property
    def coef(self) -> Floats:
        """Full-length coefficients, intercept last."""
        return self.terms.embed(self.theta)

    def fit(self, target: Column, weight: Column | None = None) -> float:
        value = self.solve(target, weight).value
        if not (self.again and self.valued):
            return value
        weight = self.rows.weight if weight is None else weight
        return self._objective(self.rows, target, weight, self._predicted).value_at_start()

    def solve(self, target: Column, weight: Column | None = None) -> Solution:
        """As fit, returning all that the solver says."""
        weight = self.rows.weight if weight is None else weight
        a = [self._last[1]] if self._last is not None and self._up_to_date else []
        rows, (target, weight, *a) = self.rows.restrict(weight, target, weight, *a)
        start = (self.theta, a[0]) if a else None
        objective = self._objective(rows, target, weight, start)
        if self.terms.size > DENSE_LIMIT:
            # a first-order method does not reach INNER_TOL; this is as far as it is worth
            tol, max_iter = max(self.tol, 1e-8), self.max_iter or 1000
            solution = lbfgs(objective, self.theta, tol=tol, max_iter=max_iter)
        else:
            solution = newton(
                objective,
                self.theta,
                tol=self.tol,
                max_iter=self.max_iter or 100,
                factor=self._factor,
                reach=partial(self._reach, rows, weight),
                valued=self.valued and not self.again,
                trusted=self.again,
            )
        self.theta, self._factor = solution.theta, solution.factor
        if not solution.converged:
            self.worst = max(self.worst, solution.grad_norm)
        return solution

    def information(self, target: Column, weight: Column) -> Factor:
        """Curvature of a fit at the coefficients as they are, factorised."""
        return Factor.from_matrix(
            self._objective(self.rows, target, weight).value_grad_hess(self.theta).hess
        )

    def _objective(
        self, rows: Rows, target: Column, weight: Column, start: Predicted | None = None
    ) -> LogisticObjective:
        return LogisticObjective(
            rows, self.terms, target, weight, self.n, self.l2, self.link, self.units, start
        )

    def predictor(self) -> Column:
        a = self._predicted[1]
        return a if self.link is None else self.rows.map_columns(partial(to_logit, self.link), a)

    @property
    def _predicted(self) -> Predicted:
        """What the coefficients as they are predict of all rows; no pass is made for it twice."""
        if self._last is None or not self._up_to_date:
            self._last = None  # before another column is made
            a = self.rows.map_rows(partial(predictor, coef=self.coef))
            self._last = self.theta, a
        return self._last

    @property
    def _up_to_date(self) -> bool:
        return self._last is not None and np.array_equal(self._last[0], self.theta)

    def side(self) -> LinearSide:
        return LinearSide(self.coef, link_name(self.link))


def label_model(problem: Problem, **options: Any) -> LogisticModel:
    """The naive model of the label, with the terms of both models."""
    return _model(problem, problem.label, problem.l2, **options)


def outcome_model(problem: Problem, **options: Any) -> LogisticModel:
    """A model of the class, not fitted yet."""
    return _model(problem, problem.outcome, problem.l2, **options)


def propensity_model(problem: Problem, **options: Any) -> LogisticModel:
    """A model of the labelling, not fitted yet."""
    return _model(problem, problem.propensity, problem.propensity_l2, **options)


def logistic_models(problem: Problem) -> tuple[LogisticModel, LogisticModel]:
    """Models of the class and of the labelling, not fitted yet."""
    return outcome_model(problem), propensity_model(problem)


def _model(problem: Problem, terms: Terms, l2: float, **options: Any) -> LogisticModel:
    gram = partial(problem.moments.gram, terms)
    shared = (problem.n, l2, problem.link, problem.moments.units, gram)
    return LogisticModel(problem.rows, terms, *shared, **options)


def fitted_pair(outcome: Model, propensity: Model) -> LinearPair:
    """Both models as they were fitted last."""
    one, other = outcome.side(), propensity.side()
    if one.coef is not None and other.coef is not None:
        return LinearPair(one, other)
    return PluggedPair(_beside_plugged(one), _beside_plugged(other))


def _beside_plugged(side: Side) -> Side:
    """A side that is given X as the user passed it."""
    return side if side.coef is None else NumericSide(side.coef)


def accurate(*models: Model) -> bool:
    """Whether no fit of these models ended far from its optimum."""
    return all(model.worst <= ACCEPTABLE for model in models)


def _moved(step: Floats, X: Matrix, weight: Floats) -> Floats:
    """Squares by which rows are moved: as they are, and those of rows far ahead cut down."""
    with np.errstate(over="ignore"):
        squares = predictor(X, step) ** 2
        return np.array([weight @ squares, weight @ np.minimum(squares, (2 * LONGEST) ** 2)])
