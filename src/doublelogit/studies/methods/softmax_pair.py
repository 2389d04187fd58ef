"""A softmax of labelled positives, unlabelled positives and negatives: what DETM fits."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from scipy.special import expit

from doublelogit._types import Floats, Matrix
from doublelogit.core.design import predictor
from doublelogit.fitted.linear import uncentred_coef
from doublelogit.fitted.protocol import Coefficients, Probabilities
from doublelogit.studies.methods.softmax_loss import softmax_logit


@dataclass(frozen=True)
class SoftmaxPair:
    """t(x) = P(Y=1 | x, S=0) and e(x) are logistic; the intercepts come last.

    ``rival`` is the solution with unlabelled positives and negatives swapped, where the method
    looked for one.
    """

    beta: Floats
    gamma: Floats
    rival: Self | None = None
    false_label_rate: float = 0.0

    def coefficients(self) -> Coefficients:
        return Coefficients(self.beta, self.gamma)

    def outcome_logit(self, X: Matrix) -> Floats:
        return softmax_logit(predictor(X, self.beta), predictor(X, self.gamma))

    def outcome_proba(self, X: Matrix) -> Floats:
        return np.asarray(expit(self.outcome_logit(X)))

    def propensity(self, X: Matrix) -> Floats:
        return np.asarray(expit(predictor(X, self.gamma)))

    def label_proba(self, X: Matrix) -> Floats:
        return self.outcome_proba(X) * self.propensity(X)

    def hidden_proba(self, X: Matrix) -> Floats:
        return np.asarray(expit(predictor(X, self.beta)))

    def probabilities(self, X: Matrix) -> Probabilities:
        a, b = predictor(X, self.beta), predictor(X, self.gamma)
        y_x, e_x = expit(softmax_logit(a, b)), np.asarray(expit(b))
        return Probabilities(np.asarray(y_x), e_x, np.asarray(y_x * e_x), np.asarray(expit(a)))

    def hidden_slope(self, X: Matrix) -> Floats:
        return np.zeros(X.shape[0])

    def for_new_rows(self) -> Self:
        return self

    def swapped(self) -> Self | None:
        return None if self.rival is None else replace(self.rival, rival=replace(self, rival=None))

    def uncentred(self, shift: Floats) -> Self:
        return replace(
            self,
            beta=uncentred_coef(self.beta, shift),
            gamma=uncentred_coef(self.gamma, shift),
            rival=None if self.rival is None else self.rival.uncentred(shift),
        )
