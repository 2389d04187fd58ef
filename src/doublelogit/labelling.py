"""Labelling mechanisms: which positives get a label.

The scenarios of the paper, and a draw. A mechanism is a frozen description; ``propensity(X)`` gives
e(x) = P(S=1 | Y=1, x). Those of studies are in ``doublelogit.studies.labelling``.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from doublelogit._types import Floats, Ints


class LabellingMechanism(Protocol):
    """Something that labels positives with a probability of their features."""

    def propensity(self, X: Floats) -> Floats:
        """e(x) of each row."""


@dataclass(frozen=True)
class Scar:
    """Scenario 1: every positive is labelled with the same probability c.

    Implements: e(x) = c
    """

    c: float

    def __post_init__(self) -> None:
        if not 0 < self.c <= 1:
            raise ValueError(f"c must be in (0, 1]; got {self.c}.")

    def propensity(self, X: Floats) -> Floats:
        return np.full(np.shape(X)[0], float(self.c))


@dataclass(frozen=True)
class LogisticSar:
    """Scenario 2: logistic in the mean direction, gamma = p^-1/2 (g, ..., g).

    Implements: e(x) = sigma(x'gamma)
    """

    g: float

    def propensity(self, X: Floats) -> Floats:
        X = np.asarray(X)
        return np.asarray(expit(X.sum(axis=1) * self.g / np.sqrt(X.shape[1])))


@dataclass(frozen=True)
class ScaledProductSar:
    """Scenario 3: geometric mean over k features, each scaled to [p_minus, p_plus].

    ``features`` are column indices; None takes the first k. A constant feature is in the middle
    of its range.

    Implements: e(x) = prod_j sc(x(j), p-, p+)^(1/k)
    """

    p_minus: float = 0.2
    p_plus: float = 0.6
    k: int = 5
    features: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        if not 0 < self.p_minus <= self.p_plus <= 1:
            raise ValueError(
                "p_minus and p_plus must satisfy 0 < p_minus <= p_plus <= 1; "
                f"got {self.p_minus} and {self.p_plus}."
            )
        if self.features is not None and len(self.features) != self.k:
            raise ValueError(f"features must hold k={self.k} columns; got {len(self.features)}.")

    def propensity(self, X: Floats) -> Floats:
        X = np.asarray(X, dtype=np.float64)
        if self.features is None and X.shape[1] < self.k:
            raise ValueError(f"k must be at most the number of columns {X.shape[1]}; got {self.k}.")
        Z = X[:, list(self.features or range(self.k))]
        low, width = Z.min(axis=0), np.ptp(Z, axis=0)
        share = np.where(width > 0, (Z - low) / np.where(width > 0, width, 1.0), 0.5)
        scaled = self.p_minus + share * (self.p_plus - self.p_minus)
        return np.asarray(np.exp(np.log(scaled).mean(axis=1)))


def most_correlated(X: ArrayLike, y: ArrayLike, k: int = 5) -> tuple[int, ...]:
    """The k columns of X whose correlation with y is largest in absolute value, best first."""
    Z, v = np.asarray(X, dtype=np.float64), np.asarray(y, dtype=np.float64)
    Z, v = Z - Z.mean(axis=0), v - v.mean()
    norm = np.sqrt((Z**2).sum(axis=0) * (v @ v))
    correlation = np.abs(Z.T @ v) / np.where(norm > 0, norm, np.inf)
    order: Ints = np.argsort(-correlation, kind="stable")
    return tuple(int(j) for j in order[:k])


def draw(
    y: ArrayLike,
    e_x: ArrayLike,
    random_state: int | np.random.Generator = 0,
    max_draws: int = 1000,
) -> Floats:
    """Observed labels: each positive labelled with probability e(x), negatives never.

    A draw without any labelled row is drawn again from the same stream.

    Parameters
    ----------
    y, e_x : array-like of shape (n_samples,)
        Class and propensity of every row.
    random_state : int or Generator, default=0
        Seed, or the stream to draw from.
    max_draws : int, default=1000
        How often to draw before giving up.

    Returns
    -------
    s : ndarray of shape (n_samples,)
    """
    rng = np.random.default_rng(random_state)
    positive = np.asarray(y) == 1
    e_x = np.asarray(e_x, dtype=np.float64)
    if e_x.shape != positive.shape:
        raise ValueError(f"y and e_x must have one length; got {positive.shape} and {e_x.shape}.")
    if not ((e_x >= 0) & (e_x <= 1)).all():
        raise ValueError(f"e_x must be in [0, 1]; got [{e_x.min()}, {e_x.max()}].")
    for _ in range(max_draws):
        s = positive & (rng.random(len(positive)) < e_x)
        if s.any():
            return s.astype(np.float64)
    raise ValueError(
        f"no positive was labelled in {max_draws} draws: there are {positive.sum()} positives with "
        f"a mean propensity of {e_x[positive].mean() if positive.any() else 0:.3g}."
    )
