"""The command line: ``doublelogit reproduce`` runs a paper's experiments and writes its tables."""

import sys
from pathlib import Path
from typing import Annotated

try:
    import rich  # noqa: F401
    import typer
except ImportError:  # pragma: no cover - the message is all there is
    sys.exit("the doublelogit command needs: pip install 'doublelogit[cli,experiments,report]'")

from doublelogit import __version__

app = typer.Typer(
    name="doublelogit",
    help="Learning from positive-unlabelled data whose labels are biased.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def _show_version(asked: bool) -> None:
    if asked:
        typer.echo(f"doublelogit {__version__}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show it and exit."),
    ] = False,
) -> None:
    """Learning from positive-unlabelled data whose labels are biased."""


@app.command()
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
    out: Annotated[
        Path | None, typer.Option(help="Directory of results; ./reproduce-PLAN if not given.")
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="A part of the plan that takes about a minute.")
    ] = False,
) -> None:
    """Run a paper's experiments, resuming what is done, and write its tables and figures."""
    try:
        from doublelogit.experiments import reproduction
    except ImportError as error:
        typer.secho(
            f"{error}. Experiments need: pip install 'doublelogit[cli,experiments,report]'",
            fg="red",
            err=True,
        )
        raise typer.Exit(2) from None
    try:
        request = reproduction.Request.of(
            plan, mode=mode, datasets=datasets, repetitions=repetitions, quick=quick, out=out
        )
        finished = reproduction.reproduce(request, jobs=jobs, dask=dask)
    except (ValueError, OSError, ImportError) as error:
        typer.secho(str(error), fg="red", err=True)
        raise typer.Exit(2) from None
    if not finished:
        raise typer.Exit(130)
