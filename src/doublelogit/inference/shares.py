"""Prevalence, label frequency and hidden positives of groups of rows, from one pass over them.

An estimate is a function of the rows and of theta. What row i of group g contributes to its error
is

    psi_i = w_i r_i + g' A^-1 w_i u_i      g: its gradient in theta, u_i: the score of the row

and its variance is the sum of psi_i^2, or of their sums within clusters squared. The residual of a
prevalence is r = (y - pi) / n, that of a label frequency is linear in y and s too; so all that is
needed are sums over the rows of (1, s, y), of their products with each other and with u, group by
group: as many passes for twenty groups as for one.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from doublelogit._types import Floats, Matrix
from doublelogit.core.labels import Labels
from doublelogit.core.objective import Pair, four_blocks
from doublelogit.inference.covariance import (
    Sampling,
    belief_scores,
    cluster_scores,
    covariance,
    row_gradients,
)
from doublelogit.inference.fitted_problem import FittedProblem
from doublelogit.inference.groups import Groups, gathered, gathered_terms
from doublelogit.methods.prevalence import label_frequency_at


class Share(NamedTuple):
    """A number for each group: values, standard errors, and what the values are a share of."""

    value: Floats
    se: Floats
    total: Floats


class GroupSums(NamedTuple):
    """Sums over the rows of each group; ``m`` stands for the moments (1, s, y) of a row."""

    moments: Floats  # (groups, 3): sum of w m
    slopes: Floats  # (groups, size of theta): gradient of the sum of w y
    products: Floats  # (groups, 3, 3): sum of v m m', v the weight of a square
    crossed: Floats  # (groups, 3, size of theta): sum of v m u'
    meat: Floats  # (size of theta, size of theta): sum of v u u', over all rows
    hidden: Floats  # (groups, 3): unlabelled rows, hidden positives, their variance
    hidden_slopes: Floats  # (groups, size of theta): gradient of the hidden positives


@dataclass(frozen=True)
class GroupShares:
    """Shares of groups of rows by a maximum of the likelihood."""

    fitted: FittedProblem
    groups: Groups
    sampling: Sampling
    sums: GroupSums

    @classmethod
    def over(cls, fitted: FittedProblem, groups: Groups, sampling: Sampling) -> "GroupShares":
        """All sums that shares of these groups need, in one pass over the rows."""
        rows = fitted.problem.rows
        fn = partial(_sums, fitted.pair, len(groups), sampling)
        sums = rows.sum_rows(fn, rows.labels, rows.weight, groups.codes)
        return cls(fitted, groups, sampling, sums)

    def prevalence(self) -> Share:
        """Mean of y(x) in each group."""
        n, _, positive = self.sums.moments.T
        error = self._error(self._prevalence_residual(), self._prevalence_gradient())
        return Share(positive / n, error, np.ones(len(n)))

    def row_error(self) -> Floats:
        """Standard error of the prevalence if theta were known: other rows might be drawn."""
        residual = self._prevalence_residual()
        return self._error(residual, np.zeros((len(residual), len(self.fitted.theta))))

    def chance_error(self) -> Floats:
        """Standard error of the hidden positives if theta were known: which rows are positive."""
        return np.sqrt(self.sums.hidden[:, 2])

    @property
    def labelled_share(self) -> Floats:
        """Share of labelled rows in each group."""
        n, labelled, _ = self.sums.moments.T
        return labelled / n

    def _prevalence_residual(self) -> Floats:
        """Coefficients of (1, s, y) in what a row adds to the error of its group's prevalence."""
        n, _, positive = self.sums.moments.T
        return np.column_stack([-positive / n**2, np.zeros(len(n)), 1 / n])

    def label_frequency(self) -> Share:
        """Share of the positives that are labelled: mean S, less false labels, over mean y(x)."""
        n, labelled, positive = self.sums.moments.T
        pi, mean_s = positive / n, labelled / n
        false = self.fitted.problem.false_label_rate
        above = (mean_s - false) / pi
        one = np.ones(len(n))
        residual = np.column_stack([above * pi - mean_s, one, -above]) / (n * pi)[:, None]
        gradient = -(above / pi)[:, None] * self._prevalence_gradient()
        value = label_frequency_at(pi, mean_s, false)
        return Share(value, self._error(residual, gradient), one)

    def hidden(self) -> Share:
        """Number of positives among the unlabelled rows of each group.

        Its variance is that of the estimate and that of chance: whether a row that is positive
        with probability t is positive, row by row, whatever clusters there are.
        """
        unlabelled, value, chance = self.sums.hidden.T
        V, gradient = covariance(self.fitted, self.sampling), self.sums.hidden_slopes
        variance = np.einsum("gi,ij,gj->g", gradient, V, gradient) + chance
        return Share(value, np.sqrt(variance), unlabelled)

    def _prevalence_gradient(self) -> Floats:
        """Gradient of the prevalence of each group in theta."""
        return self.sums.slopes / self.sums.moments[:, :1]

    def _error(self, residual: Floats, gradient: Floats) -> Floats:
        """Standard errors, from the residual's coefficients of (1, s, y) and the gradient."""
        pull = gradient @ self.fitted.inverse_information
        if self.sampling.clusters is None:
            variance = (
                np.einsum("gi,gij,gj->g", residual, self.sums.products, residual)
                + 2 * np.einsum("gi,gik,gk->g", residual, self.sums.crossed, pull)
                + np.einsum("gk,kl,gl->g", pull, self.sums.meat, pull)
            )
        else:
            psi = self._cluster_residuals(residual) + pull @ self._cluster_scores().T
            variance = (psi**2).sum(axis=1) * self.sampling.correction
        from_beliefs = sum((pull @ score) ** 2 for score in belief_scores(self.fitted))
        return np.sqrt(np.maximum(variance, 0.0) + from_beliefs)

    def _cluster_scores(self) -> Floats:
        assert self.sampling.clusters is not None
        return cluster_scores(self.fitted, self.sampling.clusters)

    def _cluster_residuals(self, residual: Floats) -> Floats:
        """Residuals summed within clusters: (groups, clusters)."""
        clusters, rows = self.sampling.clusters, self.fitted.problem.rows
        assert clusters is not None
        fn = partial(_residuals, self.fitted.pair, residual, len(clusters))
        columns = (rows.labels.any, rows.weight, self.groups.codes, clusters.codes)
        return rows.sum_rows(fn, *columns)


