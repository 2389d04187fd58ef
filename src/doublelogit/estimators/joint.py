"""JOINT as a scikit-learn classifier."""

from collections.abc import Sequence
from dataclasses import replace
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from doublelogit.core.link import LINKS
from doublelogit.core.rows import Rows, labelled_share
from doublelogit.estimators.base import COUNT, FEATURES, AbstractPUClassifier
from doublelogit.estimators.validation import PROBABILITY_OR_RANGE, beliefs
from doublelogit.fitted import LinearPair
from doublelogit.fitted.fit import PUFit
from doublelogit.methods import Problem, joint
from doublelogit.methods.sources import joint_by_sources


class JointClassifier(AbstractPUClassifier):
    """JOINT: maximum likelihood of outcome and propensity together.

    The likelihood of the labels does not change when the two models swap places. Named
    features or audited rows tell them apart; otherwise the stronger model is taken for the
    outcome, and an :class:`~doublelogit.exceptions.OrientationWarning` says so if their
    strengths are close. See ``orientation`` and ``orientation_``.

    Parameters
    ----------
    solver : {"newton", "mm"}, default="newton"
        Trust-region Newton on both models at once, or alternating minorise-maximise steps. The
        paper's text takes the arg max in each model before it turns to the other; mm takes
        ``mm_steps``, one unless said otherwise.
    init : {"naive", "balanced", "half"} or LinearPair, default="naive"
        The first start. naive: the naive model and a fit of (s(x) + 1) / 2. balanced: as EM.
        half: the naive model and e(x) = 1/2. LinearPair: the ``model_`` of a fit to similar rows;
        with ``n_starts=1`` that is the only start.
    n_starts : int, default=4
        Number of starts; the best likelihood wins. The second is what EM makes of the first in
        50 rounds, the third is balanced (or naive, if that came first), others shake the first.
    mm_steps : int, default=1
        Steps of ``solver="mm"`` in each model before it turns to the other.
    stopping : {"gradient", "objective"}, default="gradient"
        What ``tol`` bounds with ``solver="mm"``: the gradient, or the relative change of the
        objective, the paper's rule. Newton always goes by the gradient.
    orientation : {"auto", "features", "audit", "norm"}, default="auto"
        What tells which of the two models is the outcome. features: they may use different
        features. audit: rows of known class. norm: the paper's rule, the larger L1 norm of all
        coefficients as they are, intercept included. auto: features if named, else audited
        rows if any, else the model whose logit varies more over the rows. The first two are an
        error where there is nothing to go by.
    link : {"logit", "probit"}, default="logit"
        Response function of both models: y(x) = sigma(x'beta), or the normal distribution
        function of it.
    prevalence, label_frequency : float or (mean, sd), default=None
        What is known from elsewhere of P(Y=1), or of P(S=1 | Y=1): a number, or a number with
        its standard deviation. One of them at most; it enters the likelihood.
    dependence : float, default=0.0
        Of labels by several sources: log odds ratio of any two of them among positives. 0 is
        independence, which real sources seldom have; :class:`AveragedClassifier` averages over it.
    false_label_rate : float, default=0.0
        Probability that a negative is labelled. 0: labelled rows are surely positive.
    C, propensity_C : float, default=1.0
        Inverse strength of the L2 penalty on the slopes, on the sum of the losses as in
        scikit-learn; ``np.inf`` for none.
    scaled_penalty : bool, default=True
        Whether a slope is penalised by its effect per standard deviation of the feature, so that
        units do not matter. False penalises slopes as they are, as scikit-learn does; tables are
        fitted so, for they scale their numbers and leave 0/1 of categories as they are.
    outcome_features, propensity_features : array-like of names or indices, default=None
        Features that the models may use; None is all, an empty list a constant. A constant
        propensity is the SCAR assumption.
    smooth_features : array-like of names or indices, default=None
        Features of the outcome that bend others, such as the columns of a spline. Because a class
        may have them and be straight, they do not count as named features where class and
        labelling are told apart. They are no features of the propensity unless named there.
    tol : float, default=1e-6
        Largest entry allowed in the gradient of the mean penalised log-likelihood, each in the
        unit of its feature; 0 makes exactly ``max_iter`` steps of ``solver="mm"``.
    max_iter : int, default=1000
        Maximum number of iterations from each start.
    random_state : int, RandomState instance or None, default=0
        Shakes the starts.
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
        Iterations from the start that won.
    converged_ : bool
        Whether the stopping rule was met.
    trace_ : ndarray
        Penalised mean negative log-likelihood of the labels along the way.
    orientation_ : Orientation
        Which rule told class and labelling apart (``rule``) and how clearly (``gap`` in ``unit``,
        ``clear``); see also :meth:`swapped`.
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
    >>> from doublelogit import JointClassifier
    >>> from doublelogit.datasets import load_benchmark
    >>> from doublelogit.labelling import Scar, draw
    >>> X, y = load_benchmark("BreastCancer", return_X_y=True)
    >>> s = draw(y, Scar(0.5).propensity(X), np.random.default_rng(0))
    >>> model = JointClassifier().fit(X, s)
    >>> float((model.predict(X) == y).mean().round(2))
    0.96
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **AbstractPUClassifier._parameter_constraints,
        "solver": [StrOptions({"newton", "mm"})],
        "init": [StrOptions({"naive", "balanced", "half"}), LinearPair],
        "n_starts": COUNT,
        "mm_steps": COUNT,
        "stopping": [StrOptions({"gradient", "objective"})],
        "orientation": [StrOptions({"auto", "features", "audit", "norm"})],
        "link": [StrOptions(set(LINKS))],
        "prevalence": PROBABILITY_OR_RANGE,
        "label_frequency": PROBABILITY_OR_RANGE,
        "dependence": [Interval(Real, None, None, closed="neither")],
        "false_label_rate": [Interval(Real, 0, 1, closed="left")],
        "smooth_features": FEATURES,
        "scaled_penalty": ["boolean"],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        *,
        solver: str = "newton",
        init: str | LinearPair = "naive",
        n_starts: int = 4,
        mm_steps: int = 1,
        stopping: str = "gradient",
        orientation: str = "auto",
        link: str = "logit",
        prevalence: float | tuple[float, float] | None = None,
        label_frequency: float | tuple[float, float] | None = None,
        dependence: float = 0.0,
        false_label_rate: float = 0.0,
        C: float = 1.0,
        propensity_C: float = 1.0,
        scaled_penalty: bool = True,
        outcome_features: Sequence[Any] | None = None,
        propensity_features: Sequence[Any] | None = None,
        smooth_features: Sequence[Any] | None = None,
        tol: float = 1e-6,
        max_iter: int = 1000,
        random_state: Any = 0,
        pos_label: Any = None,
    ) -> None:
        self.solver = solver
        self.init = init
        self.n_starts = n_starts
        self.mm_steps = mm_steps
        self.stopping = stopping
        self.orientation = orientation
        self.link = link
        self.prevalence = prevalence
        self.label_frequency = label_frequency
        self.dependence = dependence
        self.false_label_rate = false_label_rate
        self.C = C
        self.propensity_C = propensity_C
        self.scaled_penalty = scaled_penalty
        self.outcome_features = outcome_features
        self.propensity_features = propensity_features
        self.smooth_features = smooth_features
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.pos_label = pos_label

    def _fit(self, problem: Problem, X: Any) -> PUFit:
        if problem.by_sources:
            self._check_plain(problem)
            return joint_by_sources(
                problem, dependence=self.dependence, tol=self.tol, max_iter=self.max_iter
            )
        self._check_orientation(problem)
        seed = check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
        init: Any = self.init
        if isinstance(init, LinearPair):
            init = problem.theta(init if problem.shift is None else init.uncentred(-problem.shift))
        return joint(
            problem,
            solver=self.solver,
            init=init,
            n_starts=self.n_starts,
            mm_steps=self.mm_steps,
            stopping=self.stopping,
            orientation=self.orientation,
            tol=self.tol,
            max_iter=self.max_iter,
            rng=np.random.default_rng(seed),
        )

    def _problem(self, rows: Rows) -> Problem:
        rate = self.false_label_rate
        informed = beliefs(self.prevalence, self.label_frequency, labelled_share(rows), rate)
        problem = replace(super()._problem(rows), beliefs=informed, false_label_rate=rate)
        return replace(problem, scaled_penalty=self.scaled_penalty)

    def _check_plain(self, problem: Problem) -> None:
        if problem.beliefs or problem.link is not None or self.false_label_rate:
            raise ValueError(
                "labels of several sources are fitted without prevalence, label_frequency, "
                "false_label_rate and link='probit'. Leave them out; AveragedClassifier takes a "
                "prevalence or a label_frequency beside several sources."
            )

    def _check_orientation(self, problem: Problem) -> None:
        needs = {
            "features": (
                problem.distinct_features,
                "propensity_features or outcome_features to be named",
            ),
            "audit": (problem.audited, "audited_y with the class of some unlabelled rows"),
            "norm": (
                problem.symmetric,
                "two models with the same features and penalties and no audited row, because "
                "anything else tells them apart already; choose orientation='auto'",
            ),
        }
        plain = not problem.beliefs and problem.link is None and not self.false_label_rate
        if self.solver == "mm" and not plain:
            raise ValueError(
                "prevalence, label_frequency, false_label_rate and link='probit' need "
                "solver='newton'; got 'mm'."
            )
        possible, need = needs.get(self.orientation, (True, ""))
        if not possible:
            raise ValueError(f"orientation={self.orientation!r} needs {need}.")
