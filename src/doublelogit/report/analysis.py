"""The context of a page: everything that its sections share, computed when it is first needed."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from doublelogit._types import Floats
from doublelogit.audit import AuditEstimate, error_of, estimate
from doublelogit.common.thresholds import LARGE_SAMPLE
from doublelogit.findings import Finding
from doublelogit.findings import audit as audits
from doublelogit.fitted.protocol import Probabilities
from doublelogit.inference import Inference, ScarTest, scar_test
from doublelogit.report.answers import (
    AUDIT_ALONE,
    BIASED,
    Answer,
    answer,
    at_random,
    inferred,
    swapped,
)
from doublelogit.report.doubt import Doubt
from doublelogit.report.drivers import Coefficient, coefficients
from doublelogit.report.opinions import (
    LIST_LENGTH,
    LabelGain,
    Opinion,
    Progress,
    first_rows,
    other_methods,
    silent,
)
from doublelogit.report.residuals import worst_residuals
from doublelogit.table_models.table_doubts import TableDoubts
from doublelogit.table_models.table_model import FittedTable
from doublelogit.table_models.table_rows import FrameRows
from doublelogit.tables import Table

# Samples of the test of SCAR at most, by the cells of a table. Of 199 samples five may be larger
# where bias is stated (p = .03), of 99 one (.02), of 59 or 39 none; of fewer it is never stated.
MOST_DRAWS = ((50_000, 99), (400_000, 59))
FEWEST_DRAWS = 39


@dataclass(frozen=True)
class Analysis:
    """A fitted table from all sides; each is computed when it is first asked for.

    A page asks for all of them, ``check`` for some. ``model`` is fitted to the table; the other
    parameters are those of :class:`doublelogit.Report`.
    """

    model: FittedTable
    table: Table
    top: int = 100
    show_ids: bool = False
    random_state: int = 0
    n_resamples: int | None = None
    n_jobs: int | None = None
    progress: Progress = silent
    source: str = ""
    command: str = ""
    truth: tuple[Any, Any] | None = None

    @cached_property
    def X(self) -> Any:  # noqa: N802
        """The table as numbers."""
        return self.table.encoded(self.model.encoding)

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
    def inference(self) -> Inference | None:
        """What can be inferred from the fit; None where the method has none."""
        self.progress("intervals", 0.0)
        return inferred(self.model.classifier, self.table, self.X)

    @cached_property
    def main(self) -> Answer:
        """The prevalence by the fit."""
        return answer(BIASED, self.model.classifier, self.table, self.X, self.inference)

    @cached_property
    def scar(self) -> Answer:
        """The prevalence if labelling were at random."""
        self.progress("other assumptions", 0.0)
        return at_random(self.model, self.table, self.X)

    @cached_property
    def swapped(self) -> Answer | None:
        """The prevalence with class and labelling swapped; None where that is no solution."""
        return swapped(self.model.classifier, self.table, self.X)

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
        """The prevalence by the audit, whatever the model; None without chances of the draw."""
        if self.audit is None or self.audit.prevalence is None:
            return None
        return Answer.from_estimate(AUDIT_ALONE, self.audit.prevalence)

    @cached_property
    def audited_list(self) -> Finding | None:
        """The first rows of the list: the model's claim, and the claim corrected by the audit."""
        first = self.first_chances
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
        """What the labels say of the model."""
        self.progress("other models", 0.0)
        model, table, p = self.model, self.table, self.probabilities
        first = first_rows(table, p.listed)
        return Doubt(
            main=self.main,
            page=Opinion.on(table, first, model.method, p.positive, p.hidden),
            first=first,
            methods=[],
            label_gain=LabelGain.of(table, self.X),
            bends=model.bends,
            misfits=[] if self.inference is None else self.inference.misfits,
            residuals=worst_residuals(table, p.label),
        )

    @cached_property
    def doubt(self) -> Doubt:
        """The doubt of the model with the opinions of every other method."""
        first, rng = self.model_doubt.first, np.random.default_rng(self.random_state)
        methods = other_methods(self.model, self.table, first, rng, self.progress)
        return replace(self.model_doubt, methods=methods)

    @cached_property
    def rows(self) -> FrameRows:
        """The rows with their probabilities, which are computed once."""
        return FrameRows.of(self.model, self.table)

    @property
    def probabilities(self) -> Probabilities:
        """Probabilities of every row."""
        return self.rows.probabilities

    @property
    def first_chances(self) -> Floats:
        """Probabilities of the first rows of the list, which advice and audits are about."""
        hidden = self.probabilities.hidden[self.table.unlabelled]
        return np.sort(hidden)[::-1][:LIST_LENGTH]

    @property
    def weak(self) -> bool:
        """Whether the labels hardly determine the prevalence, so that curvature misleads."""
        return self.inference is not None and self.inference.undetermined

    @property
    def clear(self) -> bool:
        """Whether class and labelling are told apart, as far as the method has a rule for it."""
        orientation = self.model.classifier.orientation_
        return orientation is None or orientation.clear


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
    enough = next((draws for most, draws in MOST_DRAWS if cells < most), FEWEST_DRAWS)
    return scar_test(
        X.to_numpy(),
        table.s,
        n_resamples=n_resamples or enough,
        random_state=random_state,
        n_jobs=n_jobs,
        progress=progress,
    )
