"""The double logistic model as a model of the label: two sigmoids multiplied.

A bump is such a product, of two opposed slopes. Nothing is asked of it but s(x): which factor is
the class does not matter, and its slopes have a ridge each.
"""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, logit

from doublelogit._types import Floats
from doublelogit.core.labels import labels_of
from doublelogit.core.likelihood import double_logistic_slopes
from doublelogit.label_models.basis import Scale
from doublelogit.label_models.sample import Sample

FREQUENCY = 0.5  # of labels among positives, where a climb begins
OPPOSED = 1.5  # slope of either factor along the direction in which labels bend
MOST_STEPS = 100
ENOUGH = 1e-6  # relative gain of a step: held-out likelihoods do not see less


@dataclass(frozen=True)
class ProductModel:
    """Coefficients of both factors, intercepts last."""

    scale: Scale
    one: Floats
    other: Floats

    @classmethod
    def fit(cls, scale: Scale, Z: Floats, sample: Sample, line: Floats, C: float) -> "ProductModel":
        """The likelier of two maxima: from a line, and from a bump along the direction that bends.

        ``line`` are coefficients of the logistic regression of the label.
        """
        labels = labels_of(sample.s)
        ones = np.column_stack([Z, np.ones(len(Z))])

        def loss(theta: Floats) -> tuple[float, Floats]:
            one, other = theta.reshape(2, -1)
            rows = double_logistic_slopes(labels, ones @ one, ones @ other)
            ridge = np.append(np.ones(Z.shape[1]), 0.0) / C
            value = sample.weight @ rows.value + 0.5 * ridge @ (one**2 + other**2)
            slopes = [ones.T @ (sample.weight * d) for d in (rows.d_a, rows.d_b)]
            return float(value), np.concatenate(
                [slopes[0] + ridge * one, slopes[1] + ridge * other]
            )

        options = {"maxiter": MOST_STEPS, "ftol": ENOUGH}
        found = [
            minimize(loss, start, jac=True, method="L-BFGS-B", options=options)
            for start in starts(ones, sample, line)
        ]
        best = min(found, key=lambda one: one.fun)
        return cls(scale, *best.x.reshape(2, -1))

    def predict(self, X: Floats) -> Floats:
        """P(S=1 | x) of every row."""
        Z = self.scale(X)
        factors = [expit(Z @ c[:-1] + c[-1]) for c in (self.one, self.other)]
        return np.asarray(factors[0] * factors[1])


def starts(ones: Floats, sample: Sample, line: Floats) -> list[Floats]:
    """A class of the line's slopes labelled at random, and the line bent down on both sides."""
    s_x = expit(ones @ line)
    level = np.zeros_like(line)
    level[-1] = logit(min(np.average(s_x, weights=sample.weight) / FREQUENCY, 0.9))
    flat = np.zeros_like(line)
    slopes = np.where(np.arange(len(line)) < len(line) - 1, line, level)
    Z = ones[:, :-1]
    curvature = Z.T @ ((sample.weight * (sample.s - s_x))[:, None] * Z)
    along = np.append(OPPOSED * np.linalg.eigh(curvature)[1][:, 0], 0.0)
    along *= np.sign(along[np.argmax(np.abs(along))])
    both = line / 2
    both[-1] = logit(np.sqrt(np.average(s_x, weights=sample.weight)))
    return [np.concatenate([slopes, flat]), np.concatenate([both + along, both - along])]
