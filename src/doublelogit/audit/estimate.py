"""``estimate``: what an audit says of a table, right whatever the model."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.stats import norm

from doublelogit._types import Floats, Ints
from doublelogit.audit.blocks import Request, blocks_of
from doublelogit.audit.calibration import Calibration, calibrate
from doublelogit.audit.chances import check_population
from doublelogit.audit.crossfit import audit_folds, fold_models, mean_h, own_h
from doublelogit.audit.difference import Drawn, Total, difference
from doublelogit.audit.gather import Gathered, Population, gather
from doublelogit.audit.misuse import Signs, signs
from doublelogit.audit.sheet import Audit, as_audit
from doublelogit.common.thresholds import AGREEMENT_LEVEL
from doublelogit.common.wording import Interval
from doublelogit.exceptions import SheetError
from doublelogit.inference.estimate import Estimate, check_level
from doublelogit.registry import method_of
from doublelogit.table_models.table_model import FittedTable
from doublelogit.tables import Table


@dataclass(frozen=True)
class Agreement:
    """Positives among the audited rows: found, and expected by a model that had not seen them."""

    rows: int
    found: float
    expected: float
    p_value: float


@dataclass(frozen=True)
class AuditEstimate:
    """What an audit says of a table.

    Parameters
    ----------
    kind : str
        How the rows came to be looked at.
    prevalence, hidden : Estimate
        Share of positives and number of hidden positives of the table, with design-based
        intervals; None where rows were not drawn with known chances.
    groups : dict of str to Estimate
        Prevalence by group.
    listed : Estimate or None
        Precision of the list that the audit was planned for, or that was asked for, from audited
        rows of it alone.
    agreement : Agreement
        The model's expectation beside what was found.
    calibration : Calibration
        h beside what was found, and h put right.
    signs : Signs or None
        Signs that rows were not drawn as the audit says; None where it does not say so.
    bounds : tuple of float
        Least and largest prevalence that the known classes allow.
    blank, unsure : int
        Rows that nobody looked at, and rows where looking did not help.
    rounds : int
        Number of rounds.
    reviewer_error : tuple of float
        What reviewers are taken to err, as given.
    lam : float
        lambda of the difference estimator.
    total : Total or None
        Number of positives among the unlabelled rows, with what was found in each stratum.
    """

    kind: str
    prevalence: Estimate | None
    hidden: Estimate | None
    groups: dict[str, Estimate]
    listed: Estimate | None
    agreement: Agreement
    calibration: Calibration
    signs: Signs | None
    bounds: tuple[float, float]
    blank: int
    unsure: int
    rounds: int
    reviewer_error: tuple[float, float]
    lam: float
    total: Total | None = None

    @property
    def agrees(self) -> bool:
        """Whether the model expected about what the audit found."""
        return self.agreement.p_value >= AGREEMENT_LEVEL


def estimate(
    model: Any,
    X: Any,
    audit: Any,
    y: Any = None,
    *,
    by: Any = None,
    top: int | None = None,
    level: float = 0.95,
    cross_fit: bool | None = None,
    model_error: float = 0.0,
) -> AuditEstimate:
    """Estimate prevalence and hidden positives from an audit.

    The model helps and is not trusted: the difference estimator is right whatever it says.

    Parameters
    ----------
    model : TableClassifier or classifier
        Fitted.
    X : path, DataFrame, scan or Table; or features, also as a Dask array
        The rows of fit.
    audit : Audit, path or DataFrame, or a list of them
        What was found. :func:`as_audit` says how rows were chosen, if not at random, and how often
        reviewers err.
    y : array-like, default=None
        Labels, where X are features.
    by : str or array-like, default=None
        Groups for which the prevalence is wanted too.
    top : int, default=None
        Length of a list whose precision is wanted from its audited rows.
    level : float, default=0.95
        Of the intervals.
    cross_fit : bool, default=None
        Whether the audited classes are in the model's likelihood, so that it must be fitted again
        without them; None looks at the table.
    model_error : float, default=0.0
        Standard error of the model's prevalence, for the test whether model and audit agree: 0
        asks whether this very model expected what was found; see :func:`model_error`.

    Returns
    -------
    estimate : AuditEstimate
    """
    check_level(level)
    audit = as_audit(audit)
    answered = Audit(audit.frame[audit.answered].reset_index(drop=True), audit.kind)
    if len(answered) == 0:
        raise SheetError("nobody has looked at a row of this audit yet: every class is empty.")
    if cross_fit is None:
        cross_fit = isinstance(X, Table) and X.audit is not None and audit.in_likelihood
    fold, models = None, ()
    if cross_fit:
        fold = audit_folds(answered, X)
        models = fold_models(_fitted(model), X, answered, fold)
    blocks = blocks_of(model, X, y, Request(by=by, models=models))
    gathered = gather(blocks, answered.ids, 0 if top is None else top)
    check_population(audit.frame, gathered.open, audit.lost)
    return _concluded(_Case(audit, answered, gathered, fold, level, model_error), top)


def _fitted(model: Any) -> FittedTable:
    return model if isinstance(model, FittedTable) else model.fitted_


@dataclass(frozen=True)
class _Case:
    """An audit joined with its table."""

    audit: Audit
    answered: Audit
    gathered: Gathered
    fold: Ints | None
    level: float
    model_error: float

    @property
    def h(self) -> Floats:
        return own_h(self.gathered.h, self.fold)

    def answers(self, unsure: float | None) -> Floats:
        """Classes, with one value for all that nobody could tell; None is the stratum's mean."""
        y = self.answered.y.copy()
        gone = np.isnan(y)
        if unsure is not None:
            y[gone] = unsure
        for k in np.unique(self.answered.stratum_number[gone & np.isnan(y)]):
            mine = self.answered.stratum_number == k
            classes = y[mine & ~gone]
            y[mine & gone] = classes.mean() if len(classes) else np.nanmean(self.answered.y)
        return y

    def drawn(self, inside: Any, domain: Population, unsure: float | None = None) -> Drawn:
        """The audited units of a domain: rows, or clusters and weighted rows with their sums.

        Where h of the domain is not known, the model does not help.
        """
        audit = self.answered
        number, rounds = audit.stratum_number, audit.round - audit.round.min()
        first = np.unique(number, return_index=True)[1]
        all_h = mean_h(domain.h, self.fold)
        helped = not np.isnan(all_h)
        y, h, binary = self.answers(unsure), self.h if helped else 0 * self.h, True
        counted = inside
        if audit.cluster is not None or self.gathered.weighted:
            y, h, binary = (
                y * self.gathered.weight * inside,
                h * self.gathered.weight * inside,
                False,
            )
            counted = np.ones(len(y), dtype=bool)
        n = np.bincount(number).astype(float)
        units = Drawn(
            y=y[counted],
            h=h[counted],
            stratum=number[counted],
            round=rounds[counted],
            size=audit.frame["of"].to_numpy(dtype=float)[first],
            round_of=rounds[first],
            domain=np.bincount(number[counted], minlength=len(n)) / n,
            all_h=all_h if helped else 0.0,
            all_rows=domain.open,
            binary=binary,
        )
        return units if audit.cluster is None else units.summed(audit.cluster)

    def total(self, inside: Any, domain: Population) -> Total:
        """Number of positives of unknown class in a domain, whatever the unsure rows are."""
        estimate = difference(self.drawn(inside, domain), self.level)
        low, high = estimate.low, estimate.high
        if self.answered.unsure[inside].any():
            low = min(low, difference(self.drawn(inside, domain, 0.0), self.level).low)
            high = max(high, difference(self.drawn(inside, domain, 1.0), self.level).high)
        return self._corrected(replace(estimate, low=low, high=high), domain.open)

    def _corrected(self, estimate: Total, rows: float) -> Total:
        """What the reviewers' errors leave of it: T = (T_hat - N fp) / (1 - fp - fn)."""
        false_positive, false_negative = self.audit.reviewer_error
        reliability = 1 - false_positive - false_negative

        def undone(total: float) -> float:
            return float(np.clip((total - rows * false_positive) / reliability, 0, rows))

        value, low, high = map(undone, (estimate.value, estimate.low, estimate.high))
        return replace(estimate, se=estimate.se / reliability, value=value, low=low, high=high)


