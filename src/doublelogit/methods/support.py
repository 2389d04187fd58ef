"""Which columns of a wide table matter: a path of the label, EBIC, score tests, and what is left.

Algorithm::

    path of the label's model, 50 penalties down to a twentieth of the largest
    support <- that of the path whose ridge refit has the least EBIC
    given y(x) and e(x) by a model of the support, repeat
        T_j <- efficient score test of (beta_j, gamma_j), the support's directions projected out
        the three columns of the largest T > 2 log p enter
    rest <- index of the columns left, by a path with the support free, from rows held out

A cross-validated path of both models is no substitute: L1 drives the pair to e(x) = 1.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.special import log_expit

from doublelogit._types import Floats, Ints, Matrix
from doublelogit.core.design import Terms, predictor
from doublelogit.core.folds import Split
from doublelogit.core.objective import LogisticObjective
from doublelogit.core.solvers import newton
from doublelogit.engines.memory import MemoryRows
from doublelogit.methods.path import SparseLoss, geometric, path, start

SCREENED, LOWEST = 50, 0.05  # penalties of the screening path, and the last one
REST_PENALTIES, REST_LOWEST = 15, 0.1  # of the index of what is left
TOLERANCE = 1e-3  # of the largest penalty: a support needs no more
ROWS_PER_FEATURE = 8
EBIC = 0.25  # of Chen and Chen's gamma; BIC, 1/2, 1, stability and cross-validation were worse
PATIENCE, REST_PATIENCE = 6, 2  # supports and penalties beyond the best that are still tried
REFIT_PENALTY = 1.0  # ridge of a refit, on the sum of losses in standard units
ENTER, ROUNDS = 3, 5  # columns that enter by a round of score tests, and rounds
LEAST_LABELLED = 10  # labelled rows in which a column must not be zero
SINGULAR = 1e-10  # eigenvalues of products of unit columns below are rounding error
FLAT = 1e-6  # eigenvalues of an information below are taken as zero, of the largest


def screened(loss: SparseLoss) -> Ints:
    """The support on the label's path whose refit has the least extended BIC."""
    if not loss.chooses:
        return loss.free
    most = max(int(loss.n / ROWS_PER_FEATURE), 1) + len(loss.free)
    start_at = start(loss, 1e-8)
    largest = loss.largest_penalty(start_at)
    penalties = geometric(largest, SCREENED, LOWEST)
    best, least, behind, seen = loss.free, np.inf, 0, set()
    points = path(loss, penalties, tol=TOLERANCE * largest, most_features=most, coef=start_at)
    for point in points:
        support = np.union1d(point.support, loss.free)
        if tuple(support) in seen:
            continue
        seen.add(tuple(support))
        criterion = _ebic(loss, support, point.coef[0])
        behind += 1
        if criterion < least:
            best, least, behind = support, criterion, 0
        if behind == PATIENCE:
            break
    return best


def _ebic(loss: SparseLoss, support: Ints, coef: Floats) -> float:
    """Extended BIC of the ridge refit of a support."""
    every, _ = loss.used([support])
    rows = MemoryRows(loss.columns.some(every), loss.rows.labels, loss.rows.weight)
    target = (rows.labels.any, rows.weight, loss.n)
    units = np.ones(len(every) + 1)
    refit = LogisticObjective(rows, Terms(len(every)), *target, REFIT_PENALTY, units=units)
    theta = newton(refit, np.append(coef[every], coef[-1]), tol=1e-5).theta
    plain = LogisticObjective(rows, Terms(len(every)), *target, 0.0, units=units)
    deviance = 2 * loss.n * plain.value_grad(theta).value
    size, p = len(support), loss.columns.n_features
    return float(deviance + size * (np.log(loss.n) + 2 * EBIC * np.log(p)))


class Scores(NamedTuple):
    """Of every column: its test, and the variance of its slope in the class if it entered."""

    statistic: Floats
    variance: Floats

    @property
    def typical_variance(self) -> float:
        """Median of the variances; zero where no column is left."""
        known = self.variance[~np.isnan(self.variance)]
        return float(np.median(known)) if len(known) else 0.0


