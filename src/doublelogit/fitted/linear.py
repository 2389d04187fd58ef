"""Two models of linear predictors: what NAIVE, TM, EM, LBE and JOINT fit."""

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from scipy.special import expit, log_expit

from doublelogit._types import Floats, Matrix
from doublelogit.core.design import predictor
from doublelogit.core.likelihood import positive_given_unlabelled
from doublelogit.core.link import LINKS, to_logit
from doublelogit.fitted.protocol import Coefficients, Probabilities, Side


def uncentred_coef(coef: Floats, shift: Floats) -> Floats:
    """Coefficients for features x, given those for x - shift: only the intercept moves."""
    return np.append(coef[:-1], coef[-1] - shift @ coef[:-1])


@dataclass(frozen=True)
class LinearSide:
    """P = p(x'coef) with the response function of ``link``; the intercept comes last."""

    coef: Floats
    link: str = "logit"

    def logit(self, X: Matrix) -> Floats:
        return to_logit(LINKS[self.link], predictor(X, self.coef))

    def uncentred(self, shift: Floats) -> "LinearSide":
        return replace(self, coef=uncentred_coef(self.coef, shift))


@dataclass(frozen=True)
class HalfwayLabel:
    """e(x) halfway between the naive s(x) = sigma(x'alpha) and one: the guess of TM SIMPLE."""

    alpha: Floats
    coef: None = None

    def logit(self, X: Matrix) -> Floats:
        """Logit of (1 + s)/2: its odds (1+s)/(1-s) are 1 + 2 s/(1-s)."""
        return np.logaddexp(0, predictor(X, self.alpha) + np.log(2))

    def uncentred(self, shift: Floats) -> "HalfwayLabel":
        return replace(self, alpha=uncentred_coef(self.alpha, shift))


@dataclass(frozen=True)
class CertainLabel:
    """e(x) = 1: NAIVE takes every positive to be labelled."""

    coef: None = None

    def logit(self, X: Matrix) -> Floats:
        return np.full(X.shape[0], np.inf)

    def uncentred(self, shift: Floats) -> "CertainLabel":
        return self


@dataclass(frozen=True)
class LinearPair:
    """Two models of linear predictors.

    ``rival`` is the solution with class and labelling swapped, where the method looked for one.
    """

    outcome_model: Side
    propensity_model: Side
    false_label_rate: float = 0.0
    rival: Self | None = None

    @classmethod
    def from_coefficients(cls, beta: Floats, gamma: Floats, link: str = "logit") -> Self:
        """Two linear models with one response function."""
        return cls(LinearSide(beta, link), LinearSide(gamma, link))

    def coefficients(self) -> Coefficients:
        return Coefficients(self.outcome_model.coef, self.propensity_model.coef)

    def outcome_logit(self, X: Any) -> Floats:
        return self.outcome_model.logit(X)

    def outcome_proba(self, X: Any) -> Floats:
        return np.asarray(expit(self.outcome_logit(X)))

    def propensity_logit(self, X: Any) -> Floats:
        """Logit of e(x)."""
        return self.propensity_model.logit(X)

    def propensity(self, X: Any) -> Floats:
        return np.asarray(expit(self.propensity_logit(X)))

    def label_proba(self, X: Any) -> Floats:
        return self._label(self.outcome_proba(X), self.propensity(X))

    def hidden_proba(self, X: Any) -> Floats:
        return self._hidden(self.outcome_logit(X), self.propensity_logit(X))

    def probabilities(self, X: Any) -> Probabilities:
        a, b = self.outcome_logit(X), self.propensity_logit(X)
        y_x, e_x = np.asarray(expit(a)), np.asarray(expit(b))
        return Probabilities(y_x, e_x, self._label(y_x, e_x), self._hidden(a, b))

    def _label(self, y_x: Floats, e_x: Floats) -> Floats:
        return y_x * e_x + (1 - y_x) * self.false_label_rate

    def _hidden(self, a: Floats, b: Floats) -> Floats:
        log_not_e = log_expit(-b) - np.log1p(-self.false_label_rate)
        return positive_given_unlabelled(a, log_not_e)

    def hidden_slope(self, X: Any) -> Floats:
        return -self.propensity(X)  # logit t = logit y + log(1 - e)

    def for_new_rows(self) -> Self:
        return self

    def swapped(self) -> Self | None:
        return None if self.rival is None else replace(self.rival, rival=replace(self, rival=None))

    def uncentred(self, shift: Floats) -> Self:
        return replace(
            self,
            outcome_model=self.outcome_model.uncentred(shift),
            propensity_model=self.propensity_model.uncentred(shift),
            rival=None if self.rival is None else self.rival.uncentred(shift),
        )
