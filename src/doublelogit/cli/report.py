"""``doublelogit report``: a table in, a page out."""

from pathlib import Path
from typing import Any

from doublelogit.cli import options
from doublelogit.cli.options import Common, on_table

EXAMPLE = (
    "Example: [bold]doublelogit report patients.csv --label diagnosed --id patient "
    "--propensity-features visits,region --by sex --out report.html[/bold]"
)


@on_table()
def report(
    table: options.Table,
    common: Common,
    out: options.Out = None,
    method: options.Method = options.DEFAULT,
    top: options.Top = 100,
    show_ids: options.ShowIds = False,
    seed: options.Seed = 0,
    resamples: options.Resamples = None,
) -> None:
    """Write a report of a table: prevalence, drivers, a ranked list, how far to trust it."""
    from doublelogit.cli.terminal import print_json, progress
    from doublelogit.report import analyse, summarise, write_report

    path = out or Path(f"{table.stem}-report.html")
    with progress(common.json) as step:
        rows = common.table(table)
        analysis = analyse(rows, method=method, seed=seed, n_resamples=resamples, progress=step)
        step("writing", 0.0)
        command = options.asked()
        summary = summarise(
            analysis, top=top, show_ids=show_ids, source=table.name, command=command
        )
        numbers = write_report(summary, path)
    if common.json:
        print_json({**summary, "report": str(path)})
    else:
        show(summary, path, numbers)


def show(summary: dict[str, Any], path: Path, numbers: Path) -> None:
    """The verdict, and where the page is."""
    from rich.padding import Padding
    from rich.text import Text

    from doublelogit.cli.terminal import console, heading, say

    heading(f"{summary['source']}: the verdict")
    for sentence in summary["verdict"]:
        say(sentence["level"], sentence["text"])
    heading("Next")
    console().print(Padding(Text(summary["recommendation"]), (0, 0, 0, 1)))
    heading("Written")
    console().print(f" {path.resolve()}\n {numbers.resolve()}", markup=False, soft_wrap=True)
