"""Bias or curvature: the test of labelling at random with a class that bends.

A test of a constant propensity takes the class to be logistic in the columns. Where it is not, what
the straight class misses looks like bias. So the test is made once more with a class that bends:

    1   fit the class under labelling at random, straight
    2   of another response, curves of each column and products of pairs, keep those that explain
        most of what it misses, few enough for the labels to bear
    3   fit the class with them, still under labelling at random
    4   score test of labelling by the columns, beyond these terms

A class that may be anything explains any labels, and so a bias too. What it then explains worse, or
at the price of more terms, is the second thing to look at: how much the log-likelihood gains by
bends alone, less their number, beside what it gains by biased labelling (Akaike's criterion).
"""

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy.special import expit
from scipy.stats import chi2

from doublelogit._types import Floats
from doublelogit.common.threads import with_paying_threads
from doublelogit.core.design import Terms
from doublelogit.engines.memory import memory_rows
from doublelogit.inference.misfit import LEAST_VARIANCE
from doublelogit.label_models.basis import natural
from doublelogit.methods import Problem
from doublelogit.methods.maximum import maximum
from doublelogit.methods.start import naive_start

TOL = 1e-6
KNOTS = (0.03, 0.25, 0.5, 0.75, 0.97)  # quantiles, as Harrell (2015) places five
FEWEST_KNOTS = 3  # two have a line between them
PAIRED = 10  # columns whose products are tried: the strongest of the straight class
PER_LABEL = 15  # labelled rows for each term that is kept
MOST_BENDS = 40
CLIPPED_AT = 3.0  # standard deviations beyond which a column goes no further in a product
LEAST_REMAINDER = 1e-6  # share of a column's square that others leave of it; less is rounding


@dataclass(frozen=True)
class BentTest:
    """The test of labelling at random with a class that bends.

    Parameters
    ----------
    p_value : float
        Small if labelling depends on the features even so.
    terms : tuple of (int, ...)
        What bends the class: nothing for its response, a column, or a pair whose product does.
    merit : float
        Gain in twice the log-likelihood by bends under labelling at random, less twice their
        number: of the best of three sets of terms.
    """

    p_value: float
    terms: tuple[tuple[int, ...], ...]
    merit: float


@dataclass(frozen=True)
class _Null:
    """A class fitted under labelling at random: y(x) and c."""

    X: Floats
    y: Floats
    c: float
    fit_value: float  # twice the log-likelihood

    @classmethod
    def fit(cls, X: Floats, s: Floats, C: float) -> "_Null":
        rows = memory_rows(X, s)
        constant = Terms(X.shape[1], np.array([], dtype=int))
        problem = Problem(rows, 1 / C, 1 / C, propensity=constant)
        optimum = maximum(problem, naive_start(problem), tol=TOL)
        best, value = optimum.theta, -2 * len(s) * optimum.value
        return cls(X, expit(X @ best[:-2] + best[-2]), float(expit(best[-1])), value)

    def scores(self, s: Floats) -> tuple[Floats, Floats, Floats]:
        """Residuals of the labels, and the slopes of s(x) in both predictors, in their unit."""
        s_x = self.c * self.y
        unit = 1 / np.sqrt(np.maximum(s_x * (1 - s_x), LEAST_VARIANCE))
        by_class = unit * s_x * (1 - self.y)
        return unit * (s - s_x), by_class, unit * s_x * (1 - self.c)

    def columns(self, by_class: Floats, by_labelling: Floats) -> Floats:
        """Slopes of s(x) in every coefficient of the class and in the labelling's intercept."""
        return np.column_stack([by_class[:, None] * self.X, by_class, by_labelling])


