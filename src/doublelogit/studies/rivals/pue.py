"""PUe: the PU risk weighted by inverse propensities (Wang, Chen, Guo, Wang 2023)."""

from typing import ClassVar

import numpy as np
from scipy.special import log_expit, logsumexp

from doublelogit._types import Floats
from doublelogit.core.design import predictor
from doublelogit.fitted import LinearPair, ScaledLabel
from doublelogit.studies.rivals.sample import Sample
from doublelogit.studies.rivals.upu import UPUClassifier


class PUeClassifier(UPUClassifier):
    """PUe: nnPU whose labelled rows have weights proportional to 1 / e(x).

    Up to a factor, which the weights lose as they are made to sum to one, e(x) is a model of the
    label, fitted under a penalty on how far its sum is from the number of labelled rows. A
    logistic model with a free intercept makes that zero by itself, so it is NAIVE here, and the
    penalty has no parameter. ``predict_propensity`` has the factor by which 1 / e(x) of labelled
    rows sums to the number of positives. Parameters and attributes are those of
    :class:`doublelogit.studies.rivals.UPUClassifier`.

    Examples
    --------
    >>> from doublelogit.studies.rivals import PUeClassifier
    >>> X, s = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 0, 1]
    >>> PUeClassifier(prevalence=0.5).fit(X, s).predict(X)
    array([0, 0, 1, 1])
    """

    _floored: ClassVar[bool] = True

    def _weight(self, sample: Sample) -> Floats:
        inverse = np.where(sample.s == 1, -_log_label(sample), -np.inf)
        return np.exp(inverse - logsumexp(inverse))

    def _pair(self, sample: Sample, theta: Floats, prevalence: float) -> LinearPair:
        log_total = logsumexp(-_log_label(sample)[sample.labelled])
        level = float(np.exp(np.log(prevalence * sample.n) - log_total))
        return LinearPair(sample.side(theta), ScaledLabel(sample.coef(sample.naive), level))


def _log_label(sample: Sample) -> Floats:
    """Logarithm of NAIVE's s(x)."""
    return np.asarray(log_expit(predictor(sample.Z, sample.naive)))
