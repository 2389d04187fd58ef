"""PGlin: the probabilistic gap is linear (He et al. 2018; Gerych et al. 2022)."""

from typing import Any

import numpy as np
from scipy.special import expit

from doublelogit.core.design import predictor
from doublelogit.fitted import ScaledLabel
from doublelogit.studies.rivals.base import AbstractRival, RivalFit, implied_pair
from doublelogit.studies.rivals.sample import Sample


class PGlinClassifier(AbstractRival):
    """PGlin: e(x) is proportional to y(x), and y(x) = 1 at the row that is likeliest labelled.

    With m the largest s(x) of NAIVE in the sample, y = sqrt(s / m), at most 1, and
    e = sqrt(s m), or s where that exceeds m.

    Parameters
    ----------
    C : float, default=1.0
        Inverse strength of the L2 penalty on NAIVE's slopes of standardised features.
    pos_label : object, default=None
        The value of y that means labelled. Not needed for 0/1, -1/1 and booleans.

    Attributes
    ----------
    prevalence_, label_frequency_ : float
        Mean of y(x) over the sample, and the label frequency that follows from it.
    classes_ : ndarray of shape (2,)
        The values of y: unlabelled first, labelled second.

    Examples
    --------
    >>> from doublelogit.studies.rivals import PGlinClassifier
    >>> X, s = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 0, 1]
    >>> PGlinClassifier().fit(X, s).predict_positive(X).round(1)
    array([0.4, 0.6, 0.8, 1. ])
    """

    def __init__(self, *, C: float = 1.0, pos_label: Any = None) -> None:
        self.C = C
        self.pos_label = pos_label

    def _fit_sample(self, sample: Sample) -> RivalFit:
        naive = sample.naive
        alpha, s_x = sample.coef(naive), expit(predictor(sample.Z, naive))
        largest = float(s_x.max())
        pair = implied_pair(alpha, ScaledLabel(alpha, largest, power=0.5))
        return RivalFit(pair, float(np.sqrt(s_x / largest).mean()))
