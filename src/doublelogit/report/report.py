"""``Report``: a fitted table as numbers, as a page, as a cell of a notebook."""

import json
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from doublelogit.common.files import check_apart, written_together
from doublelogit.exceptions import UsageError
from doublelogit.findings import Finding
from doublelogit.report import page
from doublelogit.report.analysis import Analysis
from doublelogit.report.html import render
from doublelogit.report.opinions import Progress, silent
from doublelogit.table_models.table_model import FittedTable
from doublelogit.tables import Table

PAGES = (".html", ".htm")


def _holds_report(path: Path) -> bool:
    """Whether a JSON file holds the numbers of a report, which a new one may replace."""
    try:
        numbers = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(numbers, dict) and {"verdict", "prevalence", "versions"} <= numbers.keys()


def check_page(path: Path, inputs: Sequence[str | Path] = ()) -> None:
    """Refuse a path for a page, or for the numbers beside it, that is not ours to write to."""
    numbers = path.with_suffix(".json")
    if path.suffix.lower() not in PAGES:
        raise UsageError(
            f"a report is written as {' or '.join(PAGES)}, with its numbers beside it as .json; "
            f"got {path.name!r}."
        )
    check_apart([path, numbers], inputs)
    if numbers.exists() and not _holds_report(numbers):
        raise UsageError(
            f"the numbers of a report go to {numbers.name!r}, where there is a file of another "
            "kind. Name the page differently, or move that file."
        )


class Report:
    """A report of a fitted table: prevalence, drivers, a ranked list, how far to trust it.

    Parameters
    ----------
    model : TableClassifier or FittedTable
        Fitted to the table.
    table : path, DataFrame, scan or Table
        The rows of fit.
    top : int, default=100
        Rows of the ranked list.
    show_ids : bool, default=False
        Whether the list names rows by their ids, which may be patients.
    random_state : int, default=0
        Seed of everything that is drawn.
    n_resamples : int, default=None
        Samples of the test of labelling at random; by the size of the table if not given.
    n_jobs : int, default=None
        Threads of the test; by the size of the table if not given.
    progress : callable, default=None
        Called with the name of a step and the share of it that is done.
    source, command : str, default=""
        Where the table came from, and how the report was asked for; both are shown.
    truth : tuple of (class, propensity), default=None
        True class and propensity of every row, in demonstrations.

    Examples
    --------
    >>> from doublelogit import Report, Roles, TableClassifier
    >>> from doublelogit.datasets import load_census
    >>> census = load_census(n_rows=600)
    >>> roles = Roles("on_record", id="person", features=["age", "hours_per_week"])
    >>> model = TableClassifier(roles, "joint", parameters={"n_starts": 1}).fit(census.frame)
    >>> report = Report(model, census.frame, n_resamples=19)
    >>> sorted(report.to_dict())[:3]
    ['assumptions', 'audit', 'calibration']
    """

    def __init__(
        self,
        model: Any,
        table: Any,
        *,
        top: int = 100,
        show_ids: bool = False,
        random_state: int = 0,
        n_resamples: int | None = None,
        n_jobs: int | None = None,
        progress: Progress | None = None,
        source: str = "",
        command: str = "",
        truth: tuple[Any, Any] | None = None,
    ) -> None:
        self._fitted: FittedTable = model if isinstance(model, FittedTable) else model.fitted_
        self._table = table
        self._progress = progress or silent
        drawing = (random_state, n_resamples, n_jobs)
        self._settings = (top, show_ids, *drawing, self._progress, source, command, truth)

    @cached_property
    def analysis(self) -> Analysis:
        """Everything that was computed."""
        table = Table.from_frame(self._table, self._fitted.roles)
        return Analysis(self._fitted, table, *self._settings)

    @cached_property
    def _page(self) -> tuple[list[Finding], dict[str, Any]]:
        return page.page_of(self.analysis)

    @property
    def findings(self) -> list[Finding]:
        """The verdict, most important finding first."""
        return self._page[0]

    def checks(self) -> dict[str, list[Finding]]:
        """Findings about data, labels, labelling at random and identifiability."""
        return page.checks(self.analysis)

    def to_dict(self) -> dict[str, Any]:
        """All numbers and sentences, as JSON holds them."""
        return self._page[1]

    def to_html(self) -> str:
        """One self-contained page; every text of the data is escaped."""
        return render(self._page[1])

    def write_html(self, path: str | Path) -> Path:
        """Write the page, and the numbers beside it as JSON.

        Parameters
        ----------
        path : path
            Where to write the page.

        Returns
        -------
        numbers : Path
            The JSON file.
        """
        path = Path(path)
        numbers = path.with_suffix(".json")
        check_page(path, [self._table] if isinstance(self._table, str | Path) else [])
        text = json.dumps(self.to_dict(), indent=1, allow_nan=False) + "\n"
        self._progress("drawing", 0.0)
        html = self.to_html()
        with written_together(numbers, path) as files:
            for file, content in zip(files, (text, html), strict=True):
                file.write(content.encode())
        return numbers

    def _repr_html_(self) -> str:
        from html import escape

        document = escape(self.to_html(), quote=True)
        return f'<iframe srcdoc="{document}" style="width:100%;height:45rem;border:0"></iframe>'
