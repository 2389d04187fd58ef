"""Opinions of other methods on a page's answer, and of the labels on lines.

Other methods are as good as the page's: their prevalences, their lists and their precision of the
page's first rows show how far the answer depends on the method. A label model of any shape shows
whether class and labelling can both be lines: held-out labels tell which of two models of them is
better. They do not tell which prevalence is right, nor whether class or labelling bends.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from doublelogit._types import Floats
from doublelogit.common.thresholds import CLEARLY_BETTER
from doublelogit.core.folds import FoldsError, cluster_keys
from doublelogit.core.held_out import compared
from doublelogit.fitted.protocol import Probabilities, list_score
from doublelogit.label_models import STRAIGHT, fit_label_model
from doublelogit.label_models.stack import likelihoods, simplex_weights
from doublelogit.metrics import label_log_likelihoods
from doublelogit.registry import METHODS, Method
from doublelogit.table_models import table_model
from doublelogit.table_models.table_model import FittedTable, fit_rows, quietly
from doublelogit.tables import Table, TableEncoding

Progress = Callable[[str, float], None]

LIST_LENGTH = 50  # first rows that opinions are about
MOST_ROWS_OF_METHODS = 5000  # that another method is fitted to: its opinion needs no more
MOST_CELLS = 40_000  # beyond which a method that averages takes too long for an opinion


def silent(step: str, share: float) -> None:
    """Progress that is not shown."""


@dataclass(frozen=True)
class Opinion:
    """The answer of a method.

    Parameters
    ----------
    name : str
        Name of the method.
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
    """

    name: str
    prevalence: float
    overlap: float
    precision: float
    counts: bool = False
    contradicts: bool = False

    @classmethod
    def on(
        cls, table: Table, first: Any, name: str, positive: Floats, hidden: Floats, **fields: Any
    ) -> "Opinion":
        """The opinion of a method with these probabilities, ``first`` being the page's rows."""
        listed = first_rows(table, list_score(hidden, positive), len(first))
        prevalence = float(np.average(positive, weights=table.weight))
        overlap = len(np.intersect1d(listed, first)) / max(len(first), 1)
        return cls(name, prevalence, overlap, float(hidden[first].mean()), **fields)


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
    encoding = model.encoding
    part = table.some(_sample(table, MOST_ROWS_OF_METHODS, rng))
    candidates = [m for m in METHODS.values() if m.counts_in_claims or not counting]
    methods = [m for m in candidates if _applies(m, model, len(table))]
    opinions = []
    for i, method in enumerate(methods):
        classifier = table_model.classifier_for(method, table.roles, encoding, model.known)
        quietly(fit_rows, classifier, part.encoded(encoding), part)
        p = _probabilities(classifier, encoding, table)
        fields = {"counts": method.counts_in_claims, "contradicts": method.contradicts}
        opinions.append(Opinion.on(table, first, method.name, p.positive, p.hidden, **fields))
        progress("other methods", (i + 1) / len(methods))
    return opinions


def _probabilities(classifier: Any, encoding: TableEncoding, table: Table) -> Probabilities:
    """Probabilities of every row by a classifier of some rows; features of all are not kept."""

    def columns(X: Any) -> Floats:
        return np.column_stack(classifier.probabilities(X))

    return Probabilities(*table.map(encoding, columns).T)


def _applies(method: Method, model: FittedTable, n_rows: int) -> bool:
    """Whether a method allows for biased labels, is another one, and can be afforded."""
    p = len(model.encoding.names)
    if method.assumes_scar or method.name == model.method or not method.suits(p):
        return False
    return method.intervals != "posterior" or n_rows * p <= MOST_CELLS


def _sample(table: Table, most: int, rng: np.random.Generator) -> Any:
    """All rows, or so many of them drawn at random."""
    if len(table) <= most:
        return np.arange(len(table))
    return np.sort(rng.choice(len(table), most, replace=False))


@dataclass(frozen=True)
class LabelGain:
    """How much better label models of any shape predict held-out labels than those of lines do.

    Parameters
    ----------
    gain, error : float
        Held-out log-likelihood per row of all kinds of label models, stacked, beyond that of
        the straight ones, stacked likewise, and its standard error.
    """

    gain: float
    error: float

    @classmethod
    def of(cls, table: Table, X: Any) -> "LabelGain | None":
        """The gain on a table; None if no row can be held out, or two sigmoids not be fitted."""
        Z, cluster = X.to_numpy(), None if table.cluster is None else cluster_keys(table.cluster)
        try:
            model = fit_label_model(Z, table.s, table.row_weight, cluster=cluster)
        except FoldsError:  # rows that are all alike
            return None
        if not set(STRAIGHT) <= set(model.names):
            return None
        P = model.by_kind(Z)
        straight = P[:, [model.names.index(name) for name in STRAIGHT]]
        mix = simplex_weights(likelihoods(straight, table.s), table.row_weight)
        every, lines = (
            label_log_likelihoods(table.s, p) for p in (P @ model.weight, straight @ mix)
        )
        return cls(*compared(every, lines, table.row_weight))

    @property
    def clear(self) -> bool:
        """Whether labels are clearly likelier by models that are not made of lines."""
        return self.gain > CLEARLY_BETTER * self.error
