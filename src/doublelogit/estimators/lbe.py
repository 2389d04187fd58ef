"""LBE as a scikit-learn classifier."""

from collections.abc import Sequence
from typing import Any, ClassVar

from sklearn.utils._param_validation import StrOptions

from doublelogit.estimators.base import COUNT, POSITIVE, AbstractPUClassifier
from doublelogit.fitted.fit import PUFit
from doublelogit.methods import Problem, lbe


class LBEClassifier(AbstractPUClassifier):
    """LBE: labelling bias estimation, EM with Adam steps for an M-step.

    The number of steps is its regulariser, so the default runs exactly ``max_iter`` of them.

    Parameters
    ----------
    init : {"half", "naive", "balanced"}, default="half"
        Where to start. half: the naive model and e(x) = 1/2. naive: the naive model and a fit
        of (s(x) + 1) / 2. balanced: as EM.
    learning_rate : float, default=1e-3
        Step size of Adam.
    steps : int, default=1
        Adam steps between two E-steps.
    stopping : {"gradient", "objective"}, default="gradient"
        What ``tol`` bounds: the largest entry of the gradient of the mean penalised
        log-likelihood, or the relative change of the criterion.
    C, propensity_C : float, default=1.0
        Inverse strength of the L2 penalty on the slopes, on the sum of the losses as in
        scikit-learn; ``np.inf`` for none.
    outcome_features, propensity_features : array-like of names or indices, default=None
        Features that the models may use; None is all, an empty list a constant.
    tol : float, default=0.0
        Tolerance of the stopping rule; 0 makes exactly ``max_iter`` rounds.
    max_iter : int, default=1000
        Maximum number of rounds (E-step and Adam steps).
    pos_label : object, default=None
        The value of y that means labelled. Not needed for 0/1, -1/1 and booleans.

    Attributes
    ----------
    coef_, propensity_coef_ : ndarray of shape (1, n_features)
        Slopes of the models.
    intercept_, propensity_intercept_ : ndarray of shape (1,)
        Their intercepts.
    classes_ : ndarray of shape (2,)
        The values of y: unlabelled (negative) first, labelled (positive) second.
    n_iter_ : int
        Rounds made.
    converged_ : bool
        Whether the stopping rule was met (True with ``tol=0``, which has none).
    trace_ : ndarray
        The penalised mean criterion before each round.
    n_features_in_ : int
        Number of features seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X had string names for all.

    Examples
    --------
    >>> from doublelogit import LBEClassifier
    >>> X, s = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 0, 1]
    >>> LBEClassifier().fit(X, s).predict_positive(X).round(1)
    array([0.1, 0.3, 0.4, 0.6])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **AbstractPUClassifier._parameter_constraints,
        "init": [StrOptions({"half", "naive", "balanced"})],
        "learning_rate": POSITIVE,
        "steps": COUNT,
        "stopping": [StrOptions({"gradient", "objective"})],
    }

    def __init__(
        self,
        *,
        init: str = "half",
        learning_rate: float = 1e-3,
        steps: int = 1,
        stopping: str = "gradient",
        C: float = 1.0,
        propensity_C: float = 1.0,
        outcome_features: Sequence[Any] | None = None,
        propensity_features: Sequence[Any] | None = None,
        tol: float = 0.0,
        max_iter: int = 1000,
        pos_label: Any = None,
    ) -> None:
        self.init = init
        self.learning_rate = learning_rate
        self.steps = steps
        self.stopping = stopping
        self.C = C
        self.propensity_C = propensity_C
        self.outcome_features = outcome_features
        self.propensity_features = propensity_features
        self.tol = tol
        self.max_iter = max_iter
        self.pos_label = pos_label

    def _fit(self, problem: Problem, X: Any) -> PUFit:
        return lbe(
            problem,
            init=self.init,
            learning_rate=self.learning_rate,
            steps=self.steps,
            stopping=self.stopping,
            tol=self.tol,
            max_iter=self.max_iter,
        )
