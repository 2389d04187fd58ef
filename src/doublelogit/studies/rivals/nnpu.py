"""nnPU: the PU risk with a floor (Kiryo, Niu, du Plessis, Sugiyama 2017)."""

from typing import ClassVar

from doublelogit.studies.rivals.upu import UPUClassifier


class NNPUClassifier(UPUClassifier):
    """nnPU: uPU whose estimate of the risk of negatives is floored at zero.

    pi mean_L l(a) + max(0, mean l(-a) - pi mean_L l(-a)): below its floor the second term has no
    gradient. Parameters, attributes and the meaning of predictions are those of
    :class:`doublelogit.studies.rivals.UPUClassifier`.

    Examples
    --------
    >>> from doublelogit.studies.rivals import NNPUClassifier
    >>> X, s = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 0, 1]
    >>> NNPUClassifier(prevalence=0.5).fit(X, s).predict(X)
    array([0, 0, 1, 1])
    """

    _floored: ClassVar[bool] = True
