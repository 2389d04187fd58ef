"""Likelihood ratio and Wald test of a constant propensity, by samples drawn under it.

Every sample has the rows of the data and other labels, so that what depends on the rows alone is
computed once, and fits start from the model that the labels were drawn from, with its curvature.
All samples, and the data, are fitted from the same two starts: the maximum under the null, so that
the ratio cannot be negative, and the naive start of the model drawn from, which leads away where
that maximum has every positive labelled. Drawing ends when the verdict is settled.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from scipy.special import bdtr, bdtrc, betaincinv, chdtrc, expit, logit

from doublelogit._types import Floats
from doublelogit.common.threads import thread_limit
from doublelogit.common.thresholds import SCAR_LEVEL
from doublelogit.core.design import Terms
from doublelogit.core.solvers import Solution
from doublelogit.engines.memory import memory_rows
from doublelogit.methods import Problem
from doublelogit.methods.information import inverse_information
from doublelogit.methods.maximum import maximum, worth_hessians
from doublelogit.methods.start import start

# Penalty of the labelling's slopes, which keeps them on the flat ridge; being stronger than that of
# the class it also settles which of the two models is which.
LABELLING = 1.0
TOL = 1e-6  # gradient of the mean log-likelihood
STATISTIC_TOLERANCE = 1e-3  # of the statistic: what a fit may leave
LOOK = 20  # draws between two looks at the verdict
# Six of 59 larger statistics are no evidence, of 99 nine: the same but for p about a tenth.
ENOUGH_DRAWS = 60
# A p-value so small by the law is not counted out: it takes thousands of samples to say more.
FAR_P_VALUE = 1e-3
ALL_LABELLED = 0.95  # label frequency under the null
DISPERSED = 2.0  # variance of the draws over that of the law, beyond which it does not hold
REACH = 1.5  # the statistic over the largest draw, at least
RISK = 0.01  # of a verdict that more draws would turn
SMALL_TABLE = 50_000  # cells of a table of which a sample is fitted in some hundredths of a second


@dataclass(frozen=True)
class Null:
    """The fit with a constant propensity c."""

    problem: Problem
    theta: Floats
    value: float

    @property
    def beta(self) -> Floats:
        """Coefficients of the class."""
        return self.theta[:-1]

    @property
    def c(self) -> float:
        """The label frequency."""
        return float(expit(self.theta[-1]))


def null_fit(X: Floats, s: Floats, C: float) -> Null:
    """Maximum likelihood under SCAR."""
    constant = Terms(X.shape[1], np.array([], dtype=int))
    problem = Problem(memory_rows(X, s), 1 / C, 1 / C, propensity=constant)
    best = maximum(problem, start(problem, "naive"), tol=TOL)
    return Null(problem, best.theta, best.value)


@dataclass(frozen=True)
class Contrast:
    """Both fits to some labels: under the null, and with a free propensity."""

    problem: Problem
    null: Solution
    free: Solution

    @property
    def lr(self) -> float:
        """Twice the difference of the log-likelihoods."""
        return 2 * self.problem.n * (self.null.value - self.free.value)

    @property
    def wald(self) -> float:
        """Effects of the features on log e at their means, gamma (1 - e), in their covariance.

        The slopes themselves run away on the flat ridge where e nears one, and their variance
        faster: a test of them rejects 2% of the time, not 5%.
        """
        theta, k = self.free.theta, self.problem.outcome.size
        slopes = theta[k:-1]
        # d log(1 - e) / d gamma_0 = -e; the factor 1 - e itself cancels
        jacobian = np.column_stack([np.eye(len(slopes)), -expit(theta[-1]) * slopes])
        V = jacobian @ inverse_information(self.problem, theta)[k:, k:] @ jacobian.T
        return float(slopes @ np.linalg.solve(V, slopes))


STATISTIC: dict[str, Callable[[Contrast], float]] = {
    "lr": lambda contrast: contrast.lr,
    "wald": lambda contrast: contrast.wald,
}


@dataclass(frozen=True)
class Hypotheses:
    """Labelling at random and its contrary, about the rows of some data."""

    null: Null
    C: float

    @classmethod
    def about(cls, X: Floats, s: Floats, C: float) -> "Hypotheses":
        """Hypotheses with the null fitted to the labels."""
        return cls(null_fit(X, s, C), C)

    @cached_property
    def free(self) -> Problem:
        """The problem with a free propensity."""
        return Problem(self.null.problem.rows, 1 / self.C, LABELLING)

    @cached_property
    def s_x(self) -> Floats:
        """Probability of a label under the null."""
        X, beta = self.null.problem.rows.X, self.null.beta  # type: ignore[attr-defined]
        return np.asarray(self.null.c * expit(X @ beta[:-1] + beta[-1]))

    @cached_property
    def starts(self) -> tuple[tuple[Floats, Floats | None], ...]:
        """The two starts of a free fit and the null's of its own, each with the curvature there."""
        null, free = self.null.problem.likelihood, self.free.likelihood
        naive = start(self.free.relabelled(self.s_x), "naive")
        points = (null, self.null.theta), (free, self._flat(self.null.theta)), (free, naive)
        if not worth_hessians(self.free):
            return tuple((theta, None) for _, theta in points)
        return tuple((theta, f.value_grad_hess(theta).hess) for f, theta in points)

    @cached_property
    def freedom(self) -> int:
        """Number of slopes: of columns that are no combination of others."""
        gram = self.free.moments.gram(self.free.outcome)[:-1, :-1]
        return int(np.linalg.matrix_rank(gram, tol=1e-9, hermitian=True))

    def far(self, statistic: float, draws: Any) -> bool:
        """Whether a statistic lies far beyond the draws, by a law that holds.

        It does not where the null has nearly every positive labelled, at the bound of the model.
        """
        law = by_law(self.freedom, statistic, np.array(draws))
        return bool(self.null.c < ALL_LABELLED and law[2] < FAR_P_VALUE)

    def _flat(self, theta: Floats) -> Floats:
        """A null fit as one with a free propensity."""
        gamma_0 = np.clip(theta[-1], *logit([1e-6, 1 - 1e-6]))
        return np.concatenate([theta[:-1], np.zeros(self.free.rows.n_features), [gamma_0]])

    def contrast(self, s: Floats, needed: float = np.inf) -> Contrast:
        """Both fits to these labels; the second start is spared if a ratio of ``needed`` is met."""
        null, free = self.null.problem.relabelled(s), self.free.relabelled(s)
        (theta, hess), (_, flat_hess), naive = self.starts
        low = _climbed(null, theta, hess)
        contrast = Contrast(free, low, _climbed(free, self._flat(low.theta), flat_hess))
        if contrast.lr >= needed:
            return contrast
        other = _climbed(free, *naive)
        return contrast if contrast.free.value <= other.value else Contrast(free, low, other)

    def drawn(self, seed: np.random.SeedSequence) -> Floats:
        """Labels drawn under the null, of both kinds."""
        rng, s = np.random.default_rng(seed), np.zeros(len(self.s_x))
        while not 0 < s.sum() < len(s):
            s = (rng.random(len(s)) < self.s_x).astype(np.float64)
        return s


