"""All methods side by side on one table, and which of them to use."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from scipy.stats import spearmanr
from sklearn.base import clone

from doublelogit._types import Floats, Ints
from doublelogit.audit import estimate
from doublelogit.audit.conclusions import conclusions, suspicions
from doublelogit.common.thresholds import CLEARLY_BETTER
from doublelogit.core.folds import Split, content_keys, held_out_splits
from doublelogit.core.held_out import cross_fitted
from doublelogit.findings import Finding
from doublelogit.findings import audit as audit_findings
from doublelogit.findings import methods as findings
from doublelogit.fitted.protocol import Probabilities
from doublelogit.inference import ScarTest
from doublelogit.inference.scar import BIAS
from doublelogit.metrics import label_log_likelihoods
from doublelogit.registry import AUTO, CHECKING_METHOD, DEFAULT_METHOD, METHODS, SCAR, Method
from doublelogit.report.analysis import scar_verdict
from doublelogit.table_models.table_model import (
    FittedTable,
    classifier_for,
    fit_rows,
    fit_table,
    label_model_settings,
    quietly,
)
from doublelogit.tables import Table, TableEncoding

FOLDS = 3  # each held out of a fit of every method

# The default first, then maximum likelihood, also under labelling at random, then the others.
FIRST_METHODS = (METHODS[DEFAULT_METHOD], METHODS[CHECKING_METHOD], SCAR)
_OTHERS = (m for m in METHODS.values() if m not in FIRST_METHODS and not m.least_features)
COMPARED = (*FIRST_METHODS, *_OTHERS)


@dataclass(frozen=True)
class ComparedMethod:
    """One method: prevalence, held-out likelihood per row, and agreement with the default."""

    method: str
    prevalence: float
    log_likelihood: float
    difference: float  # of the log-likelihood from the default's, per row
    standard_error: float
    rank_correlation: float
    same_top: float
    agreement: float  # median rank correlation with the other methods
    findings: tuple[Finding, ...]
    assumes_scar: bool = False  # biased labels rule it out
    models_class: bool = True  # or the label alone


@dataclass(frozen=True)
class Comparison:
    """The lines, and what follows from them."""

    lines: list[ComparedMethod]
    recommended: str | None  # None if no method is to be relied on
    findings: list[Finding]

    def to_dict(self) -> dict[str, Any]:
        """The comparison as JSON holds it."""
        return asdict(self)


def compare_methods(
    table: Table,
    *,
    random_state: int = 0,
    n_resamples: int | None = None,
    parameters: Mapping[str, Any] | None = None,
    label_model: Any = AUTO,
    progress: Callable[[str, float], None],
) -> Comparison:
    """Fit every method, score it on held-out labels, and see whether they agree.

    ``parameters`` are those about numbers from elsewhere, for the methods that take them.
    ``label_model`` is that of the default.
    """
    encoding = table.encoding
    chosen = label_model_settings(METHODS[DEFAULT_METHOD], label_model)
    parameters = {**(parameters or {}), **chosen}
    test = scar_verdict(
        table,
        table.encoded(encoding),
        random_state=random_state,
        n_resamples=n_resamples,
        progress=lambda share: progress("testing SCAR", share),
    )
    folds = held_out_splits(content_keys(table.features), table.s, FOLDS, table.weight)
    fits: dict[str, tuple[Method, FittedTable]] = {}
    probabilities, likelihoods = {}, {}
    for method in COMPARED:
        rows, name = table if method.takes_audits else replace(table, audited=None), method.name
        fitted = _fitted(method, rows, encoding, parameters)
        fits[name], probabilities[name] = (method, fitted), fitted.probabilities(rows)
        likelihoods[name] = _held_out(rows, fitted, folds)
        progress("fitting", len(fits) / len(COMPARED))
    drawn = table.audit is not None and table.audit.kind == "drawn"
    lines = _lines(table, fits, probabilities, likelihoods)
    comparison = _concluded(lines, test, audited=drawn)
    return comparison if table.audit is None else _beside_audit(comparison, table)


def _beside_audit(comparison: Comparison, table: Table) -> Comparison:
    """The comparison with what an audit says of the methods."""
    model = quietly(fit_table, table, METHODS[DEFAULT_METHOD])
    answer = estimate(model, table, table.audit)
    if answer.prevalence is None:
        more = conclusions(answer)
    else:
        low, high = answer.prevalence.low, answer.prevalence.high
        off = [line.method for line in comparison.lines if not low <= line.prevalence <= high]
        more = [*suspicions(answer), audit_findings.outside(off, answer.prevalence)]
    return replace(comparison, findings=[*comparison.findings, *more])


def _fitted(
    method: Method, table: Table, encoding: TableEncoding, parameters: Mapping[str, Any]
) -> FittedTable:
    """A method with the features of all, fitted."""
    classifier = classifier_for(method, table.roles, encoding, parameters)
    quietly(fit_rows, classifier, table.encoded(encoding), table)
    return FittedTable(table.roles, method.name, encoding, classifier)


def _held_out(table: Table, fitted: FittedTable, folds: list[Split]) -> Floats:
    """Log-likelihood of every label by the same classifier of the other folds."""
    X = table.encoded(fitted.encoding)

    def values(train: Ints, test: Ints) -> Floats:
        refitted = quietly(fit_rows, clone(fitted.classifier), X, table, train)
        return label_log_likelihoods(table.s[test], refitted.predict_label_proba(X.iloc[test]))

    return cross_fitted(len(table), folds, values)


def _lines(
    table: Table,
    fits: Mapping[str, tuple[Method, FittedTable]],
    probabilities: Mapping[str, Probabilities],
    likelihoods: Mapping[str, Floats],
) -> list[ComparedMethod]:
    """Every fit beside the default's and beside all others."""
    unlabelled = table.s == 0
    scores = {name: p.listed[unlabelled] for name, p in probabilities.items()}
    k = max(1, int(unlabelled.sum()) // 20)
    top = {name: set(np.argsort(-x, kind="stable")[:k].tolist()) for name, x in scores.items()}
    lines = []
    for name, (method, fitted) in fits.items():
        difference = likelihoods[name] - likelihoods[DEFAULT_METHOD]
        ranks = {other: _correlation(scores[name], scores[other]) for other in fits}
        positive = probabilities[name].positive
        line = ComparedMethod(
            method=name,
            prevalence=float(np.average(positive, weights=table.weight)),
            log_likelihood=float(likelihoods[name].mean()),
            difference=float(difference.mean()),
            standard_error=float(difference.std() / np.sqrt(len(difference))),
            rank_correlation=ranks[DEFAULT_METHOD],
            same_top=len(top[name] & top[DEFAULT_METHOD]) / k,
            agreement=float(np.median([rank for other, rank in ranks.items() if other != name])),
            findings=fitted.classifier.findings_,
            assumes_scar=method.assumes_scar,
            # a method that models the label alone has no use for audits
            models_class=method.takes_audits,
        )
        lines.append(line)
    return lines


def _concluded(lines: list[ComparedMethod], test: ScarTest, *, audited: bool = False) -> Comparison:
    biased = test.verdict == BIAS
    # one that ranks rows against all others is not to be recommended, however well it scores
    opposed = [line.method for line in lines if line.agreement < 0]
    allowed = [
        line for line in lines if not (biased and line.assumes_scar) and line.method not in opposed
    ]
    better = [
        line
        for line in allowed
        if line.models_class and line.difference > CLEARLY_BETTER * line.standard_error
    ]
    chosen = max(better, key=lambda line: line.difference) if better else _default(allowed)
    best = None if chosen is None else chosen.method
    shares = [line.prevalence for line in lines if not line.assumes_scar]
    verdict = [
        findings.tested(test.sentence, test.p_value),
        *([findings.ruled_out([m.name for m in COMPARED if m.assumes_scar])] if biased else []),
        findings.best(best if better else None, DEFAULT_METHOD),
        findings.agreement(shares, audited=audited),
        *([findings.opposed(opposed)] if opposed else []),
        findings.recommended(best),
    ]
    return Comparison(lines, best, verdict)


def _default(allowed: list[ComparedMethod]) -> ComparedMethod | None:
    """The default, or the method that predicts held-out labels best where that is opposed."""
    if any(line.method == DEFAULT_METHOD for line in allowed):
        return next(line for line in allowed if line.method == DEFAULT_METHOD)
    able = [line for line in allowed if line.models_class]
    return max(able, key=lambda line: line.difference, default=None)


def _correlation(one: Floats, other: Floats) -> float:
    """Rank correlation of two rankings; none of one that ranks nothing."""
    if not np.ptp(one) or not np.ptp(other):
        return 0.0
    return float(spearmanr(one, other).statistic)
