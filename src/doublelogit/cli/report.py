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
    table: options.TablePath,
    common: Common,
    out: options.Out = None,
    method: options.Method = options.DEFAULT,
    label_model: options.LabelModel = options.ANY_SHAPE,
    top: options.Top = 100,
    show_ids: options.ShowIds = False,
    seed: options.Seed = 0,
    resamples: options.Resamples = None,
) -> None:
    """Write a report of a table: prevalence, drivers, a ranked list, how far to trust it."""
    from doublelogit import Report
    from doublelogit.cli.terminal import print_json, progress
    from doublelogit.report.report import check_page

    path = out or Path(f"{table.stem}-report.html")
    check_page(path, [table])  # before an hour's work, not after it
    with progress(common.json) as step:
        rows = common.table(table)
        written = Report(
            options.fitted(rows, common, step, method, label_model),
            rows,
            top=top,
            show_ids=show_ids,
            random_state=seed,
            n_resamples=resamples,
            progress=step,
            source=table.name,
            command=options.asked(),
        )
        numbers = written.write_html(path)
    if common.json:
        print_json({**written.to_dict(), "report": str(path)})
    else:
        show(written, path, numbers)


def show(report: Any, path: Path, numbers: Path) -> None:
    """Print the verdict, and where the page is."""
    from rich.padding import Padding

    from doublelogit.cli.terminal import console, heading, say, shown
    from doublelogit.common.wording import as_options

    summary = report.to_dict()
    heading(f"{summary['source']}: the verdict")
    for finding in report.findings:
        say(finding.level, finding.text)
    heading("Next")
    console().print(Padding(shown(as_options(summary["recommendation"])), (0, 0, 0, 1)))
    heading("Written")
    console().print(shown(f" {path.resolve()}\n {numbers.resolve()}"), soft_wrap=True)
