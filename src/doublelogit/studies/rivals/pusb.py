"""PUSB: PU learning under a selection bias that keeps the order (Kato, Teshima, Honda 2019)."""

import numpy as np

from doublelogit._types import Floats
from doublelogit.core.design import predictor
from doublelogit.fitted import LinearPair
from doublelogit.studies.rivals.base import implied_pair
from doublelogit.studies.rivals.sample import Sample
from doublelogit.studies.rivals.upu import UPUClassifier


class PUSBClassifier(UPUClassifier):
    """PUSB: the rows with the largest scores of uPU are positive, as many as the prevalence says.

    It assumes that e(x) never falls where y(x) rises. y(x) = sigma(a - t), t the cut, has a
    meaning by its order and its side of 1/2; e(x) = s(x) / y(x), s(x) NAIVE's. Parameters and
    attributes are those of :class:`doublelogit.studies.rivals.UPUClassifier`.

    Examples
    --------
    >>> from doublelogit.studies.rivals import PUSBClassifier
    >>> X, s = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 0, 1]
    >>> PUSBClassifier(prevalence=0.75).fit(X, s).predict(X)
    array([0, 1, 1, 1])
    """

    def _pair(self, sample: Sample, theta: Floats, prevalence: float) -> LinearPair:
        cut = np.quantile(predictor(sample.Z, theta), 1 - prevalence)
        outcome = sample.side(np.append(theta[:-1], theta[-1] - cut))
        return implied_pair(sample.coef(sample.naive), outcome)
