"""A mixture of normals over the coefficients of both models: the posterior of AVERAGED.

Within a component the logit of y(x) is normal; where the class is a line, with mean x'beta_k and
variance x'V_k x. Over all components it is a mixture of those. Components of one shape of the class
stand together: each of the two models is a row of sides, one for each shape.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit, ndtr

from doublelogit._types import Floats, Matrix
from doublelogit.fitted.protocol import Coefficients, Probabilities
from doublelogit.fitted.sides import MixtureSide

BISECTIONS = 50  # leave 1e-14 of the range
LIMIT = 1e-12  # probabilities of 0 and 1 have no logit
# The lower tail of a share's interval, of the upper one. Posteriors of shares begin abruptly at the
# labelled share and end slowly: below, little width buys much cover.
BELOW = 0.5


@dataclass(frozen=True)
class PosteriorMixture:
    """Components of a posterior: weights, names and prior scales, both models.

    ``mean_s`` is the labelled share, which ties label frequencies to prevalences. ``mechanism``
    names how labels are given in each component, ``shapes`` the shape of the class of each side of
    the outcome; ``labelling_scale`` and ``class_scale`` are prior standard deviations of both
    predictors. ``symmetric`` says that only an assumption tells class and labelling apart, so that
    the swapped mixture is as possible.
    """

    mean_s: float
    weight: Floats
    mechanism: tuple[str, ...]
    shapes: tuple[str, ...]
    labelling_scale: Floats
    class_scale: Floats
    log_evidence: Floats
    outcome_model: MixtureSide
    propensity_model: MixtureSide
    symmetric: bool = False
    false_label_rate: float = 0.0

    @property
    def shape(self) -> tuple[str, ...]:
        """Name of the shape of the class in each component."""
        sizes = self.outcome_model.sizes
        return tuple(name for name, n in zip(self.shapes, sizes, strict=True) for _ in range(n))

    def coefficients(self) -> Coefficients:
        sides = (self.outcome_model, self.propensity_model)
        return Coefficients(*(side.mean_coef(self.weight) for side in sides))

    def outcome_logit(self, X: Matrix) -> Floats:
        return np.asarray(logit(np.clip(self.outcome_proba(X), LIMIT, 1 - LIMIT)))

    def outcome_proba(self, X: Matrix) -> Floats:
        return self.outcome_model.proba(X, self.weight)

    def propensity(self, X: Matrix) -> Floats:
        if self.outcome_model.pools.all():
            return self.propensity_model.proba(X, self.weight)
        return self.probabilities(X).propensity

    def label_proba(self, X: Matrix) -> Floats:
        return self.probabilities(X).label

    def hidden_proba(self, X: Matrix) -> Floats:
        return self.probabilities(X).hidden

    def predictors(self, X: Matrix) -> tuple[Floats, Floats]:
        """Predictors of class and labelling of each row at the centre of each component."""
        pairs = zip(self.outcome_model.sides, self.propensity_model.sides, strict=True)
        a, b = zip(*(one.beside(other, X) for one, other in pairs), strict=True)
        return np.column_stack(a), np.column_stack(b)

    def probabilities(self, X: Matrix) -> Probabilities:
        """Means over the components, and P(Y=1 | x, S=0) = (y - s) / (1 - s).

        s(x) is y(x) times the propensity of positives, E[ye] / E[y], which is no product of means;
        among pooled components, whose y(x) is that of a mean logit, by their own means. The
        propensity is s(x) / y(x) unless all components are pooled: then of the mean logit too.
        """
        a, b = self.predictors(X)
        model, tiny = self.outcome_model, np.finfo(float).tiny
        pools, apart, weight = model.pools, ~model.pools, self.weight
        y, hidden_of = expit(a), expit(-b)
        y_x = model.proba_at(a, weight)
        apart_y = y[:, apart] @ weight[apart]
        apart_hidden = (y[:, apart] * hidden_of[:, apart]) @ weight[apart]
        y, hidden_of, weight = y[:, pools], hidden_of[:, pools], weight[pools]
        # probability that a positive is not labelled, E[y(1-e)] / E[y]
        unlabelled = (y * hidden_of) @ weight / np.maximum(y @ weight, tiny)
        hidden = (y_x - apart_y) * np.minimum(unlabelled, 1.0) + apart_hidden
        label = y_x - hidden
        t_x = hidden / np.maximum(1 - y_x + hidden, tiny)
        if not apart.any():
            label, e_x = y_x * (1 - np.minimum(unlabelled, 1.0)), self._pooled_propensity(b)
        elif self.propensity_model.constant:  # as was asked for; labels tell of the level alone
            e_x = np.full(len(y_x), self.label_frequency)
        else:
            e_x = np.clip(label / np.maximum(y_x, tiny), 0.0, 1.0)
        return Probabilities(y_x, e_x, np.asarray(label), np.asarray(t_x))

    def _pooled_propensity(self, b: Floats) -> Floats:
        return self.propensity_model.proba_at(b, self.weight)

    def hidden_slope(self, X: Matrix) -> Floats | None:
        return -self.propensity(X) if self.outcome_model.pools.all() else None

    def for_new_rows(self) -> "PosteriorMixture":
        return self._changed(lambda side: side.for_new_rows())

    def swapped(self) -> "PosteriorMixture | None":
        """The mixture with the models swapped; None where the average holds both orders."""
        if not self.symmetric:
            return None
        lines = self._only(self.outcome_model.pools)
        return replace(
            lines, outcome_model=lines.propensity_model, propensity_model=lines.outcome_model
        )

    def _only(self, pools: NDArray[np.bool_]) -> "PosteriorMixture":
        """The mixture of some sides, by their components: a class of any shape has no swap."""
        if pools.all():
            return self
        ends = np.cumsum(self.outcome_model.sizes) - 1
        chosen = [i for i, end in enumerate(ends) if pools[end]]
        weight = self.weight[pools]
        return replace(
            self,
            weight=weight / weight.sum(),
            mechanism=tuple(m for m, one in zip(self.mechanism, pools, strict=True) if one),
            shapes=tuple(self.shapes[i] for i in chosen),
            labelling_scale=self.labelling_scale[pools],
            class_scale=self.class_scale[pools],
            log_evidence=self.log_evidence[pools],
            outcome_model=self.outcome_model.some(chosen),
            propensity_model=self.propensity_model.some(chosen),
        )

    def uncentred(self, shift: Floats) -> "PosteriorMixture":
        return self._changed(lambda side: side.uncentred(shift))

    def _changed(self, change: Callable[[Any], Any]) -> "PosteriorMixture":
        models = (self.outcome_model, self.propensity_model)
        outcome, propensity = (model.changed(change) for model in models)
        return replace(self, outcome_model=outcome, propensity_model=propensity)

    def credible(self, mean: Floats, sd: Floats, level: float) -> Floats:
        """Ends of the central credible interval, given means and deviations per component."""
        return credible(self.weight, mean, sd, level)

    def credible_share(self, mean: Floats, sd: Floats, level: float) -> Floats:
        """Ends of the credible interval of a share, whose lower tail is half of the upper one.

        It holds at least its level: a 90% interval holds 92.5% of the posterior.
        """
        return credible(self.weight, mean, sd, level, BELOW)

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
        ends = self.credible_share(side.share[None], side.share_sd[None], level)[0]
        low, high = np.clip(ends, self.mean_s, 1.0)
        return float(low), float(high)


def credible(weight: Floats, mean: Floats, sd: Floats, level: float, below: float = 1.0) -> Floats:
    """Ends of credible intervals; the lower tail is ``below`` times the upper one."""
    if not 0 < level < 1:
        raise ValueError(f"level must be between 0 and 1, for example 0.9; got {level}.")
    tail = (1 - level) / 2
    ends = (below * tail, 1 - tail)
    return np.column_stack([quantile(weight, mean, sd, q) for q in ends])


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