@dataclass(frozen=True)
class PseudoRows:
    """Rows of the expected information of both predictors, and their standardised residuals.

    A label is a Bernoulli variable of probability ye, whose information of (a, b) has rank one,
    with the root (1-y, 1-e) sqrt(s/(1-s)); so has the class of an audited row, given that it was
    not labelled.
    """

    rows: Ints
    v_a: Floats
    v_b: Floats
    residual: Floats

    @classmethod
    def of(cls, rows: MemoryRows, y: Floats, e: Floats) -> "PseudoRows":
        s, root = rows.labels.any, np.sqrt(rows.weight)
        p = np.clip(y * e, 1e-12, 1 - 1e-12)
        odds = np.sqrt(p / (1 - p))
        label = (odds * (1 - y), odds * (1 - e), (s - p) / np.sqrt(p * (1 - p)))
        audited = np.flatnonzero(~np.isnan(rows.labels.known) & (s == 0))
        t = np.clip((y * (1 - e) / (1 - y * e))[audited], 1e-12, 1 - 1e-12)
        free = np.sqrt(t * (1 - t))
        found = (free, -free * e[audited], (rows.labels.known[audited] - t) / free)
        at = np.concatenate([np.arange(len(s)), audited])
        columns = (np.concatenate(pair) * root[at] for pair in zip(label, found, strict=True))
        return cls(at, *columns)


def score_tests(loss: SparseLoss, support: Ints, y: Floats, e: Floats) -> Scores:
    """Efficient score tests of two degrees of freedom, given the model of a support."""
    rows = loss.rows
    pseudo = PseudoRows.of(rows, y, e)
    inside = np.asarray(_dense(loss.columns.some(support)))[pseudo.rows]
    inside = np.column_stack([inside, np.ones(len(inside))])
    design = np.hstack([inside * pseudo.v_a[:, None], inside * pseudo.v_b[:, None]])
    basis = _orthonormal(design)
    left = pseudo.residual - basis @ (basis.T @ pseudo.residual)
    some = rows.some(pseudo.rows) if len(pseudo.rows) > len(rows) else rows
    sums = some.sum_rows(_score_sums, pseudo.v_a, pseudo.v_b, left, basis)
    u = np.stack([sums.u_a, sums.u_b], axis=1)
    aa = sums.aa - np.einsum("pq,pq->p", sums.q_a, sums.q_a)
    ab = sums.ab - np.einsum("pq,pq->p", sums.q_a, sums.q_b)
    bb = sums.bb - np.einsum("pq,pq->p", sums.q_b, sums.q_b)
    information = np.stack([np.stack([aa, ab], -1), np.stack([ab, bb], -1)], -2)
    values, vectors = np.linalg.eigh(information)
    floor = FLAT * np.maximum(sums.aa + sums.bb, np.finfo(float).tiny)[:, None]
    inverse = np.where(values > floor, 1 / np.where(values > floor, values, 1.0), 0.0)
    along = np.einsum("pij,pi->pj", vectors, u)
    statistic = (along**2 * inverse).sum(axis=1)
    variance = (vectors[:, 0, :] ** 2 * inverse).sum(axis=1) * loss.columns.spread**2
    possible = np.isfinite(loss.factor).any(axis=0) & (_labelled_nonzeros(rows) >= LEAST_LABELLED)
    possible[support] = False
    return Scores(np.where(possible, statistic, 0.0), np.where(possible, variance, np.nan))


def entering(scores: Scores) -> Ints:
    """The columns whose tests let them in: the largest few beyond what chance reaches."""
    first = np.argsort(-scores.statistic, kind="stable")[:ENTER]
    return first[scores.statistic[first] > 2 * np.log(len(scores.statistic))]


class _ScoreSums(NamedTuple):
    u_a: Floats
    u_b: Floats
    aa: Floats
    ab: Floats
    bb: Floats
    q_a: Floats
    q_b: Floats


