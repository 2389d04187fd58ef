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

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import NamedTuple

import numpy as np
from scipy.special import expit
from scipy.stats import chi2

from doublelogit._types import Floats
from doublelogit.common.threads import with_paying_threads
from doublelogit.core.design import Terms
from doublelogit.engines.memory import BLOCK_ROWS, memory_rows
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


class _Bend(NamedTuple):
    """A term that bends the class: its columns, evaluated for the rows that are at hand."""

    term: tuple[int, ...]
    width: int
    columns: Callable[[Floats, Floats], Floats]  # of X and y(x)


@dataclass(frozen=True)
class _Null:
    """A class fitted under labelling at random: y(x) and c."""

    y: Floats
    c: float
    fit_value: float  # twice the log-likelihood
    size: int  # terms of the class

    @classmethod
    def fit(cls, X: Floats, s: Floats, C: float) -> "_Null":
        rows = memory_rows(X, s)
        constant = Terms(X.shape[1], np.array([], dtype=int))
        problem = Problem(rows, 1 / C, 1 / C, propensity=constant)
        optimum = maximum(problem, naive_start(problem), tol=TOL)
        best, value = optimum.theta, -2 * len(s) * optimum.value
        return cls(expit(X @ best[:-2] + best[-2]), float(expit(best[-1])), value, X.shape[1])

    def scores(self, s: Floats) -> tuple[Floats, Floats, Floats]:
        """Residuals of the labels, and the slopes of s(x) in both predictors, in their unit."""
        s_x = self.c * self.y
        unit = 1 / np.sqrt(np.maximum(s_x * (1 - s_x), LEAST_VARIANCE))
        by_class = unit * s_x * (1 - self.y)
        return unit * (s - s_x), by_class, unit * s_x * (1 - self.c)


@with_paying_threads
def bent_test(X: Floats, s: Floats, C: float) -> BentTest:
    """Test of a constant propensity with a class that bends; X is standardised."""
    straight = _Null.fit(X, s, C)
    r, by_class, by_labelling = straight.scores(s)
    bends = _bends(X, straight.y, by_class * r)

    def fitted(rows: slice, chosen: Sequence[int]) -> Floats:
        """Features of the class with some of the bends."""
        bent = (bends[i].columns(X[rows], straight.y[rows]) for i in chosen)
        return np.hstack([X[rows], *bent])

    def beyond(rows: slice) -> tuple[Floats, list[Floats]]:
        base = _slopes(X[rows], by_class[rows], by_labelling[rows])
        every = (bend.columns(X[rows], straight.y[rows]) for bend in bends)
        return base, [by_class[rows, None] * columns for columns in every]

    merits = [
        gain - 2 * bend.width for bend, (gain, _) in zip(bends, _gains(beyond, r), strict=True)
    ]
    order = np.argsort(merits)[::-1].tolist()
    everything = _affordable(order, bends, int(s.sum()))
    helpful = [i for i in everything if merits[i] > 0] or everything[:1]
    fits = {
        chosen: _Null.fit(_filled(partial(fitted, chosen=chosen), len(s)), s, C)
        for chosen in dict.fromkeys(map(tuple, map(sorted, ([0], helpful, everything))))
    }
    chosen = tuple(sorted(everything))
    r, bent_class, bent_labelling = fits[chosen].scores(s)

    def labelling(rows: slice) -> tuple[Floats, list[Floats]]:
        base = _slopes(fitted(rows, chosen), bent_class[rows], bent_labelling[rows])
        return base, [bent_labelling[rows, None] * X[rows]]

    ((gain, freedom),) = _gains(labelling, r)
    p = float(chi2.sf(gain, freedom)) if freedom else 1.0
    best = max(fit.fit_value - 2 * fit.size for fit in fits.values())
    merit = best - straight.fit_value + 2 * X.shape[1]
    return BentTest(p, tuple(bends[i].term for i in chosen), merit)


def _slopes(X: Floats, by_class: Floats, by_labelling: Floats) -> Floats:
    """Slopes of s(x) in every coefficient of the class and in the labelling's intercept."""
    return np.column_stack([by_class[:, None] * X, by_class, by_labelling])


