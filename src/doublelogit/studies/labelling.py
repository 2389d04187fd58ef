"""Labelling mechanisms of studies: stronger bias, and labelling that follows the class.

A battery of stronger bias, and labelling as the paper's successors draw it.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq
from scipy.special import expit, logit
from scipy.stats import cauchy
from sklearn.linear_model import LogisticRegression

from doublelogit._types import Floats, Ints
from doublelogit.common.threads import with_paying_threads

STRONGEST = 2.5  # standard deviation of a class's predictor beyond which propensities are 0 or 1
CLIPPED = 0.001  # posteriors that labelling follows are clipped to [CLIPPED, 1 - CLIPPED]
# e(x) as a response to the logit of the class, shifted: S2 to S4 of Rejchel et al. (2024)
FOLLOWING: dict[str, Callable[[Floats], Floats]] = {
    "logistic": expit,
    "cauchy": cauchy.cdf,
    "tenth power": lambda predictor: expit(predictor) ** 10,
}
# e(x) as a function of the posterior and a strength: S2 to S4 of Teisseyre et al. (2025)
OF_POSTERIOR: dict[str, Callable[[Floats, float], Floats]] = {
    "proportional": lambda p, strength: strength * p,
    "falling": lambda p, strength: expit(strength * p - 1.5),
    "opposed": lambda p, strength: 0.5 * expit(strength * logit(p)),
}


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


@dataclass(frozen=True)
class DirectedSar:
    """Bias battery: logistic along any direction, such as one of the functions below.

    ``strength`` is that of the labelling as a share of the class's.

    Implements: e(x) = sigma(strength x'slopes + gamma_0)
    """

    slopes: tuple[float, ...]
    strength: float
    intercept: float = 0.2

    def propensity(self, X: Floats) -> Floats:
        predictor = np.asarray(X) @ np.asarray(self.slopes)
        return np.asarray(expit(self.strength * predictor + self.intercept))


@dataclass(frozen=True)
class InteractingSar:
    """Bias battery: logistic in the product of two directions, which no logistic model describes.

    ``slopes`` has two rows.

    Implements: e(x) = sigma(strength (x'a)(x'b) + gamma_0)
    """

    slopes: tuple[tuple[float, ...], tuple[float, ...]]
    strength: float
    intercept: float = 0.2

    def propensity(self, X: Floats) -> Floats:
        one, other = np.asarray(self.slopes) @ np.asarray(X).T
        return np.asarray(expit(self.strength * one * other + self.intercept))


@dataclass(frozen=True)
class GroupSar:
    """Bias battery: a minority, the rows farthest along a direction, is seldom labelled.

    Implements: e(x) = low in the group, high elsewhere
    """

    slopes: tuple[float, ...]
    low: float
    high: float = 0.6
    share: float = 0.2

    def propensity(self, X: Floats) -> Floats:
        along = np.asarray(X) @ np.asarray(self.slopes)
        return np.where(along > np.quantile(along, 1 - self.share), self.low, self.high)


@dataclass(frozen=True)
class FollowingSar:
    """Labelling along the logit of the class, shifted until a share c of the positives is labelled.

    ``slopes`` are the coefficients of the class, intercept last; ``shape`` names a response in
    FOLLOWING. Positives are counted by their posterior probability.

    Implements: e(x) = g(logit y(x) + a)
    """

    slopes: tuple[float, ...]
    c: float
    shape: str = "logistic"

    def __post_init__(self) -> None:
        _known("shape", self.shape, FOLLOWING)
        if not 0 < self.c < 1:
            raise ValueError(f"c must be in (0, 1); got {self.c}.")

    def propensity(self, X: Floats) -> Floats:
        y_x, response = _clipped_posterior(X, self.slopes), FOLLOWING[self.shape]
        weight, along = y_x / y_x.sum(), logit(y_x)
        a = brentq(lambda a: weight @ response(along + a) - self.c, -1e4, 1e4)
        return np.asarray(response(along + a))


@dataclass(frozen=True)
class PosteriorSar:
    """Labelling by the posterior of the class, with or against it.

    ``slopes`` are the coefficients of the class, intercept last; ``shape`` names a function in
    OF_POSTERIOR.

    Implements: e(x) = k y(x), sigma(k y(x) - 1.5) or sigma(k logit y(x))/2
    """

    slopes: tuple[float, ...]
    strength: float
    shape: str = "proportional"

    def __post_init__(self) -> None:
        _known("shape", self.shape, OF_POSTERIOR)

    def propensity(self, X: Floats) -> Floats:
        y_x = _clipped_posterior(X, self.slopes)
        return np.asarray(OF_POSTERIOR[self.shape](y_x, self.strength))


def _known(name: str, value: str, names: Iterable[str]) -> None:
    if value not in names:
        raise ValueError(f"{name} must be one of {', '.join(names)}; got {value!r}.")


def _clipped_posterior(X: Floats, slopes: tuple[float, ...]) -> Floats:
    predictor = np.asarray(X) @ np.asarray(slopes[:-1]) + slopes[-1]
    return np.clip(expit(predictor), CLIPPED, 1 - CLIPPED)


def class_coefficients(X: Floats, y: ArrayLike) -> tuple[float, ...]:
    """Coefficients of a logistic regression of the class, intercept last."""
    fitted = _class_fit(X, y)
    return (*fitted.coef_[0].tolist(), float(fitted.intercept_[0]))


def disjoint(X: Floats, y: ArrayLike) -> tuple[float, ...]:
    """Even slopes on the half of the columns that tell least of y, as strong as the class."""
    direction = np.ones(X.shape[1])
    direction[list(most_correlated(X, y, X.shape[1] // 2))] = 0.0
    return _as_strong(X, direction, _class_strength(X, y))


def opposed(X: Floats, y: ArrayLike) -> tuple[float, ...]:
    """Against the class on the half of the columns that tell most of y, and along the others."""
    others = np.array(disjoint(X, y))
    against = -_class_slopes(X, y) * (others == 0)
    halves = np.array([_as_strong(X, against, 1.0), _as_strong(X, others, 1.0)])
    return _as_strong(X, halves.sum(axis=0), _class_strength(X, y))


def interacting(X: Floats, y: ArrayLike) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """The class's own direction and the disjoint one, each of standard deviation one."""
    slopes = _class_slopes(X, y), np.array(disjoint(X, y))
    one, other = (_as_strong(X, direction, 1.0) for direction in slopes)
    return one, other


@with_paying_threads
def _class_fit(X: Floats, y: ArrayLike) -> LogisticRegression:
    return LogisticRegression(max_iter=1000).fit(X, np.asarray(y))


def _class_slopes(X: Floats, y: ArrayLike) -> Floats:
    return np.asarray(_class_fit(X, y).coef_[0])


def _class_strength(X: Floats, y: ArrayLike) -> float:
    """Standard deviation of the class's predictor, cut where classes can hardly overlap."""
    return min(float(np.std(X @ _class_slopes(X, y))), STRONGEST)


def _as_strong(X: Floats, direction: Floats, strength: float) -> tuple[float, ...]:
    spread = float(np.std(X @ direction))
    return tuple((direction * strength / (spread or 1.0)).tolist())
