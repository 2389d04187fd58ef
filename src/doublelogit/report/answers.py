"""The prevalence under each assumption that a report sets side by side."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone

from doublelogit.common.thresholds import LARGE_SAMPLE
from doublelogit.fitted.sources import SourcesPair
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
AUDIT_ALONE = "the audit alone, whatever the model"


@dataclass(frozen=True)
class Answer:
    """A prevalence and what was assumed for it; no interval where the method has none."""

    assumption: str
    value: float
    low: float | None = None
    high: float | None = None
    how: str = ""
    regions: tuple[tuple[float, float], ...] = ()  # the intervals that it consists of, in order

    @classmethod
    def from_estimate(cls, assumption: str, estimate: Estimate) -> "Answer":
        """An estimate under an assumption."""
        e = estimate
        return cls(assumption, e.value, e.low, e.high, e.method, e.regions)


def inferred(classifier: Any, table: Table, X: Any) -> Inference | None:
    """Inference for a fit; None where the method has none, or the fit has not converged."""
    if method_of(classifier).intervals is None or isinstance(classifier.model_, SourcesPair):
        return None
    try:
        return infer(
            classifier, X, table.labels, sample_weight=table.weight, audited_y=table.audited
        )
    except ValueError:
        if classifier.converged_:  # then these are not the rows of the fit
            raise
        return None


def answer(
    assumption: str, classifier: Any, table: Table, X: Any, inference: Inference | None
) -> Answer:
    """The prevalence by a fit, with the interval that holds best."""
    if inference is not None:
        return Answer.from_estimate(assumption, inference.reliable_prevalence())
    y_x = classifier.predict_positive(X)
    return Answer(assumption, float(np.average(y_x, weights=table.weight)))


def _answer_of_another(assumption: str, classifier: Any, table: Table, X: Any) -> Answer:
    return answer(assumption, classifier, table, X, inferred(classifier, table, X))


def swapped(classifier: Any, table: Table, X: Any) -> Answer | None:
    """The prevalence with class and labelling swapped, where that is a solution too."""
    if classifier.model_.swapped() is None:
        return None
    return _answer_of_another(SWAPPED, classifier.swapped(), table, X)


def by_group(
    classifier: Any, table: Table, X: Any, inference: Inference | None
) -> dict[str, Answer]:
    """The prevalence by group, with intervals where those hold."""
    group = table.group
    if group is None:
        return {}
    if inference is not None and not inference.undetermined:
        estimates = inference.prevalence(by=group).items()
        return {str(name): Answer.from_estimate(BIASED, e) for name, e in estimates}
    y_x, weight, names = classifier.predict_positive(X), table.row_weight, np.unique(group)
    shares = {n: np.average(y_x[group == n], weights=weight[group == n]) for n in names}
    return {str(name): Answer(BIASED, float(share)) for name, share in shares.items()}


def all_negative(table: Table) -> Answer:
    """The labelled share: the prevalence if every unlabelled row were negative."""
    share = float(np.average(table.s, weights=table.weight))
    se = float(np.sqrt(share * (1 - share) / len(table)))
    estimate = share_estimate("labelled share", share, se, 0.95, "binomial")
    return Answer.from_estimate(ALL_NEGATIVE, estimate)


def at_random(model: FittedTable, table: Table, X: Any) -> Answer:
    """The prevalence if labels were given at random."""
    parameters = {"false_label_rate": model.known.get("false_label_rate", 0.0)}
    classifier = make_classifier(SCAR, model.roles, model.encoding, parameters)
    merged = replace(table, sources=None)  # which source gave a label is no matter at random
    return _answer_of_another(AT_RANDOM, quietly(fit_rows, classifier, X, merged), merged, X)


def with_false_labels(
    classifier: Any, table: Table, X: Any, prevalence: float, progress: Any
) -> list[Answer]:
    """The prevalence if a share of the labels were wrong; empty for methods that cannot tell."""
    if not takes(method_of(classifier), "false_label_rate") or classifier.false_label_rate:
        return []
    labelled = float(np.average(table.s, weights=table.weight))
    # each takes a fit and a profile: one of them where those take long
    slow = len(table) > LARGE_SAMPLE or X.shape[1] >= len(table)
    shares = FALSE_SHARES[1:2] if slow else FALSE_SHARES
    answers = []
    for i, share in enumerate(shares):
        rate = share * labelled / (1 - prevalence)
        refitted = clone(classifier).set_params(false_label_rate=rate, n_starts=1)
        quietly(fit_rows, refitted, X, table)
        answers.append(_answer_of_another(f"{share:.0%} of the labels wrong", refitted, table, X))
        progress("other assumptions", (i + 1) / len(shares))
    return answers
