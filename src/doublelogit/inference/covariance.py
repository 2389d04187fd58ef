"""Covariance of the estimated coefficients: by information, robust, or by clusters.

    observed   A^-1                  A: the observed information (Louis), with the penalties
    robust     A^-1 B A^-1           B: sum of w_i^2 u_i u_i', u_i the score of a row
    cluster    A^-1 B A^-1 G/(G-1)   B: sum over clusters of their scores' outer products

Weights count rows in the first and are sampling weights in the others.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from doublelogit._types import Floats, Matrix
from doublelogit.common.threads import with_paying_threads
from doublelogit.core.labels import Labels
from doublelogit.core.objective import Pair, four_blocks
from doublelogit.core.rows import Rows
from doublelogit.inference.fitted_problem import FittedProblem
from doublelogit.inference.groups import Groups, gathered_terms

COV_TYPES = ("observed", "robust", "cluster")


@dataclass(frozen=True)
class Sampling:
    """How the rows were drawn, which decides how their scores add up to a variance."""

    cov_type: str = "observed"
    clusters: Groups | None = None

    @classmethod
    def from_options(cls, cov_type: str, groups: Any, rows: Rows) -> "Sampling":
        """The kind of covariance, checked; ``groups`` are clusters of rows."""
        if groups is not None:
            cov_type = "cluster"
        if cov_type not in COV_TYPES:
            raise ValueError(f"cov_type must be one of {', '.join(COV_TYPES)}; got {cov_type!r}.")
        if cov_type != "cluster":
            return cls(cov_type)
        if groups is None:
            raise ValueError("cov_type='cluster' needs groups, the cluster of each row; got None.")
        clusters = Groups.from_values(groups, rows, "groups")
        if len(clusters) < 2:
            raise ValueError(f"groups must name at least two clusters; got {clusters.names}.")
        return cls(cov_type, clusters)

    def weight(self, weight: Floats) -> Floats:
        """Weight of a squared score: a row that counts w times is w rows, or one drawn as w."""
        return weight if self.cov_type == "observed" else weight**2

    @property
    def correction(self) -> float:
        """Small-sample factor of clustered sums."""
        return 1.0 if self.clusters is None else len(self.clusters) / (len(self.clusters) - 1)


@with_paying_threads
def covariance(fitted: FittedProblem, sampling: Sampling) -> Floats:
    """Covariance of theta, in the coordinates of the fit."""
    inverse = fitted.inverse_information
    if sampling.cov_type == "observed":
        return inverse
    if sampling.clusters is None:
        B = _meat(fitted)
    else:
        scores = cluster_scores(fitted, sampling.clusters)
        B = scores.T @ scores * sampling.correction
    for score in belief_scores(fitted):  # a belief may be wrong by its standard deviation
        B = B + np.outer(score, score)
    return np.asarray(inverse @ B @ inverse)


def belief_scores(fitted: FittedProblem) -> list[Floats]:
    """Change of the score when what is believed moves by its standard deviation."""
    problem = fitted.problem
    return [belief.score(problem.likelihood, fitted.theta) for belief in problem.beliefs]


def _meat(fitted: FittedProblem) -> Floats:
    """Sum of the outer products of the rows' weighted scores."""
    rows = fitted.problem.rows
    return rows.sum_rows(partial(_outer, fitted.pair), rows.labels, rows.weight)


def cluster_scores(fitted: FittedProblem, clusters: Groups) -> Floats:
    """Scores summed within clusters, one row each."""
    rows, fn = fitted.problem.rows, partial(_within, fitted.pair, len(clusters))
    return rows.sum_rows(fn, rows.labels, rows.weight, clusters.codes)


def row_gradients(pair: Pair, X: Matrix, labels: Labels) -> tuple[Matrix, Matrix, Floats, Floats]:
    """Features of both models, and the loss's derivatives in the two predictors."""
    Xa, Xb = pair.features(X)
    f = pair.response.gradient(labels, *pair.predictors(Xa, Xb))
    return Xa, Xb, f.d_a, f.d_b


def _outer(pair: Pair, X: Matrix, labels: Labels, weight: Floats) -> Floats:
    Xa, Xb, d_a, d_b = row_gradients(pair, X, labels)
    d_a, d_b = weight * d_a, weight * d_b
    return four_blocks(Xa, Xb, d_a**2, d_a * d_b, d_b**2)


def _within(pair: Pair, n: int, X: Matrix, labels: Labels, weight: Floats, codes: Floats) -> Floats:
    Xa, Xb, d_a, d_b = row_gradients(pair, X, labels)
    sides = ((Xa, d_a), (Xb, d_b))
    return np.hstack([gathered_terms(codes, n, Z, -weight * d) for Z, d in sides])
