"""uPU: the unbiased PU risk (du Plessis, Niu, Sugiyama 2014, 2015)."""

from typing import Any, ClassVar

from sklearn.utils._param_validation import StrOptions

from doublelogit._types import Floats
from doublelogit.fitted import LinearPair
from doublelogit.studies.rivals.base import AbstractRival, RivalFit
from doublelogit.studies.rivals.risk import LOSSES, minimise_risk
from doublelogit.studies.rivals.sample import Sample


class UPUClassifier(AbstractRival):
    """uPU: a linear score that minimises an unbiased estimate of the risk, labels at random.

    pi mean_L l(a) + mean l(-a) - pi mean_L l(-a), means without a name over all rows. With the
    logistic loss y(x) = sigma(a); with the double hinge only its side of 1/2 has a meaning.
    e(x) is the constant (share of labelled rows) / pi.

    Parameters
    ----------
    prevalence : float or {"km2", "tice", "dedpul", "elkan-noto"}, default="km2"
        The prevalence pi, or the rival that estimates it.
    loss : {"logistic", "double_hinge"}, default="logistic"
        The loss l. The double hinge has its corners rounded, for a smooth solver.
    C : float, default=0.1
        Inverse strength of the L2 penalty on the slopes of standardised features, on the sum of
        the losses as in scikit-learn. Smaller than elsewhere, as labelled rows count 1 / c times.
    random_state : int, RandomState instance or None, default=0
        Of the estimate of the prevalence.
    pos_label : object, default=None
        The value of y that means labelled. Not needed for 0/1, -1/1 and booleans.

    Attributes
    ----------
    prevalence_, label_frequency_ : float
        The prevalence as given or estimated, and the label frequency that follows from it.
    coef_ : ndarray of shape (1, n_features)
        Slopes of the score.
    intercept_ : ndarray of shape (1,)
        Its intercept.
    classes_ : ndarray of shape (2,)
        The values of y: unlabelled first, labelled second.

    Examples
    --------
    >>> from doublelogit.studies.rivals import UPUClassifier
    >>> X, s = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 0, 1]
    >>> UPUClassifier(prevalence=0.5).fit(X, s).predict(X)
    array([0, 0, 1, 1])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **AbstractRival._parameter_constraints,
        "loss": [StrOptions(set(LOSSES))],
    }
    _floored: ClassVar[bool] = False

    def __init__(
        self,
        *,
        prevalence: float | str = "km2",
        loss: str = "logistic",
        C: float = 0.1,
        random_state: Any = 0,
        pos_label: Any = None,
    ) -> None:
        self.prevalence = prevalence
        self.loss = loss
        self.C = C
        self.random_state = random_state
        self.pos_label = pos_label

    def _fit_sample(self, sample: Sample) -> RivalFit:
        prevalence = self._known_prevalence(sample)
        weight = self._weight(sample)
        solution = minimise_risk(
            sample,
            prevalence * weight,
            self.loss,
            floored=self._floored,
            tol=self.tol,
            max_iter=self.max_iter,
        )
        pair = self._pair(sample, solution.theta, prevalence)
        reached = (solution.n_iter, solution.converged, (solution.value,))
        return RivalFit(pair, prevalence, *reached)

    def _weight(self, sample: Sample) -> Floats:
        """Weights of the labelled rows, of sum one."""
        return sample.s / sample.s.sum()

    def _pair(self, sample: Sample, theta: Floats, prevalence: float) -> LinearPair:
        return LinearPair(sample.side(theta), sample.constant(sample.mean_s / prevalence))
