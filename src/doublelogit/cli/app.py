"""The command and its subcommands: every module here with a function of the module's name."""

from collections.abc import Iterator
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType
from typing import Annotated

import typer

from doublelogit import __version__, cli
from doublelogit.cli.command import Command, Commands

FIRST_COMMANDS = (
    "demo",
    "check",
    "report",
)  # in the list of commands, for who is new; others by name

app = typer.Typer(
    name="doublelogit",
    cls=Commands,
    help="Learning from positive-unlabelled data whose labels are biased.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    epilog="Begin with [bold]doublelogit demo[/bold], then "
    "[bold]doublelogit report table.csv --label COLUMN[/bold]. "
    "Exit codes: 0 done, 1 a bug, 2 a wrong option, 3 a table that does not fit, 4 a model file "
    "that is refused, 5 a package that is not installed, 6 check --strict found a problem, "
    "130 interrupted, 141 whoever read its output has left.",
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


def commands() -> Iterator[tuple[str, ModuleType]]:
    """Names and modules of all commands, in the order in which help lists them."""
    others = sorted({module.name for module in iter_modules(cli.__path__)} - {"app"})
    for name in dict.fromkeys((*FIRST_COMMANDS, *others)):
        module = import_module(f"{cli.__name__}.{name}")
        if name in vars(module):
            yield name, module


for command, home in commands():
    app.command(command, cls=Command, epilog=vars(home)["EXAMPLE"])(vars(home)[command])
