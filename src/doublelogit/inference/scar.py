"""Tests of SCAR: are positives labelled at random, or does labelling depend on the features.

    lr, wald           a constant propensity against a free gamma, in the double logistic model
    ks, kl, klcov, nb  do labelled rows look like a random part of the likely positives?

Near flat directions the first two do not follow their chi-square law, so their p-values come from
samples drawn under the null fit (a parametric bootstrap). The others are those of Teisseyre et al.
(2024): the positives are taken to be the labelled rows and the unlabelled ones that NAIVE ranks
first, as many as the label frequency c asks for; labels are then drawn among them at random, again
and again, and the statistic of the real labels is compared with those. Where the classes overlap
the rows ranked first are no random part of the positives, and these tests reject too often.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from scipy.special import expit, logit
from sklearn.metrics import roc_auc_score
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import check_X_y
from threadpoolctl import threadpool_limits

from doublelogit._types import Floats
from doublelogit.design import Terms
from doublelogit.engines.memory import memory_rows
from doublelogit.estimators.sources import is_distant
from doublelogit.estimators.validation import encode_labels
from doublelogit.methods import Problem, joint, naive
from doublelogit.methods.orientation import inverse_information, strength_gap
from doublelogit.methods.problem import full

LIKELIHOOD = ("lr", "wald")
FEWEST = 10  # unlabelled rows of the stratum, as in the paper


@dataclass(frozen=True)
class ScarTest:
    """The result of a test of SCAR.

    Parameters
    ----------
    method : str
        Which statistic.
    statistic, p_value : float
        Large statistics and small p-values speak against SCAR.
    null : ndarray
        Statistics of samples whose labels were drawn at random.
    label_frequency : float
        c under SCAR, given or estimated.
    """

    method: str
    statistic: float
    p_value: float
    null: Floats
    label_frequency: float

    @property
    def sentence(self) -> str:
        """The result in words."""
        against = "speaks against" if self.p_value < 0.05 else "does not speak against"
        return (
            f"The {self.method} test {against} labelling at random (statistic "
            f"{self.statistic:.3g}, p = {self.p_value:.3g}, {len(self.null)} samples drawn under "
            f"the hypothesis with a label frequency of {self.label_frequency:.2f})."
        )

    def __str__(self) -> str:
        return self.sentence


def scar_test(
    X: Any,
    s: Any,
    *,
    method: str = "lr",
    label_frequency: float | None = None,
    n_resamples: int | None = None,
    C: float = 1.0,
    pos_label: Any = None,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> ScarTest:
    """Test whether positives are labelled completely at random.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Features; they are standardised.
    s : array-like of shape (n_samples,)
        Observed labels.
    method : {"lr", "wald", "ks", "kl", "klcov", "nb"}, default="lr"
        lr, wald: likelihood ratio and Wald test of a constant propensity. ks: sum over the
        features of Kolmogorov-Smirnov distances. kl, klcov: Kullback-Leibler divergence of
        Gaussians with independent features, or with covariances. nb: how well a naive Bayes
        classifier separates, AUC - 1/2. The last four suit classes that hardly overlap.
    label_frequency : float, default=None
        P(S=1 | Y=1) for the last four, if known; estimated under SCAR otherwise.
    n_resamples : int, default=None
        Samples under the hypothesis: 199 for lr and wald, 500 for the others if not given.
    C : float, default=1.0
        Penalty of the models, as everywhere.
    pos_label : object, default=None
        The value of s that means labelled. Not needed for 0/1, -1/1 and booleans.
    random_state : int, default=0
        The same seed gives the same p-value whatever n_jobs is.
    n_jobs : int, default=None
        Worker processes for lr and wald.

    Returns
    -------
    test : ScarTest

    Examples
    --------
    >>> import numpy as np
    >>> from doublelogit import scar_test
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(1000, 2))
    >>> y = rng.random(1000) < 1 / (1 + np.exp(-2 * X[:, 0]))
    >>> s = y & (rng.random(1000) < 1 / (1 + np.exp(-2 * X[:, 1])))
    >>> scar_test(X, s, n_resamples=39).p_value
    0.025
    """
    if method not in (*LIKELIHOOD, *STATISTICS):
        known = ", ".join((*LIKELIHOOD, *STATISTICS))
        raise ValueError(f"method must be one of {known}; got {method!r}.")
    if label_frequency is not None and not 0 < label_frequency <= 1:
        raise ValueError(f"label_frequency must be in (0, 1]; got {label_frequency}.")
    if is_distant(X):
        raise ValueError(
            f"tests of SCAR redraw labels of rows that are in memory; got {type(X).__name__}."
        )
    X, s = check_X_y(X, s, dtype=np.float64)
    labels, _ = encode_labels(s, pos_label)
    Z = StandardScaler().fit_transform(X)
    if method in LIKELIHOOD:
        return _by_likelihood(Z, labels, method, n_resamples or 199, C, random_state, n_jobs)
    c = label_frequency or null_fit(Z, labels, C).c
    return _by_resampling(Z, labels, method, c, n_resamples or 500, C, random_state)


@dataclass(frozen=True)
class Null:
    """The fit with a constant propensity c."""

    problem: Problem
    beta: Floats
    c: float
    value: float


def null_fit(X: Floats, s: Floats, C: float) -> Null:
    """Maximum likelihood under SCAR."""
    rows = memory_rows(X, s)
    constant = Terms(X.shape[1], np.array([], dtype=int))
    problem = Problem(rows, 1 / C, 1 / C, propensity=constant)
    fit = joint(problem, n_starts=1)
    assert fit.beta is not None
    assert fit.gamma is not None
    return Null(problem, fit.beta, float(expit(fit.gamma[-1])), fit.trace[-1])


def _by_likelihood(
    X: Floats, s: Floats, method: str, n: int, C: float, seed: int, n_jobs: int | None
) -> ScarTest:
    null = null_fit(X, s, C)
    s_x = null.c * expit(X @ null.beta[:-1] + null.beta[-1])
    seeds = np.random.SeedSequence(seed).spawn(n)
    work = delayed(drawn_statistics)
    both = Parallel(n_jobs=n_jobs)(work(X, s_x, C, child) for child in seeds)
    draws = np.array([statistics[method] for statistics in both])
    statistic = likelihood_statistics(X, s, C)[method]
    p = (1 + np.count_nonzero(draws >= statistic)) / (n + 1)
    return ScarTest(method, statistic, float(p), draws, null.c)


def drawn_statistics(
    X: Floats, s_x: Floats, C: float, seed: np.random.SeedSequence
) -> dict[str, float]:
    """Both statistics of a sample drawn under the null."""
    rng = np.random.default_rng(seed)
    s = np.zeros(len(s_x))
    while not 0 < s.sum() < len(s):
        s = (rng.random(len(s_x)) < s_x).astype(np.float64)
    with threadpool_limits(1):
        return likelihood_statistics(X, s, C)


def likelihood_statistics(X: Floats, s: Floats, C: float) -> dict[str, float]:
    """Likelihood ratio and Wald statistic of the free fit.

    It is climbed from the null's maximum, so that the ratio cannot be negative, and from the
    naive start.
    """
    null = null_fit(X, s, C)
    problem = Problem(null.problem.rows, 1 / C, 1 / C)
    flat = np.append(np.zeros(X.shape[1]), logit(np.clip(null.c, 1e-6, 1 - 1e-6)))
    fits = [
        joint(problem, init=start, n_starts=1)
        for start in (np.concatenate([null.beta, flat]), "naive")
    ]
    best = min(fits, key=lambda fit: fit.trace[-1])
    assert best.beta is not None
    assert best.gamma is not None
    return {
        "lr": float(2 * problem.n * (null.value - best.trace[-1])),
        "wald": _wald(problem, np.concatenate([best.beta, best.gamma])),
    }


def _wald(problem: Problem, theta: Floats) -> float:
    """Slopes of the weaker model, the propensity, in units of their covariance."""
    k = problem.outcome.size
    if strength_gap(problem, theta) < 0:
        theta = np.concatenate(full(problem, theta)[::-1])
    slopes = theta[k:-1]
    V = inverse_information(problem, theta)[k:-1, k:-1]
    return float(slopes @ np.linalg.solve(V, slopes))


def _by_resampling(
    X: Floats, s: Floats, method: str, c: float, n: int, C: float, seed: int
) -> ScarTest:
    alpha = naive(Problem(memory_rows(X, s), 1 / C, 1 / C)).beta
    assert alpha is not None
    ranked = np.flatnonzero(s == 0)[np.argsort(-(X[s == 0] @ alpha[:-1]), kind="stable")]
    unlabelled = max(FEWEST, round(len(s) * (s.mean() / c - s.mean())))
    stratum = np.concatenate([np.flatnonzero(s == 1), ranked[:unlabelled]])
    inside, rng = X[stratum], np.random.default_rng(seed)
    statistic = STATISTICS[method](inside)
    observed = statistic(s[stratum] == 1)
    draws = np.empty(n)
    for i in range(n):
        drawn = rng.random(len(stratum)) < c
        while drawn.sum() < 2:
            drawn = rng.random(len(stratum)) < c
        draws[i] = statistic(drawn)
    return ScarTest(method, observed, float((draws > observed).mean()), draws, c)


Statistic = Callable[[Any], float]


def _ks(X: Floats) -> Statistic:
    """Sum over the features of the largest distance of two distribution functions."""
    order = np.argsort(X, axis=0, kind="stable")
    values = np.take_along_axis(X, order, axis=0)
    last = np.vstack([values[1:] != values[:-1], np.ones(X.shape[1], dtype=bool)])
    whole = np.arange(1, len(X) + 1)[:, None] / len(X)

    def statistic(drawn: Any) -> float:
        part = np.cumsum(drawn[order], axis=0) / drawn.sum()
        return float((np.abs(part - whole) * last).max(axis=0).sum())

    return statistic


def _kl(X: Floats) -> Statistic:
    """Divergence of Gaussians with independent features, the drawn rows' from the stratum's."""
    mean, var = X.mean(axis=0), X.var(axis=0) + 1e-3

    def statistic(drawn: Any) -> float:
        m, v = X[drawn].mean(axis=0), X[drawn].var(axis=0) + 1e-3
        return float(0.5 * (np.log(var / v) + (v + (m - mean) ** 2) / var - 1).sum())

    return statistic


def _klcov(X: Floats) -> Statistic:
    """The same with full covariances."""
    p = X.shape[1]
    mean, cov = X.mean(axis=0), np.atleast_2d(np.cov(X.T)) + 1e-3 * np.eye(p)
    inverse, log_det = np.linalg.inv(cov), np.linalg.slogdet(cov)[1]

    def statistic(drawn: Any) -> float:
        part = X[drawn]
        c = np.atleast_2d(np.cov(part.T)) + 1e-3 * np.eye(p)
        d = part.mean(axis=0) - mean
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
