"""A mixture of normals: what AVERAGED knows of the coefficients, and what follows for a row.

Of a piece of the posterior x'beta is normal with mean x'beta_k and variance x'V_k x, so that y(x)
is logistic-normal; over all pieces it is a mixture of those.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse
from scipy.special import expit, ndtr

from doublelogit._types import Floats, Matrix

BISECTIONS = 50  # leave 1e-14 of the range


@dataclass(frozen=True)
class Side:
    """One of the two models in every piece: coefficients, intercept last, and what follows.

    ``share`` is the mean of its probability over the rows of the sample (of the outcome: the
    prevalence), ``share_sd`` its standard deviation, that of drawing the rows included.
    """

    coef: Floats  # (pieces, terms)
    covariance: Floats  # (pieces, terms, terms)
    share: Floats
    share_sd: Floats

    @property
    def errors(self) -> Floats:
        """Standard deviations of the coefficients."""
        return np.sqrt(np.maximum(np.diagonal(self.covariance, axis1=1, axis2=2), 0.0))

    def predictor(self, X: Matrix) -> Floats:
        """The predictor of each row at the top of each piece."""
        return np.asarray(X @ self.coef[:, :-1].T) + self.coef[:, -1]

    def deviation(self, X: Matrix) -> Floats:
        """Its standard deviation within each piece."""
        variance = [_quadratic(X, V) for V in self.covariance]
        return np.sqrt(np.maximum(np.column_stack(variance), 0.0))

    def moved(self, shift: Floats) -> "Side":
        """The same for features from which nothing was subtracted."""
        matrix = np.eye(len(shift) + 1)
        matrix[-1, :-1] = -shift
        covariance = matrix @ self.covariance @ matrix.T
        return replace(self, coef=self.coef @ matrix.T, covariance=covariance)


@dataclass(frozen=True)
class Mixture:
    """Pieces of a posterior: weights, prior scales of the labelling, and both models.

    ``mean_s`` is the share of labelled rows, which ties label frequencies to prevalences;
    ``even`` are weights that do not lean towards labels at random.
    """

    mean_s: float
    weight: Floats
    even: Floats
    rho: Floats
    log_evidence: Floats
    outcome: Side
    propensity: Side

    @property
    def interval_weight(self) -> Floats:
        """Weights of intervals: half of what leans towards labels at random, half of what does not.

        Leaning pays in predictions, whose error is small where the guess is right. Whoever asks how
        sure they are is to see what follows if it is wrong, too.
        """
        return (self.weight + self.even) / 2

    @property
    def lean(self) -> float:
        """Weight that labels at random have only for being leant towards."""
        return float((self.weight - self.even)[self.rho == 0].sum())

    def moved(self, shift: Floats) -> "Mixture":
        """The mixture for features x, given that for x - shift."""
        outcome, propensity = self.outcome.moved(shift), self.propensity.moved(shift)
        return replace(self, outcome=outcome, propensity=propensity)

    def exchanged(self) -> "Mixture":
        """Each model in the place of the other."""
        return replace(self, outcome=self.propensity, propensity=self.outcome)

    def mean_probability(self, side: Side, X: Matrix) -> Floats:
        """Mean over the pieces of the probability at each piece's top, for each row.

        What is uncertain within a piece widens intervals but is not averaged: it would draw every
        probability towards one half, as no fit that is told the classes does.
        """
        return np.asarray(expit(side.predictor(X)) @ self.weight)

    def ends(self, mean: Floats, sd: Floats, level: float) -> Floats:
        """Ends of the central interval of what has these means and deviations in each piece."""
        if not 0 < level < 1:
            raise ValueError(f"level must be between 0 and 1, for example 0.9; got {level}.")
        tails = ((1 - level) / 2, (1 + level) / 2)
        return np.column_stack([quantile(self.interval_weight, mean, sd, q) for q in tails])

    def prevalence_interval(self, level: float) -> tuple[float, float]:
        """Of P(Y=1), which cannot be below the share of labelled rows."""
        side = self.outcome
        ends = self.ends(side.share[None], side.share_sd[None], level)[0]
        low, high = np.clip(ends, self.mean_s, 1.0)
        return float(low), float(high)


def quantile(weight: Floats, mean: Floats, sd: Floats, q: float) -> Floats:
    """Quantile of a mixture of normals, for each row of means and deviations, by bisection."""
    low, high = (mean - 9 * sd).min(axis=1), (mean + 9 * sd).max(axis=1)
    sd = np.maximum(sd, np.finfo(float).tiny)
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        below = ndtr((middle[:, None] - mean) / sd) @ weight < q
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return np.asarray((low + high) / 2)


def _quadratic(X: Matrix, V: Floats) -> Floats:
    """[x, 1]' V [x, 1] of each row."""
    core = X @ V[:-1, :-1]
    product = X.multiply(core) if sparse.issparse(X) else X * core
    return np.asarray(product.sum(axis=1)).ravel() + 2 * np.asarray(X @ V[:-1, -1]) + V[-1, -1]
