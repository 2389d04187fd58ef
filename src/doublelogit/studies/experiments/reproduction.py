"""Run a plan with a progress bar, then write its tables and figures."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table as Screen

from doublelogit.studies.experiments.cells import SEPARATOR, Cells
from doublelogit.studies.experiments.comparison import (
    SCORES,
    comparison_tables,
    described,
    over_families,
)
from doublelogit.studies.experiments.comparison_figures import comparison_figures
from doublelogit.studies.experiments.figures import figures
from doublelogit.studies.experiments.plan import Plan, load_plan
from doublelogit.studies.experiments.run import current, pending, run
from doublelogit.studies.experiments.store import Store
from doublelogit.studies.experiments.summary import average_ranks, summarise, time_shares
from doublelogit.studies.experiments.tables import data_table, paper_tables

# What is made of the results of each kind of plan. A paper's tests are paired by draw and need
# rows; a comparison needs cells only, so that it also resumes from committed ones.
OUTPUTS = {
    "paper": (paper_tables, figures),
    "comparison": (comparison_tables, comparison_figures),
}
SHOWN = ("approximation_error", "prevalence_error", "balanced_accuracy", "auc", "precision_at_50")
SHORT = {"accuracy": "accuracy", "approximation_error": "AE"}


@dataclass(frozen=True)
class Request:
    """What is to be reproduced, and where the results go."""

    plan: Plan
    mode: str
    datasets: list[str] | None
    repetitions: int | None
    out: Path

    @classmethod
    def from_options(
        cls,
        plan: str,
        *,
        mode: str | None = None,
        datasets: str | None = None,
        repetitions: int | None = None,
        quick: bool = False,
        out: Path | None = None,
    ) -> "Request":
        """From what was typed on the command line."""
        if repetitions is not None and repetitions < 1:
            raise ValueError(f"repetitions must be at least 1; got {repetitions}.")
        if Path(plan).is_file():  # a plan may name modules that lie beside it
            sys.path.insert(0, str(Path(plan).resolve().parent))
        whole = load_plan(plan)
        names = [name.strip() for name in datasets.split(",") if name.strip()] if datasets else None
        # naming data sets overrules the choice that the quick part makes
        chosen = whole.shortened(every_dataset=bool(names)) if quick else whole
        default = f"reproduce-{whole.name}" + ("-quick" if quick else "")
        request = cls(chosen, mode or chosen.modes[0], names, repetitions, out or Path(default))
        chosen.draws(request.mode, names, repetitions)  # a wrong name is an error before any work
        return request


def reproduce(
    request: Request, *, jobs: int = -1, dask: str | None = None, console: Console | None = None
) -> bool:
    """Fill the store and write the tables; False if interrupted, with all that is done kept."""
    console = console or Console()
    plan, mode = request.plan, request.mode
    cells_file = Cells(request.out)
    with Store(request.out).locked() as store:
        arguments: dict[str, Any] = {
            "datasets": request.datasets,
            "repetitions": request.repetitions,
        }
        if plan.kind == "comparison":
            arguments["summarised"] = cells_file.repetitions(plan, mode)
        cells = sum(len(task.methods) for task in pending(plan, mode, store, **arguments))
        n_before = len(store.frame())
        console.print(f"[bold]{plan.name}[/], {mode}: {cells} cells to run, {n_before} in {store}")
        try:
            with _bar(console) as bar:
                task = bar.add_task(mode, total=cells, speed=0.0, failures=0)
                run(plan, mode, store, jobs=jobs, dask=dask, progress=_Told(bar, task), **arguments)
        except KeyboardInterrupt:
            store.compact()
            console.print(
                f"[yellow]Interrupted.[/] {len(store.frame()) - n_before} cells were added and are "
                f"kept in {store}; run the same command again to go on."
            )
            return False
        rows = current(store.frame(), plan, mode)
        cells_of_mode = cells_file.add(rows, plan, mode)
    write(rows, cells_of_mode, plan, mode, request.out, console)
    return True


def write(
    rows: pd.DataFrame, cells: pd.DataFrame, plan: Plan, mode: str, out: Path, console: Console
) -> None:
    """Tables, figures, and a summary on the screen."""
    if (cells["repetitions"] == cells["failed"]).all():
        raise ValueError(f"every cell failed; the first: {cells['reasons'].iloc[0]}")
    if plan.kind == "paper" and cells["repetitions"].sum() > len(rows):
        console.print(
            f"Tables and figures stay: they were made from {cells['repetitions'].sum()} results, "
            f"of which {len(rows)} have rows here. Run into another directory to make your own."
        )
        return
    make_tables, make_figures = OUTPUTS[plan.kind]
    results = rows if plan.kind == "paper" else cells
    with console.status("tables"):
        for table in (data_table(plan, mode), *make_tables(results, plan, mode)):
            table.write(out / "tables")
    with console.status("figures"):
        for figure in make_figures(results, plan, mode):
            figure.write(out / "figures")
    overview = _overview if plan.kind == "paper" else _scores
    console.print(overview(results, plan, mode), *([_times(rows)] if len(rows) else []))
    failed = cells[cells["failed"] > 0]
    if len(failed):
        reason = failed["reasons"].str.split(SEPARATOR).explode().mode()[0]
        console.print(f"[red]{failed['failed'].sum()} cells failed[/]; most often: {reason}")
    console.print(f"Tables (CSV, Markdown) and figures (SVG) are in {out}")


class _Told:
    """Passes on to the bar what the runner tells after every draw."""

    def __init__(self, bar: Progress, task: Any) -> None:
        self.bar, self.task, self.failures = bar, task, 0

    def __call__(self, done: int, total: int, rows: list[dict[str, Any]]) -> None:
        self.failures += sum(row["status"] != "ok" for row in rows)
        self.bar.update(self.task, advance=len(rows))
        task = self.bar.tasks[self.task]
        speed = task.completed / max(task.elapsed or 0.0, 1e-9)
        self.bar.update(self.task, speed=speed, failures=self.failures)


def _bar(console: Console) -> Progress:
    text = "{task.fields[speed]:.1f}/s  {task.fields[failures]} failed "
    return Progress(
        BarColumn(bar_width=max(10, console.width - 72)),
        MofNCompleteColumn(),
        TextColumn(f"cells  {text}"),
        TimeElapsedColumn(),
        TextColumn("gone "),
        TimeRemainingColumn(),
        TextColumn("left"),
        console=console,
    )


def _overview(rows: pd.DataFrame, plan: Plan, mode: str) -> Screen:
    """Average ranks: the one number per method that the paper compares."""
    methods = plan.peers(mode)
    ranks = average_ranks(summarise(rows[rows["method"].isin(methods)]))
    screen = Screen(title="Average rank over data sets (1 is best, ORACLE counted)")
    screen.add_column("scenario, metric")
    for method in methods:
        screen.add_column(method, justify="right")
    for (scenario, metric), part in ranks.groupby(["scenario", "metric"]):
        by = part.set_index("method")["rank"]
        line = [f"{by[m]:.1f}" if m in by else "" for m in methods]
        screen.add_row(f"{scenario}, {SHORT[metric]}", *line)
    return screen


def _scores(cells: pd.DataFrame, plan: Plan, mode: str) -> Screen:
    """Mean scores of every method over all families: more methods than a line has room for."""
    done = described(cells, plan, mode).assign(all=0)
    shown = [name for name in SHOWN if name in done]
    means = pd.DataFrame({name: over_families(done, name, ["all"]).loc[0] for name in shown})
    screen = Screen(title=f"Means over {done['family'].nunique()} families")
    screen.add_column("method")
    for name in shown:
        screen.add_column(SCORES[name], justify="right")
    for method in (m.name for m in plan.methods_of(mode) if m.name in means.index):
        screen.add_row(method, *(f"{value:.3f}" for value in means.loc[method]))
    return screen


def _times(rows: pd.DataFrame) -> Screen:
    screen = Screen(title="Time per method")
    for name in ("method", "share", "seconds", "median s/cell"):
        screen.add_column(name, justify="left" if name == "method" else "right")
    for line in time_shares(rows).itertuples():
        screen.add_row(
            line.method, f"{line.share:.1%}", f"{line.seconds:.1f}", f"{line.median:.4f}"
        )
    return screen