def _concluded(case: _Case, top: int | None) -> AuditEstimate:
    gathered, population = case.gathered, case.gathered.population
    everywhere = np.ones(len(case.answered), dtype=bool)
    answered = ~np.isnan(case.answered.y)
    agreement, calibration = _compared(case, answered)
    shared: dict[str, Any] = {
        "kind": case.audit.kind,
        "agreement": agreement,
        "calibration": calibration,
        "bounds": _bounds(case, population),
        "blank": int((~case.audit.answered).sum()),
        "unsure": int(case.audit.unsure.sum()),
        "rounds": len(np.unique(case.audit.round)),
        "reviewer_error": case.audit.reviewer_error,
    }
    if case.audit.kind != "drawn":
        return AuditEstimate(
            **shared, prevalence=None, hidden=None, groups={}, listed=None, signs=None, lam=0.0
        )
    total = case.total(everywhere, population)
    groups = {
        name: _prevalence(case.total(gathered.group == name, domain), domain, case.level, name)
        for name, domain in gathered.groups.items()
        if name and (gathered.group == name).any()
    }
    return AuditEstimate(
        **shared,
        prevalence=_prevalence(total, population, case.level),
        hidden=Estimate(
            "hidden positives", total.value, total.se, total.low, total.high, case.level, total.how
        ),
        groups=groups,
        listed=_listed(case, top),
        signs=signs(case.drawn(everywhere, population), case.audit.lost),
        lam=total.lam,
        total=total,
    )


