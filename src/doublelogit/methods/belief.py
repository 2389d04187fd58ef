"""What is believed of the prevalence or the label frequency, as a term of the likelihood.

A normal belief about a number q(theta) adds (q - mean)^2 / (2 sd^2) to the sum of the losses. It
also traces a profile likelihood: the minimiser of ``loss + k (q - target)^2`` is, whatever k and
target, the best of all points with the q that it attains.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from doublelogit._types import Floats
from doublelogit.core.objective import DoubleLogisticObjective
from doublelogit.core.rows import Rows
from doublelogit.core.solvers import ValueGrad, ValueGradHess
from doublelogit.methods.prevalence import (
    label_frequency_value_grad,
    label_frequency_value_grad_hess,
    prevalence_value_grad,
    prevalence_value_grad_hess,
)

VALUE_GRAD: dict[str, Callable[[DoubleLogisticObjective, Floats], ValueGrad]] = {
    "prevalence": prevalence_value_grad,
    "label frequency": label_frequency_value_grad,
}
VALUE_GRAD_HESS: dict[str, Callable[[DoubleLogisticObjective, Floats], ValueGradHess]] = {
    "prevalence": prevalence_value_grad_hess,
    "label frequency": label_frequency_value_grad_hess,
}


@dataclass(frozen=True)
class Belief:
    """Mean and standard deviation of a normal belief about the prevalence or label frequency."""

    mean: float
    sd: float
    about: str = "prevalence"

    def score(self, model: DoubleLogisticObjective, theta: Floats) -> Floats:
        """Change of the score of theta when the mean moves by one standard deviation."""
        return VALUE_GRAD[self.about](model, theta).grad / self.sd


@dataclass(frozen=True)
class InformedObjective(DoubleLogisticObjective):
    """-Q_n, the penalties, and beliefs."""

    beliefs: tuple[Belief, ...] = field(kw_only=True)

    def on(self, rows: Rows) -> "InformedObjective":
        """The objective on other rows, with as much belief per row."""
        other = replace(self, rows=rows, n=float(rows.sum_columns(np.sum, rows.weight)))
        less = np.sqrt(self.n / other.n)
        beliefs = tuple(replace(belief, sd=less * belief.sd) for belief in self.beliefs)
        return replace(other, beliefs=beliefs)

    def value_grad(self, theta: Floats) -> ValueGrad:
        value, grad = super().value_grad(theta)
        for belief in self.beliefs:
            q = VALUE_GRAD[belief.about](self, theta)
            off, firmness = q.value - belief.mean, 1 / (belief.sd**2 * self.n)
            value, grad = value + 0.5 * firmness * off**2, grad + firmness * off * q.grad
        return ValueGrad(value, grad)

    def value_grad_hess(self, theta: Floats) -> ValueGradHess:
        value, grad, hess = super().value_grad_hess(theta)
        for belief in self.beliefs:
            q = VALUE_GRAD_HESS[belief.about](self, theta)
            off, firmness = q.value - belief.mean, 1 / (belief.sd**2 * self.n)
            value, grad = value + 0.5 * firmness * off**2, grad + firmness * off * q.grad
            hess = hess + firmness * (off * q.hess + np.outer(q.grad, q.grad))
        return ValueGradHess(value, grad, hess)


def informed(
    objective: DoubleLogisticObjective, beliefs: tuple[Belief, ...]
) -> DoubleLogisticObjective:
    """The objective with beliefs added, or as it is if there are none."""
    if not beliefs:
        return objective
    return InformedObjective(**vars(objective), beliefs=beliefs)
