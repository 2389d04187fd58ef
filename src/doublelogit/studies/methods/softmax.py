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

from doublelogit._types import Floats
from doublelogit.core.link import Response
from doublelogit.methods.problem import Combinations, Problem, full
from doublelogit.studies.methods.softmax_pair import SoftmaxPair
from doublelogit.studies.methods.softmax_response import SoftmaxResponse


@dataclass(frozen=True)
class SoftmaxProblem(Problem):
    """Rows and the softmax to be fitted to them.

    The two are told apart by how far each is from the labelled positives: x'gamma is the log-odds
    of these against the unlabelled ones, x'(beta + gamma) that against negatives.
    """

    ASSUMED: ClassVar[str] = "likeness"
    STRENGTHS: ClassVar[Combinations] = ((1, 1), (0, 1))
    SWAPPED: ClassVar[Combinations] = ((-1, 0), (1, 1))

    @property
    def response(self) -> Response:
        return SoftmaxResponse()

    def fitted(self, theta: Floats, rival: Floats | None = None) -> SoftmaxPair:
        return SoftmaxPair(*full(self, theta), rival=None if rival is None else self.fitted(rival))

    @property
    def distinct_features(self) -> bool:
        """Features tell them apart if beta + gamma does not fit in the place of gamma."""
        every = np.arange(self.rows.n_features)
        outcome, propensity = (
            every if terms.columns is None else terms.columns
            for terms in (self.outcome, self.propensity)
        )
        return not np.isin(outcome, propensity).all()

    @property
    def swaps_exactly(self) -> bool:
        """The penalty is on gamma, and that of the swapped pair is beta + gamma."""
        return self.l2 == 0 and self.propensity_l2 == 0

    @property
    def double_logistic(self) -> Problem:
        models = (self.outcome, self.propensity)
        return Problem(self.rows, self.l2, self.propensity_l2, *models, shift=self.shift)

    def approximated(self, theta: Floats) -> Floats:
        """Logit t = logit y + log(1 - e), whose second part is replaced by its tangent."""
        beta, gamma = full(self.double_logistic, theta)
        b = float(self.centre @ gamma[:-1] + gamma[-1])
        tangent = expit(b) * gamma
        tangent[-1] += np.logaddexp(0, b) - expit(b) * b
        return np.concatenate([self.outcome.take(beta - tangent), self.propensity.take(gamma)])
