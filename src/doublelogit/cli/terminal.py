"""What commands print: sentences, tables, progress; JSON for machines."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from time import monotonic
from typing import Any

import typer

from doublelogit.common.wording import as_options, visible

MARKS = {
    "note": ("•", "blue"),
    "fine": ("✓", "green"),
    "attention": ("!", "yellow"),
    "problem": ("✗", "red"),
}
STEPS = (
    "fitting",
    "intervals",
    "testing SCAR",
    "other assumptions",
    "other models",
    "other methods",
    "drawing",
)


def console(err: bool = False) -> Any:
    """Rich's console; it knows whether anyone is looking."""
    from rich.console import Console

    return Console(stderr=err, highlight=False, soft_wrap=False)


def print_json(value: Any) -> None:
    """A value as JSON on standard output."""
    from doublelogit.report.page import plain

    typer.echo(json.dumps(plain(value), indent=1, allow_nan=False))


def shown(text: str, style: str = "") -> Any:
    """Rich's text of what may come from a table: never markup, never obeyed by the terminal."""
    from rich.text import Text

    return Text(visible(text), style=style)


def say(level: str, text: str, to: Any = None) -> None:
    """A sentence with its mark, on standard output or a console; parameters are options."""
    from rich.padding import Padding
    from rich.table import Table

    mark, colour = MARKS[level]
    line = Table.grid(padding=(0, 1))
    sentence = text[:1].upper() + as_options(text[1:])
    line.add_row(shown(mark, f"bold {colour}"), shown(sentence))
    (to or console()).print(Padding(line, (0, 0, 0, 1)))


def heading(text: str) -> None:
    """A line that begins a part."""
    console().print(shown(f"\n{text}", "bold"))


def print_table(columns: Sequence[str], rows: Sequence[Sequence[str]], numeric: int = 1) -> None:
    """A table; columns from the given one on are numbers. Cells are text, never markup."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for i, name in enumerate(columns):
        table.add_column(shown(name), justify="right" if i >= numeric else "left")
    for row in rows:
        table.add_row(*(shown(cell) for cell in row))
    console().print(table)


@contextmanager
def recorded() -> Iterator[list[str]]:
    """Collect what the library warns of about a table, as texts."""
    import warnings

    from doublelogit.exceptions import TableWarning

    texts: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", TableWarning)
        yield texts
    texts += [str(warning.message) for warning in caught]


class Steps:
    """The steps of some work: called with a step and the share of it done."""

    def __init__(self, bar: Any, steps: Sequence[str], stages: "Stages", quiet: bool) -> None:
        self._bar, self._steps, self._stages, self._quiet = bar, list(steps), stages, quiet
        self._task = bar.add_task("reading", total=len(steps))

    def __call__(self, step: str, share: float) -> None:
        self._stages.enter(step)
        # steps are taken as they are needed: the bar does not go back for one
        done = max(self._bar.tasks[self._task].completed, self._steps.index(step) + share)
        self._bar.update(self._task, description=step, completed=done)

    def say(self, level: str, text: str) -> None:
        """A sentence above the bar, on standard error, while the work goes on."""
        if not self._quiet:
            say(level, text, self._bar.console)


@contextmanager
def progress(quiet: bool, steps: Sequence[str] = STEPS) -> Iterator[Steps]:
    """A bar on standard error, with an equal part for each step; in its place, what each took.

    Both are for who is looking: nothing is written where standard error is no terminal.
    """
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    watched = console(err=True)
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TimeElapsedColumn(),
        console=watched,
        transient=True,
        disable=quiet or not watched.is_terminal,
    )
    stages = Stages("reading")
    with bar:
        yield Steps(bar, steps, stages, quiet)
    if watched.is_terminal and not quiet:
        watched.print(shown(str(stages), "dim"))


class Stages:
    """Seconds that each stage of some work takes, from one to the next."""

    def __init__(self, first: str) -> None:
        self.seconds: dict[str, float] = {}
        self._now, self._since = first, monotonic()

    def enter(self, stage: str) -> None:
        """A stage begins, or goes on, and the one before ends."""
        here = monotonic()
        self.seconds[self._now] = self.seconds.get(self._now, 0.0) + here - self._since
        self._now, self._since = stage, here

    def __str__(self) -> str:
        self.enter(self._now)
        stages = ", ".join(f"{name} {s:.1f} s" for name, s in self.seconds.items() if s >= 0.05)
        return f"{sum(self.seconds.values()):.1f} s: {stages}"
