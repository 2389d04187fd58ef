"""Commands, each guarded, with outputs apart from what it reads and a pipe that may close."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO, cast

import typer
from typer.core import TyperCommand, TyperGroup

from doublelogit.cli.errors import BAD_TABLE, guarded
from doublelogit.cli.output import Watched, replace_closed
from doublelogit.common.files import check_apart, check_target, reading, sheet_path
from doublelogit.common.promises import later
from doublelogit.exceptions import UsageError

CLOSED_PIPE = 141  # what a shell says of a program that SIGPIPE has ended


class Command(TyperCommand):
    """A command that says what goes wrong in a sentence, and never writes onto what it reads."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command with the options as they were understood."""
        asked = ctx.params
        with guarded(bool(asked.get("json") or asked.get("as_json"))):
            inputs = list(_read_by(asked))
            later("scipy.stats")
            with reading(inputs):
                if asked.get("out") is not None:
                    _check_out(asked["out"])  # before an hour's work
                return super().invoke(ctx)


def _check_out(path: Path) -> None:
    """Refuse an output that could not be written in the end."""
    check_apart([path])
    try:
        check_target(path)
    except OSError as error:
        raise UsageError(str(error)) from None


def _read_by(asked: dict[str, Any]) -> Iterator[Path]:
    """Files that options name, in lists too, and the reviewers' sheets beside them."""
    for name, value in asked.items():
        if name in ("out", "folder") or not isinstance(value, str | Path):
            continue
        for text in {str(value), *str(value).split(",")}:
            path = Path(text.strip())
            yield from (file for file in (path, *_beside(path)) if _is_file(file))


def _beside(path: Path) -> list[Path]:
    return [sheet_path(path)] if path.name else []


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # a value that can be no path
        return False


class Commands(TyperGroup):
    """The group of commands; a reader that closes the pipe ends them quietly."""

    def main(self, *args: Any, **extra: Any) -> Any:
        """Run what the command line asks for, and write all of what it says."""
        replace_closed()
        output = sys.stdout
        watched = Watched(output)
        sys.stdout = cast(TextIO, watched)
        try:
            try:
                return super().main(*args, **extra)
            finally:
                watched.flush()
        except (OSError, SystemExit):
            if watched.failure is None:
                raise
            watched.silence()
            if isinstance(watched.failure, BrokenPipeError):
                raise SystemExit(CLOSED_PIPE) from None
            reason = f"standard output takes no more ({watched.failure.strerror})"
            typer.secho(f"Error: {reason}. Free space, or print elsewhere.", fg="red", err=True)
            raise SystemExit(BAD_TABLE) from None
        finally:
            sys.stdout = output
