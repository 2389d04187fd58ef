"""Opinions of other methods and of flexible classes on a page's answer and on its first rows.

Other methods are as good as the page's: their prevalences, their lists and their precision of the
page's first rows show how far the answer depends on the method. A flexible class has smooth curves
of the numbers, or in tables of some thousand rows boosted trees of the label, cross-fitted and
divided by the page's propensity: s(x) / e(x) is the class that they imply. Held-out labels tell
which of two models of them is better; they do not tell which prevalence is right.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from doublelogit._types import Floats
from doublelogit.common.threads import with_paying_threads
from doublelogit.core.folds import FoldsError, Split, content_keys, held_out_splits
from doublelogit.core.held_out import cross_fitted
from doublelogit.fitted.protocol import Probabilities, list_score
from doublelogit.metrics import label_log_likelihoods
from doublelogit.registry import CHECKING_METHOD, LINEAR, METHODS, SPLINE, Method
from doublelogit.table_models import table_model
from doublelogit.table_models.learners import STRAIGHT, Learners
from doublelogit.table_models.smoothing import FOLDS
from doublelogit.table_models.table_model import FittedTable, fit_rows, quietly
from doublelogit.tables import Table
from doublelogit.tables.expansion import frame_parts

Progress = Callable[[str, float], None]

LIST_LENGTH = 50  # first rows that opinions are about
MOST_ROWS_OF_METHODS = 5000  # that another method is fitted to: its opinion needs no more
MOST_CELLS = 40_000  # beyond which a method that averages takes too long for an opinion
MOST_ROWS_OF_CLASSES = 12_000  # that flexible classes are fitted to
FEWEST_ROWS_FOR_TREES = 2000
FEWEST_LABELS_FOR_TREES = 200
LEAST_PROPENSITY = 0.02
CURVED = Learners(SPLINE)
SMOOTH_CURVES, BOOSTED_TREES = "curves of each number", "boosted trees"


def silent(step: str, share: float) -> None:
    """Progress that is not shown."""


@dataclass(frozen=True)
class Opinion:
    """The answer of a method or a model.

    Parameters
    ----------
    name : str
        Name of the method or model.
    prevalence : float
        Share of positives.
    overlap : float
        Share of its own first rows that are among the page's.
    precision : float
        Share of the page's first rows that it expects to be positive.
    counts : bool, default=False
        Whether its opinion of the list counts in the claim of the page.
    contradicts : bool, default=False
        Whether a prevalence beyond the page's interval is a dissent.
    gain, error : float, default=None
        Held-out log-likelihood per row beyond the straight class, and its standard error; of
        flexible classes.
    labelling : mapping of str to float, default={}
        Coefficients of the labelling beside a flexible class; empty if it is the page's.
    """

    name: str
    prevalence: float
    overlap: float
    precision: float
    counts: bool = False
    contradicts: bool = False
    gain: float | None = None
    error: float | None = None
    labelling: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def on(
        cls, table: Table, first: Any, name: str, positive: Floats, hidden: Floats, **fields: Any
    ) -> "Opinion":
        """The opinion of a model with these probabilities, ``first`` being the page's rows."""
        listed = first_rows(table, list_score(hidden, positive), len(first))
        prevalence = float(np.average(positive, weights=table.weight))
        overlap = len(np.intersect1d(listed, first)) / max(len(first), 1)
        return cls(name, prevalence, overlap, float(hidden[first].mean()), **fields)

    @property
    def better(self) -> float:
        """Standard errors by which it predicts labels better than the straight class."""
        return self.gain / self.error if self.gain is not None and self.error else 0.0


def first_rows(table: Table, score: Floats, length: int = LIST_LENGTH) -> Any:
    """The unlabelled rows with the highest scores."""
    candidates = np.flatnonzero(table.unlabelled)
    return candidates[np.argsort(-score[candidates], kind="stable")[:length]]


def other_methods(
    model: FittedTable,
    table: Table,
    first: Any,
    rng: np.random.Generator,
    progress: Progress = silent,
    *,
    counting: bool = False,
) -> list[Opinion]:
    """Opinions of the other methods that allow for biased labels; of those that count only."""
    encoding = model.encoding.plain
    X, rows = table.encoded(encoding), _sample(table, MOST_ROWS_OF_METHODS, rng)
    candidates = [m for m in METHODS.values() if m.counts_in_claims or not counting]
    methods = [m for m in candidates if _applies(m, model, X)]
    opinions = []
    for i, method in enumerate(methods):
        classifier = table_model.classifier_for(method, table.roles, encoding, model.known)
        quietly(fit_rows, classifier, X, table, rows)
        p = classifier.probabilities(X)
        fields = {"counts": method.counts_in_claims, "contradicts": method.contradicts}
        opinions.append(Opinion.on(table, first, method.name, p.positive, p.hidden, **fields))
        progress("other methods", (i + 1) / len(methods))
    return opinions


def _applies(method: Method, model: FittedTable, X: Any) -> bool:
    """Whether a method allows for biased labels, is another one, and can be afforded."""
    if method.assumes_scar or method.name == model.method or not method.suits(X.shape[1]):
        return False
    return method.intervals != "posterior" or X.shape[0] * X.shape[1] <= MOST_CELLS


