"""The prevalence under each assumption that a report sets side by side."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from doublelogit.common.thresholds import LARGE_SAMPLE
from doublelogit.inference import Estimate, Inference, infer
from doublelogit.inference.estimate import share_estimate
from doublelogit.registry import SCAR, method_of
from doublelogit.table_models.table_model import (
    FittedTable,
    fit_rows,
    make_classifier,
    quietly,
    takes,
)
from doublelogit.tables import Table

FALSE_SHARES = (0.01, 0.05, 0.1)  # of the labels that might be wrong

BIASED = "labelling may depend on the features"
AT_RANDOM = "labelling at random (SCAR)"
ALL_NEGATIVE = "every unlabelled row negative"
SWAPPED = "class and labelling swapped"
AUDITED = "the audit alone, whatever the model"


@dataclass(frozen=True)
class Answer:
    """A prevalence and what was assumed for it; no interval where the method has none."""

    assumption: str
    value: float
    low: float | None = None
    high: float | None = None
    how: str = ""
    regions: tuple[tuple[float, float], ...] = ()  # the parts of the interval, in order

    @classmethod
    def from_estimate(cls, assumption: str, found: Estimate) -> "Answer":
        """An estimate under an assumption."""
        return cls(assumption, found.value, found.low, found.high, found.method, found.regions)


@dataclass(frozen=True)
class Bound:
    """A fitted classifier with the rows of its fit, and what can be inferred from them.

    ``inference`` is None where the method has none, or the fit has not converged.
    """

    classifier: Any
    table: Table
    X: Any
    inference: Inference | None

    @classmethod
    def to_rows(cls, classifier: Any, table: Table, X: Any) -> "Bound":
        """Bind a classifier to the rows that it was fitted to."""
        if method_of(classifier).intervals is None:
            return cls(classifier, table, X, None)
        try:
            found = infer(
                classifier, X, table.s, sample_weight=table.weight, audited_y=table.audited
            )
            return cls(classifier, table, X, found)
        except ValueError:
            if classifier.converged_:  # then these are not the rows of the fit
                raise
            return cls(classifier, table, X, None)

    def answer(self, assumption: str) -> Answer:
        """The prevalence, with the interval that holds best."""
        if self.inference is not None:
            return Answer.from_estimate(assumption, self.inference.reliable_prevalence())
        y_x = self.classifier.predict_positive(self.X)
        return Answer(assumption, float(np.average(y_x, weights=self.table.weight)))

    def by_group(self) -> dict[str, Answer]:
        """The prevalence by group, with intervals where those hold."""
        group = self.table.group
        if group is None:
            return {}
        if self.inference is not None and not self.inference.undetermined:
            found = self.inference.prevalence(by=group)
            return {str(name): Answer.from_estimate(BIASED, e) for name, e in found.items()}
        y_x, weight = self.classifier.predict_positive(self.X), self.table.row_weight
        inside = {str(name): group == name for name in np.unique(group)}
        return {
            name: Answer(BIASED, float(np.average(y_x[rows], weights=weight[rows])))
            for name, rows in inside.items()
        }

    def swapped(self) -> Answer | None:
        """The prevalence with class and labelling swapped, where that is a solution too."""
        if self.classifier.model_.swapped() is None:
            return None
        other = Bound.to_rows(self.classifier.swapped(), self.table, self.X)
        return other.answer(SWAPPED)


def all_negative(table: Table) -> Answer:
    """The labelled share: the prevalence if every unlabelled row were negative."""
    share = float(np.average(table.s, weights=table.weight))
    se = float(np.sqrt(share * (1 - share) / len(table)))
    found = share_estimate("labelled share", share, se, 0.95, "binomial")
    return Answer.from_estimate(ALL_NEGATIVE, found)


def at_random(model: FittedTable, table: Table, X: Any) -> Answer:
    """The prevalence if labels were given at random."""
    known = {"false_label_rate": model.known.get("false_label_rate", 0.0)}
    learners = model.learners.smooth
    classifier = make_classifier(SCAR, model.roles, model.encoding, known, learners)
    quietly(fit_rows, classifier, X, table)
    return Bound.to_rows(classifier, table, X).answer(AT_RANDOM)


def with_false_labels(main: Bound, prevalence: float, progress: Any) -> dict[float, Answer]:
    """The prevalence if a share of the labels were wrong; empty for methods that cannot tell."""
    classifier, table = main.classifier, main.table
    if not takes(method_of(classifier), "false_label_rate") or classifier.false_label_rate:
        return {}
    labelled = float(np.average(table.s, weights=table.weight))
    # each takes a fit and a profile: one of them where those take long
    slow = len(table) > LARGE_SAMPLE or main.X.shape[1] >= len(table)
    shares = FALSE_SHARES[1:2] if slow else FALSE_SHARES
    found = {}
    for i, share in enumerate(shares):
        rate = share * labelled / (1 - prevalence)
        refitted = clone(classifier).set_params(false_label_rate=rate, n_starts=1)
        quietly(fit_rows, refitted, main.X, table)
        bound = Bound.to_rows(refitted, table, main.X)
        found[share] = bound.answer(f"{share:.0%} of the labels wrong")
        progress("other assumptions", (i + 1) / len(shares))
    return found
