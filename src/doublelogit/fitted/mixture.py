"""A mixture of normals over the coefficients of both models: the posterior of AVERAGED.

Within a component x'beta is normal with mean x'beta_k and variance x'V_k x, so that y(x) is
logistic-normal; over all components it is a mixture of those.
"""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from scipy import sparse
from scipy.special import expit, logit, ndtr

from doublelogit._types import Floats, Matrix
from doublelogit.fitted.protocol import Coefficients

BISECTIONS = 50  # leave 1e-14 of the range
LIMIT = 1e-12  # probabilities of 0 and 1 have no logit


@dataclass(frozen=True)
class PosteriorSide:
    """One of the two models in every component: coefficients, intercept last, and their spread.

    ``share`` is the mean of its probability over the rows of the sample (for the outcome: the
    prevalence), ``share_sd`` its standard deviation, including that of drawing the rows.
    """

    coef: Floats  # (components, terms)
    covariance: Floats  # (components, terms, terms)
    share: Floats
    share_sd: Floats

    @property
    def errors(self) -> Floats:
        """Standard deviations of the coefficients."""
        return np.sqrt(np.maximum(np.diagonal(self.covariance, axis1=1, axis2=2), 0.0))

    def predictor(self, X: Matrix) -> Floats:
        """Linear predictor of each row at the mode of each component."""
        return np.asarray(X @ self.coef[:, :-1].T) + self.coef[:, -1]

    def deviation(self, X: Matrix) -> Floats:
        """Standard deviation of the predictor within each component."""
        variance = [_quadratic(X, V) for V in self.covariance]
        return np.sqrt(np.maximum(np.column_stack(variance), 0.0))

    def uncentred(self, shift: Floats) -> "PosteriorSide":
        """The coefficients of features x, given those of x - shift."""
        matrix = np.eye(len(shift) + 1)
        matrix[-1, :-1] = -shift
        covariance = matrix @ self.covariance @ matrix.T
        return replace(self, coef=self.coef @ matrix.T, covariance=covariance)


@dataclass(frozen=True)
class PosteriorMixture:
    """Components of a posterior: weights, prior scales of the two predictors, both models.

    ``mean_s`` is the labelled share, which ties label frequencies to prevalences; ``rho`` and
    ``kappa`` are prior scales of labelling (0: at random) and class; ``symmetric`` says that
    nothing but an assumption tells class and labelling apart, so that the swapped mixture is as
    possible. ``even`` are the weights but in models of version 0.1, whose weights lean towards
    labels at random: there it has those without the lean.
    """

    mean_s: float
    weight: Floats
    even: Floats
    rho: Floats
    log_evidence: Floats
    outcome_model: PosteriorSide
    propensity_model: PosteriorSide
    symmetric: bool = False
    false_label_rate: float = 0.0
    kappa: Floats | None = None

    of_unlabelled: ClassVar[bool] = False

    @property
    def interval_weight(self) -> Floats:
        """Weights of intervals: in models of version 0.1, half with their lean, half without."""
        return (self.weight + self.even) / 2

    def coefficients(self) -> Coefficients:
        return Coefficients(
            self.weight @ self.outcome_model.coef, self.weight @ self.propensity_model.coef
        )

    def outcome_logit(self, X: Matrix) -> Floats:
        return np.asarray(logit(np.clip(self.outcome_proba(X), LIMIT, 1 - LIMIT)))

    def outcome_proba(self, X: Matrix) -> Floats:
        """Mean over the components of y(x) at each mode.

        What is uncertain within a component widens intervals but is not averaged: it would draw
        every probability towards one half, as no fit that knows the classes does.
        """
        return self._mean(expit(self.outcome_model.predictor(X)))

    def _mean(self, p: Floats) -> Floats:
        """Mean over the components; their weights sum to one but for rounding."""
        return np.asarray(np.minimum(p @ self.weight, 1.0))

    def propensity(self, X: Matrix) -> Floats:
        """Mean over the components of e(x)."""
        return self._mean(expit(self.propensity_model.predictor(X)))

    def label_proba(self, X: Matrix) -> Floats:
        """Mean over the components of y(x) e(x), which is not the product of the means."""
        a, b = self.outcome_model.predictor(X), self.propensity_model.predictor(X)
        return self._mean(expit(a) * expit(b))

    def hidden_proba(self, X: Matrix) -> Floats:
        """P(Y=1, S=0 | x) / P(S=0 | x), each a mean over the components."""
        a, b = self.outcome_model.predictor(X), self.propensity_model.predictor(X)
        hidden = (expit(a) * expit(-b)) @ self.weight
        unlabelled = hidden + expit(-a) @ self.weight
        return np.asarray(hidden / np.maximum(unlabelled, np.finfo(float).tiny))

    def hidden_slope(self, X: Matrix) -> Floats:
        return -self.propensity(X)

    def swapped(self) -> "PosteriorMixture | None":
        """The mixture with the models swapped; None where the average holds both orders."""
        if not self.symmetric:
            return None
        return replace(
            self, outcome_model=self.propensity_model, propensity_model=self.outcome_model
        )

    def uncentred(self, shift: Floats) -> "PosteriorMixture":
        return replace(
            self,
            outcome_model=self.outcome_model.uncentred(shift),
            propensity_model=self.propensity_model.uncentred(shift),
        )

    def credible(self, mean: Floats, sd: Floats, level: float) -> Floats:
        """Ends of the central credible interval, given means and deviations per component."""
        if not 0 < level < 1:
            raise ValueError(f"level must be between 0 and 1, for example 0.9; got {level}.")
        tails = ((1 - level) / 2, (1 + level) / 2)
        return np.column_stack([quantile(self.interval_weight, mean, sd, q) for q in tails])

    @property
    def prevalence(self) -> float:
        """Posterior mean of P(Y=1)."""
        return float(self.weight @ self.outcome_model.share)

    @property
    def label_frequency(self) -> float:
        """Posterior mean of P(S=1 | Y=1)."""
        return float(self.weight @ (self.mean_s / self.outcome_model.share))

    def prevalence_interval(self, level: float) -> tuple[float, float]:
        """Credible interval of the prevalence, bounded below by the labelled share."""
        side = self.outcome_model
        ends = self.credible(side.share[None], side.share_sd[None], level)[0]
        low, high = np.clip(ends, self.mean_s, 1.0)
        return float(low), float(high)


def quantile(weight: Floats, mean: Floats, sd: Floats, q: float) -> Floats:
    """Quantile of a mixture of normals, for each row of means and deviations, by bisection."""
    low, high = (mean - 9 * sd).min(axis=1), (mean + 9 * sd).max(axis=1)
    sd = np.maximum(sd, np.finfo(float).tiny)
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        with np.errstate(over="ignore"):  # a coefficient that is zero for certain
            below = ndtr((middle[:, None] - mean) / sd) @ weight < q
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return np.asarray((low + high) / 2)


def _quadratic(X: Matrix, V: Floats) -> Floats:
    """[x, 1]' V [x, 1] of each row."""
    core = X @ V[:-1, :-1]
    product = X.multiply(core) if sparse.issparse(X) else X * core
    return np.asarray(product.sum(axis=1)).ravel() + 2 * np.asarray(X @ V[:-1, -1]) + V[-1, -1]
