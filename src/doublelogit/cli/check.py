"""``doublelogit check``: is there enough in a table, and what can be learned from it."""

from typing import Annotated, Any

import typer

from doublelogit.cli import options
from doublelogit.cli.errors import PROBLEM
from doublelogit.cli.options import Common, on_table

EXAMPLE = "Example: [bold]doublelogit check patients.csv --label diagnosed --id patient[/bold]"


@on_table()
def check(
    table: options.Table,
    common: Common,
    seed: options.Seed = 0,
    resamples: options.Resamples = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="End with code 6 if there is a problem.")
    ] = False,
) -> None:
    """Check data, labels, labelling at random and identifiability, before anything else."""
    from doublelogit.cli.terminal import heading, print_json, progress, say
    from doublelogit.report import analyse
    from doublelogit.report.checks import checks

    with progress(common.json) as step:
        rows = common.table(table)
        analysis = analyse(
            rows, method=options.DEFAULT, seed=seed, n_resamples=resamples, progress=step
        )
        found = checks(analysis)
    if common.json:
        print_json({part: [s._asdict() for s in lines] for part, lines in found.items()})
    else:
        for part, lines in found.items():
            heading(part)
            for sentence in lines:
                say(sentence.level, sentence.text)
    if strict and _worst(found) == "problem":
        raise typer.Exit(PROBLEM)


def _worst(found: dict[str, list[Any]]) -> str:
    levels = [sentence.level for lines in found.values() for sentence in lines]
    return max(levels, key=["fine", "attention", "problem"].index)