SHARES: dict[str, Callable[[GroupShares], Share]] = {
    "prevalence": GroupShares.prevalence,
    "label frequency": GroupShares.label_frequency,
    "hidden positives": GroupShares.hidden,
}


def _sums(
    pair: Pair,
    n: int,
    sampling: Sampling,
    X: Matrix,
    labels: Labels,
    weight: Floats,
    codes: Floats,
) -> GroupSums:
    Xa, Xb, d_a, d_b = row_gradients(pair, X, labels)
    y = pair.response.outcome(*pair.predictors(Xa, Xb))
    m, v = np.column_stack([np.ones(len(weight)), labels.any, y.value]), sampling.weight(weight)

    def sums_of_terms(weight: Floats, by_a: Floats, by_b: Floats) -> Floats:
        sides = ((Xa, by_a), (Xb, by_b))
        return np.hstack([gathered_terms(codes, n, Z, weight * d) for Z, d in sides])

    # scores are minus the loss's derivatives
    crossed = [sums_of_terms(-v * m[:, i], d_a, d_b) for i in range(3)]
    products = gathered(codes, n, (m[:, :, None] * m[:, None, :]).reshape(-1, 9), v)
    t = pair.response.hidden(*pair.predictors(Xa, Xb))
    unlabelled, unknown = weight * (labels.any == 0), np.isnan(labels.known)
    return GroupSums(
        moments=gathered(codes, n, m, weight),
        slopes=sums_of_terms(weight, y.d_a, y.d_b),
        products=products.reshape(n, 3, 3),
        crossed=np.stack(crossed, axis=1),
        meat=four_blocks(Xa, Xb, v * d_a**2, v * d_a * d_b, v * d_b**2),
        hidden=_hidden(codes, n, np.where(unknown, t.value, labels.known), unlabelled, sampling),
        # an audited class depends on no model
        hidden_slopes=sums_of_terms(unlabelled * unknown, t.d_a, t.d_b),
    )


def _hidden(codes: Floats, n: int, t: Floats, weight: Floats, sampling: Sampling) -> Floats:
    """Unlabelled rows, hidden positives and their variance by chance."""
    columns = ((1.0, weight), (t, weight), (t * (1 - t), sampling.weight(weight)))
    sums = [np.bincount(codes.astype(np.intp), value * w, n) for value, w in columns]
    return np.column_stack(sums)


def _residuals(
    pair: Pair,
    residual: Floats,
    n_clusters: int,
    X: Matrix,
    s: Floats,
    weight: Floats,
    codes: Floats,
    clusters: Floats,
) -> Floats:
    Xa, Xb = pair.features(X)
    y = pair.response.outcome(*pair.predictors(Xa, Xb))
    residuals = residual[codes.astype(np.intp)]
    psi = weight * (residuals[:, 0] + residuals[:, 1] * s + residuals[:, 2] * y.value)
    both = codes * n_clusters + clusters
    sums = np.bincount(both.astype(np.intp), psi, len(residual) * n_clusters)
    return sums.astype(np.float64).reshape(len(residual), n_clusters)
