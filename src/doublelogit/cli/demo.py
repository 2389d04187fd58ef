"""``doublelogit demo``: a report of a bundled table, beside the truth."""

from pathlib import Path
from typing import Annotated, Any

import typer

from doublelogit.cli import options

EXAMPLE = "Example: [bold]doublelogit demo --out demo[/bold]"


def demo(
    folder: Annotated[Path, typer.Option("--out", "-o", help="Directory of the results.")] = Path(
        "doublelogit-demo"
    ),
    rows: Annotated[int, typer.Option(min=500, max=32561, help="Rows of the table.")] = 6000,
    seed: options.Seed = 0,
    resamples: options.Resamples = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
) -> None:
    """Report on a census table whose positives were hidden by a known, biased mechanism."""
    _demo(folder, rows, seed, resamples, as_json)


def _demo(out: Path, n_rows: int, seed: int, resamples: int | None, as_json: bool) -> None:
    from doublelogit.cli.report import show
    from doublelogit.cli.terminal import console, heading, print_json, print_table
    from doublelogit.datasets import load_census

    census = load_census(n_rows, random_state=seed)
    if not as_json:
        _introduce(census)
    out.mkdir(parents=True, exist_ok=True)
    page = out / "report.html"
    report = _report(census, out, page, seed, resamples, as_json)
    numbers, summary = report.write_html(page), report.to_dict()
    if as_json:
        print_json({**summary, "report": str(page)})
        return
    command = summary["command"]
    console().print(f"\n What was run, on the table without the truth:\n {command}", soft_wrap=True)
    heading("Beside the truth")
    lines = [[line["what"], line["truth"], line["estimate"]] for line in summary["truth"]["lines"]]
    print_table(["", "truth", "estimate"], lines)
    show(report, page, numbers)


def _introduce(census: Any) -> None:
    from doublelogit.cli.terminal import heading, say

    labelled = int((census.frame["on_record"] == "yes").sum())
    heading("A census table with categories, missing values and biased labels")
    say(
        "fine",
        f"{len(census.frame):,} people, of whom {int(census.target.sum()):,} earn more than "
        f"$50,000. {labelled:,} of those are on record; the self-employed and the old are less "
        "often.",
    )


def _report(
    census: Any, out: Path, page: Path, seed: int, resamples: int | None, as_json: bool
) -> Any:
    """The report, computed, of the table as it is written for the user."""
    from doublelogit import Report, Roles, TableClassifier
    from doublelogit.cli.terminal import progress
    from doublelogit.report.report import check_page
    from doublelogit.tables import Table
    from doublelogit.tables.write import write_table

    path = out / "census.csv"
    check_page(page)
    if path.exists() and not path.read_bytes().startswith(b"person,"):
        raise ValueError(f"the demo writes {str(path)!r}, where there is a file of another kind.")
    write_table(census.frame, path)
    roles = Roles("on_record", id="person", by="sex", propensity_features=census.drivers)
    command = (
        f"doublelogit report {path} --label on_record --id person --by sex "
        f"--propensity-features {','.join(census.drivers)} --show-ids --out {page}"
    )
    with progress(as_json) as step:
        table = Table.from_frame(census.frame, roles)
        step("fitting", 0.0)
        report = Report(
            TableClassifier(roles).fit(table),
            table,
            show_ids=True,
            random_state=seed,
            n_resamples=resamples,
            progress=step,
            source=path.name,
            command=command,
            truth=(census.target, census.propensity),
        )
        report.to_dict()
    return report
