"""Option files for --config and plans of experiments, in TOML of any shape."""

import json
import warnings
from functools import cache
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from tools.fuzz.contract import BrokenError
from tools.fuzz.targets import Case, Target, spoiled

OPTIONS = ("label", "positive", "id", "method", "out", "features", "ignore", "json", "by", "top")
ENTRIES = ("name", "seed", "test_size", "repetitions", "datasets", "scenarios", "methods", "quick")
FIELDS = ("name", "load", "id", "mechanism", "parameter", "values", "estimator", "options", "modes")
LEAVES = st.one_of(
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=8),
    st.sampled_from(["s", "a", "joint", "naive", "1", "os:system", "no.such:thing", "../x.dlm"]),
    st.sampled_from(["1979-05-27", "07:32:00", "1979-05-27T07:32:00Z"]).map(lambda t: Bare(t)),
)


class Bare(str):
    """A text that TOML writes without quotes, such as a date."""


def toml(value: Any) -> str:
    """A value as TOML writes it in one line."""
    if isinstance(value, Bare):
        return str(value)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(k)} = {toml(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    if isinstance(value, float):
        return repr(value)
    return json.dumps(value, ensure_ascii=True)


def values(keys: tuple[str, ...]) -> st.SearchStrategy[Any]:
    """Values of any shape, with names that mean something somewhere."""
    names = st.one_of(st.sampled_from(keys), st.text(max_size=5))
    return st.recursive(
        LEAVES,
        lambda inner: st.one_of(
            st.lists(inner, max_size=3), st.dictionaries(names, inner, max_size=4)
        ),
        max_leaves=8,
    )


def tables(keys: tuple[str, ...]) -> st.SearchStrategy[bytes]:
    """Whole files, a line for each entry."""
    names = st.one_of(st.sampled_from(keys), st.text(max_size=5))
    return st.dictionaries(names, values((*keys, *FIELDS)), max_size=8).map(
        lambda entries: "\n".join(
            f"{json.dumps(k)} = {toml(v)}" for k, v in entries.items()
        ).encode("utf-8", "replace")
    )


@cache
def plan() -> bytes:
    """A plan that is right, to be altered."""
    from doublelogit.studies.experiments.plan import PLANS

    return (PLANS / "ecai2023" / "plan.toml").read_bytes()


@cache
def plan_entries() -> dict[str, Any]:
    """The same, read."""
    import tomllib

    return tomllib.loads(plan().decode())


@st.composite
def altered_plan(draw: Any) -> bytes:
    """The plan with some of its entries replaced."""
    entries = dict(plan_entries())
    for name in draw(st.lists(st.sampled_from(ENTRIES), min_size=1, max_size=2)):
        entries[name] = draw(values(FIELDS))
    return "\n".join(f"{k} = {toml(v)}" for k, v in entries.items()).encode("utf-8", "replace")


@st.composite
def cases(draw: Any) -> Case:
    """Files for --config of each kind, and plans."""
    if draw(st.booleans()):
        text = tables((*OPTIONS, "fit", "check", "rank")).map(lambda t: b'label = "s"\n' + t)
        return ".config.toml", draw(st.one_of(text, text, spoiled(text)))
    text = st.one_of(altered_plan(), tables(ENTRIES), spoiled(st.just(plan())))
    return ".plan.toml", draw(text)


def check(path: Path) -> str:
    """Read a plan, or run a command with these options."""
    if path.name.endswith(".plan.toml"):
        from doublelogit.studies.experiments.plan import load_plan

        found = load_plan(path)
        for mode in found.modes:
            found.draws(mode)
            found.shortened()
        return "answered: plan"
    return f"answered: exit {_run(path)}"


def _run(path: Path) -> int:
    """Exit code of a command with this --config; a bug or a traceback is broken."""
    from typer.testing import CliRunner

    from doublelogit.cli import app

    table = path.with_name("table.csv")
    table.write_text("a,s\n" + "".join(f"{i % 7},{int(i % 3 == 0)}\n" for i in range(40)))
    out = path.with_name("out.dlm")
    command = ["fit", str(table), "--config", str(path), "--out", str(out)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = CliRunner().invoke(app, command)
    for left in (table, out):
        left.unlink(missing_ok=True)
    if result.exit_code == 1 or not isinstance(result.exception, SystemExit | None):
        raise BrokenError(f"exit {result.exit_code}: {result.exception!r} {result.output[-300:]}")
    return result.exit_code


TARGET = Target("options", cases, check)
