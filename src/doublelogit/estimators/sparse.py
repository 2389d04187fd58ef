"""SPARSE as a scikit-learn classifier: AVERAGED on the few columns of a wide table that matter."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from doublelogit._types import Floats, Ints
from doublelogit.core.design import Terms
from doublelogit.core.folds import FoldsError, cluster_keys, content_keys, held_out_splits
from doublelogit.engines.memory import MemoryRows
from doublelogit.estimators.averaged import AveragedClassifier
from doublelogit.estimators.base import COUNT, FEATURES, AbstractPUClassifier
from doublelogit.estimators.joint import JointClassifier
from doublelogit.estimators.validation import PROBABILITY_OR_RANGE
from doublelogit.findings import Finding
from doublelogit.findings import fit as findings
from doublelogit.fitted import SelectedSide, Selection
from doublelogit.fitted.fit import PUFit
from doublelogit.methods import Problem
from doublelogit.methods.path import SparseLoss, start
from doublelogit.methods.support import (
    ENTER,
    ROUNDS,
    Rest,
    Scores,
    entering,
    rest_index,
    score_tests,
    screened,
)

T = TypeVar("T", bound=AbstractPUClassifier)

MOST_CELLS = 2**26  # stored numbers by which columns are chosen: of longer tables, fewer rows
FOLDS = 3
# Columns of a model that need no selection: a short list that was named, or a narrow table.
TAKEN_WHOLE = 20
LEVEL = 0.9  # of the intervals that tell class from labelling
# Chosen on designs of their own (``benchmarks/sparse.py calibrate``): columns at the edge of being
# seen that a selection misses, in their number.
MISSED = 1.0


@dataclass(frozen=True)
class Chosen:
    """What a selection has found: columns, the tests of the others, the model of the columns."""

    columns: Ints
    scores: Scores
    model: AveragedClassifier


@dataclass(frozen=True)
class SparseFit(PUFit):
    """The fit of AVERAGED on a selection, as one of all columns, and what it found."""

    selection: Selection = field(kw_only=True)
    findings: tuple[Finding, ...] = ()

    @classmethod
    def of(cls, model: AveragedClassifier, selection: Selection, omitted: float) -> "SparseFit":
        """``omitted`` is the variance of the predictor that a selection misses."""
        mixture = model.model_
        wide = replace(
            mixture,
            outcome_model=SelectedSide.of(mixture.outcome_model, selection, omitted),
            propensity_model=SelectedSide.of(mixture.propensity_model, selection),
        )
        return cls(
            wide,
            model.n_iter_,
            model.converged_,
            orientation=model.orientation_,
            selection=selection,
            findings=model.findings_,
        )


class SparseClassifier(AveragedClassifier):
    """SPARSE: AVERAGED on the columns that matter, of hundreds to a hundred thousand.

    A sparse path of the label screens the columns, an extended BIC chooses among its supports, and
    score tests of class and labelling together let in what the label alone does not show. On the
    columns chosen the posterior is that of :class:`AveragedClassifier`; what is left enters as one
    more feature, an index learned out of fold, where held-out labels are likelier with it.
    Intervals of rows are widened by the variance of what a selection misses.

    Parameters
    ----------
    outcome_features, propensity_features : array-like of names or indices, default=None
        Features that the models may use; None is all, an empty list a constant. Where a model has
        up to 20 features all of them are in the union, of more those that matter.
    prevalence, label_frequency : float or (mean, sd), default=None
        What is known from elsewhere of P(Y=1), or of P(S=1 | Y=1); see
        :class:`AveragedClassifier`.
    max_rounds : int, default=5
        Rounds of score tests, each of which lets in three columns at most.
    pos_label : object, default=None
        The value of y that means labelled. Not needed for 0/1, -1/1 and booleans.

    Attributes
    ----------
    selected_ : structured ndarray
        The selected columns, a row each: feature (its position), role ("class", "labelling", "both"
        or "undecided": whose 90% interval excludes zero), coef and propensity_coef, the posterior
        means. ``DataFrame(selected_)`` works.
    coef_, propensity_coef_ : ndarray of shape (1, n_features)
        Posterior means of the slopes, zero for columns that were not selected. The index of the
        rest is not in them.
    intercept_, propensity_intercept_ : ndarray of shape (1,)
        Posterior means of the intercepts.
    evidence_ : structured ndarray
        The components of the posterior; see :class:`AveragedClassifier`.
    model_ : PosteriorMixture
        The posterior over selected columns and the index of the rest.
    prevalence_, label_frequency_ : float
        Posterior means of P(Y=1) and P(S=1 | Y=1); see :meth:`prevalence_interval`.
    orientation_ : Orientation
        What told class and labelling apart, and how clearly.
    findings_ : tuple of Finding
        What a user must know of the fit.
    classes_ : ndarray of shape (2,)
        The values of y: unlabelled (negative) first, labelled (positive) second.
    n_iter_ : int
        Components of the last posterior that were evaluated.
    converged_ : bool
        Whether all of them were fitted.
    n_features_in_ : int
        Number of features seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X had string names for all.

    Examples
    --------
    >>> import numpy as np
    >>> from doublelogit import SparseClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(800, 1200))
    >>> y = rng.random(800) < 1 / (1 + np.exp(-2 * X[:, 0] - 2 * X[:, 1]))
    >>> s = y & (rng.random(800) < 0.5)
    >>> SparseClassifier().fit(X, s).selected_["feature"][:2].tolist()  # two more by chance
    [0, 1]
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "outcome_features": FEATURES,
        "propensity_features": FEATURES,
        "prevalence": PROBABILITY_OR_RANGE,
        "label_frequency": PROBABILITY_OR_RANGE,
        "max_rounds": COUNT,
        "pos_label": "no_validation",
    }

    smooth_features = None

    def __init__(
        self,
        *,
        outcome_features: Sequence[Any] | None = None,
        propensity_features: Sequence[Any] | None = None,
        prevalence: float | tuple[float, float] | None = None,
        label_frequency: float | tuple[float, float] | None = None,
        max_rounds: int = ROUNDS,
        pos_label: Any = None,
    ) -> None:
        self.outcome_features = outcome_features
        self.propensity_features = propensity_features
        self.prevalence = prevalence
        self.label_frequency = label_frequency
        self.max_rounds = max_rounds
        self.pos_label = pos_label

    @property
    def selected_(self) -> NDArray[Any]:
        """The selected columns with their roles, as a table."""
        check_is_fitted(self)
        columns = self._selection.columns
        low, high = np.moveaxis(self.coef_interval(LEVEL)[:, columns], -1, 0)
        of_class, of_labelling = (low > 0) | (high < 0)
        roles = np.where(
            of_class,
            np.where(of_labelling, "both", "class"),
            np.where(of_labelling, "labelling", "undecided"),
        )
        fields = {
            "feature": columns,
            "role": roles,
            "coef": self.coef_[0, columns],
            "propensity_coef": self.propensity_coef_[0, columns],
        }
        rows = list(zip(*fields.values(), strict=True))
        return np.array(rows, [(name, column.dtype) for name, column in fields.items()])

    @property
    def _selection(self) -> Selection:
        side = self.model_.outcome_model
        assert isinstance(side, SelectedSide)
        return side.selection

    def selection_frequency(
        self,
        X: Any,
        y: Any,
        n_subsamples: int = 50,
        *,
        sample_weight: Any = None,
        audited_y: Any = None,
        random_state: Any = 0,
    ) -> Floats:
        """Share of random halves of the rows in which each column is selected.

        Parameters
        ----------
        X, y, sample_weight, audited_y : array-like
            Rows as in ``fit``.
        n_subsamples : int, default=50
            Halves that are drawn; each takes about as long as a fit.
        random_state : int, RandomState instance or None, default=0
            Draws them.

        Returns
        -------
        frequency : ndarray of shape (n_features,)
        """
        if not (isinstance(n_subsamples, int | np.integer) and n_subsamples > 0):
            raise ValueError(f"n_subsamples must be a positive integer; got {n_subsamples!r}.")
        problem = self.bind(X, y, sample_weight, audited_y)
        rows, random = _in_memory(problem), check_random_state(random_state)
        kinds = [np.flatnonzero(rows.labels.any == kind) for kind in (0, 1)]
        counts = np.zeros(rows.n_features)
        for _ in range(n_subsamples):
            halves = [random.permutation(kind)[: -(-len(kind) // 2)] for kind in kinds]
            some = rows.some(np.sort(np.concatenate(halves)))
            counts[self._chosen(replace(problem, rows=some)).columns] += 1
        return counts / n_subsamples

    def _averaged(self, *, last: bool) -> AveragedClassifier:
        """The classifier of selected columns: of score rounds, or the last one."""
        return AveragedClassifier(
            shape="line", prevalence=self.prevalence, label_frequency=self.label_frequency
        )

    def _fit(self, problem: Problem, X: Any) -> PUFit:
        rows = _in_memory(problem)
        thin = _thinned(rows)
        some = problem if thin is None else replace(problem, rows=rows.some(thin))
        chosen = self._chosen(some)
        rest = self._rest(some, chosen.columns, X if thin is None else X[thin])
        selection, Z = _with_rest(rows, chosen.columns, rest, thin)
        model = chosen.model
        if selection.has_rest or thin is not None or not self._rounds_like_last:
            model = self._fitted(problem, rows, selection, Z, self._averaged(last=True))
        omitted = MISSED * 2 * np.log(rows.n_features) * chosen.scores.typical_variance
        return SparseFit.of(model, selection, omitted)

    @property
    def _rounds_like_last(self) -> bool:
        """Whether the last fit is by the classifier of score rounds, and need not be made again."""
        one, other = (self._averaged(last=last).get_params() for last in (True, False))
        return one == other

    def _fitted(
        self, problem: Problem, rows: MemoryRows, selection: Selection, Z: Floats, model: T
    ) -> T:
        """A classifier fitted to the features that a selection makes."""
        for name, terms in (
            ("outcome_features", problem.outcome),
            ("propensity_features", problem.propensity),
        ):
            if vars(self)[name] is not None:
                model.set_params(**{name: _places(terms, selection)})
        s = rows.labels.any
        audited = np.where(s == 0, rows.labels.known, np.nan)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the findings of the last one are those of this fit
            return model.fit(Z, s, sample_weight=rows.weight, audited_y=audited)

    def _chosen(self, problem: Problem) -> Chosen:
        """The union of columns by screening and by score tests."""
        rows = _in_memory(problem)
        factor = np.full((1, rows.n_features), np.inf)
        factor[0, problem.label.used] = 1.0
        for terms in (problem.outcome, problem.propensity):
            if len(terms.used) <= TAKEN_WHOLE:
                factor[0, terms.used] = 0.0
        loss = SparseLoss.of(rows, factor, problem.moments if rows is problem.rows else None)
        columns = self._not_empty(problem, loss, screened(loss))
        for n_rounds in range(self.max_rounds + 1):
            model, scores = self._tested(problem, loss, columns, self._averaged(last=False))
            if n_rounds == self.max_rounds:
                break
            new = entering(scores)
            if len(new) == 0:
                new = self._by_likelihood(problem, loss, columns)
            if len(new) == 0:
                break
            columns = np.union1d(columns, new)
        return Chosen(columns, scores, model)

    def _tested(
        self, problem: Problem, loss: SparseLoss, columns: Ints, model: T
    ) -> tuple[T, Scores]:
        """A model of some columns, and the tests of the others at its y(x) and e(x)."""
        selection = Selection.only(loss.columns.n_features, columns)
        Z = selection.features(loss.rows.X)
        model = self._fitted(problem, loss.rows, selection, Z, model)
        y, e = model.probabilities(Z)[:2]
        return model, score_tests(loss, columns, y, e)

    def _by_likelihood(self, problem: Problem, loss: SparseLoss, columns: Ints) -> Ints:
        """Columns that the tests let in one by one where the likelihood has its maximum.

        A posterior that is wide tests at a mean of models that none of them is.
        """
        found = columns
        for _ in range(ENTER):
            model = JointClassifier(
                n_starts=1, prevalence=self.prevalence, label_frequency=self.label_frequency
            )
            first = entering(self._tested(problem, loss, found, model)[1])[:1]
            if len(first) == 0:
                break
            found = np.union1d(found, first)
        return np.setdiff1d(found, columns)

    def _named(self, problem: Problem) -> list[Terms]:
        """Terms of the models whose features were named."""
        pairs = (("outcome_features", problem.outcome), ("propensity_features", problem.propensity))
        return [terms for name, terms in pairs if vars(self)[name] is not None]

    def _not_empty(self, problem: Problem, loss: SparseLoss, columns: Ints) -> Ints:
        """The columns with the likeliest one of every set that has none among them."""
        slopes = np.abs(loss.slopes(start(loss, 1e-8)))[0]
        for terms in (problem.label, *self._named(problem)):
            those = terms.used
            those = those[loss.columns.spread[those] > 0]
            if len(those) and not np.isin(those, columns).any():
                columns = np.union1d(columns, those[[slopes[those].argmax()]])
        return columns if len(columns) else np.zeros(1, dtype=np.intp)  # all are constant

    def _rest(self, problem: Problem, columns: Ints, X: Any) -> Rest | None:
        """The index of columns that both models may use and neither was given."""
        rows = _in_memory(problem)
        shared = np.intersect1d(problem.outcome.used, problem.propensity.used)
        both = np.full((1, rows.n_features), np.inf)
        both[0, shared] = 1.0
        keys = content_keys(X) if rows.cluster is None else cluster_keys(rows.cluster)
        try:
            splits = held_out_splits(keys, rows.labels.any, FOLDS, rows.weight)
        except FoldsError:
            return None
        return rest_index(SparseLoss.of(rows, both), columns, splits)

    def _findings(self, problem: Problem, result: PUFit) -> list[Finding]:
        assert isinstance(result, SparseFit)
        n, p = len(result.selection.columns), problem.rows.n_features
        return [*result.findings, findings.selected(n, p, rest=result.selection.has_rest)]


def _in_memory(problem: Problem) -> MemoryRows:
    assert isinstance(problem.rows, MemoryRows)
    return problem.rows


def _thinned(rows: MemoryRows) -> Ints | None:
    """Rows by which columns are chosen, evenly spread; None where all of them are."""
    X = rows.X
    stored = X.nnz if sparse.issparse(X) else X.shape[0] * X.shape[1]
    step = -(-stored // MOST_CELLS)
    return None if step == 1 else np.arange(0, len(rows), step)


def _with_rest(
    rows: MemoryRows, columns: Ints, rest: Rest | None, thin: Ints | None
) -> tuple[Selection, Floats]:
    """A selection, and what it makes of the rows that are fitted: of the rest, held-out values."""
    selection = Selection.only(rows.n_features, columns)
    if rest is None:
        return selection, selection.features(rows.X)
    others = np.flatnonzero(rest.coef)
    level = float(np.mean(rest.values))
    selection = replace(
        selection, rest_columns=others, rest_coef=rest.coef[others], rest_level=level
    )
    Z = selection.features(rows.X)
    Z[slice(None) if thin is None else thin, -1] = rest.values - level
    return selection, Z


def _places(terms: Terms, selection: Selection) -> list[int]:
    """Places of a model's terms among the features of a selection, the rest always among them."""
    places = np.flatnonzero(np.isin(selection.columns, terms.used)).tolist()
    return [*places, len(selection.columns)] if selection.has_rest else places
