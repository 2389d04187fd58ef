"""Covariance of the estimated coefficients: by information, robust, or by clusters.

    observed   A^-1                  A: the observed information (Louis), with the penalties
    robust     A^-1 B A^-1           B: sum of w_i^2 u_i u_i', u_i the score of a row
    cluster    A^-1 B A^-1 G/(G-1)   B: sum over clusters of their scores' outer products

Weights count rows in the first and are sampling weights in the others.
"""

from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from doublelogit._types import Column, Floats, Matrix
from doublelogit.design import predictor
from doublelogit.inference.fitted_problem import Fitted
from doublelogit.methods.orientation import inverse_information
from doublelogit.objective import Pair, four_blocks


def covariance(fitted: Fitted, kind: str, cluster: Any = None) -> Floats:
    """Covariance of theta, in the coordinates of the fit."""
    inverse = inverse_information(fitted.problem, fitted.theta)
    if kind == "observed":
        return inverse
    B = cluster_meat(fitted, cluster) if kind == "cluster" else meat(fitted)
    for pull in belief_scores(fitted):  # what is believed may be wrong by its standard deviation
        B = B + np.outer(pull, pull)
    return np.asarray(inverse @ B @ inverse)


def meat(fitted: Fitted) -> Floats:
    """Sum of the outer products of the rows' weighted scores."""
    rows = fitted.problem.rows
    return rows.sum_rows(partial(_meat, _models(fitted)), rows.s, rows.known, rows.weight)


def check_clusters(cluster: Any, n: int) -> None:
    """One cluster per row, and at least two of them."""
    values = np.unique(np.asarray(cluster))
    if len(np.asarray(cluster)) != n:
        raise ValueError(f"cluster must have one value per row; got {len(cluster)} for {n} rows.")
    if len(values) < 2:
        raise ValueError(f"cluster must name at least two clusters; got {values.tolist()}.")


def cluster_meat(fitted: Fitted, cluster: Any) -> Floats:
    """The same, of scores summed within clusters."""
    rows = fitted.problem.rows
    values, codes = np.unique(np.asarray(cluster), return_inverse=True)
    fn = partial(_cluster_scores, _models(fitted), len(values))
    scores = rows.sum_rows(fn, rows.s, rows.known, rows.weight, rows.scatter(codes))
    return scores.T @ scores * (len(values) / (len(values) - 1))


def belief_scores(fitted: Fitted) -> list[Floats]:
    """Change of the score when what is believed moves by its standard deviation."""
    problem = fitted.problem
    return [belief.score(problem.likelihood, fitted.theta) for belief in problem.beliefs]


def score_along(fitted: Fitted, direction: Floats) -> Column:
    """Slope of every row's weighted log-likelihood along a direction of theta."""
    rows = fitted.problem.rows
    fn = partial(_score_along, _models(fitted), direction)
    return rows.map_rows(fn, rows.s, rows.known, rows.weight)


def _models(fitted: Fitted) -> Pair:
    return fitted.problem.likelihood.models(fitted.theta)


def _slopes(
    models: Pair, X: Matrix, s: Floats, known: Floats, weight: Floats
) -> tuple[Matrix, Matrix, Floats, Floats]:
    """Features of both models and the rows' slopes, weighted."""
    Xa, Xb = models.features(X)
    f = models.response.slopes(s, known, *models.predictors(Xa, Xb))
    return Xa, Xb, weight * f.d_a, weight * f.d_b


def _meat(models: Pair, X: Matrix, *columns: Floats) -> Floats:
    Xa, Xb, d_a, d_b = _slopes(models, X, *columns)
    return four_blocks(Xa, Xb, d_a**2, d_a * d_b, d_b**2)


def _score_along(models: Pair, direction: Floats, X: Matrix, *columns: Floats) -> Floats:
    Xa, Xb, d_a, d_b = _slopes(models, X, *columns)
    beta, gamma = np.split(direction, [models.outcome.size])
    return -d_a * predictor(Xa, beta) - d_b * predictor(Xb, gamma)


def _cluster_scores(
    models: Pair,
    n_clusters: int,
    X: Matrix,
    s: Floats,
    known: Floats,
    weight: Floats,
    codes: Floats,
) -> Floats:
    Xa, Xb, d_a, d_b = _slopes(models, X, s, known, weight)
    members = (codes.astype(np.intp), np.arange(len(codes)))
    parts = []
    for features, d in ((Xa, d_a), (Xb, d_b)):
        gather = sparse.csr_array((-d, members), shape=(n_clusters, len(codes)))
        sums = gather @ features
        parts += [sums.toarray() if sparse.issparse(sums) else sums, gather.sum(axis=1)[:, None]]
    return np.hstack(parts)
