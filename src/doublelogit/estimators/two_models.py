"""TM and TM SIMPLE as scikit-learn classifiers."""

from collections.abc import Sequence
from numbers import Real
from typing import Any, ClassVar

from sklearn.utils._param_validation import Interval, StrOptions

from doublelogit._types import Floats
from doublelogit.estimators.base import AbstractPUClassifier
from doublelogit.estimators.pluggable import PluggableModels
from doublelogit.fitted import HalfwayLabel, LinearPair
from doublelogit.fitted.fit import PUFit
from doublelogit.methods import Problem, tm, tm_simple


class TwoModelsSimpleClassifier(AbstractPUClassifier):
    """TM SIMPLE: one posterior fit with the naive propensity (s(x) + 1) / 2.

    The fast choice of the paper: two logistic fits. Its propensity is a crude guess halfway
    between the smallest value that is possible and one.

    Parameters
    ----------
    C : float, default=1.0
        Inverse strength of the L2 penalty on the slopes of both fits, on the sum of the losses
        as in scikit-learn; ``np.inf`` for none.
    tol : float, default=1e-6
        Largest entry allowed in the gradient of each mean loss.
    max_iter : int, default=1000
        Maximum number of Newton steps of each fit.
    pos_label : object, default=None
        The value of y that means labelled. Not needed for 0/1, -1/1 and booleans.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features)
        Slopes of the outcome model.
    intercept_ : ndarray of shape (1,)
        Its intercept.
    label_coef_ : ndarray of shape (1, n_features)
        Slopes of the naive model of the label, from which the propensity derives.
    label_intercept_ : ndarray of shape (1,)
        Its intercept.
    classes_ : ndarray of shape (2,)
        The values of y: unlabelled (negative) first, labelled (positive) second.
    n_iter_ : int
        Newton steps made in both fits.
    converged_ : bool
        Whether both met the stopping rule.
    trace_ : ndarray
        Value of -W_n reached.
    n_features_in_ : int
        Number of features seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X had string names for all.

    Examples
    --------
    >>> from doublelogit import TwoModelsSimpleClassifier
    >>> X, s = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 0, 1]
    >>> TwoModelsSimpleClassifier().fit(X, s).predict_hidden(X).round(2)
    array([0.08, 0.13, 0.2 , 0.27])
    """

    model_: LinearPair

    def __init__(
        self, *, C: float = 1.0, tol: float = 1e-6, max_iter: int = 1000, pos_label: Any = None
    ) -> None:
        self.C = C
        self.tol = tol
        self.max_iter = max_iter
        self.pos_label = pos_label

    def _fit(self, problem: Problem, X: Any) -> PUFit:
        return tm_simple(problem, tol=self.tol, max_iter=self.max_iter)

    @property
    def label_coef_(self) -> Floats:
        """Slopes of the naive model of the label."""
        return self._alpha[None, :-1]

    @property
    def label_intercept_(self) -> Floats:
        """Intercept of the naive model of the label."""
        return self._alpha[-1:]

    @property
    def _alpha(self) -> Floats:
        side = self.model_.propensity_model
        assert isinstance(side, HalfwayLabel)
        return side.alpha


