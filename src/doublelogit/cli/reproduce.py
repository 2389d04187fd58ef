"""``doublelogit reproduce``: run a paper's experiments and write its tables."""

from pathlib import Path
from typing import Annotated

import typer

from doublelogit.exceptions import UsageError

EXAMPLE = "Example: [bold]doublelogit reproduce --quick --datasets heart-c[/bold]"


def reproduce(
    plan: Annotated[
        str, typer.Option(help="A plan that comes with the library, or a TOML file.")
    ] = "ecai2023",
    mode: Annotated[
        str | None, typer.Option(help="Reading of the protocol; the plan's first if not given.")
    ] = None,
    datasets: Annotated[
        str | None, typer.Option(help="Only these, separated by commas: Artif1,heart-c.")
    ] = None,
    repetitions: Annotated[
        int | None, typer.Option(help="So many instead of what the plan says.")
    ] = None,
    jobs: Annotated[int, typer.Option(help="Worker processes; -1 for all cores.")] = -1,
    dask: Annotated[
        str | None, typer.Option(help="Address of a Dask scheduler, to run there.")
    ] = None,
    folder: Annotated[
        Path | None,
        typer.Option("--out", help="Directory of results; ./reproduce-PLAN if not given."),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="A part of the plan that takes about a minute.")
    ] = False,
) -> None:
    """Run a paper's experiments, resuming what is done, and write its tables and figures."""
    from doublelogit.studies.experiments import reproduction

    try:
        request = reproduction.Request.from_options(
            plan, mode=mode, datasets=datasets, repetitions=repetitions, quick=quick, out=folder
        )
        finished = reproduction.reproduce(request, jobs=jobs, dask=dask)
    except (ValueError, OSError) as error:
        raise UsageError(str(error)) from None
    if not finished:
        raise typer.Exit(130)
