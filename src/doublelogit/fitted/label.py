"""What follows from a fit of the label: probabilities that are functions of s(x)."""

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import log_expit

from doublelogit._types import Floats, Matrix
from doublelogit.core.design import predictor
from doublelogit.fitted.linear import uncentred_coef
from doublelogit.fitted.protocol import Side

SUREST = np.log1p(-1e-12)  # logarithm of the largest probability, so that every logit is finite


def log_odds(log_p: Floats) -> Floats:
    """Logit of a probability given by its logarithm."""
    log_p = np.minimum(log_p, SUREST)
    return np.asarray(log_p - np.log(-np.expm1(log_p)))


@dataclass(frozen=True)
class ScaledLabel:
    """P = (s(x) / level)^power, at most 1, with s(x) = sigma(x'alpha) the fit of the label."""

    alpha: Floats
    level: float
    power: float = 1.0
    coef: None = None

    def logit(self, X: Matrix) -> Floats:
        log_s = log_expit(predictor(X, self.alpha))
        return log_odds(self.power * (log_s - np.log(self.level)))

    def uncentred(self, shift: Floats) -> "ScaledLabel":
        return replace(self, alpha=uncentred_coef(self.alpha, shift))


@dataclass(frozen=True)
class ImpliedPropensity:
    """e(x) = s(x) / y(x), at most 1: what the fit of the label leaves to labelling, given y(x)."""

    alpha: Floats
    outcome_model: Side
    coef: None = None

    def logit(self, X: Matrix) -> Floats:
        log_y = log_expit(self.outcome_model.logit(X))
        return log_odds(log_expit(predictor(X, self.alpha)) - log_y)

    def uncentred(self, shift: Floats) -> "ImpliedPropensity":
        return replace(
            self,
            alpha=uncentred_coef(self.alpha, shift),
            outcome_model=self.outcome_model.uncentred(shift),
        )