def _sample(table: Table, most: int, rng: np.random.Generator) -> Any:
    """All rows, or so many of them drawn at random."""
    if len(table) <= most:
        return np.arange(len(table))
    return np.sort(rng.choice(len(table), most, replace=False))


def flexible_classes(
    model: FittedTable,
    table: Table,
    first: Any,
    probabilities: Probabilities,
    rng: np.random.Generator,
) -> list[Opinion]:
    """The flexible classes that the table allows, for a straight model with a propensity."""
    if not _is_straight(model):
        return []
    rows = _sample(table, MOST_ROWS_OF_CLASSES, rng)
    weight = None if table.weight is None else table.weight[rows]
    keys = content_keys(table.features.iloc[rows])
    try:
        folds = held_out_splits(keys, table.s[rows], FOLDS, weight)
    except FoldsError:
        return []
    plain = model.encoding.plain
    classes = []
    encoding = _curved_encoding(model, table)
    if encoding.curves:
        likelihood = _held_out_likelihood(model, encoding, table, rows, folds)
        classes.append((_opinion_of_curves(model, encoding, table, first, rows), likelihood))
    if len(table) >= FEWEST_ROWS_FOR_TREES and table.s.sum() >= FEWEST_LABELS_FOR_TREES:
        X = table.encoded(plain).to_numpy()
        classes.append(_trees(X, table, first, rows, folds, probabilities.propensity))
    straight = _held_out_likelihood(model, plain, table, rows, folds) if classes else 0.0
    gains = [(opinion, likelihood - straight) for opinion, likelihood in classes]
    root = np.sqrt(len(rows))
    return [replace(o, gain=float(g.mean()), error=float(g.std() / root)) for o, g in gains]


def curves_opinion(
    model: FittedTable, table: Table, first: Any, rng: np.random.Generator
) -> list[Opinion]:
    """The opinion of a class of smooth curves, without its gain, where there is one."""
    encoding = _curved_encoding(model, table) if _is_straight(model) else model.encoding.plain
    if not encoding.curves:
        return []
    rows = _sample(table, MOST_ROWS_OF_CLASSES, rng)
    return [_opinion_of_curves(model, encoding, table, first, rows)]


def _is_straight(model: FittedTable) -> bool:
    return model.learners.outcome == LINEAR and METHODS[model.method].has_propensity


def _curved_encoding(model: FittedTable, table: Table) -> Any:
    """Columns with curves of every number that has enough values."""
    every = replace(model.roles, propensity_features=None)  # curves may stand for any labelling
    return CURVED.expanded(model.encoding.plain, frame_parts(table.features), every)


def _opinion_of_curves(
    model: FittedTable, encoding: Any, table: Table, first: Any, rows: Any
) -> Opinion:
    """The opinion of a class of curves fitted to some rows, with the labelling beside it."""
    X = table.encoded(encoding)
    classifier = quietly(fit_rows, _from_one_start(model, encoding), X, table, rows)
    p, gamma = classifier.probabilities(X), classifier.model_.coefficients().gamma
    labelling = dict(zip(X.columns.tolist(), gamma[:-1].tolist(), strict=True))
    fields = {"counts": True, "contradicts": True, "labelling": labelling}
    return Opinion.on(table, first, SMOOTH_CURVES, p.positive, p.hidden, **fields)


def _from_one_start(model: FittedTable, encoding: Any) -> Any:
    """The checking method from one start, since it is fitted again and again."""
    learners, parameters = CURVED if encoding.curves else STRAIGHT, {"n_starts": 1, **model.known}
    method = METHODS[CHECKING_METHOD]
    return table_model.make_classifier(method, model.roles, encoding, parameters, learners)


def _held_out_likelihood(
    model: FittedTable, encoding: Any, table: Table, rows: Any, folds: list[Split]
) -> Floats:
    """Log-likelihood of each row's label by the checking method fitted to the other folds."""
    X = table.encoded(encoding)

    def values(train: Any, test: Any) -> Floats:
        classifier = quietly(fit_rows, _from_one_start(model, encoding), X, table, rows[train])
        s_x = classifier.predict_label_proba(X.iloc[rows[test]])
        return label_log_likelihoods(table.s[rows[test]], s_x)

    return cross_fitted(len(rows), folds, values)


@with_paying_threads
def _trees(
    X: Floats, table: Table, first: Any, rows: Any, folds: list[Split], e_x: Floats
) -> tuple[Opinion, Floats]:
    """Trees of the label and their held-out likelihood; rows of no fold are predicted by all."""
    from sklearn.ensemble import HistGradientBoostingClassifier  # small tables need no trees

    s_x, held_out = np.zeros(len(table)), np.empty(len(rows))
    for train, test in folds:
        trees = HistGradientBoostingClassifier(
            max_iter=80, max_leaf_nodes=15, min_samples_leaf=30, random_state=0
        ).fit(X[rows[train]], table.s[rows[train]])
        everywhere = trees.predict_proba(X)[:, 1]
        held_out[test] = everywhere[rows[test]]
        s_x += everywhere / len(folds)
    s_x[rows] = held_out
    positive = np.clip(s_x / np.maximum(e_x, LEAST_PROPENSITY), s_x, 1.0)
    hidden = (positive - s_x) / np.maximum(1 - s_x, 1e-9)
    opinion = Opinion.on(table, first, BOOSTED_TREES, positive, hidden)
    return opinion, label_log_likelihoods(table.s[rows], held_out)
