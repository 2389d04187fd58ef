"""EM as a scikit-learn classifier."""

from collections.abc import Sequence
from typing import Any, ClassVar

from sklearn.utils._param_validation import StrOptions

from doublelogit.core.link import LINKS
from doublelogit.estimators.pluggable import PluggableModels
from doublelogit.fitted.fit import PUFit
from doublelogit.methods import Problem, em
from doublelogit.methods.em import em_classifiers
from doublelogit.methods.logistic import outcome_model, propensity_model


class EMClassifier(PluggableModels):
    """EM: expectation-maximisation of the double logistic likelihood (SAR-EM).

    Rows are weighted by the probability to be positive, both models are fitted, and so on. It
    climbs the same likelihood as :class:`JointClassifier`, and from the same start meets it
    unless several optima are near. Either model may be any classifier.

    Parameters
    ----------
    outcome, propensity : classifier, default=None
        A scikit-learn classifier or pipeline whose ``fit`` takes ``sample_weight``, for the
        model of y(x) and of e(x). None is penalised logistic regression, which is much faster.
    n_folds : int, default=1
        With several, what a classifier of yours says of a row while both models are fitted in turn
        comes from fits to the other folds: a flexible one memorises labels. The one that is kept
        is fitted to all rows.
    init : {"balanced", "naive", "half"}, default="balanced"
        Where to start. balanced: the original code's, S weighted to balance, then S weighted by
        that fit. naive: the naive model and a fit of (s(x) + 1) / 2. half: the naive model and
        e(x) = 1/2. Only "balanced" if a classifier is given.
    stopping : {"gradient", "objective"}, default="gradient"
        What ``tol`` bounds: the largest entry of the gradient of the mean penalised
        log-likelihood, or the relative change of the outcome's objective, the paper's rule.
    acceleration : bool or "auto", default="auto"
        Anderson acceleration: fewer rounds to the same stationary points. "auto" is on for
        ``stopping="gradient"`` with ``tol > 0``.
    refit : bool, default=False
        End with an outcome fit to the targets s/e(x), as the original code does. It measurably
        hurts. Only for the logistic outcome.
    link : {"logit", "probit"}, default="logit"
        Response function of both models: y(x) = sigma(x'beta), or the normal distribution
        function of it. Only without classifiers of your own.
    C, propensity_C : float, default=1.0
        Inverse strength of the L2 penalty on the slopes of the logistic models, on the sum of
        the losses as in scikit-learn; ``np.inf`` for none.
    outcome_features, propensity_features : array-like of names or indices, default=None
        Features that the logistic models may use; None is all, an empty list a constant. A
        constant propensity is the SCAR assumption.
    tol : float, default=1e-6
        Tolerance of the stopping rule; 0 makes exactly ``max_iter`` plain rounds.
    max_iter : int, default=1000
        Maximum number of rounds.
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
        Penalised mean negative log-likelihood of the labels, at the start and after each round;
        with a classifier given, the loss of the outcome fit.
    n_features_in_ : int
        Number of features seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X had string names for all.

    Examples
    --------
    >>> import numpy as np
    >>> from doublelogit import EMClassifier
    >>> from doublelogit.datasets import load_benchmark
    >>> from doublelogit.labelling import Scar, draw
    >>> X, y = load_benchmark("BreastCancer", return_X_y=True)
    >>> s = draw(y, Scar(0.5).propensity(X), np.random.default_rng(0))
    >>> model = EMClassifier().fit(X, s)
    >>> float((model.predict(X) == y).mean().round(2))
    0.96
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **PluggableModels._parameter_constraints,
        "init": [StrOptions({"balanced", "naive", "half"})],
        "stopping": [StrOptions({"gradient", "objective"})],
        "acceleration": ["boolean", StrOptions({"auto"})],
        "refit": ["boolean"],
        "link": [StrOptions(set(LINKS))],
    }

    def __init__(
        self,
        *,
        outcome: Any = None,
        propensity: Any = None,
        n_folds: int = 1,
        init: str = "balanced",
        stopping: str = "gradient",
        acceleration: bool | str = "auto",
        refit: bool = False,
        link: str = "logit",
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
        self.init = init
        self.stopping = stopping
        self.acceleration = acceleration
        self.refit = refit
        self.link = link
        self.C = C
        self.propensity_C = propensity_C
        self.outcome_features = outcome_features
        self.propensity_features = propensity_features
        self.tol = tol
        self.max_iter = max_iter
        self.pos_label = pos_label

    def _fit(self, problem: Problem, X: Any) -> PUFit:
        if self.outcome is not None or self.propensity is not None:
            if self.link != "logit":
                raise ValueError(
                    f"link={self.link!r} is for the two models of the library; got a classifier "
                    "of your own for one of them."
                )
            return self._fit_classifiers(problem, X)
        accelerate = self.acceleration
        if accelerate == "auto":
            accelerate = self.tol > 0 and self.stopping == "gradient"
        return em(
            problem,
            init=self.init,
            stopping=self.stopping,
            accelerate=bool(accelerate),
            refit=self.refit,
            tol=self.tol,
            max_iter=self.max_iter,
        )

    def _fit_classifiers(self, problem: Problem, X: Any) -> PUFit:
        if self.init != "balanced" or self.refit:
            raise ValueError(
                "with a classifier as outcome or propensity EM starts from init='balanced' and "
                f"makes no refit; got init={self.init!r} and refit={self.refit}."
            )
        outcome = self._classifier(self.outcome, problem, X)
        propensity = self._classifier(self.propensity, problem, X)
        return em_classifiers(
            problem,
            outcome or outcome_model(problem),
            propensity or propensity_model(problem),
            tol=self.tol,
            max_iter=self.max_iter,
        )