def _affordable(order: list[int], bends: list[_Bend], labelled: int) -> list[int]:
    """The first bends that the labels can bear."""
    most = min(MOST_BENDS, max(1, labelled // PER_LABEL))
    affordable: list[int] = []
    size = 0
    for i in order:
        if size + bends[i].width <= most:
            affordable, size = [*affordable, i], size + bends[i].width
    return affordable


def _bends(X: Floats, y: Floats, pull: Floats) -> list[_Bend]:
    """Another response, curves of every column, products of the columns that matter most."""
    bends = [_Bend((), 1, partial(_response, max(float(y.std()), LEAST_VARIANCE)))]
    for j in range(X.shape[1]):
        knots = _knots(X[:, j])
        if len(knots) >= FEWEST_KNOTS:
            curved = partial(_curved, knots, _uncorrelated(X[:, j], knots), j)
            bends.append(_Bend((j,), len(knots) - 2, curved))
    strengths = [_near(x) ** 2 @ np.abs(pull) for x in X.T]
    strongest = np.argsort(-np.abs(strengths))[:PAIRED]
    for i, j in combinations(sorted(strongest.tolist()), 2):
        bends.append(_Bend((i, j), 1, partial(_product, i, j)))
    return bends


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


def _splines(x: Floats, knots: Floats) -> Floats:
    """Constant, line and natural cubic splines beyond them."""
    return np.column_stack([np.ones_like(x), x, natural(x, knots)])


def _uncorrelated(x: Floats, knots: Floats) -> Floats:
    """The combinations of splines that are uncorrelated, of variance one, beyond the line."""
    triangle = np.linalg.qr(_splines(x, knots), mode="r")
    return np.asarray(np.sqrt(len(x)) * np.linalg.inv(triangle)[:, 2:])


def _response(scale: float, _x: Floats, y: Floats) -> Floats:
    return y[:, None] / scale


def _curved(knots: Floats, along: Floats, j: int, X: Floats, _y: Floats) -> Floats:
    return np.asarray(_splines(X[:, j], knots) @ along)


def _product(i: int, j: int, X: Floats, _y: Floats) -> Floats:
    return (_near(X[:, i]) * _near(X[:, j]))[:, None]


def _near(x: Floats) -> Floats:
    return np.clip(x, -CLIPPED_AT, CLIPPED_AT)


def _slices(n: int) -> list[slice]:
    """Rows whose columns are made at once: those of all rows would take many times X."""
    return [slice(i, min(i + BLOCK_ROWS, n)) for i in range(0, n, BLOCK_ROWS)]


def _filled(columns: Callable[[slice], Floats], n: int) -> Floats:
    """Columns of n rows as one matrix."""
    first, *others = _slices(n)
    values = columns(first)
    whole = np.empty((n, values.shape[1]))
    whole[first] = values
    for rows in others:
        whole[rows] = columns(rows)
    return whole


def _gains(
    columns: Callable[[slice], tuple[Floats, list[Floats]]], r: Floats
) -> list[tuple[float, int]]:
    """Square of r that each of some sets of columns explains beyond a base, and their number.

    ``columns`` gives base and sets for some rows; all that is asked of them are their products.
    """
    sums: list[Floats] = []
    for rows in _slices(len(r)):
        base, sets = columns(rows)
        further = [product for one in sets for product in (base.T @ one, one.T @ one)]
        products = [base.T @ base, base.T @ r[rows], *further, *(one.T @ r[rows] for one in sets)]
        sums = [a + b for a, b in zip(sums, products, strict=True)] if sums else products
    inner, along, n_sets = sums[0], sums[1], (len(sums) - 2) // 3
    basis = _orthonormal(inner, np.diagonal(inner))
    gains = []
    for k in range(n_sets):
        mixed, own, with_r = basis.T @ sums[2 + 2 * k], sums[3 + 2 * k], sums[2 + 2 * n_sets + k]
        mine = _orthonormal(own - mixed.T @ mixed, np.diagonal(own))
        explained = mine.T @ (with_r - mixed.T @ (basis.T @ along))
        gains.append((float(explained @ explained), mine.shape[1]))
    return gains


def _orthonormal(inner: Floats, squares: Floats) -> Floats:
    """Coefficients of an orthonormal basis, from products of columns; less than rounding is none.

    ``squares`` are those of the columns, to which what is left of them is compared.
    """
    size = np.sqrt(np.maximum(squares, np.finfo(float).tiny))
    values, vectors = np.linalg.eigh(inner / np.outer(size, size))
    keep = values > LEAST_REMAINDER
    return np.asarray(vectors[:, keep] / np.sqrt(values[keep]) / size[:, None])
