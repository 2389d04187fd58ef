"""JERM as a scikit-learn classifier."""

from collections.abc import Sequence
from numbers import Real
from typing import Any, ClassVar

from sklearn.utils._param_validation import Interval, StrOptions

from doublelogit.estimators.base import AbstractPUClassifier
from doublelogit.fitted.fit import PUFit
from doublelogit.methods import Problem
from doublelogit.studies.methods import jerm


class JERMClassifier(AbstractPUClassifier):
    """JERM: likelihood steps for the class, a stratum of likely positives for the labelling.

    Each round maximises the likelihood of the labels in the class model, the propensity held, takes
    the unlabelled rows that are likelier positive than any *spy*, and fits the propensity to the
    labels of those. A spy is the nearest unlabelled neighbour of a labelled row, by Euclidean
    distance: standardise the features. Rows must be in memory.

    Parameters
    ----------
    variant : {"converged", "released"}, default="converged"
        converged: every step is the maximum of the penalised likelihood, and rounds end when their
        stratum comes back. released: the damped steps and the fixed number of rounds of the
        authors' code; C is then the penalty of the naive fit and of the propensity alone, and
        coefficients run away where labelled rows are separable.
    spy_quantile : float in [0, 1], default=0.0
        Order of the quantile of P(Y=1 | x, S=0) over the spies above which an unlabelled row counts
        as positive. 0 is the smallest, as published; where the classes overlap that takes nearly
        every row, and the converged maximum then has y(x) near one: 0.2 or 0.3 keeps it away.
    C, propensity_C : float, default=1.0
        Inverse strength of the L2 penalty on the slopes, on the sum of the losses as in
        scikit-learn; ``np.inf`` for none.
    outcome_features, propensity_features : array-like of names or indices, default=None
        Features that the models may use; None is all, an empty list a constant. A constant
        propensity is the SCAR assumption.
    tol : float, default=1e-6
        Stop when the penalised log-likelihood of the labels changes by less, relatively, or a
        stratum comes back; 0 makes exactly ``max_iter`` rounds, as ``variant="released"`` does.
    max_iter : int, default=100
        Maximum number of rounds.
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
        Whether the stopping rule was met (True with a given number of rounds, which has none).
    trace_ : ndarray
        Penalised mean negative log-likelihood of the labels after each round. It need not fall: the
        fit of the propensity does not climb it.
    model_ : LinearPair
        Both fitted models.
    findings_ : tuple of Finding
        What a user must know of the fit.
    n_features_in_ : int
        Number of features seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X had string names for all.

    Examples
    --------
    >>> import numpy as np
    >>> from doublelogit.studies.rivals import JERMClassifier
    >>> from doublelogit.datasets import load_benchmark
    >>> from doublelogit.labelling import Scar, draw
    >>> X, y = load_benchmark("BreastCancer", return_X_y=True)
    >>> s = draw(y, Scar(0.5).propensity(X), np.random.default_rng(0))
    >>> model = JERMClassifier().fit(X, s)
    >>> float((model.predict(X) == y).mean().round(2))
    0.96
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **AbstractPUClassifier._parameter_constraints,
        "variant": [StrOptions({"converged", "released"})],
        "spy_quantile": [Interval(Real, 0, 1, closed="both")],
    }

    def __init__(
        self,
        *,
        variant: str = "converged",
        spy_quantile: float = 0.0,
        C: float = 1.0,
        propensity_C: float = 1.0,
        outcome_features: Sequence[Any] | None = None,
        propensity_features: Sequence[Any] | None = None,
        tol: float = 1e-6,
        max_iter: int = 100,
        pos_label: Any = None,
    ) -> None:
        self.variant = variant
        self.spy_quantile = spy_quantile
        self.C = C
        self.propensity_C = propensity_C
        self.outcome_features = outcome_features
        self.propensity_features = propensity_features
        self.tol = tol
        self.max_iter = max_iter
        self.pos_label = pos_label

    def _fit(self, problem: Problem, X: Any) -> PUFit:
        return jerm(
            problem,
            released=self.variant == "released",
            spy_quantile=self.spy_quantile,
            tol=self.tol,
            max_iter=self.max_iter,
        )
