"""Labelling mechanisms: which positives get a label.

Labelling at random, a logistic one, and a draw. A mechanism is a frozen description;
``propensity(X)`` gives e(x) = P(S=1 | Y=1, x). Others are in ``doublelogit.studies.labelling``.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from doublelogit._types import Floats


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
