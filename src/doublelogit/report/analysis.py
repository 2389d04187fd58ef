"""The context of a page: everything that its sections share, computed when it is first needed."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from doublelogit._types import Floats
from doublelogit.audit import AuditEstimate, error_of, estimate
from doublelogit.common.thresholds import LARGE_SAMPLE, RARE_PROPENSITY
from doublelogit.findings import Finding
from doublelogit.findings import audit as audits
from doublelogit.fitted.fit import Orientation
from doublelogit.fitted.protocol import Probabilities
from doublelogit.inference import Inference, ScarTest, scar_test
from doublelogit.report.answers import (
    AUDITED,
    BIASED,
    Answer,
    Bound,
    all_negative,
    at_random,
    with_false_labels,
)
from doublelogit.report.doubt import Doubt
from doublelogit.report.drivers import Coefficient, coefficients
from doublelogit.report.flexible import flexible_classes
from doublelogit.report.opinions import FirstRows, Progress, other_methods, silent
from doublelogit.report.residuals import worst_residuals
from doublelogit.table_models.table_doubts import TableDoubts
from doublelogit.table_models.table_model import FittedTable, quietly
from doublelogit.table_models.table_rows import TableRows
from doublelogit.tables import Table

# Samples of the test of SCAR at most, by the cells of a table. Of 199 samples five may be larger
# where bias is said (p = .03), of 99 one (.02), of 59 or 39 none; of fewer it is never said.
DRAWS = ((50_000, 99), (400_000, 59))
FEWEST_DRAWS = 39
LIST = 50  # rows of the list that an audit judges


@dataclass(frozen=True)
class Shown:
    """Choices of what a page shows.

    Parameters
    ----------
    top : int, default=100
        Rows of the ranked list.
    show_ids : bool, default=False
        Whether the list names rows by their ids, which may be patients.
    source, command : str, default=""
        Origin of the table, and the command that made the page.
    truth : tuple of (class, propensity), default=None
        True class and propensity of every row, in demonstrations.
    """

    top: int = 100
    show_ids: bool = False
    source: str = ""
    command: str = ""
    truth: tuple[Any, Any] | None = None


@dataclass(frozen=True)
class Analysis:
    """A fitted table from all sides; each is computed when it is first asked for.

    A page asks for all of them, ``check`` for some.
    """

    table: Table
    model: FittedTable
    X: Any  # the table as numbers
    random_state: int = 0
    n_resamples: int | None = None
    n_jobs: int | None = None
    progress: Progress = silent
    shown: Shown = Shown()

    @cached_property
    def doubts(self) -> TableDoubts:
        """Doubts about the table, from the fit unless the model comes from a file."""
        return self.model.doubts or TableDoubts.of(self.table)

    @cached_property
    def test(self) -> ScarTest:
        """Whether labelling is at random."""
        return scar_verdict(
            self.table,
            self.X,
            random_state=self.random_state,
            n_resamples=self.n_resamples,
            n_jobs=self.n_jobs,
            progress=partial(self.progress, "testing SCAR"),
        )

    @cached_property
    def bound(self) -> Bound:
        """The fit with its rows."""
        self.progress("intervals", 0.0)
        return Bound.to_rows(self.model.classifier, self.table, self.X)

    @property
    def inference(self) -> Inference | None:
        """What can be inferred from the fit; None where the method has none."""
        return self.bound.inference

    @cached_property
    def main(self) -> Answer:
        """The prevalence that the fit finds."""
        return self.bound.answer(BIASED)

    @cached_property
    def naive(self) -> Answer:
        """The prevalence if every unlabelled row were negative."""
        return all_negative(self.table)

    @cached_property
    def scar(self) -> Answer:
        """The prevalence if labelling were at random."""
        self.progress("other assumptions", 0.0)
        return at_random(self.model, self.table, self.X)

    @cached_property
    def swapped(self) -> Answer | None:
        """The prevalence with class and labelling swapped; None where that is no solution."""
        return self.bound.swapped()

    @cached_property
    def groups(self) -> dict[str, Answer]:
        """The prevalence by group."""
        return self.bound.by_group()

    @cached_property
    def false_labels(self) -> dict[float, Answer]:
        """The prevalence if some of the labels were wrong."""
        return with_false_labels(self.bound, self.main.value, self.progress)

    @cached_property
    def audit(self) -> AuditEstimate | None:
        """What the audit of the table says; None where there is none."""
        if self.table.audit is None:
            return None
        self.progress("intervals", 0.5)
        error = error_of(self.main)
        by = self.table.roles.by
        return estimate(self.model, self.table, self.table.audit, by=by, model_error=error)

    @property
    def audit_answer(self) -> Answer | None:
        """The prevalence by the audit, whatever the model; None if no chances are known."""
        if self.audit is None or self.audit.prevalence is None:
            return None
        return Answer.from_estimate(AUDITED, self.audit.prevalence)

    @cached_property
    def audited_list(self) -> Finding | None:
        """The first rows of the list: the model's claim, and the claim corrected by the audit."""
        hidden = self.probabilities.hidden[self.table.unlabelled]
        first = np.sort(hidden)[::-1][:LIST]
        if self.audit is None or len(first) == 0 or self.audit.kind == "convenience":
            return None
        corrected = self.audit.calibration.mean(first)
        return audits.listed(len(first), float(first.sum()), corrected)

    @property
    def audited(self) -> bool:
        """Whether the class of some rows is recorded."""
        audited = self.table.audited
        return audited is not None and bool(np.isfinite(audited).any())

    @cached_property
    def coefficients(self) -> list[Coefficient]:
        """Every term of both models."""
        return coefficients(self.model, self.inference, self.X.columns.tolist())

    @cached_property
    def model_doubt(self) -> Doubt:
        """What flexible models say of the answer, and the labels of the model."""
        self.progress("other models", 0.0)
        said, first = self.probabilities, FirstRows.of(self.table, self.probabilities.listed)
        return Doubt(
            main=self.main,
            own=first.opinion(self.model.method, said.positive, said.hidden),
            first=first,
            methods=[],
            flexible=flexible_classes(self.model, first, said, self._rng),
            misfits=[] if self.inference is None else self.inference.misfits,
            residuals=worst_residuals(self.table, said.label),
            drivers=[c for c in self.coefficients if c.drives_labelling and c.term in self.X],
        )

    @cached_property
    def doubt(self) -> Doubt:
        """The same, with what every other method says."""
        others = other_methods(self.model, self.model_doubt.first, self._rng, self.progress)
        return replace(self.model_doubt, methods=others)

    @property
    def _rng(self) -> np.random.Generator:
        return np.random.default_rng(self.random_state)

    @cached_property
    def rows(self) -> TableRows:
        """The rows with their probabilities, which are computed once."""
        return TableRows(self.model, self.table)

    @property
    def probabilities(self) -> Probabilities:
        """Probabilities of every row."""
        return self.rows.probabilities

    @property
    def weight(self) -> Floats:
        """Number of times each row counts."""
        return self.table.row_weight

    @property
    def weak(self) -> bool:
        """Whether the labels hardly determine the prevalence, so that curvature misleads."""
        return self.inference is not None and self.inference.undetermined

    @property
    def orientation(self) -> Orientation | None:
        """What told class and labelling apart; None if the method has no rule."""
        return self.model.classifier.orientation_

    @property
    def clear(self) -> bool:
        """Whether class and labelling are told apart, as far as the method knows."""
        return self.orientation is None or self.orientation.clear

    @property
    def hidden(self) -> float:
        """Expected number of positives among the unlabelled rows."""
        return float(self.weight @ (self.probabilities.hidden * (self.table.s == 0)))

    @cached_property
    def hidden_interval(self) -> tuple[float, float] | None:
        """Their 95% interval; None where the method has none."""
        if self.inference is None:
            return None
        found = quietly(self.inference.hidden)
        return found.low, found.high

    @property
    def rare_share(self) -> float:
        """Share of the expected positives whose propensity is below 5%."""
        positives = self.weight * self.probabilities.positive
        rare = self.probabilities.propensity < RARE_PROPENSITY
        return float(positives @ rare / positives.sum())