def _climbed(problem: Problem, theta: Floats, hess: Floats | None) -> Solution:
    return maximum(problem, theta, tol=TOL, hess=hess, enough=STATISTIC_TOLERANCE / (2 * problem.n))


def null_draws(
    hypotheses: Hypotheses,
    method: str,
    statistic: float,
    *,
    most: int,
    stop_early: bool,
    seed: int,
    n_jobs: int | None,
    report: Callable[[float], None],
) -> Floats:
    """Statistics of samples drawn under the null: so many, or fewer if the verdict is settled.

    The same seed gives the same draws, and as many, whatever n_jobs is.
    """
    rows = hypotheses.null.problem.rows
    if n_jobs is None:  # threads do not pay where Python takes longer than its arrays
        n_jobs = -1 if rows.n_features * len(hypotheses.s_x) >= SMALL_TABLE else 1
    needed = statistic if method == "lr" else np.inf

    def one(child: np.random.SeedSequence) -> float:
        return STATISTIC[method](hypotheses.contrast(hypotheses.drawn(child), needed))

    draws: list[float] = []
    hypotheses.starts  # noqa: B018 - computed here, not by every thread
    with thread_limit(1):
        for seeds in _parts(np.random.SeedSequence(seed).spawn(most), LOOK):
            draws += Parallel(n_jobs=n_jobs, prefer="threads")(delayed(one)(c) for c in seeds)
            larger = int(np.count_nonzero(np.array(draws) >= statistic))
            decided = settled(larger, len(draws)) or cannot_reject(larger, len(draws), most)
            if stop_early and (decided or hypotheses.far(statistic, draws)):
                break
            report(len(draws) / most)
    report(1.0)
    return np.array(draws)


def _parts(seeds: list[np.random.SeedSequence], n: int) -> Iterator[list[np.random.SeedSequence]]:
    return (seeds[i : i + n] for i in range(0, len(seeds), n))


def by_law(freedom: int, statistic: float, draws: Floats) -> tuple[float, float, float]:
    """P by the chi-square law, stretched to the mean of the draws (Bartlett), and its range.

    The law's shape holds better than its scale, which penalty and flat directions change. Where
    draws do not follow it, or reach nearly as far as the statistic, nothing is said.
    """
    follow = draws.var() <= DISPERSED * 2 * draws.mean() ** 2 / freedom
    if len(draws) < LOOK or REACH * draws.max() >= statistic or not follow:
        return np.nan, 0.0, 1.0
    mean, error = draws.mean(), 2 * draws.std() / np.sqrt(len(draws))
    means = np.maximum([mean, mean - error, mean + error], 1e-3)
    p, low, high = chdtrc(freedom, statistic * freedom / means)
    return float(p), float(low), float(high)


def settled(larger: int, drawn: int) -> bool:
    """Whether so many larger statistics among the draws leave no doubt on which side p lies."""
    too_few = bdtr(larger, drawn, SCAR_LEVEL)
    too_many = bdtrc(larger - 1, drawn, SCAR_LEVEL) if larger else 1.0
    return bool(min(too_few, too_many) < RISK)


def counted_range(larger: int, drawn: int) -> tuple[float, float]:
    """P within the error of samples of which so many were larger (90%)."""
    p = (1 + larger) / (1 + drawn)
    low, high = betaincinv(larger + 0.5, drawn - larger + 0.5, [0.05, 0.95])
    return float(min(low, p)), float(max(high, p))


def cannot_reject(larger: int, drawn: int, most: int) -> bool:
    """Whether p stays above 5%, within its error, even if no further sample is larger.

    Enough samples are drawn to say that nothing speaks against labelling at random, too.
    """
    return drawn >= ENOUGH_DRAWS and counted_range(larger, most)[1] > SCAR_LEVEL