def _score_sums(X: Matrix, v_a: Floats, v_b: Floats, residual: Floats, basis: Floats) -> _ScoreSums:
    squared = X.multiply(X).tocsr() if sparse.issparse(X) else X * X
    return _ScoreSums(
        X.T @ (v_a * residual),
        X.T @ (v_b * residual),
        squared.T @ (v_a * v_a),
        squared.T @ (v_a * v_b),
        squared.T @ (v_b * v_b),
        np.asarray(X.T @ (basis * v_a[:, None])),
        np.asarray(X.T @ (basis * v_b[:, None])),
    )


def _orthonormal(design: Floats) -> Floats:
    """An orthonormal basis of the columns of a matrix."""
    size = np.sqrt((design**2).sum(axis=0))
    unit = design / np.where(size > 0, size, 1.0)
    values, vectors = np.linalg.eigh(unit.T @ unit)
    kept = values > SINGULAR * values[-1]
    return np.asarray(unit @ (vectors[:, kept] / np.sqrt(values[kept])))


def _labelled_nonzeros(rows: MemoryRows) -> Floats:
    """Weight of labelled rows in which each column is not zero."""
    return np.asarray(rows.sum_rows(_nonzeros, rows.labels.any * rows.weight))


def _nonzeros(X: Matrix, weight: Floats) -> Floats:
    nonzero = (X != 0).astype(np.float64)
    return np.asarray(nonzero.T @ weight)


def _dense(X: Matrix) -> Floats:
    return np.asarray(X.toarray() if sparse.issparse(X) else X)


class Rest(NamedTuple):
    """The index of the columns that were not selected.

    ``coef`` are slopes of the columns as they are; ``values`` are of each row by a fit that has not
    seen it; ``gain`` is by how much held-out labels are likelier with it, per row.
    """

    coef: Floats
    values: Floats
    gain: float


def rest_index(loss: SparseLoss, support: Ints, splits: Iterable[Split]) -> Rest | None:
    """The index of what was not selected; None where it helps no held-out label."""
    factor = loss.factor.copy()
    factor[:, support] = 0.0
    if not replace(loss, factor=factor).chooses:
        return None
    splits, rows = list(splits), loss.rows
    best = _held_out_best(loss, factor, splits)
    if best is None:
        return None
    slopes = best.coefs[:, :-1]
    slopes[:, support] = 0.0
    if not slopes.any():
        return None
    values = np.empty(len(rows))
    for (_, inside), each in zip(splits, slopes, strict=True):
        values[inside] = rows.X[inside] @ each
    return Rest(slopes.mean(axis=0), values, best.gain)


class _Best(NamedTuple):
    """Coefficients of the penalty that is best for held-out labels, by fold, and its gain."""

    coefs: Floats
    gain: float


def _held_out_best(loss: SparseLoss, factor: Floats, splits: list[Split]) -> _Best | None:
    """The best penalty of the index; None where it is the one that leaves nothing."""
    rows, best, behind = loss.rows, None, 0
    first = highest = -np.inf
    paths = [_rest_path(rows.some(outside), factor) for outside, _ in splits]
    for coefs in zip(*paths, strict=False):  # until the first of them ends
        likelihood = 0.0
        for (_, inside), coef in zip(splits, coefs, strict=True):
            a, s = predictor(rows.X[inside], coef), rows.labels.any[inside]
            likelihood += float(rows.weight[inside] @ (s * a + log_expit(-a))) / loss.n
        first = likelihood if np.isinf(first) else first
        behind += 1
        if likelihood > highest:
            best, highest, behind = coefs, likelihood, 0
        if behind == REST_PATIENCE:
            break
    return None if best is None or highest <= first else _Best(np.array(best), highest - first)


def _rest_path(rows: MemoryRows, factor: Floats) -> Iterator[Floats]:
    """Coefficients along a path of the label."""
    loss = SparseLoss.of(rows, factor)
    begin = start(loss, 1e-8)
    largest = loss.largest_penalty(begin)
    penalties = geometric(largest, REST_PENALTIES, REST_LOWEST)
    most = len(loss.free) + max(int(loss.n / ROWS_PER_FEATURE), 1)
    points = path(loss, penalties, tol=TOLERANCE * largest, most_features=most, coef=begin)
    return (loss.columns.raw(point.coef)[0] for point in points)