def analyse(
    model: FittedTable,
    table: Table,
    *,
    random_state: int = 0,
    n_resamples: int | None = None,
    n_jobs: int | None = None,
    progress: Progress = silent,
    shown: Shown | None = None,
) -> Analysis:
    """Everything that the report of a fitted table compares the fit with.

    Parameters
    ----------
    model : FittedTable
        Fitted to the table.
    table : Table
        Rows with their roles.
    random_state : int, default=0
        Seed of everything that is drawn.
    n_resamples : int, default=None
        Samples of the test of SCAR, at most; 99, 59 or 39 by the size of the table if not given,
        and none above 20,000 rows, where the chi-square law takes their place.
    n_jobs : int, default=None
        Threads of the test; by the size of the table if not given.
    progress : callable, default=silent
        Called with the name of a step and the share of it that is done.
    shown : Shown, default=None
        What the page shows of it; the defaults of Shown if not given.
    """
    X = table.encoded(model.encoding)
    drawing = (random_state, n_resamples, n_jobs)
    return Analysis(table, model, X, *drawing, progress, shown or Shown())


def scar_verdict(
    table: Table,
    X: Any,
    *,
    random_state: int,
    progress: Callable[[float], None],
    n_resamples: int | None = None,
    n_jobs: int | None = None,
) -> ScarTest:
    """The likelihood-ratio test, its p-value from samples unless there are too many rows."""
    progress(0.0)
    if len(table) > LARGE_SAMPLE and n_resamples is None:
        return scar_test(X.to_numpy(), table.s, asymptotic=True)
    cells = X.shape[0] * X.shape[1]
    enough = next((draws for most, draws in DRAWS if cells < most), FEWEST_DRAWS)
    return scar_test(
        X.to_numpy(),
        table.s,
        n_resamples=n_resamples or enough,
        random_state=random_state,
        n_jobs=n_jobs,
        progress=progress,
    )
