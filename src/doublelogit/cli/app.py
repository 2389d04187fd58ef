"""The command and its subcommands."""

from typing import Annotated

import typer

from doublelogit import __version__
from doublelogit.cli import (
    audit,
    check,
    compare,
    demo,
    diagnose,
    export,
    fit,
    predict,
    rank,
    report,
    reproduce,
    simulate,
)

app = typer.Typer(
    name="doublelogit",
    help="Learning from positive-unlabelled data whose labels are biased.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    epilog="Begin with [bold]doublelogit demo[/bold], then "
    "[bold]doublelogit report table.csv --label COLUMN[/bold]. "
    "Exit codes: 0 done, 1 a bug, 2 a wrong option, 3 a table that does not fit, 4 a model file "
    "that is refused, 5 a package that is not installed, 6 check --strict found a problem, "
    "130 interrupted.",
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


# a command is the function that has its module's name
MODULES = (
    demo,
    check,
    report,
    audit,
    fit,
    predict,
    export,
    rank,
    compare,
    diagnose,
    simulate,
    reproduce,
)
for module in MODULES:
    name = module.__name__.rpartition(".")[2]
    app.command(name, epilog=getattr(module, "EXAMPLE", None))(getattr(module, name))