def _prevalence(total: Total, population: Population, level: float, group: str = "") -> Estimate:
    name = f"prevalence of {group}" if group else "prevalence"
    value, low, high = (
        (population.positive + count) / population.rows
        for count in (total.value, total.low, total.high)
    )
    return Estimate(
        name, value, total.se / population.rows, low, high, level, f"audit, {total.how}"
    )


def _listed(case: _Case, top: int | None) -> Estimate | None:
    """Precision of the list that was planned, or of one of ``top`` rows, by its audited rows."""
    inside, first = case.answered.on_list, case.gathered.first
    if inside is not None:
        each = case.answered.frame[inside].drop_duplicates("stratum")
        rows = float(each["of"].sum())
        h = np.full(case.gathered.h.shape[1], np.nan)  # of rows that have changed since
    elif top is not None and len(first):
        inside, rows = case.gathered.h[:, 0] >= first[-1], float(len(first))
        h = np.full(case.gathered.h.shape[1], first.sum())
    if inside is None or not inside.any():
        return None
    total = case.total(inside, Population(rows, 0.0, rows, h))
    value, se, low, high = (x / rows for x in (total.value, total.se, total.low, total.high))
    return Estimate("precision of the list", value, se, low, high, case.level, total.how)


def _bounds(case: _Case, population: Population) -> tuple[float, float]:
    """Least and largest prevalence, if what nobody looked at were all negative or all positive."""
    answered = ~np.isnan(case.answered.y)
    weight, y = case.gathered.weight[answered], case.answered.y[answered]
    least = population.positive + float(weight @ y)
    most = population.positive + population.open - float(weight @ (1 - y))
    return least / population.rows, most / population.rows


def _compared(case: _Case, answered: Any) -> tuple[Agreement, Calibration]:
    """The model's expectation of the rows whose class was found, and h put right."""
    y, h = case.answered.y[answered], case.h[answered]
    false_positive, false_negative = case.audit.reviewer_error
    reviewed = (
        false_positive + (1 - false_positive - false_negative) * h
    )  # what a reviewer would say
    whole = case.gathered.population
    error = len(y) * case.model_error * whole.rows / max(whole.open, 1.0)  # all of it is hidden
    spread = np.hypot(np.sqrt(float(reviewed @ (1 - reviewed))), error)
    gap = max(abs(float((y - reviewed).sum())) - 0.5, 0.0)  # counts move in steps of one
    p = float(2 * norm.sf(gap / spread)) if spread > 0 else float(gap == 0)
    chance = case.answered.frame["chance"].to_numpy(dtype=float)[answered]
    weight = np.where(np.isnan(chance), 1.0, 1 / chance)
    agreement = Agreement(len(y), float(y.sum()), float(reviewed.sum()), p)
    return agreement, calibrate(y, h, weight)


def model_error(model: Any, table: Table) -> float:
    """Standard error of the prevalence of a model fitted to a table; 0 if its method has none."""
    fitted = _fitted(model)
    if method_of(fitted.classifier).intervals is None or not fitted.classifier.converged_:
        return 0.0
    return error_of(fitted.infer(table).reliable_prevalence())


def error_of(answer: Interval) -> float:
    """Standard error that an estimate with a 95% interval is as good as having."""
    if answer.low is None or answer.high is None:
        return 0.0
    return (answer.high - answer.low) / (2 * float(norm.ppf(0.975)))
