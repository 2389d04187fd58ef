"""All methods side by side on one table, and which of them to use."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from scipy.stats import spearmanr

from doublelogit._types import Floats
from doublelogit.audit import estimate
from doublelogit.audit.conclusions import conclusions, suspicions
from doublelogit.common.thresholds import CLEARLY_BETTER
from doublelogit.core.folds import Split
from doublelogit.findings import Finding
from doublelogit.findings import audit as audit_findings
from doublelogit.findings import methods as findings
from doublelogit.fitted.protocol import list_score
from doublelogit.inference import ScarTest
from doublelogit.inference.scar import BIAS
from doublelogit.registry import (
    AUTO,
    CHECKING_METHOD,
    DEFAULT_METHOD,
    LINEAR,
    METHODS,
    SCAR,
    Method,
)
from doublelogit.report.analysis import scar_verdict
from doublelogit.table_models.learner_choice import CANDIDATES, folds_of, held_out
from doublelogit.table_models.learners import STRAIGHT, Learners
from doublelogit.table_models.table_model import (
    FittedTable,
    classifier_for,
    encode_columns,
    fit_rows,
    fit_table,
    quietly,
)
from doublelogit.tables import Table, TableEncoding

# The default first, then maximum likelihood, also under labelling at random, then the others.
FIRST_METHODS = (METHODS[DEFAULT_METHOD], METHODS[CHECKING_METHOD], SCAR)
COMPARED = (
    *FIRST_METHODS,
    *(method for method in METHODS.values() if method not in FIRST_METHODS),
)


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
    known: Mapping[str, Any] | None = None,
    learners: Learners = STRAIGHT,
    progress: Callable[[str, float], None],
) -> Comparison:
    """Fit every method, score it on held-out labels, and see whether they agree.

    ``known`` are parameters about what is known from elsewhere, for the methods that take them.
    ``learners`` other than lines, or all of them by "auto", get lines of their own, fitted by
    maximum likelihood: what they gain shows beside what another method gains.
    """
    encoding = encode_columns(table)
    X = table.encoded(encoding)
    test = scar_verdict(
        table,
        X,
        random_state=random_state,
        n_resamples=n_resamples,
        progress=lambda share: progress("testing SCAR", share),
    )
    folds = folds_of(table)
    tried, bent = {}, _named(learners)
    for method in COMPARED:
        rows = table if method.takes_audits else replace(table, audited=None)
        tried[method.name] = _tried(method, _straight(method, rows, encoding, known), rows, folds)
        progress("fitting", len(tried) / (len(COMPARED) + len(bent)))
    method = METHODS[CHECKING_METHOD]
    for name, asked in bent.items():
        fitted = quietly(fit_table, table, method, known, asked)
        tried[name] = _tried(method, fitted, table, folds)
        progress("fitting", len(tried) / (len(COMPARED) + len(bent)))
    audited = table.audit is not None and table.audit.kind == "drawn"
    found = _concluded([_line(name, tried, table) for name in tried], test, audited=audited)
    return found if table.audit is None else _beside_audit(found, table)


def _beside_audit(found: Comparison, table: Table) -> Comparison:
    """The comparison with what an audit says of the methods."""
    model = quietly(fit_table, table, METHODS[DEFAULT_METHOD])
    answer = estimate(model, table, table.audit)
    more = [*suspicions(answer)] if answer.prevalence is not None else conclusions(answer)
    if answer.prevalence is not None:
        low, high = answer.prevalence.low, answer.prevalence.high
        off = [line.method for line in found.lines if not low <= line.prevalence <= high]
        more.append(audit_findings.outside(off, answer.prevalence))
    return replace(found, findings=[*found.findings, *more])


@dataclass(frozen=True)
class _Tried:
    method: Method
    positive: Floats
    hidden: Floats
    likelihood: Floats  # of each row, by the models that have not seen it
    findings: tuple[Finding, ...]


def _named(learners: Learners) -> dict[str, Learners]:
    """The learners beside straight lines, by the names of their lines."""
    asked = CANDIDATES if learners.outcome == AUTO else (learners.outcome,)
    labelling = learners.propensity
    beside = "" if labelling == LINEAR else f", labelling {labelling}"
    return {
        f"{CHECKING_METHOD}, {name}{beside}": Learners(name, labelling)
        for name in asked
        if Learners(name, labelling) != STRAIGHT
    }


def _straight(
    method: Method, table: Table, encoding: TableEncoding, known: Mapping[str, Any] | None
) -> FittedTable:
    """A method with straight lines, fitted."""
    classifier = classifier_for(method, table.roles, encoding, known)
    quietly(fit_rows, classifier, table.encoded(encoding), table)
    return FittedTable(table.roles, method.name, encoding, classifier)


def _tried(method: Method, fitted: FittedTable, table: Table, folds: list[Split]) -> _Tried:
    said = fitted.probabilities(table)
    likelihood = held_out(table, fitted, folds)
    findings = fitted.classifier.findings_
    return _Tried(method, said.positive, said.hidden, likelihood, findings)


def _line(name: str, tried: dict[str, _Tried], table: Table) -> ComparedMethod:
    mine, base = tried[name], tried[DEFAULT_METHOD]
    difference = mine.likelihood - base.likelihood
    unlabelled = table.s == 0
    ranked = {key: list_score(t.hidden, t.positive)[unlabelled] for key, t in tried.items()}
    scores = [ranked[name], ranked[DEFAULT_METHOD]]
    others = [_correlation(ranked[name], ranked[key]) for key in tried if key != name]
    k = max(1, int(unlabelled.sum()) // 20)
    tops = [set(np.argsort(-score, kind="stable")[:k].tolist()) for score in scores]
    return ComparedMethod(
        method=name,
        prevalence=float(np.average(mine.positive, weights=table.weight)),
        log_likelihood=float(mine.likelihood.mean()),
        difference=float(difference.mean()),
        standard_error=float(difference.std() / np.sqrt(len(difference))),
        rank_correlation=_correlation(*scores),
        same_top=len(tops[0] & tops[1]) / k,
        agreement=float(np.median(others)),
        findings=mine.findings,
        assumes_scar=mine.method.assumes_scar,
        # a method that models the label alone has no use for audits
        models_class=mine.method.takes_audits,
    )


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
    found = [findings.tested(test.sentence, test.p_value)]
    if biased:
        found.append(findings.ruled_out([m.name for m in COMPARED if m.assumes_scar]))
    if better and best is not None:
        found.append(findings.better(best, DEFAULT_METHOD))
    else:
        found.append(findings.none_better(DEFAULT_METHOD))
    found.append(findings.agreement(shares, audited=audited))
    if opposed:
        found.append(findings.opposed(opposed))
    found.append(findings.recommended(best))
    return Comparison(lines, best, found)


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
