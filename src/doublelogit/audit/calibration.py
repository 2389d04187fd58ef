"""The model's h against what was found, and h put right by it.

    logit P(Y=1 | x, S=0) = a + b logit h

a and b are fitted to the audited rows, each counted 1 / pi times (scaled to the number of rows),
with normal priors around a = 0 and b = 1: a few rows move them little.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, logit, ndtri

from doublelogit._types import Floats
from doublelogit.common.threads import with_paying_threads

PRIOR = np.array([2.0, 1.0])  # standard deviations of a and b
EDGE = 1e-6
BANDS = 4


@dataclass(frozen=True)
class Calibration:
    """The line that puts logit h right, its covariance, and bands of h beside what was found."""

    a: float
    b: float
    covariance: Floats
    bands: tuple[dict[str, Any], ...]

    def recalibrate(self, h: Floats) -> Floats:
        """H as the audited rows would have it."""
        return np.asarray(expit(self.a + self.b * _logit(h)))

    def mean(self, h: Floats, level: float = 0.95) -> tuple[float, float, float]:
        """Mean of the recalibrated h of some rows, with an interval (delta method, logit scale)."""
        if len(h) == 0:
            return 0.0, 0.0, 0.0
        p = self.recalibrate(h)
        slope = p * (1 - p)
        gradient = np.array([slope.mean(), (slope * _logit(h)).mean()])
        value = float(np.clip(p.mean(), EDGE, 1 - EDGE))
        se = float(np.sqrt(gradient @ self.covariance @ gradient))
        reach = ndtri((1 + level) / 2) * se / (value * (1 - value))
        low, high = (float(expit(logit(value) + sign * reach)) for sign in (-1, 1))
        return value, low, high


@with_paying_threads
def calibrate(y: Floats, h: Floats, weight: Floats) -> Calibration:
    """Fit the line to audited rows and count them in bands of h."""
    x, weight = _logit(h), weight / weight.mean()
    design = np.column_stack([np.ones(len(x)), x])
    centre = np.array([0.0, 1.0])

    def loss(theta: Floats) -> tuple[float, Floats]:
        line, off = design @ theta, (theta - centre) / PRIOR
        value = weight @ (np.logaddexp(0, line) - y * line) + off @ off / 2
        return float(value), design.T @ (weight * (expit(line) - y)) + off / PRIOR

    optimum = minimize(loss, centre, jac=True, method="BFGS")
    p = expit(design @ optimum.x)
    prior = np.diag(PRIOR**-2)
    curvature = design.T @ (design * (weight * p * (1 - p))[:, None]) + prior
    noise = design.T @ (design * (weight**2 * (p - y) ** 2)[:, None]) + prior
    inverse = np.linalg.inv(curvature)
    a, b = optimum.x
    return Calibration(float(a), float(b), inverse @ noise @ inverse, tuple(_bands(y, h)))


def _bands(y: Floats, h: Floats) -> list[dict[str, Any]]:
    order = np.argsort(h, kind="stable")
    return [
        {
            "low": float(h[rows].min()),
            "high": float(h[rows].max()),
            "rows": len(rows),
            "expected": float(h[rows].sum()),
            "found": float(y[rows].sum()),
        }
        for rows in np.array_split(order, min(BANDS, max(1, len(y) // 5)))
        if len(rows)
    ]


def _logit(h: Floats) -> Floats:
    return np.asarray(logit(np.clip(h, EDGE, 1 - EDGE)))
