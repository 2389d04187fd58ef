"""``learner="auto"``: the simplest shape of a class within a standard error of the best.

Every row is judged by models that have not seen it; guarded boosting does so on its own.
"""

from dataclasses import replace
from typing import Any

from sklearn.base import clone

from doublelogit._types import Floats, Ints
from doublelogit.bends.bent_posterior import CURVES, LINES
from doublelogit.common.thresholds import FEWEST_LABELS_TO_CHOOSE as FEWEST
from doublelogit.core.folds import FoldsError, Split, content_keys, held_out_splits
from doublelogit.core.held_out import compared, cross_fitted, simplest
from doublelogit.exceptions import TableError
from doublelogit.metrics import label_log_likelihoods
from doublelogit.registry import (
    BENDING,
    BOOSTING,
    CHECKING_METHOD,
    LINEAR,
    METHODS,
    SPLINE,
    Method,
    method_of,
)
from doublelogit.table_models.learners import Gain, LearnerChoice, Learners
from doublelogit.table_models.smoothing import FOLDS
from doublelogit.table_models.table_model import (
    FittedTable,
    fit_rows,
    fit_table,
    quietly,
    spread_rows,
)
from doublelogit.tables import Table

CANDIDATES = (LINEAR, SPLINE, BOOSTING)  # simplest first


def choosable(rows: Any) -> Table:
    """Rows that a learner can be chosen for: those of a table in memory."""
    if not isinstance(rows, Table):
        raise TableError(
            "`learner` auto needs rows in memory; got a scan of files. Read them, or choose linear "
            "or spline."
        )
    return rows


def fit_chosen(table: Any, method: Method, parameters: Any, propensity: str) -> FittedTable:
    """Choose a learner of the class, and fit it."""
    table = table.counted
    if table.s.sum() < FEWEST:
        return _linear(table, method, parameters, propensity)
    some = table.some(spread_rows(len(table)))
    try:
        scores, trees = _scores(some, method, propensity)
    except FoldsError:  # rows that are all alike
        return _linear(table, method, parameters, propensity)
    learner = simplest(scores, some.row_weight)
    gains = tuple(
        Gain(name, *compared(score, scores[LINEAR], some.row_weight))
        for name, score in scores.items()
        if name != LINEAR
    )
    choice = LearnerChoice(learner, gains)
    if learner == BOOSTING and len(some) == len(table) and not parameters:
        return replace(trees, method=trees.learners.asked(method).name, choice=choice)
    fitted = fit_table(table, method, parameters, Learners(learner, propensity))
    return replace(fitted, choice=choice)


def _linear(table: Table, method: Method, parameters: Any, propensity: str) -> FittedTable:
    """The fit of a table in which nothing can be held out."""
    fitted = fit_table(table, method, parameters, Learners(LINEAR, propensity))
    return replace(fitted, choice=LearnerChoice(LINEAR, ()))


def _scores(table: Table, method: Method, propensity: str) -> tuple[dict[str, Floats], FittedTable]:
    """Log-likelihood of every row by models without it, simplest first; the last model fitted."""
    trees = method.bends.get(BOOSTING)
    if trees is not None and trees.judges_straight and propensity not in BENDING:
        return _averaged_scores(table, method, propensity)
    joint, able = METHODS[CHECKING_METHOD], trees is not None
    splits = folds_of(table)
    scores = {}
    for learner in CANDIDATES if able else CANDIDATES[:2]:
        fitted = quietly(fit_table, table, joint, None, Learners(learner, propensity))
        scores[learner] = held_out(table, fitted, splits)
    return scores, fitted


def _averaged_scores(
    table: Table, method: Method, propensity: str
) -> tuple[dict[str, Floats], FittedTable]:
    """The same by the default itself: trees that bend it have fitted its lines and curves too."""
    fitted = quietly(fit_table, table, method, None, Learners(BOOSTING, propensity))
    classifier = fitted.classifier
    names = dict(zip((LINES, CURVES), CANDIDATES[:2], strict=True))
    scores = {names[start]: score for start, score in classifier.held_out_straight.items()}
    return scores | {BOOSTING: classifier.held_out}, fitted


def folds_of(table: Table) -> list[Split]:
    """Rows to fit and rows to judge, with labels outside of every fold."""
    return held_out_splits(content_keys(table.features), table.s, FOLDS, table.weight)


def held_out(table: Table, fitted: FittedTable, folds: list[Split]) -> Floats:
    """Log-likelihood of every label by the same classifier of the other folds."""
    if method_of(fitted.classifier).holds_out:
        return fitted.classifier.held_out
    X = table.encoded(fitted.encoding)

    def values(train: Ints, test: Ints) -> Floats:
        refitted = quietly(fit_rows, clone(fitted.classifier), X, table, train)
        return label_log_likelihoods(table.s[test], refitted.predict_label_proba(X.iloc[test]))

    return cross_fitted(len(table), folds, values)
