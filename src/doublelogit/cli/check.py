"""``doublelogit check``: is there enough in a table, and what can be learned from it."""

from typing import Annotated

import typer

from doublelogit.cli import options
from doublelogit.cli.errors import PROBLEM_FOUND
from doublelogit.cli.options import Common, on_table

EXAMPLE = "Example: [bold]doublelogit check patients.csv --label diagnosed --id patient[/bold]"


@on_table()
def check(
    table: options.TablePath,
    common: Common,
    label_model: options.LabelModel = options.ANY_SHAPE,
    seed: options.Seed = 0,
    resamples: options.Resamples = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="End with code 6 if there is a problem.")
    ] = False,
) -> None:
    """Check data, labels, labelling at random and identifiability, before anything else."""
    from doublelogit import Report
    from doublelogit.cli.terminal import heading, print_json, progress, say
    from doublelogit.findings import PROBLEM, worst

    with progress(common.json) as step:
        rows = common.table(table)
        model = options.fitted(rows, common, step, label_model=label_model)
        report = Report(model, rows, random_state=seed, n_resamples=resamples, progress=step)
        checks = report.checks()
    if common.json:
        print_json({title: [f.to_dict() for f in findings] for title, findings in checks.items()})
    else:
        for title, findings in checks.items():
            heading(title)
            for finding in findings:
                say(finding.level, finding.text)
    if strict and worst(f for findings in checks.values() for f in findings) == PROBLEM:
        raise typer.Exit(PROBLEM_FOUND)