class TwoModelsClassifier(PluggableModels):
    """TM: outcome and propensity models fitted in turn.

    Each round fits the outcome with the weights that the current propensity implies, takes the
    rows that are then likely positive, and fits the propensity to the labels of those.
    Either model may be any classifier.

    Parameters
    ----------
    outcome, propensity : classifier, default=None
        A scikit-learn classifier or pipeline whose ``fit`` takes ``sample_weight``, for the
        model of y(x) and of e(x). None is penalised logistic regression, which is much faster:
        with a slow classifier choose some 10 rounds, ``tol=0, max_iter=10``.
    n_folds : int, default=1
        With several, what a classifier of yours says of a row while both models are fitted in turn
        comes from fits to the other folds: a flexible one memorises labels. The one that is kept
        is fitted to all rows.
    variant : {"released", "literal"}, default="released"
        The algorithm of the authors' code, which floors e(x) by the last s(x) and ends with one
        more outcome fit, or that of the paper's text.
    stratum_quantile : float in [0, 1], default=None
        Order of the quantile of y(x) over labelled rows above which an unlabelled row counts
        as positive. None is mean(S); the paper recommends 0.1 for well-separated classes.
    acceleration : bool, default=False
        Anderson acceleration of the rounds: settles in about half of them, not always where plain
        rounds would. Only for two logistic models.
    C, propensity_C : float, default=1.0
        Inverse strength of the L2 penalty on the slopes of the logistic models, on the sum of
        the losses as in scikit-learn; ``np.inf`` for none.
    outcome_features, propensity_features : array-like of names or indices, default=None
        Features that the logistic models may use; None is all, an empty list a constant. A
        constant propensity is the SCAR assumption.
    tol : float, default=1e-6
        Stop when the objective of the outcome fit changes by less, relatively; 0 makes exactly
        ``max_iter`` rounds (and the closing outcome fit).
    max_iter : int, default=1000
        Maximum number of rounds. TM often cycles instead of settling; a warning says so.
    pos_label : object, default=None
        The value of y that means labelled. Not needed for 0/1, -1/1 and booleans.

    Attributes
    ----------
    coef_, propensity_coef_ : ndarray of shape (1, n_features)
        Slopes of the models; absent for a model that is not logistic.
    intercept_, propensity_intercept_ : ndarray of shape (1,)
        Their intercepts.
    outcome_, propensity_ : classifier
        The fitted classifiers, where they were given.
    classes_ : ndarray of shape (2,)
        The values of y: unlabelled (negative) first, labelled (positive) second.
    n_iter_ : int
        Rounds made.
    converged_ : bool
        Whether the stopping rule was met (True with ``tol=0``, which has none).
    trace_ : ndarray
        -W_n after each outcome fit.
    n_features_in_ : int
        Number of features seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X had string names for all.

    Examples
    --------
    >>> import numpy as np
    >>> from doublelogit import TwoModelsClassifier
    >>> from doublelogit.datasets import load_benchmark
    >>> from doublelogit.labelling import Scar, draw
    >>> X, y = load_benchmark("BreastCancer", return_X_y=True)
    >>> s = draw(y, Scar(0.5).propensity(X), np.random.default_rng(0))
    >>> model = TwoModelsClassifier(tol=0, max_iter=20).fit(X, s)
    >>> float((model.predict(X) == y).mean().round(2))
    0.95
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **PluggableModels._parameter_constraints,
        "variant": [StrOptions({"released", "literal"})],
        "acceleration": ["boolean"],
        "stratum_quantile": [Interval(Real, 0, 1, closed="both"), None],
    }

    def __init__(
        self,
        *,
        outcome: Any = None,
        propensity: Any = None,
        n_folds: int = 1,
        variant: str = "released",
        stratum_quantile: float | None = None,
        acceleration: bool = False,
        C: float = 1.0,
        propensity_C: float = 1.0,
        outcome_features: Sequence[Any] | None = None,
        propensity_features: Sequence[Any] | None = None,
        tol: float = 1e-6,
        max_iter: int = 1000,
        pos_label: Any = None,
    ) -> None:
        self.outcome = outcome
        self.propensity = propensity
        self.n_folds = n_folds
        self.variant = variant
        self.stratum_quantile = stratum_quantile
        self.acceleration = acceleration
        self.C = C
        self.propensity_C = propensity_C
        self.outcome_features = outcome_features
        self.propensity_features = propensity_features
        self.tol = tol
        self.max_iter = max_iter
        self.pos_label = pos_label

    def _fit(self, problem: Problem, X: Any) -> PUFit:
        if self.acceleration and not (self.outcome is None and self.propensity is None):
            raise ValueError(
                "acceleration works on coefficients, so it needs two logistic models; leave it "
                "out, or leave out outcome and propensity."
            )
        label = self._classifier(self.outcome, problem, X)
        outcome = self._classifier(self.outcome, problem, X)
        propensity = self._classifier(self.propensity, problem, X)
        return tm(
            problem,
            outcome=outcome,
            propensity=propensity,
            label=label,
            literal=self.variant == "literal",
            stratum_quantile=self.stratum_quantile,
            accelerate=self.acceleration,
            tol=self.tol,
            max_iter=self.max_iter,
        )
