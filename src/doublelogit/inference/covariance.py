"""Covariance of the estimated coefficients: by information, robust, or by clusters.

    observed   A^-1                  A: the observed information (Louis), with the penalties
    robust     A^-1 B A^-1           B: sum of w_i^2 u_i u_i', u_i the score of a row
    cluster    A^-1 B A^-1 G/(G-1)   B: sum over clusters of their scores' outer products

Weights count rows in the first and are sampling weights in the others.
"""

from functools import partial
from typing import Any

import numpy as np

from doublelogit._types import Column, Floats, Matrix
from doublelogit.design import Terms, cross, predictor, sandwich
from doublelogit.inference.binding import Fitted
from doublelogit.link import Response
from doublelogit.methods.orientation import inverse_information
from doublelogit.methods.prevalence import prevalence_first


def covariance(fitted: Fitted, kind: str, cluster: Any = None) -> Floats:
    """Covariance of theta, in the coordinates of the fit."""
    inverse = inverse_information(fitted.problem, fitted.theta)
    if kind == "observed":
        return inverse
    B = cluster_meat(fitted, cluster) if kind == "cluster" else meat(fitted)
    pull = belief_score(fitted)
    if pull is not None:  # what is believed may be wrong by its standard deviation
        B = B + np.outer(pull, pull)
    return np.asarray(inverse @ B @ inverse)


def meat(fitted: Fitted) -> Floats:
    """Sum of the outer products of the rows' weighted scores."""
    rows = fitted.problem.rows
    return rows.total(partial(_meat, *_model(fitted)), rows.s, rows.known, rows.weight)


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
    fn = partial(_cluster_scores, *_model(fitted), len(values))
    scores = rows.total(fn, rows.s, rows.known, rows.weight, rows.place(codes))
    return scores.T @ scores * (len(values) / (len(values) - 1))


def belief_score(fitted: Fitted) -> Floats | None:
    """Change of the score when the believed prevalence moves by its standard deviation."""
    problem = fitted.problem
    if problem.belief is None:
        return None
    gradient = prevalence_first(problem.likelihood, fitted.theta).grad / problem.belief.sd
    return np.append(gradient, np.zeros(problem.propensity.size))


def score_along(fitted: Fitted, direction: Floats) -> Column:
    """Weighted score of every row, its share of the gradient, along a direction of theta."""
    rows = fitted.problem.rows
    fn = partial(_score_along, *_model(fitted), *fitted.problem.likelihood.split(direction))
    return rows.derive(fn, rows.s, rows.known, rows.weight)


def _model(fitted: Fitted) -> tuple[Response, Terms, Terms, Floats, Floats]:
    """All that a row's score depends on."""
    problem, likelihood = fitted.problem, fitted.problem.likelihood
    terms = (problem.outcome, problem.propensity)
    return (likelihood.response, *terms, *likelihood.split(fitted.theta))


def _slopes(
    response: Response,
    outcome: Terms,
    propensity: Terms,
    beta: Floats,
    gamma: Floats,
    X: Matrix,
    *columns: Floats,
) -> tuple[Matrix, Matrix, Floats, Floats]:
    """Features of both models and the rows' slopes, weighted."""
    s, known, weight = columns
    Xa = outcome.select(X)
    Xb = Xa if propensity is outcome else propensity.select(X)
    f = response.slopes(s, known, predictor(Xa, beta), predictor(Xb, gamma))
    return Xa, Xb, weight * f.d_a, weight * f.d_b


def _meat(
    response: Response,
    outcome: Terms,
    propensity: Terms,
    beta: Floats,
    gamma: Floats,
    X: Matrix,
    *columns: Floats,
) -> Floats:
    Xa, Xb, d_a, d_b = _slopes(response, outcome, propensity, beta, gamma, X, *columns)
    mixed = cross(Xa, d_a * d_b, Xb)
    return np.block([[sandwich(Xa, d_a**2), mixed], [mixed.T, sandwich(Xb, d_b**2)]])


def _score_along(
    response: Response,
    outcome: Terms,
    propensity: Terms,
    beta: Floats,
    gamma: Floats,
    along_beta: Floats,
    along_gamma: Floats,
    X: Matrix,
    *columns: Floats,
) -> Floats:
    Xa, Xb, d_a, d_b = _slopes(response, outcome, propensity, beta, gamma, X, *columns)
    return -d_a * predictor(Xa, along_beta) - d_b * predictor(Xb, along_gamma)


def _scores(
    response: Response,
    outcome: Terms,
    propensity: Terms,
    beta: Floats,
    gamma: Floats,
    X: Matrix,
    *columns: Floats,
) -> Floats:
    Xa, Xb, d_a, d_b = _slopes(response, outcome, propensity, beta, gamma, X, *columns)
    parts = []
    for features, d in ((Xa, d_a), (Xb, d_b)):
        dense = features.toarray() if hasattr(features, "toarray") else features
        parts += [-dense * d[:, None], -d[:, None]]
    return np.hstack(parts)


def _cluster_scores(
    response: Response,
    outcome: Terms,
    propensity: Terms,
    beta: Floats,
    gamma: Floats,
    n_clusters: int,
    X: Matrix,
    s: Floats,
    known: Floats,
    weight: Floats,
    codes: Floats,
) -> Floats:
    scores = _scores(response, outcome, propensity, beta, gamma, X, s, known, weight)
    sums = np.zeros((n_clusters, scores.shape[1]))
    np.add.at(sums, codes.astype(np.intp), scores)
    return sums
