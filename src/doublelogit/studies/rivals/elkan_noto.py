"""Elkan-Noto: the label frequency from NAIVE on rows set aside (Elkan, Noto 2008)."""

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from scipy.special import expit
from sklearn.utils._param_validation import StrOptions

from doublelogit._types import Floats
from doublelogit.core.design import predictor
from doublelogit.fitted import LinearPair
from doublelogit.studies.rivals.base import PrevalenceRival, RivalFit
from doublelogit.studies.rivals.sample import Sample

# The three estimates of c, given s(x) of rows set aside and their labels.
FREQUENCIES: dict[str, Callable[[Floats, Floats], float]] = {
    "mean": lambda s_x, s: s_x[s == 1].mean(),
    "ratio": lambda s_x, s: s_x[s == 1].sum() / s_x.sum(),
    "max": lambda s_x, _: s_x.max(),
}


class ElkanNotoClassifier(PrevalenceRival):
    """Elkan-Noto: labels at random, c estimated by NAIVE's s(x) on rows set aside.

    Parameters
    ----------
    estimator : {"mean", "ratio", "max"}, default="mean"
        c is the mean of s(x) over labelled rows; or their part of the sum of s(x); or its maximum.
    variant : {"scaled", "weighted"}, default="scaled"
        scaled: y = s / c, at most 1, and e = s / y. weighted: y(x) is a logistic regression in
        which an unlabelled row is positive with weight P(Y=1 | x, S=0), and e = c.
    C : float, default=1.0
        Inverse strength of the L2 penalty on slopes of standardised features.
    random_state : int, RandomState instance or None, default=0
        Of the folds.
    pos_label : object, default=None
        The value of y that means labelled. Not needed for 0/1, -1/1 and booleans.

    Attributes
    ----------
    prevalence_, label_frequency_ : float
        The estimates.
    classes_ : ndarray of shape (2,)
        The values of y: unlabelled first, labelled second.

    Examples
    --------
    >>> import numpy as np
    >>> from doublelogit.studies.rivals import ElkanNotoClassifier
    >>> X = np.repeat([[0.0], [10.0]], 10, axis=0)
    >>> s = np.arange(20) >= 15  # every second positive
    >>> round(ElkanNotoClassifier(C=100).fit(X, s).label_frequency_, 1)
    0.5
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **PrevalenceRival._parameter_constraints,
        "estimator": [StrOptions(set(FREQUENCIES))],
        "variant": [StrOptions({"scaled", "weighted"})],
    }

    def __init__(
        self,
        *,
        estimator: str = "mean",
        variant: str = "scaled",
        C: float = 1.0,
        random_state: Any = 0,
        pos_label: Any = None,
    ) -> None:
        self.estimator = estimator
        self.variant = variant
        self.C = C
        self.random_state = random_state
        self.pos_label = pos_label

    def _estimate(self, sample: Sample) -> float:
        s_x = expit(sample.held_out_scores(self._stream()))
        return sample.mean_s / float(FREQUENCIES[self.estimator](s_x, sample.s))

    def _fit_sample(self, sample: Sample) -> RivalFit:
        scaled = super()._fit_sample(sample)
        if self.variant == "scaled":
            return scaled
        c = sample.mean_s / scaled.prevalence
        theta = sample.logistic(hidden_targets(predictor(sample.Z, sample.naive), sample.s, c))
        pair = LinearPair(sample.side(theta), sample.constant(c))
        return scaled._replace(model=pair)


def hidden_targets(scores: Floats, s: Floats, c: float) -> Floats:
    """P(Y=1 | x, s): one for labelled rows, (1-c)/c s(x)/(1-s(x)), at most 1, for the others."""
    odds = (1 - c) / c * np.exp(np.minimum(scores, 700.0))
    return np.where(s == 1, 1.0, np.minimum(odds, 1.0))
