"""Paths of sparse models: L1-penalised fits from the penalty that leaves nothing downwards.

Algorithm::

    lambda_max <- the least penalty at which all penalised slopes are zero
    for each lambda, from lambda_max downwards
        W <- the support, and every column whose gradient was at least 2 lambda - lambda before
        repeat until no column outside W violates its condition
            minimise the loss over W, from the solution before     (core/solvers/composite.py)
            look at the gradients of all columns; those that violate their condition enter W

With one model the loss is that of the label, s(x) = sigma(x'alpha), which is the double logistic
model with e(x) = 1. With two it is -Q_n + lambda (|beta|_1 + kappa |gamma|_1), which is not convex:
rows enter the Hessian by the positive part of their 2 x 2 matrices, and the path begins where
labelling is likelier than the class, since halfway between lies a saddle. Slopes are those of
standardised columns.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.special import expit, logit

from doublelogit._types import Floats, Ints, Matrix
from doublelogit.core.design import Terms, predictor, pull_back
from doublelogit.core.labels import Labels
from doublelogit.core.likelihood import PairLoss
from doublelogit.core.link import PLAIN
from doublelogit.core.objective import (
    DoubleLogisticObjective,
    LogisticObjective,
    Pair,
    four_blocks,
    penalised,
)
from doublelogit.core.rows import Rows
from doublelogit.core.solvers import CompositeSolution, ValueGradHess, composite
from doublelogit.core.standardised import Standardised
from doublelogit.engines.memory import MemoryRows
from doublelogit.methods.moments import Moments

# Share of the logarithm of mean S that the class has where the path of two models begins.
CLASS_SHARE = 0.7
MOST_STEPS = 200


class Point(NamedTuple):
    """A fit on a path: its penalty, coefficients of each model in standard units, intercept last.

    ``violation`` is the largest gap of an optimality condition over all columns.
    """

    penalty: float
    coef: Floats  # (models, columns + 1)
    violation: float
    n_iter: int

    @property
    def support(self) -> Ints:
        """Columns with a slope in any model."""
        return np.flatnonzero(self.coef[:, :-1].any(axis=0))


@dataclass(frozen=True)
class SparseLoss:
    """The loss of labels by one or two sparse models of some standardised columns.

    ``factor`` multiplies the penalty of each slope, (models, columns): zero is free, infinity keeps
    a column out.
    """

    columns: Standardised
    n: float
    mean_s: float
    factor: Floats

    @classmethod
    def of(cls, rows: MemoryRows, factor: Floats, moments: Moments | None = None) -> "SparseLoss":
        """The loss of some rows, in the units of their columns."""
        moments = Moments(rows) if moments is None else moments
        columns = Standardised(rows, moments.centre, moments.spread)
        mean_s = float(rows.labels.any @ rows.weight / moments.n)
        return cls(columns, moments.n, mean_s, np.where(columns.spread > 0, factor, np.inf))

    @property
    def rows(self) -> MemoryRows:
        rows: MemoryRows = self.columns.rows
        return rows

    @property
    def models(self) -> int:
        return len(self.factor)

    @property
    def free(self) -> Ints:
        """Columns without a penalty."""
        return np.flatnonzero((self.factor == 0).any(axis=0))

    @property
    def chooses(self) -> bool:
        """Whether any column has a penalty, so that there is a path."""
        return bool((np.isfinite(self.factor) & (self.factor > 0)).any())

    @property
    def empty(self) -> Floats:
        """Coefficients before any column is used."""
        coef = np.zeros((self.models, self.columns.n_features + 1))
        log_s = np.log(self.mean_s)
        shares = [1.0] if self.models == 1 else [CLASS_SHARE, 1 - CLASS_SHARE]
        coef[:, -1] = logit(np.exp(np.multiply(shares, log_s)))
        return coef

    def used(self, working: list[Ints]) -> tuple[Ints, "SparseObjective"]:
        """The columns of some working sets, one for each model, and the loss over them."""
        every = np.unique(np.concatenate(working))
        rows = replace(self.rows, X=self.columns.some(every), block_rows=0)
        terms = [Terms(len(every), np.searchsorted(every, columns)) for columns in working]
        units = np.ones(len(every) + 1)
        if self.models == 2:
            outcome, propensity = terms
            models = (rows, outcome, propensity, self.n, 0.0, 0.0)
            return every, SemidefiniteDoubleLogistic(*models, units=units)
        label = (rows.labels.any, rows.weight, self.n, 0.0)
        return every, LogisticObjective(rows, terms[0], *label, units=units)

    def slopes(self, coef: Floats) -> Floats:
        """Gradients of all columns, by model."""
        rows, used = self.rows, np.flatnonzero(coef[:, :-1].any(axis=0))
        Z = self.columns.some(used)
        predictors = [predictor(Z, np.append(each[used], each[-1])) for each in coef]
        if self.models == 2:
            residuals = list(PLAIN.gradient(rows.labels, *predictors)[1:])
        else:
            residuals = [expit(predictors[0]) - rows.labels.any]
        return np.array([self.columns.pull_back(rows.weight * d) / self.n for d in residuals])

    def largest_penalty(self, coef: Floats) -> float:
        """The least penalty at which the penalised slopes are zero, given the others."""
        slopes = np.abs(self.slopes(coef))
        penalised_ones = np.isfinite(self.factor) & (self.factor > 0)
        return float((slopes[penalised_ones] / self.factor[penalised_ones]).max(initial=0.0))


SparseObjective = LogisticObjective | DoubleLogisticObjective


@dataclass(frozen=True)
class SemidefiniteDoubleLogistic(DoubleLogisticObjective):
    """-Q_n, whose Hessian takes the positive part of the 2 x 2 matrix of every row."""

    def value_grad_hess(self, theta: Floats) -> ValueGradHess:
        rows, fn = self.rows, partial(_semidefinite, self.models(theta))
        sums = rows.sum_rows(fn, rows.labels, rows.weight)
        first = penalised(self.ridge, self.n, theta, sums.value, sums.grad)
        return ValueGradHess(*first, sums.hess / self.n)


def _semidefinite(models: Pair, X: Matrix, labels: Labels, weight: Floats) -> ValueGradHess:
    Xa, Xb = models.features(X)
    f: PairLoss = models.response.loss(labels, *models.predictors(Xa, Xb))
    grad = np.concatenate([pull_back(Xa, weight * f.d_a), pull_back(Xb, weight * f.d_b)])
    positive = (weight * h for h in _positive_part(f.h_aa, f.h_ab, f.h_bb))
    return ValueGradHess(float(weight @ f.value), grad, four_blocks(Xa, Xb, *positive))


def _positive_part(aa: Floats, ab: Floats, bb: Floats) -> tuple[Floats, Floats, Floats]:
    """Entries of each symmetric 2 x 2 matrix with its negative eigenvalue put to zero."""
    middle, half = (aa + bb) / 2, np.hypot((aa - bb) / 2, ab)
    top, low = middle + half, middle - half
    mixed = (low < 0) & (half > 0)
    # with eigenvalues top > 0 > low the positive part is top (H - low I) / (top - low)
    share = np.where(mixed, np.maximum(top, 0.0) / np.where(mixed, 2 * half, 1.0), 1.0)
    below = np.where(mixed, low, 0.0)
    floor = np.where(~mixed & (low < 0), 0.0, 1.0)
    return tuple(  # type: ignore[return-value]
        floor * share * (entry - shift) for entry, shift in ((aa, below), (ab, 0.0), (bb, below))
    )


def geometric(largest: float, n: int, ratio: float) -> Floats:
    """Penalties from the largest one down to its ``ratio``."""
    return np.geomspace(1.0, ratio, n) * largest


def start(loss: SparseLoss, tol: float) -> Floats:
    """The fit without penalised slopes."""
    coef = loss.empty
    free = [np.flatnonzero(factor == 0) for factor in loss.factor]
    return _minimised(loss, coef, free, 0.0, tol)[0] if any(map(len, free)) else coef


def path(
    loss: SparseLoss,
    penalties: Floats,
    *,
    tol: float,
    most_features: int | None = None,
    coef: Floats | None = None,
) -> Iterator[Point]:
    """Fits by decreasing penalties, until a support has more than ``most_features``.

    ``tol`` bounds the gap of every optimality condition.
    """
    coef = start(loss, tol) if coef is None else coef
    slopes, before = loss.slopes(coef), loss.largest_penalty(coef)
    for penalty in penalties.tolist():
        bound = loss.factor * (2 * penalty - before)
        strong = (np.abs(slopes) >= np.maximum(bound, 0.0)) & np.isfinite(loss.factor)
        inside = strong | (coef[:, :-1] != 0) | (loss.factor == 0)
        n_iter = 0
        while True:
            working = [np.flatnonzero(each) for each in inside]
            coef, solution = _minimised(loss, coef, working, penalty, tol)
            slopes, n_iter = loss.slopes(coef), n_iter + solution.n_iter
            excess = np.where(inside, -np.inf, np.abs(slopes) - penalty * loss.factor)
            missed = excess > tol
            if not missed.any():
                break
            inside |= missed
        outside = max(float(excess.max(initial=0.0)), 0.0)
        point = Point(penalty, coef, max(solution.violation, outside), n_iter)
        if most_features is not None and len(point.support) > most_features:
            return
        yield point
        before = penalty


def _minimised(
    loss: SparseLoss, coef: Floats, working: list[Ints], penalty: float, tol: float
) -> tuple[Floats, CompositeSolution]:
    """The fit over working sets of columns, from coefficients that are zero outside of them."""
    _, objective = loss.used(working)
    end = coef.shape[1] - 1
    places = [np.append(columns, end) for columns in working]
    theta = np.concatenate([each[at] for each, at in zip(coef, places, strict=True)])
    weights = [
        np.append(penalty * factor[columns], 0.0)
        for factor, columns in zip(loss.factor, working, strict=True)
    ]
    reach = partial(_reach, objective.rows, _terms(objective))
    solution = composite(
        objective, theta, np.concatenate(weights), tol=tol, max_iter=MOST_STEPS, reach=reach
    )
    fitted, cuts = np.zeros_like(coef), np.cumsum([len(at) for at in places])[:-1]
    for each, at, values in zip(fitted, places, np.split(solution.theta, cuts), strict=True):
        each[at] = values
    return fitted, solution


def _terms(objective: SparseObjective) -> list[Terms]:
    if isinstance(objective, DoubleLogisticObjective):
        return [objective.outcome, objective.propensity]
    return [objective.terms]


def _reach(rows: Rows, terms: list[Terms], step: Floats) -> float:
    """How far a step moves a predictor of any row."""
    cuts = np.cumsum([each.size for each in terms])[:-1]
    steps = [each.embed(part) for each, part in zip(terms, np.split(step, cuts), strict=True)]
    return float(max(np.abs(rows.map_rows(partial(predictor, coef=d))).max() for d in steps))
