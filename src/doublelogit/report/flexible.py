"""Whether the page's answers survive a class that is no straight line, under the same labelling.

Smooth curves of the numbers, and in tables of some thousand rows boosted trees of the label,
cross-fitted and divided by the page's propensity: s(x) / e(x) is the class that they imply. Labels
that a fit has not seen tell which of two models of them is better; they do not tell which
prevalence is right.
"""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from doublelogit._types import Floats
from doublelogit.common.threads import with_paying_threads
from doublelogit.core.folds import FoldsError, content_keys, held_out_splits
from doublelogit.core.held_out import cross_fitted
from doublelogit.fitted.protocol import Probabilities
from doublelogit.metrics import label_log_likelihoods
from doublelogit.registry import CHECKING_METHOD, LINEAR, METHODS, SPLINE
from doublelogit.report.drivers import labelling_terms
from doublelogit.report.opinions import FirstRows, Opinion, sample_rows
from doublelogit.table_models.learners import STRAIGHT, Learners
from doublelogit.table_models.smoothing import FOLDS
from doublelogit.table_models.table_model import (
    FittedTable,
    fit_rows,
    make_classifier,
    quietly,
)
from doublelogit.tables import Table, TableEncoding
from doublelogit.tables.expansion import frame_parts

FLEXIBLE_ROWS = 12_000  # of which flexible models are fitted
ENOUGH_FOR_TREES = 2000  # rows, and labels below
ENOUGH_LABELS = 200
LEAST_PROPENSITY = 0.02
CURVED = Learners(SPLINE)
CURVES, TREES = "curves of each number", "boosted trees"


@dataclass(frozen=True)
class Flexible:
    """A flexible class beside the straight one.

    Parameters
    ----------
    opinion : Opinion
        What it says of prevalence and list.
    gain, error : float
        Mean log-likelihood of labels that a fit has not seen, beyond the straight class, and the
        standard error of it.
    labelling : dict of str to float
        Coefficients of the labelling beside it; empty where that is the page's own.
    """

    opinion: Opinion
    gain: float
    error: float
    labelling: dict[str, float] = field(default_factory=dict)

    @property
    def better(self) -> float:
        """Standard errors by which it predicts labels better."""
        return self.gain / self.error if self.error > 0 else 0.0


@dataclass(frozen=True)
class _HeldOut:
    """Rows, their folds, and the likelihood of their labels by the straight class."""

    table: Table
    rows: Any
    folds: list[tuple[Any, Any]]
    straight: Floats

    def compared(self, other: Floats) -> tuple[float, float]:
        """Mean difference of log-likelihoods from the straight class, and its standard error."""
        difference = other - self.straight
        return float(difference.mean()), float(difference.std() / np.sqrt(len(difference)))


def flexible_classes(
    model: FittedTable, first: FirstRows, said: Probabilities, rng: np.random.Generator
) -> list[Flexible]:
    """The flexible classes that the table allows, for a straight model with a propensity."""
    if model.learners.outcome != LINEAR or not METHODS[model.method].has_propensity:
        return []
    table, plain = first.table, model.encoding.plain
    rows = sample_rows(table, FLEXIBLE_ROWS, rng)
    weight = None if table.weight is None else table.weight[rows]
    keys = content_keys(table.features.iloc[rows])
    try:
        folds = held_out_splits(keys, table.s[rows], FOLDS, weight)
    except FoldsError:
        return []
    X = table.encoded(plain)
    straight = _fitted_parts(model, plain, X, table, rows, folds)
    held_out = _HeldOut(table, rows, folds, straight)
    found = [_curves(model, held_out, first)]
    if len(table) >= ENOUGH_FOR_TREES and table.s.sum() >= ENOUGH_LABELS:
        found.append(_trees(held_out, X.to_numpy(), first, said))
    return [one for one in found if one is not None]


def _fitted_parts(
    model: FittedTable, encoding: Any, X: Any, table: Table, rows: Any, folds: Any
) -> Floats:
    """Log-likelihood of each row's label by the default method fitted to the other folds."""

    def values(train: Any, test: Any) -> Floats:
        classifier = quietly(fit_rows, _quick(model, encoding), X, table, rows[train])
        s_x = classifier.predict_label_proba(X.iloc[rows[test]])
        return label_log_likelihoods(table.s[rows[test]], s_x)

    return cross_fitted(len(rows), folds, values)


def _quick(model: FittedTable, encoding: Any) -> Any:
    """The default method from one start: it is asked again and again."""
    learners = CURVED if encoding.curves else STRAIGHT
    method = METHODS[CHECKING_METHOD]
    return make_classifier(method, model.roles, encoding, {"n_starts": 1, **model.known}, learners)


def curves_of(
    model: FittedTable, first: FirstRows, rows: Any
) -> tuple[Opinion, TableEncoding, dict[str, float]] | None:
    """The class with curves of the numbers: its opinion, features and labelling.

    None if no number can bend, or none is asked for.
    """
    table = first.table
    if model.learners.outcome != LINEAR or not METHODS[model.method].has_propensity:
        return None
    every = replace(model.roles, propensity_features=None)  # a doubt allows for any bend
    encoding = CURVED.expanded(model.encoding.plain, frame_parts(table.features), every)
    if not encoding.curves:
        return None
    X = table.encoded(encoding)
    classifier = quietly(fit_rows, _quick(model, encoding), X, table, rows)
    said = classifier.probabilities(X)
    standing = {"counts": True, "contradicts": True}
    opinion = first.opinion(CURVES, said.positive, said.hidden, **standing)
    return opinion, encoding, labelling_terms(classifier, X.columns.tolist())


def _curves(model: FittedTable, held_out: _HeldOut, first: FirstRows) -> Flexible | None:
    rows, folds, table = held_out.rows, held_out.folds, held_out.table
    curves = curves_of(model, first, rows)
    if curves is None:
        return None
    opinion, encoding, labelling = curves
    X = table.encoded(encoding)
    likelihood = _fitted_parts(model, encoding, X, table, rows, folds)
    return Flexible(opinion, *held_out.compared(likelihood), labelling)


@with_paying_threads
def _trees(held_out: _HeldOut, X: Floats, first: FirstRows, said: Probabilities) -> Flexible:
    """Trees of the label, cross-fitted; rows that no fold has are predicted by all of them."""
    from sklearn.ensemble import HistGradientBoostingClassifier  # small tables need no trees

    table, rows = held_out.table, held_out.rows
    s_x, unseen, likelihood = np.zeros(len(table)), np.zeros(len(table)), np.empty(len(rows))
    for train, test in held_out.folds:
        trees = HistGradientBoostingClassifier(
            max_iter=80, max_leaf_nodes=15, min_samples_leaf=30, random_state=0
        ).fit(X[rows[train]], table.s[rows[train]])
        mine = trees.predict_proba(X[rows[test]])[:, 1]
        likelihood[test] = label_log_likelihoods(table.s[rows[test]], mine)
        unseen[rows[test]] = mine
        s_x += trees.predict_proba(X)[:, 1] / len(held_out.folds)
    s_x[rows] = unseen[rows]
    e_x = np.maximum(said.propensity, LEAST_PROPENSITY)
    positive = np.clip(s_x / e_x, s_x, 1.0)
    hidden = (positive - s_x) / np.maximum(1 - s_x, 1e-9)
    opinion = first.opinion(TREES, positive, hidden)
    return Flexible(opinion, *held_out.compared(likelihood))
