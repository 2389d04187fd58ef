"""The label model divided into class and labelling, y(x) e(x) = s(x): the state of any shape."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from scipy.special import expit, logit

from doublelogit._types import Floats, Ints, Matrix
from doublelogit.core.design import predictor
from doublelogit.label_models import LabelModel, features_of

SURE = 1e-9  # guard: probabilities nearer to 0 or 1 have no logit
LEAST_LEVEL = 1e-6  # guard: log odds ratio of class and label where nobody is hidden
RAREST = 0.1  # propensity along named features below which s / e is noise
LEVELS = np.linspace(-6.0, 15.0, 85)  # at which averages are tabled before Newton's steps
STEPS, FLATTEST = 6, 1e-9  # guard: Newton's method takes about three


@dataclass(frozen=True)
class Division:
    """One way to divide s(x), at some levels a.

    ::

        labels follow the class      logit y = logit s + a
        by features that were named  logit y = logit s + max(a - log e(x), 0)
        at random                    y = s exp(a), and hardly more than ``cap``

    Parameters
    ----------
    mechanism : str
        Name of the mechanism of labelling.
    level : ndarray of shape (n_components,)
        The levels a.
    cap : float or None
        Largest probability where labels are at random, None where they are not.
    labelling : ndarray or None
        Coefficients of the label model's features, by named ones of which labelling varies; the
        intercept last.
    """

    mechanism: str
    level: Floats
    cap: float | None = None
    labelling: Floats | None = None

    def along(self, X: Matrix) -> Floats:
        """What named features add to the level of each row: -log e(x), within limits."""
        if self.labelling is None:
            return np.zeros(X.shape[0])
        return -np.log(np.maximum(expit(predictor(X, self.labelling)), RAREST))

    def positive(self, s: Floats, along: Floats, level: Floats) -> Floats:
        """y(x) of each row at some levels, at least s(x)."""
        if self.cap is None:
            shift = np.maximum(along[:, None] + level, LEAST_LEVEL)
            return np.asarray(expit(logit(s)[:, None] + shift))
        return np.minimum(s[:, None] * np.exp(np.maximum(level, 0.0)), self._most(s))

    def _most(self, s: Floats) -> Floats:
        """Largest probability of each row where labels are at random: rows keep their order."""
        assert self.cap is not None
        return (self.cap + (1 - self.cap) * s)[:, None]

    def tabled(self, s: Floats, along: Floats, weight: Floats, share: Floats) -> "Division":
        """The division at levels at which y(x) of some rows averages to each share, about."""
        weight = weight / weight.sum()
        table = np.array([weight @ self.positive(s, along, one)[:, 0] for one in LEVELS[:, None]])
        return replace(self, level=np.interp(share, np.maximum.accumulate(table), LEVELS))

    def levelled(self, s: Floats, along: Floats, weight: Floats, share: Floats) -> "Division":
        """The division at these levels, by Newton's method."""
        weight = weight / weight.sum()
        level = self.tabled(s, along, weight, share).level
        for _ in range(STEPS):
            y = self.positive(s, along, level)
            free = y * (1 - y) if self.cap is None else np.where(y < self._most(s), y, 0.0)
            slope = weight @ free
            level = level + np.clip((share - weight @ y) / np.maximum(slope, FLATTEST), -1.0, 1.0)
        return replace(self, level=level)


@dataclass(frozen=True)
class DividedSide(ABC):
    """A model of a class of any shape: a label model and its division.

    ``columns`` of the features are the label model's, None for all; it and the division were
    learned for x - ``origin``.
    """

    labels: LabelModel
    division: Division
    share: Floats
    share_sd: Floats
    columns: Ints | None = None
    origin: Floats | None = None

    lines = None

    @cached_property
    def covariance(self) -> Floats:
        """One for each column of ``features``, whose squares add up to the variance of a row."""
        unit = np.diag(np.append(np.ones(self.labels.n_deviations), 0.0))
        return np.tile(unit, (len(self.share), 1, 1))

    @property
    def constant(self) -> bool:
        """Whether labelling is named constant."""
        return self.division.cap is not None

    def features(self, X: Matrix) -> Floats:
        """Deviations of the logit of s(x)."""
        return self.labels.deviations(self._seen(X))

    def deviation(self, X: Matrix) -> Floats:
        """Standard deviation of the predictor within each component."""
        sd = np.sqrt((self.features(X) ** 2).sum(axis=1))
        return np.repeat(sd[:, None], len(self.share), axis=1)

    def mean_predictor(self, X: Matrix, weight: Floats) -> Floats:
        """Sum of the predictors of a row by the weights of its components."""
        return np.asarray(self.predictor(X) @ weight)

    @abstractmethod
    def predictor(self, X: Matrix) -> Floats:
        """Predictor of each row in each component."""

    @abstractmethod
    def beside(self, other: Any, X: Matrix) -> tuple[Floats, Floats]:
        """Predictors of this model and of the other one of the same components."""

    def uncentred(self, shift: Floats) -> Self:
        """The model of features x, from that of x - shift."""
        origin = shift if self.origin is None else self.origin + shift
        return replace(self, origin=origin if origin.any() else None)

    def for_new_rows(self) -> Self:
        """The model that predicts rows of fit as it predicts new ones."""
        return replace(self, labels=self.labels.for_new_rows())

    def _seen(self, X: Matrix) -> Matrix:
        """What the label model sees of X."""
        X = X if self.origin is None else X - self.origin
        return features_of(X, self.columns)

    def _divided(self, X: Matrix) -> tuple[Floats, Floats]:
        """s(x) of each row, and y(x) in each component."""
        Z, division = self._seen(X), self.division
        s = np.clip(self.labels.predict(Z), SURE, 1 - SURE)
        return s, division.positive(s, division.along(Z), division.level)


@dataclass(frozen=True)
class DividedClass(DividedSide):
    """The class: logit y(x)."""

    def predictor(self, X: Matrix) -> Floats:
        return _class_logit(self._divided(X)[1])

    def beside(self, other: Any, X: Matrix) -> tuple[Floats, Floats]:
        """Predictors of class and labelling, by one look at the label model."""
        s, y = self._divided(X)
        return _class_logit(y), _labelling_logit(s, y)


@dataclass(frozen=True)
class DividedLabelling(DividedSide):
    """The labelling: logit e(x) = log s(x) - log (y(x) - s(x))."""

    def predictor(self, X: Matrix) -> Floats:
        return _labelling_logit(*self._divided(X))

    def beside(self, other: Any, X: Matrix) -> tuple[Floats, Floats]:
        """Predictors of labelling and class, where they have changed places."""
        a, b = other.beside(self, X)
        return b, a


def _class_logit(y: Floats) -> Floats:
    return np.asarray(logit(np.clip(y, SURE, 1 - SURE)))


def _labelling_logit(s: Floats, y: Floats) -> Floats:
    hidden = np.maximum(y - s[:, None], SURE * s[:, None])
    return np.asarray(np.log(s)[:, None] - np.log(hidden))
