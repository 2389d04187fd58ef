"""How far labelled rows are from a random part of the likely positives, by four statistics."""

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score
from sklearn.naive_bayes import GaussianNB

from doublelogit._types import Floats

Statistic = Callable[[Any], float]


def _ks(X: Floats) -> Statistic:
    """Sum over the features of the largest distance of two distribution functions."""
    order = np.argsort(X, axis=0, kind="stable")
    values = np.take_along_axis(X, order, axis=0)
    last = np.vstack([values[1:] != values[:-1], np.ones(X.shape[1], dtype=bool)])
    whole = np.arange(1, len(X) + 1)[:, None] / len(X)

    def statistic(drawn: Any) -> float:
        share = np.cumsum(drawn[order], axis=0) / drawn.sum()
        return float((np.abs(share - whole) * last).max(axis=0).sum())

    return statistic


def _kl(X: Floats) -> Statistic:
    """Divergence of Gaussians with independent features, the drawn rows' from the stratum's."""
    mean, var = X.mean(axis=0), X.var(axis=0) + 1e-3

    def statistic(drawn: Any) -> float:
        m, v = X[drawn].mean(axis=0), X[drawn].var(axis=0) + 1e-3
        return float(0.5 * (np.log(var / v) + (v + (m - mean) ** 2) / var - 1).sum())

    return statistic


def _klcov(X: Floats) -> Statistic:
    """Divergence of Gaussians with full covariances, the drawn rows' from the stratum's."""
    p = X.shape[1]
    mean, cov = X.mean(axis=0), np.atleast_2d(np.cov(X.T)) + 1e-3 * np.eye(p)
    inverse, log_det = np.linalg.inv(cov), np.linalg.slogdet(cov)[1]

    def statistic(drawn: Any) -> float:
        share = X[drawn]
        c = np.atleast_2d(np.cov(share.T)) + 1e-3 * np.eye(p)
        d = share.mean(axis=0) - mean
        trace = float(np.sum(inverse * c))
        return float(0.5 * (trace + d @ inverse @ d - p + log_det - np.linalg.slogdet(c)[1]))

    return statistic


def _nb(X: Floats) -> Statistic:
    """AUC - 1/2 of a Gaussian naive Bayes classifier, drawn rows against the stratum."""

    def statistic(drawn: Any) -> float:
        both = np.vstack([X[drawn], X])
        group = np.repeat([1, 0], [int(drawn.sum()), len(X)])
        score = GaussianNB(var_smoothing=1e-6).fit(both, group).predict_log_proba(both)
        return float(roc_auc_score(group, score[:, 1] - score[:, 0]) - 0.5)

    return statistic


STATISTICS: dict[str, Callable[[Floats], Statistic]] = {
    "ks": _ks,
    "kl": _kl,
    "klcov": _klcov,
    "nb": _nb,
}
