"""Guarded boosting as a scikit-learn classifier."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from doublelogit._types import Floats, Ints
from doublelogit.bends.boosting import Growth, boosted
from doublelogit.bends.guarded import Guarded, Guards
from doublelogit.bends.trees import Bins
from doublelogit.core.design import Terms
from doublelogit.core.folds import Keys, content_keys
from doublelogit.core.rows import Rows
from doublelogit.engines.memory import MemoryRows
from doublelogit.estimators.base import COUNT, FEATURES, AbstractPUClassifier
from doublelogit.estimators.validation import feature_index
from doublelogit.fitted.fit import PUFit
from doublelogit.methods import Problem


class BoostedClassifier(AbstractPUClassifier):
    """Two logistic models, bent by boosted trees as far as held-out labels ask for it.

    The class starts as the line that :class:`JointClassifier` finds, or as a constant if held-out
    labels prefer where that leads. Then EM adds a few trees in each round; the E-step of a row is
    made by models that have not seen it, and trees that do not help to foretell the labels of
    held-out rows are not kept. Where no tree helps, the answer is that of
    :class:`JointClassifier`.

    Parameters
    ----------
    trees_of : {"outcome", "propensity", "both"}, default="outcome"
        Which models trees may bend; the other stays logistic.
    categorical_features : array-like of names or indices, default=None
        Features that are numbers of levels, below 256. Trees split them into sets of levels;
        the logistic models, to which they mean nothing, do without.
    tree_features : array-like of names or indices, default=None
        Features that trees of the outcome may use; None is what the outcome may use, and the
        categorical ones. Trees of the propensity use what the propensity may.
    n_folds : int, default=3
        Parts of the rows, each judged by models of the others. 1 judges models by the rows that
        they were fitted to.
    cross_fit : bool, default=True
        Whether the E-step of a row is made by models that have not seen it.
    n_trees, max_rounds : int, default=10, 30
        Trees that a round adds to each model, and rounds at most.
    patience : int, default=3
        Rounds without a gain in the likelihood of held-out labels after which it stops, and goes
        back to the best; 0 makes all rounds.
    start : {"best", "line", "constant"}, default="best"
        Where trees begin: at the logistic models, at a class and a labelling that depend on
        nothing, or at either, as held-out labels prefer.
    learning_rate : float, default=0.1
        Share of each step that a tree makes.
    max_leaf_nodes, min_samples_leaf : int, default=4, 20
        Size of the trees.
    C, propensity_C : float, default=1.0
        Inverse strength of the L2 penalty on the slopes of the logistic models.
    outcome_features, propensity_features : array-like of names or indices, default=None
        Features that the models may use; None is all, an empty list a constant.
    smooth_features : array-like of names or indices, default=None
        Features of the outcome that bend others; see :class:`JointClassifier`.
    random_state : int, RandomState instance or None, default=0
        Draws the folds.
    pos_label : object, default=None
        The value of y that means labelled. Not needed for 0/1, -1/1 and booleans.

    Attributes
    ----------
    trace_ : ndarray
        Mean negative log-likelihood of held-out labels, of the lines and after each round.
    n_iter_ : int
        Rounds made.
    propensity_coef_, propensity_intercept_ : ndarray
        Of the propensity, where it is logistic.
    classes_ : ndarray of shape (2,)
        The values of y: unlabelled (negative) first, labelled (positive) second.
    orientation_ : Orientation
        What told class and labelling apart, before any tree.
    model_ : LinearPair
        Both fitted models; trees are plain arrays, which a model file keeps for ever.
    findings_ : tuple of Finding
        What a user must know of the fit.
    n_features_in_ : int
        Number of features seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X had string names for all.

    Examples
    --------
    >>> import numpy as np
    >>> from doublelogit import BoostedClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(2000, 2))
    >>> y = np.abs(X[:, 0]) < 0.7  # no line tells this class
    >>> s = y & (rng.random(2000) < 0.5)
    >>> model = BoostedClassifier(propensity_features=[1]).fit(X, s)
    >>> bool((model.predict(X) == y).mean() > 0.9)
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **{
            name: AbstractPUClassifier._parameter_constraints[name]
            for name in ("C", "propensity_C", "outcome_features", "propensity_features")
        },
        "pos_label": "no_validation",
        "smooth_features": FEATURES,
        "n_folds": COUNT,
        "cross_fit": ["boolean"],
        "max_rounds": COUNT,
        "patience": [Interval(Integral, 0, None, closed="left")],
        "start": [StrOptions({"best", "line", "constant"})],
        "random_state": ["random_state"],
        "trees_of": [StrOptions({"outcome", "propensity", "both"})],
        "categorical_features": FEATURES,
        "tree_features": FEATURES,
        "n_trees": COUNT,
        "learning_rate": [Interval(Real, 0, 1, closed="right")],
        "max_leaf_nodes": [Interval(Integral, 2, None, closed="left")],
        "min_samples_leaf": COUNT,
    }

    def __init__(
        self,
        *,
        trees_of: str = "outcome",
        categorical_features: Sequence[Any] | None = None,
        tree_features: Sequence[Any] | None = None,
        n_folds: int = 3,
        cross_fit: bool = True,
        n_trees: int = 10,
        max_rounds: int = 30,
        patience: int = 3,
        start: str = "best",
        learning_rate: float = 0.1,
        max_leaf_nodes: int = 4,
        min_samples_leaf: int = 20,
        C: float = 1.0,
        propensity_C: float = 1.0,
        outcome_features: Sequence[Any] | None = None,
        propensity_features: Sequence[Any] | None = None,
        smooth_features: Sequence[Any] | None = None,
        random_state: Any = 0,
        pos_label: Any = None,
    ) -> None:
        self.trees_of = trees_of
        self.categorical_features = categorical_features
        self.tree_features = tree_features
        self.n_folds = n_folds
        self.cross_fit = cross_fit
        self.n_trees = n_trees
        self.max_rounds = max_rounds
        self.patience = patience
        self.start = start
        self.learning_rate = learning_rate
        self.max_leaf_nodes = max_leaf_nodes
        self.min_samples_leaf = min_samples_leaf
        self.C = C
        self.propensity_C = propensity_C
        self.outcome_features = outcome_features
        self.propensity_features = propensity_features
        self.smooth_features = smooth_features
        self.random_state = random_state
        self.pos_label = pos_label

    def _fit(self, problem: Problem, X: Any) -> PUFit:
        features = dense_features(problem, type(self).__name__)
        problem, counted = without_empty(problem)
        self._check_folds(problem.rows)
        guards = self._guards(content_keys(X)[counted])
        self._found = self._bent(problem, features[counted], guards)
        return self._found.fit

    @property
    def held_out(self) -> Floats:
        """Log-likelihood of each row of fit by models that have not seen it; not kept in files."""
        return self._found.held_out

    def _bent(self, problem: Problem, X: Floats, guards: Guards) -> Guarded:
        return boosted(problem, X, self._bins(problem, X), self._growth, guards)

    def _bins(self, problem: Problem, X: Floats) -> tuple[Bins | None, Bins | None]:
        """What trees of the outcome and of the propensity may split."""
        codes = self._codes(problem.rows)
        chosen = self._index("tree_features", problem.rows)
        outcome = np.union1d(columns_of(problem.outcome), codes) if chosen is None else chosen
        columns = {"outcome": outcome, "propensity": columns_of(problem.propensity)}
        one, other = (
            None if some is None else Bins.learn(X, some, np.isin(some, codes))
            for some in self._sides(self.trees_of, columns)
        )
        return one, other

    @property
    def _growth(self) -> Growth:
        return Growth(
            n_trees=self.n_trees,
            learning_rate=self.learning_rate,
            max_leaf_nodes=self.max_leaf_nodes,
            min_samples_leaf=self.min_samples_leaf,
        )

    def _terms(self, rows: Rows) -> tuple[Terms, Terms]:
        codes = self._codes(rows)
        outcome, propensity = super()._terms(rows)
        if not len(codes):
            return outcome, propensity
        return outcome.without(codes), propensity.without(codes)

    def _codes(self, rows: Rows) -> Ints:
        codes = self._index("categorical_features", rows)
        return np.empty(0, dtype=np.intp) if codes is None else codes

    def _check_folds(self, rows: Any) -> None:
        fewest = int(min(rows.labels.any.sum(), (1 - rows.labels.any).sum()))
        if fewest < 2 * self.n_folds:
            raise ValueError(
                f"each of n_folds={self.n_folds} parts needs two labelled and two unlabelled rows; "
                f"got {fewest} of one kind. Choose fewer folds, or JointClassifier."
            )

    def _sides(self, which: str, columns: Mapping[str, Ints]) -> list[Ints | None]:
        """Columns of the models that are bent, outcome first; None of one that is not."""
        wanted = columns if which == "both" else (which,)
        return [
            columns[name].astype(np.intp) if name in wanted and len(columns[name]) else None
            for name in ("outcome", "propensity")
        ]

    def _index(self, parameter: str, rows: Rows) -> Any:
        names = self._feature_names
        return feature_index(vars(self)[parameter], parameter, rows.n_features, names)

    def _guards(self, keys: Keys) -> Guards:
        seed = check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
        return Guards(
            keys,
            n_folds=self.n_folds,
            cross_fit=self.cross_fit,
            max_rounds=self.max_rounds,
            patience=self.patience,
            starts=("line", "constant") if self.start == "best" else (self.start,),
            random_state=seed,
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        return tags


def columns_of(terms: Terms) -> Ints:
    """Columns that a model may use."""
    return np.arange(terms.n_features) if terms.columns is None else terms.columns


def without_empty(problem: Problem) -> tuple[Problem, Ints]:
    """The rows that count, and their numbers: folds and bins would see those of weight zero."""
    rows = problem.rows
    assert isinstance(rows, MemoryRows)
    counted = np.flatnonzero(rows.weight)
    if len(counted) < len(rows):
        problem = replace(problem, rows=rows.some(counted))
    return problem, counted


def dense_features(problem: Problem, who: str) -> Floats:
    """Features in memory as the user passed them, for models that bend them."""
    rows = problem.rows
    if not isinstance(rows, MemoryRows) or sparse.issparse(rows.X):
        raise TypeError(
            f"{who} needs dense features in memory; got others. Use X.toarray(), or read the rows."
        )
    features = rows.X if problem.shift is None else rows.X + problem.shift
    return np.asarray(features, dtype=float)