@with_paying_threads
def bent_test(X: Floats, s: Floats, C: float) -> BentTest:
    """Test of a constant propensity with a class that bends; X is standardised."""
    straight = _Null.fit(X, s, C)
    r, by_class, by_labelling = straight.scores(s)
    terms, bends = _bends(straight, by_class * r)
    basis = _orthonormal(straight.columns(by_class, by_labelling))
    merits = [
        _explained(basis, by_class[:, None] * bend, r)[0] - 2 * bend.shape[1] for bend in bends
    ]
    order = np.argsort(merits)[::-1].tolist()
    everything = _affordable(order, bends, int(s.sum()))
    helpful = [i for i in everything if merits[i] > 0] or everything[:1]
    fits = {}
    for columns_tested in ([0], helpful, everything):
        chosen = tuple(sorted(columns_tested))
        if chosen not in fits:
            fits[chosen] = _Null.fit(np.hstack([X, *(bends[i] for i in chosen)]), s, C)
    bent = fits[tuple(sorted(everything))]
    r, by_class, by_labelling = bent.scores(s)
    basis = _orthonormal(bent.columns(by_class, by_labelling))
    gain, freedom = _explained(basis, by_labelling[:, None] * X, r)
    p = float(chi2.sf(gain, freedom)) if freedom else 1.0
    best = max(fit.fit_value - 2 * fit.X.shape[1] for fit in fits.values())
    merit = best - straight.fit_value + 2 * X.shape[1]
    return BentTest(p, tuple(terms[i] for i in sorted(everything)), merit)


def _affordable(order: list[int], bends: list[Floats], labelled: int) -> list[int]:
    """The first bends that the labels can bear."""
    most = min(MOST_BENDS, max(1, labelled // PER_LABEL))
    affordable: list[int] = []
    size = 0
    for i in order:
        if size + bends[i].shape[1] <= most:
            affordable, size = [*affordable, i], size + bends[i].shape[1]
    return affordable


def _bends(straight: _Null, pull: Floats) -> tuple[list[tuple[int, ...]], list[Floats]]:
    """Another response, curves of every column, products of the columns that matter most."""
    X = straight.X
    terms: list[tuple[int, ...]] = [()]
    columns: list[Floats] = [straight.y[:, None] / max(float(straight.y.std()), LEAST_VARIANCE)]
    for j in range(X.shape[1]):
        knots = _knots(X[:, j])
        if len(knots) >= FEWEST_KNOTS:
            terms.append((j,))
            columns.append(_curves(X[:, j], knots))
    near = np.clip(X, -CLIPPED_AT, CLIPPED_AT)
    strongest = np.argsort(-np.abs((near**2).T @ np.abs(pull)))[:PAIRED]
    for i, j in combinations(sorted(strongest.tolist()), 2):
        terms.append((i, j))
        columns.append((near[:, i] * near[:, j])[:, None])
    return terms, columns


def _curves(x: Floats, knots: Floats) -> Floats:
    """Natural cubic splines beyond constant and line, uncorrelated and of variance one."""
    every = np.column_stack([np.ones_like(x), x, natural(x, knots)])
    return np.sqrt(len(x)) * np.linalg.qr(every)[0][:, 2:]


def _knots(x: Floats) -> Floats:
    """Different quantiles, values that occur; one that takes several leaves others to the rest."""
    knots = np.quantile(x, KNOTS, method="lower")
    values, times = np.unique(knots, return_counts=True)
    if times.max() > 1:
        common = values[times.argmax()]
        rest = x[x != common]
        if len(rest):
            levels = np.linspace(KNOTS[0], KNOTS[-1], len(KNOTS) - 1)
            values = np.unique([common, *np.quantile(rest, levels, method="lower")])
    apart = np.diff(values, prepend=-np.inf) > 1e-6 * np.ptp(values)
    return np.asarray(values[apart])


def _explained(basis: Floats, columns: Floats, r: Floats) -> tuple[float, int]:
    """Square of r that some columns explain beyond a basis, and how many they are."""
    size = np.linalg.norm(columns, axis=0)
    mine = _orthonormal(columns - basis @ (basis.T @ columns), size)
    return float(np.sum((mine.T @ r) ** 2)), mine.shape[1]


def _orthonormal(columns: Floats, size: Floats | None = None) -> Floats:
    """Orthonormal basis of columns, relative to their size, or to that which they had."""
    size = np.linalg.norm(columns, axis=0) if size is None else size
    scaled = columns / np.maximum(size, np.finfo(float).tiny)
    values, vectors = np.linalg.eigh(scaled.T @ scaled)
    keep = values > LEAST_REMAINDER
    return np.asarray(scaled @ (vectors[:, keep] / np.sqrt(values[keep])))
