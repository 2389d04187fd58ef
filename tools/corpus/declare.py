"""What a table is: a file of a package, its outcome, and what must not be a feature.

Every source package has one TOML file in ``sources/``. Its table ``[source]`` says how files are
read; every other table declares one data set. Versions are pinned in ``constraints.txt``.
"""

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Source:
    """A package, and how its files are read."""

    package: str
    licence: str
    path: str = "{}"  # of a table's file inside the installed package
    reader: str = "csv"
    pip: str = ""  # further options of pip install
    options: dict[str, Any] = field(default_factory=dict)
    version: str = ""


@dataclass(frozen=True)
class Table:
    """A data set with a class to predict."""

    name: str
    source: Source
    outcome: str
    means: str  # what class 1 is
    file: str = ""
    family: str = ""
    positive: Any = None  # the value or values of class 1
    above: float | None = None  # class 1 is an outcome above this number
    below: float | None = None
    each: bool = False  # one table for every large class, against the rest
    drop: dict[str, str] = field(default_factory=dict)  # column (or prefix*): the reason
    keep: tuple[str, ...] = ()  # if given, only these columns are features
    categorical: tuple[str, ...] = ()  # numbers that stand for categories
    where: dict[str, Any] = field(default_factory=dict)  # only rows with these values
    names: tuple[str, ...] = ()  # of the columns, where the file has none
    nature: str = "observed"  # or "constructed": a game, a rule, a simulation
    licence: str = ""
    options: dict[str, Any] = field(default_factory=dict)  # of the reader, besides the source's

    def __post_init__(self) -> None:
        """Exactly one rule must say what class 1 is."""
        rules = [self.positive is not None, self.above is not None, self.below is not None]
        if sum([*rules, self.each]) != 1:
            raise ValueError(
                f"{self.name}: exactly one of positive, above, below and each says what class 1 "
                f"is; got {sum([*rules, self.each])}. Give one."
            )


def declared(folder: Path = HERE / "sources") -> list[Table]:
    """Every declared table, in the order of packages and names."""
    tables = []
    for source, entries in _entries(folder):
        tables += [_table(name, source, entry) for name, entry in sorted(entries.items())]
    return tables


def sources(folder: Path = HERE / "sources") -> dict[str, Source]:
    """Every declared source, by the name of its package."""
    return {source.package: source for source, _ in _entries(folder)}


def _entries(folder: Path) -> Iterator[tuple[Source, dict[str, Any]]]:
    versions = pinned()
    for path in sorted(folder.glob("*.toml")):
        entries = tomllib.loads(path.read_text())
        described = entries.pop("source")
        version = versions.get(described["package"].lower(), "")
        yield Source(**described, version=version), entries


def _table(name: str, source: Source, entry: dict[str, Any]) -> Table:
    fixed = {key: tuple(entry.pop(key)) for key in ("keep", "categorical", "names") if key in entry}
    entry.setdefault("file", name)
    entry.setdefault("family", name)
    return Table(name=name, source=source, **fixed, **entry)


def pinned(path: Path = HERE / "constraints.txt") -> dict[str, str]:
    """Versions of the source packages, by their names in lower case."""
    lines = [line.split("#")[0].strip() for line in path.read_text().splitlines()]
    pairs = [line.split("==") for line in lines if line]
    return {name.lower(): version for name, version in pairs}
