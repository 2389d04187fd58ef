"""AVERAGED with a class that is bent by trees, as a scikit-learn classifier."""

from collections.abc import Sequence
from typing import Any, ClassVar

from doublelogit._types import Floats
from doublelogit.bends.boosting import boosted_posterior
from doublelogit.bends.guarded import Guarded, Guards
from doublelogit.estimators.averaged import AveragedClassifier
from doublelogit.estimators.boosted import BoostedClassifier
from doublelogit.fitted.fit import PUFit
from doublelogit.methods import Problem

NOT_ASKED = ("trees_of", "cross_fit", "start", "C", "propensity_C")  # of trees that maximise


class AveragedBoostedClassifier(AveragedClassifier, BoostedClassifier):
    """AVERAGED, its class bent by boosted trees as far as held-out labels ask for it.

    Trees learn the shape of the class while labelling and the weights of the posterior stay as
    :class:`AveragedClassifier` has found them. What they say of rows that they have not seen is
    then one more feature of the class, and the posterior is found again with it: level, labelling,
    and how much of the trees is believed. Trees that do not help to foretell the labels of held-out
    rows are not kept; where none does, the answer is that of :class:`AveragedClassifier`.

    Parameters
    ----------
    categorical_features : array-like of names or indices, default=None
        Features that are numbers of levels, below 256. Trees split them into sets of levels;
        the logistic models, to which they mean nothing, do without.
    tree_features : array-like of names or indices, default=None
        Features that trees may use; None is what the outcome may use, and the categorical ones.
    n_folds : int, default=3
        Parts of the rows, each judged by models of the others. 1 judges models by the rows that
        they were fitted to.
    n_trees, max_rounds : int, default=10, 60
        Trees that a round adds, and rounds at most.
    patience : int, default=3
        Rounds without a gain in the likelihood of held-out labels after which it stops, and goes
        back to the best; 0 makes all rounds.
    learning_rate : float, default=0.1
        Share of each step that a tree makes.
    max_leaf_nodes, min_samples_leaf : int, default=4, 20
        Size of the trees.
    outcome_features, propensity_features : array-like of names or indices, default=None
        Features that the models may use; None is all, an empty list a constant.
    smooth_features : array-like of names or indices, default=None
        Features of the outcome that bend others, such as the columns of a spline. Trees bend
        the model without them unless held-out labels are likelier with them by more than a
        standard error.
    prevalence, label_frequency : float or (mean, sd), default=None
        What is known from elsewhere; see :class:`AveragedClassifier`.
    random_state : int, RandomState instance or None, default=0
        Draws the folds.
    pos_label : object, default=None
        The value of y that means labelled. Not needed for 0/1, -1/1 and booleans.

    Attributes
    ----------
    trace_ : ndarray
        Mean negative log-likelihood of held-out labels, before any tree and after each round.
    n_iter_ : int
        Rounds made.
    model_ : PosteriorMixture
        The posterior; trees are plain arrays, which a model file keeps for ever.
    prevalence_, label_frequency_ : float
        Posterior means of P(Y=1) and P(S=1 | Y=1); intervals take trees as known but for size.
    evidence_ : structured ndarray
        The components of the posterior; see :class:`AveragedClassifier`.
    propensity_coef_, propensity_intercept_ : ndarray
        Posterior means of the propensity.
    coef_, intercept_ : ndarray
        Posterior means of the outcome, where no tree has bent it.
    orientation_ : Orientation
        What told class and labelling apart, and how clearly.
    findings_ : tuple of Finding
        What a user must know of the fit.
    classes_ : ndarray of shape (2,)
        The values of y: unlabelled (negative) first, labelled (positive) second.
    converged_ : bool
        Whether all components of the posterior were fitted.
    n_features_in_ : int
        Number of features seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X had string names for all.

    Examples
    --------
    >>> import numpy as np
    >>> from doublelogit import AveragedBoostedClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(2000, 2))
    >>> y = np.abs(X[:, 0]) < 0.7  # no line tells this class
    >>> s = y & (rng.random(2000) < 0.5)
    >>> model = AveragedBoostedClassifier(propensity_features=[1]).fit(X, s)
    >>> first = np.argsort(-model.predict_hidden(X[~s]))[:100]
    >>> bool(y[~s][first].mean() > 0.9)
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **AveragedClassifier._parameter_constraints,
        **{
            name: rule
            for name, rule in BoostedClassifier._parameter_constraints.items()
            if name not in NOT_ASKED
        },
    }

    trees_of, cross_fit, start = "outcome", False, "line"

    def __init__(
        self,
        *,
        categorical_features: Sequence[Any] | None = None,
        tree_features: Sequence[Any] | None = None,
        n_folds: int = 3,
        n_trees: int = 10,
        max_rounds: int = 60,
        patience: int = 3,
        learning_rate: float = 0.1,
        max_leaf_nodes: int = 4,
        min_samples_leaf: int = 20,
        outcome_features: Sequence[Any] | None = None,
        propensity_features: Sequence[Any] | None = None,
        smooth_features: Sequence[Any] | None = None,
        prevalence: float | tuple[float, float] | None = None,
        label_frequency: float | tuple[float, float] | None = None,
        random_state: Any = 0,
        pos_label: Any = None,
    ) -> None:
        self.categorical_features = categorical_features
        self.tree_features = tree_features
        self.n_folds = n_folds
        self.n_trees = n_trees
        self.max_rounds = max_rounds
        self.patience = patience
        self.learning_rate = learning_rate
        self.max_leaf_nodes = max_leaf_nodes
        self.min_samples_leaf = min_samples_leaf
        self.outcome_features = outcome_features
        self.propensity_features = propensity_features
        self.smooth_features = smooth_features
        self.prevalence = prevalence
        self.label_frequency = label_frequency
        self.random_state = random_state
        self.pos_label = pos_label

    def _fit(self, problem: Problem, X: Any) -> PUFit:
        self._check_size(problem)
        return BoostedClassifier._fit(self, problem, X)

    def _bent(self, problem: Problem, X: Floats, guards: Guards) -> Guarded:
        bins, _ = self._bins(problem, X)
        return boosted_posterior(problem, X, bins, self._growth, guards, self._settings)

    @property
    def held_out_straight(self) -> dict[str, Floats]:
        """The same as ``held_out`` of lines and of curves, before any tree."""
        return dict(self._found.straight)
