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
from doublelogit.studies.experiments.tables import data_table, result_tables

# What is made of the results of each kind of plan.
OUTPUTS = {
    "paper": (result_tables, figures),
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
    with Store(request.out).locked() as store:
        arguments: dict[str, Any] = {
            "datasets": request.datasets,
            "repetitions": request.repetitions,
        }
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
    write(rows, plan, mode, request.out, console)
    return True


def write(rows: pd.DataFrame, plan: Plan, mode: str, out: Path, console: Console) -> None:
    """Tables, figures, and a summary on the screen."""
    if not (rows["status"] == "ok").any():
        raise ValueError(f"every cell failed; the first: {rows['reason'].iloc[0]}")
    make_tables, make_figures = OUTPUTS[plan.kind]
    with console.status("tables"):
        for table in (data_table(plan, mode), *make_tables(rows, plan, mode)):
            table.write(out / "tables")
    with console.status("figures"):
        for figure in make_figures(rows, plan, mode):
            figure.write(out / "figures")
    here = rows[rows["mode"] == mode]
    overview = _overview if plan.kind == "paper" else _scores
    console.print(overview(here, plan, mode), _times(here))
    failed = here[here["status"] != "ok"]
    if len(failed):
        reason = failed["reason"].mode()[0]
        console.print(f"[red]{len(failed)} cells failed[/]; most often: {reason}")
    console.print(f"Tables (CSV, Markdown) and figures (SVG, PNG) are in {out}")


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


def _scores(rows: pd.DataFrame, plan: Plan, mode: str) -> Screen:
    """Mean scores of every method over all families: more methods than a line has room for."""
    done = described(rows, plan, mode).assign(all=0)
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
