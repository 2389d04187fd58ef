"""What other methods and other models say of the same table, and of the list of the first rows.

A page has one answer. Others are as good as theirs: what they say of the prevalence, of who comes
first, and of how many of the page's first rows are positive shows how far the answer hangs on the
method. Labels cannot tell which of them is right, so the claim of the page covers them.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from doublelogit._types import Floats
from doublelogit.fitted.protocol import list_score
from doublelogit.registry import METHODS, Method
from doublelogit.table_models.table_model import (
    FittedTable,
    classifier_for,
    fit_rows,
    quietly,
)
from doublelogit.tables import Table

Progress = Callable[[str, float], None]


def silent(step: str, share: float) -> None:
    """Progress that nobody wants to see."""


LISTED_ROWS = 50  # rows of the list that opinions are asked of
OPINION_ROWS = 5000  # that another method is fitted to: its opinion needs no more
MOST_CELLS = 40_000  # beyond which a method that averages takes too long for an opinion


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
        Whether its opinion of the list counts in what a page claims.
    contradicts : bool, default=False
        Whether a prevalence beyond the page's interval is a dissent.
    """

    name: str
    prevalence: float
    overlap: float
    precision: float
    counts: bool = False
    contradicts: bool = False


@dataclass(frozen=True)
class FirstRows:
    """The unlabelled rows that come first on the page's list."""

    table: Table
    rows: Any

    @classmethod
    def of(cls, table: Table, score: Floats, length: int = LISTED_ROWS) -> "FirstRows":
        """The first rows by a score."""
        return cls(table, first_rows(table, score, length))

    def opinion(self, name: str, positive: Floats, hidden: Floats, **standing: bool) -> Opinion:
        """The opinion of a model with these probabilities; ``standing`` says what it bears on."""
        own = first_rows(self.table, list_score(hidden, positive), len(self.rows))
        return Opinion(
            name,
            prevalence=float(np.average(positive, weights=self.table.weight)),
            overlap=len(np.intersect1d(own, self.rows)) / max(len(self.rows), 1),
            precision=float(hidden[self.rows].mean()),
            **standing,
        )


def first_rows(table: Table, score: Floats, length: int) -> Any:
    """The unlabelled rows with the highest scores."""
    candidates = np.flatnonzero(table.unlabelled)
    return candidates[np.argsort(-score[candidates], kind="stable")[:length]]


def other_methods(
    model: FittedTable,
    first: FirstRows,
    rng: np.random.Generator,
    progress: Progress = silent,
    *,
    counting: bool = False,
) -> list[Opinion]:
    """Opinions of the other methods that allow for biased labels; of those that count only."""
    table, encoding = first.table, model.encoding.plain
    X = table.encoded(encoding)
    rows = sample_rows(table, OPINION_ROWS, rng)
    methods = [m for m in METHODS.values() if m.counts_in_claims or not counting]
    asked = [m for m in methods if _applies(m, model, X)]
    found = []
    for i, method in enumerate(asked):
        classifier = classifier_for(method, table.roles, encoding, model.known)
        quietly(fit_rows, classifier, X, table, rows)
        said = classifier.probabilities(X)
        standing = {"counts": method.counts_in_claims, "contradicts": method.contradicts}
        found.append(first.opinion(method.name, said.positive, said.hidden, **standing))
        progress("other methods", (i + 1) / len(asked))
    return found


def _applies(method: Method, model: FittedTable, X: Any) -> bool:
    """Whether a method allows for biased labels, is another one, and can be afforded."""
    if method.assumes_scar or method.name == model.method:
        return False
    return method.intervals != "posterior" or X.shape[0] * X.shape[1] <= MOST_CELLS


def sample_rows(table: Table, most: int, rng: np.random.Generator) -> Any:
    """All rows, or so many of them drawn at random."""
    if len(table) <= most:
        return np.arange(len(table))
    return np.sort(rng.choice(len(table), most, replace=False))
