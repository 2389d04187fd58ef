"""The model of DETM as a problem: another meaning of the same two predictors.

    t(x) = P(Y=1 | x, S=0) = sigma(x'beta)       of an unlabelled row
    e(x) = P(S=1 | Y=1, x) = sigma(x'gamma)
    y(x) = sigma(x'beta + log(1 + exp(x'gamma)))

Labelled positives, unlabelled positives and negatives have log-odds x'(beta + gamma), x'beta and 0,
so exchanging the last two, which nobody has seen apart, takes (beta, gamma) to
(-beta, beta + gamma) and leaves the likelihood of the labels as it is.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import expit

from doublelogit._types import Floats, Ints
from doublelogit.core.design import Terms
from doublelogit.core.link import Response
from doublelogit.methods.problem import Combinations, Problem, Symmetry, full
from doublelogit.studies.methods.softmax_pair import SoftmaxPair
from doublelogit.studies.methods.softmax_response import SoftmaxResponse


@dataclass(frozen=True)
class SoftmaxSymmetry(Symmetry):
    """Unlabelled positives and negatives change places.

    They are told apart by how far each is from the labelled positives: x'gamma is the log-odds of
    these against the unlabelled ones, x'(beta + gamma) that against negatives.
    """

    strengths: Combinations = ((1, 1), (0, 1))
    swap: Combinations = ((-1, 0), (1, 1))
    assumption: str = "likeness"

    def features_differ(self, problem: Problem) -> bool:
        """Features tell them apart if beta + gamma does not fit in the place of gamma."""
        return problem.outcome.without(_columns(problem.propensity)).size > 1

    def exact(self, problem: Problem) -> bool:
        """The penalty is on gamma, and that of the swapped pair is beta + gamma."""
        return problem.l2 == 0 and problem.propensity_l2 == 0


def _columns(terms: Terms) -> Ints:
    return np.arange(terms.n_features) if terms.columns is None else terms.columns


@dataclass(frozen=True)
class SoftmaxProblem(Problem):
    """Rows and the softmax to be fitted to them."""

    symmetry: ClassVar[Symmetry] = SoftmaxSymmetry()

    @property
    def response(self) -> Response:
        return SoftmaxResponse()

    def fitted(self, theta: Floats, rival: Floats | None = None) -> SoftmaxPair:
        return SoftmaxPair(*full(self, theta), rival=None if rival is None else self.fitted(rival))

    @property
    def double_logistic(self) -> Problem:
        """The double logistic model of the same rows, whose fits are where a search starts."""
        models = (self.outcome, self.propensity)
        return Problem(self.rows, self.l2, self.propensity_l2, *models, shift=self.shift)

    def approximated(self, theta: Floats) -> Floats:
        """Logit t = logit y + log(1 - e), whose second part is replaced by its tangent."""
        beta, gamma = full(self.double_logistic, theta)
        b = float(self.centre @ gamma[:-1] + gamma[-1])
        tangent = expit(b) * gamma
        tangent[-1] += np.logaddexp(0, b) - expit(b) * b
        return np.concatenate([self.outcome.take(beta - tangent), self.propensity.take(gamma)])
