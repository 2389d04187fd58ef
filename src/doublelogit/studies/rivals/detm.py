"""DETM as a scikit-learn classifier."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state

from doublelogit.core.rows import Rows, labelled_share
from doublelogit.estimators.base import COUNT, AbstractPUClassifier
from doublelogit.estimators.validation import PROBABILITY_OR_RANGE, beliefs
from doublelogit.fitted.fit import PUFit
from doublelogit.methods import Problem
from doublelogit.studies.methods import SoftmaxProblem, detm
from doublelogit.studies.methods.softmax_pair import SoftmaxPair


class DETMClassifier(AbstractPUClassifier):
    """DETM: a softmax of labelled positives, unlabelled positives and negatives.

    P(Y=1 | x, S=0) = sigma(x'beta) and e(x) = sigma(x'gamma) are logistic, so that
    logit y(x) = x'beta + log(1 + exp(x'gamma)); fitted by maximum likelihood of what was observed.
    The likelihood of the labels does not change when unlabelled positives and negatives swap
    places, (beta, gamma) -> (-beta, beta + gamma). Audited rows tell them apart, and so does a
    feature that the outcome may use and the propensity may not; otherwise those that look more
    like the labelled rows are taken for the positives, and an
    :class:`~doublelogit.exceptions.OrientationWarning` says so if that is not clear.

    Parameters
    ----------
    n_starts : int, default=10
        Number of starts; the best likelihood wins. The first three are those of
        :class:`JointClassifier`, others shake the first.
    prevalence, label_frequency : float or (mean, sd), default=None
        What is known from elsewhere of P(Y=1), or of P(S=1 | Y=1): a number, or a number with
        its standard deviation. One of them at most; it enters the likelihood.
    C, propensity_C : float, default=1.0
        Inverse strength of the L2 penalty on the slopes of beta and gamma, on the sum of the
        losses as in scikit-learn; ``np.inf`` for none.
    outcome_features, propensity_features : array-like of names or indices, default=None
        Features that x'beta and x'gamma may use; None is all, an empty list a constant. A
        constant propensity is the SCAR assumption, with a logistic class as in
        :class:`JointClassifier`.
    tol : float, default=1e-6
        Largest entry allowed in the gradient of the mean penalised log-likelihood, each in the
        unit of its feature.
    max_iter : int, default=1000
        Maximum number of iterations from each start.
    random_state : int, RandomState instance or None, default=0
        Shakes the starts.
    pos_label : object, default=None
        The value of y that means labelled. Not needed for 0/1, -1/1 and booleans.

    Attributes
    ----------
    coef_, propensity_coef_ : ndarray of shape (1, n_features)
        Slopes of beta, the log-odds that an unlabelled row is positive, and of gamma, the log-odds
        that a positive is labelled. The logit of y(x) is not linear.
    intercept_, propensity_intercept_ : ndarray of shape (1,)
        Their intercepts.
    classes_ : ndarray of shape (2,)
        The values of y: unlabelled (negative) first, labelled (positive) second.
    n_iter_ : int
        Iterations from the start that won.
    converged_ : bool
        Whether the stopping rule was met.
    trace_ : ndarray
        Penalised mean negative log-likelihood along the way.
    orientation_ : Orientation
        Which rule told unlabelled positives from negatives (``rule``) and how clearly (``gap`` in
        ``unit``, ``clear``); see also :meth:`swapped`.
    model_ : SoftmaxPair
        What was fitted.
    findings_ : tuple of Finding
        What a user must know of the fit.
    n_features_in_ : int
        Number of features seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X had string names for all.

    Examples
    --------
    >>> import numpy as np
    >>> from doublelogit.studies.rivals import DETMClassifier
    >>> from doublelogit.datasets import load_benchmark
    >>> from doublelogit.labelling import Scar, draw
    >>> X, y = load_benchmark("BreastCancer", return_X_y=True)
    >>> s = draw(y, Scar(0.5).propensity(X), np.random.default_rng(0))
    >>> model = DETMClassifier().fit(X, s)
    >>> float((model.predict(X) == y).mean().round(2))
    0.96
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **AbstractPUClassifier._parameter_constraints,
        "n_starts": COUNT,
        "prevalence": PROBABILITY_OR_RANGE,
        "label_frequency": PROBABILITY_OR_RANGE,
        "random_state": ["random_state"],
    }
    _model: ClassVar[type[Problem]] = SoftmaxProblem
    model_: SoftmaxPair

    def __init__(
        self,
        *,
        n_starts: int = 10,
        prevalence: float | tuple[float, float] | None = None,
        label_frequency: float | tuple[float, float] | None = None,
        C: float = 1.0,
        propensity_C: float = 1.0,
        outcome_features: Sequence[Any] | None = None,
        propensity_features: Sequence[Any] | None = None,
        tol: float = 1e-6,
        max_iter: int = 1000,
        random_state: Any = 0,
        pos_label: Any = None,
    ) -> None:
        self.n_starts = n_starts
        self.prevalence = prevalence
        self.label_frequency = label_frequency
        self.C = C
        self.propensity_C = propensity_C
        self.outcome_features = outcome_features
        self.propensity_features = propensity_features
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.pos_label = pos_label

    def _fit(self, problem: Problem, X: Any) -> PUFit:
        assert isinstance(problem, SoftmaxProblem)
        seed = check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
        return detm(
            problem,
            n_starts=self.n_starts,
            tol=self.tol,
            max_iter=self.max_iter,
            rng=np.random.default_rng(seed),
        )

    def _problem(self, rows: Rows) -> Problem:
        informed = beliefs(self.prevalence, self.label_frequency, labelled_share(rows))
        return replace(super()._problem(rows), beliefs=informed)
