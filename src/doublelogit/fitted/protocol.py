"""The protocol of a fitted model: what every method returns and everything else asks.

    outcome_proba  y(x) = P(Y=1 | x)
    propensity     e(x) = P(S=1 | Y=1, x)
    label_proba    s(x) = P(S=1 | x)
    hidden_proba   t(x) = P(Y=1 | x, S=0)

A model maps features to probabilities. It knows nothing of rows, labels or scikit-learn.

Predictions, inference, reports and files ask this protocol and never the class of an estimator;
``coef_`` and the like are views of it, so that nothing is stored twice.
"""

from typing import Any, NamedTuple, Protocol

from doublelogit._types import Floats


class Coefficients(NamedTuple):
    """Full-length coefficients of both predictors, intercept last; None where one is not linear."""

    beta: Floats | None
    gamma: Floats | None


class Probabilities(NamedTuple):
    """The four probabilities of each row: y(x), e(x), s(x) and t(x)."""

    positive: Floats
    propensity: Floats
    label: Floats
    hidden: Floats

    @property
    def listed(self) -> Floats:
        """The score of a list of likely hidden positives."""
        return list_score(self.hidden, self.positive)


def list_score(hidden: Floats, positive: Floats) -> Floats:
    """P(Y=1 | x, S=0), or P(Y=1 | x) by NAIVE, which knows of no hidden positives."""
    return hidden if hidden.any() else positive


class FittedModel(Protocol):
    """Two fitted models, of the class and of the labelling, or a distribution over such pairs."""

    @property
    def false_label_rate(self) -> float:
        """Probability that a negative is labelled."""

    def coefficients(self) -> Coefficients:
        """Coefficients of both models, posterior means if the model is a distribution."""

    def outcome_logit(self, X: Any) -> Floats:
        """Logit of y(x), finite where y(x) rounds to 0 or 1."""

    def outcome_proba(self, X: Any) -> Floats:
        """Probability of the class, y(x) = P(Y=1 | x)."""

    def propensity(self, X: Any) -> Floats:
        """Probability that a positive is labelled, e(x) = P(S=1 | Y=1, x)."""

    def label_proba(self, X: Any) -> Floats:
        """Probability of a label, s(x) = P(S=1 | x)."""

    def hidden_proba(self, X: Any) -> Floats:
        """Probability that an unlabelled row is positive, t(x) = P(Y=1 | x, S=0)."""

    def probabilities(self, X: Any) -> Probabilities:
        """All four, by one look at X."""

    def hidden_slope(self, X: Any) -> Floats | None:
        """Slope of the logit of t(x) in the propensity's predictor; in the outcome's it is one.

        None where these predictors are not all that t(x) depends on.
        """

    def for_new_rows(self) -> "FittedModel":
        """The model that predicts rows of fit as it predicts new ones."""

    def swapped(self) -> "FittedModel | None":
        """The rival solution with class and labelling swapped; None if there is none."""

    def uncentred(self, shift: Floats) -> "FittedModel":
        """The model of features x, given that this is the model of x - shift."""


class Side(Protocol):
    """One of the two models: features to the logit of a probability."""

    @property
    def coef(self) -> Floats | None:
        """Full-length coefficients, intercept last; None if the model is not linear."""

    def logit(self, X: Any) -> Floats:
        """Logit of the probability for each row."""

    def uncentred(self, shift: Floats) -> "Side":
        """The model of features x, given that this is the model of x - shift."""
