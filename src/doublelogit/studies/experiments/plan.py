"""Plans: data sets x scenarios x values x repetitions x methods, read from a TOML file.

A *draw* is one split of one data set with labels drawn by one scenario; a *cell* is one method
on one draw. Whatever a plan names (``module:attribute``) may come from anywhere, so that
others can add data sets, mechanisms and estimators of their own.
"""

import importlib
import tomllib
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, get_args, get_origin, get_type_hints
from zlib import crc32

import numpy as np

from doublelogit._types import Floats
from doublelogit.studies.experiments.measures import MEASURES

PLANS = Path(__file__).parent / "plans"  # with the printed numbers of the papers they belong to
MOST_REPETITIONS = 100_000  # of one draw; more are a slip of the keyboard


def _check_count(name: str, value: int) -> None:
    if not 1 <= value <= MOST_REPETITIONS:
        raise ValueError(f"{name} must be from 1 to {MOST_REPETITIONS}; got {value}.")


@dataclass(frozen=True)
class DataSet:
    """A table: ``load(**options)`` gives a Bunch with data and target.

    ``seeded`` data are generated anew for every draw. The approximation error is measured
    against ``reference``: the "oracle" fit, the true "posterior" of the Bunch, or the "logistic"
    posterior of its coefficients. Data sets of one ``family`` count as one in comparisons.
    """

    name: str
    load: str
    options: dict[str, Any] = field(default_factory=dict)
    seeded: bool = False
    reference: str = "oracle"
    repetitions: int | None = None
    modes: tuple[str, ...] = ()
    family: str = ""

    def __post_init__(self) -> None:
        allowed = ("oracle", "posterior", "logistic")
        if self.reference not in allowed:
            raise ValueError(f"reference must be one of {allowed}; got {self.reference!r}.")
        if self.repetitions is not None:
            _check_count("repetitions", self.repetitions)


@dataclass(frozen=True)
class Collection:
    """Many data sets of one loader, ``load(name, **options)``.

    ``families(**where)`` gives the family of each name.
    """

    families: str
    load: str
    where: dict[str, Any] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)
    modes: tuple[str, ...] = ()

    def datasets(self) -> list[DataSet]:
        """Its data sets, one by one."""
        families = importable(self.families)(**self.where)
        rest: dict[str, Any] = {"load": self.load, "modes": self.modes}
        return [
            DataSet(name, options={"name": name} | self.options, family=family, **rest)
            for name, family in families.items()
        ]


@dataclass(frozen=True)
class Scenario:
    """A labelling mechanism with one parameter that takes several values.

    ``features`` names a function (X, y, k) -> columns, for mechanisms that use some of them;
    ``slopes`` one (X, y) -> slopes, for mechanisms that lean in a direction of the data.
    """

    id: int
    mechanism: str
    parameter: str
    values: tuple[float, ...]
    options: dict[str, Any] = field(default_factory=dict)
    features: str | None = None
    slopes: str | None = None
    title: str = ""
    modes: tuple[str, ...] = ()


GIVEN = ("label", "class", "frequency", "features", "audit")
INTERVALS = (None, "posterior", "delta", "profile")
KINDS = ("paper", "comparison")


@dataclass(frozen=True)
class PlanMethod:
    """An estimator, and what it is given.

    The "label"; the "class" itself, for the oracle; or besides the labels the true label
    "frequency", the "features" that labelling depends on, or an "audit" of some rows. Methods
    ``beyond`` those of the paper are left out of its ranks and tests. ``interval`` says how the
    interval of its prevalence is made, if the plan measures intervals: "posterior", "delta" or
    "profile".
    """

    name: str
    estimator: str
    options: dict[str, Any] = field(default_factory=dict)
    given: str = "label"
    modes: tuple[str, ...] = ()
    scenarios: tuple[int, ...] = ()
    beyond: bool = False
    interval: str | None = None

    def __post_init__(self) -> None:
        if self.given not in GIVEN:
            raise ValueError(f"given must be one of {GIVEN}; got {self.given!r}.")
        if self.interval not in INTERVALS:
            raise ValueError(f"interval must be one of {INTERVALS[1:]}; got {self.interval!r}.")

    def make(self, **changes: Any) -> Any:
        """The estimator, not fitted."""
        return importable(self.estimator)(**(self.options | changes))


@dataclass(frozen=True)
class Quick:
    """A part of a plan that takes a minute: some data sets, few draws, every k-th value."""

    datasets: tuple[str, ...] = ()
    repetitions: int = 1
    every: int = 1

    def __post_init__(self) -> None:
        _check_count("every", self.every)
        _check_count("repetitions", self.repetitions)


@dataclass(frozen=True)
class Draw:
    """One split and one set of labels; its key names its own random stream."""

    plan: str
    mode: str
    dataset: DataSet
    scenario: Scenario
    value: float
    repetition: int
    seed: int
    test_size: float
    measures: tuple[str, ...] = ()

    @property
    def coordinates(self) -> tuple[str, str, int, float, int]:
        """What tells this draw from the others of a plan."""
        return (self.mode, self.dataset.name, self.scenario.id, self.value, self.repetition)

    @property
    def key(self) -> str:
        return "/".join(str(coordinate) for coordinate in self.coordinates)

    def stream(self, purpose: str) -> int:
        """Which stream of the plan's seed is this draw's own, whatever else is run."""
        return crc32(f"{self.key}/{purpose}".encode())

    def rng(self, purpose: str) -> np.random.Generator:
        """That stream: any subset, order or number of workers draws the same."""
        return np.random.default_rng([self.seed, self.stream(purpose)])


@dataclass(frozen=True)
class Plan:
    """Everything an experiment needs to be run again.

    ``measures`` are what methods are judged by beyond accuracy and error. The ``kind`` says what
    is made of the results: the tables of a "paper", or a "comparison" over many data sets.
    """

    name: str
    seed: int
    test_size: float
    repetitions: dict[str, int]
    datasets: tuple[DataSet, ...]
    scenarios: tuple[Scenario, ...]
    methods: tuple[PlanMethod, ...]
    quick: Quick = Quick()
    measures: tuple[str, ...] = ()
    kind: str = "paper"

    def __post_init__(self) -> None:
        self._check("measures", list(self.measures), MEASURES)
        self._check("kind", [self.kind], KINDS)
        if self.seed < 0 or not 0 < self.test_size < 1:
            raise ValueError(
                "seed must be at least 0 and test_size in (0, 1); "
                f"got {self.seed} and {self.test_size}."
            )
        for repetitions in self.repetitions.values():
            _check_count("repetitions", repetitions)
        if not self.repetitions:
            raise ValueError("repetitions must name a mode; got none.")

    @property
    def modes(self) -> tuple[str, ...]:
        """Readings of the protocol."""
        return tuple(self.repetitions)

    def draws(
        self, mode: str, datasets: list[str] | None = None, repetitions: int | None = None
    ) -> list[Draw]:
        """All draws of a mode, repetition by repetition, so that a part is a fair part."""
        self._check("mode", [mode], self.modes)
        tables = _of_mode(self.datasets, mode)
        self._check("datasets", datasets or [], [d.name for d in tables])
        shared = (self.seed, self.test_size, self.measures)
        draws = [
            Draw(self.name, mode, dataset, scenario, value, r, *shared)
            for dataset in tables
            if not datasets or dataset.name in datasets
            for scenario in _of_mode(self.scenarios, mode)
            for value in scenario.values
            for r in range(repetitions or dataset.repetitions or self.repetitions[mode])
        ]
        return sorted(draws, key=lambda draw: draw.repetition)

    def methods_of(self, mode: str, scenario: int | None = None) -> tuple[PlanMethod, ...]:
        """The methods of a mode, and of one scenario, in the order of the plan."""
        return tuple(
            method
            for method in _of_mode(self.methods, mode)
            if scenario is None or not method.scenarios or scenario in method.scenarios
        )

    def peers(self, mode: str) -> list[str]:
        """Names of the paper's own methods, the oracle among them."""
        return [method.name for method in self.methods_of(mode) if not method.beyond]

    def oracle(self, mode: str) -> PlanMethod:
        """The method that is given the class."""
        for method in self.methods_of(mode):
            if method.given == "class":
                return method
        raise ValueError(f'a method of the plan {self.name} must have given = "class"; none has.')

    def names(self, mode: str) -> list[str]:
        """Data sets, then methods, in the order of the plan."""
        return [entry.name for entry in (*_of_mode(self.datasets, mode), *self.methods_of(mode))]

    def shortened(self, every_dataset: bool = False) -> "Plan":
        """The plan cut down to its quick part, or to that with all data sets."""
        quick = self.quick
        every_dataset = every_dataset or not quick.datasets
        datasets = tuple(d for d in self.datasets if every_dataset or d.name in quick.datasets)
        return replace(
            self,
            repetitions=dict.fromkeys(self.repetitions, quick.repetitions),
            datasets=tuple(replace(d, repetitions=None) for d in datasets),
            scenarios=tuple(replace(s, values=s.values[:: quick.every]) for s in self.scenarios),
        )

    def _check(self, what: str, names: list[str], allowed: Any) -> None:
        unknown = [value for value in names if value not in allowed]
        if unknown:
            raise ValueError(
                f"{what} must be among {', '.join(allowed)} of the plan {self.name}; "
                f"got {', '.join(unknown)}."
            )


def load_plan(name: str | Path) -> Plan:
    """Read a plan: one that comes with the library, by its name, or any TOML file.

    A mistake in it names the entry.
    """
    path = _bundled(str(name)) if _bundled(str(name)).is_file() else Path(name)
    if not path.is_file():
        known = ", ".join(sorted(folder.name for folder in PLANS.iterdir()))
        raise FileNotFoundError(f"a plan must be a TOML file or one of {known}; got {str(name)!r}.")
    try:
        content = tomllib.loads(path.read_text("utf-8"))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path.name} cannot be read as TOML: {error}.") from None
    try:
        parts = {
            "datasets": _datasets(content),
            "scenarios": _entries(Scenario, content["scenarios"]),
            "methods": _entries(PlanMethod, content["methods"]),
            "quick": _entries(Quick, [content.get("quick", {})])[0],
        }
        needed: dict[str, Any] = {
            k: content[k] for k in ("name", "seed", "test_size", "repetitions")
        }
        chosen: dict[str, Any] = {k: content[k] for k in ("measures", "kind") if k in content}
        return _made(Plan, needed | parts | chosen)
    except KeyError as error:
        raise ValueError(f"{path.name} must have the entry {error}.") from None


def _datasets(content: dict[str, Any]) -> tuple[DataSet, ...]:
    """Data sets of a plan, those of its collections after those that it lists itself."""
    collections = _entries(Collection, content.get("collections", []))
    listed = content.get("datasets", []) if collections else content["datasets"]
    return _entries(DataSet, listed) + tuple(d for c in collections for d in c.datasets())


def _bundled(name: str) -> Path:
    return PLANS / name / "plan.toml"


def importable(name: str) -> Any:
    """The object that ``module:attribute`` names."""
    module, _, attribute = name.partition(":")
    try:
        return getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise ValueError(f"names must be module:attribute; got {name!r} ({error}).") from None


def features_of(scenario: Scenario, X: Floats, y: Any) -> dict[str, Any]:
    """Options of a mechanism that depend on the data."""
    options = {}
    if scenario.features is not None:
        options["features"] = importable(scenario.features)(X, y, scenario.options["k"])
    if scenario.slopes is not None:
        options["slopes"] = importable(scenario.slopes)(X, y)
    return options


def _of_mode(entries: Any, mode: str) -> list[Any]:
    return [entry for entry in entries if not entry.modes or mode in entry.modes]


def _entries(kind: Any, tables: Any) -> tuple[Any, ...]:
    entries = []
    for table in tables if isinstance(tables, list) else [tables]:
        if not isinstance(table, dict):
            raise ValueError(f"a {kind.__name__} of the plan must be a table; got {table!r:.100}.")
        entries.append(_made(kind, table))
    return tuple(entries)


def _made(kind: Any, table: dict[str, Any]) -> Any:
    """An entry of a plan, every value of the type that it must have."""
    hints = get_type_hints(kind)
    given = {k: tuple(v) if isinstance(v, list) else v for k, v in table.items()}
    for name, value in given.items():
        if name in hints and not _fits(value, hints[name]):
            raise ValueError(
                f"{name} of a {kind.__name__} of the plan must be {_named(hints[name])}; got "
                f"{value!r:.100}."
            )
    try:
        return kind(**given)
    except TypeError as error:
        raise ValueError(f"a {kind.__name__} of the plan is wrong: {error}; got {given}.") from None


def _fits(value: Any, hint: Any) -> bool:
    """Whether a value that TOML holds has a type; whole numbers are numbers."""
    origin, inner = get_origin(hint), get_args(hint)
    if hint is Any:
        return True
    if origin is UnionType:
        return any(_fits(value, item) for item in inner)
    if origin is tuple:
        return isinstance(value, tuple) and all(_fits(item, inner[0]) for item in value)
    if origin is dict:
        return isinstance(value, dict) and all(_fits(item, inner[1]) for item in value.values())
    if isinstance(value, bool):
        return hint is bool
    return isinstance(value, int | float if hint is float else hint)


def _named(hint: Any) -> str:
    """A type as people call it."""
    if get_origin(hint) is tuple:
        return f"a list of {_named(get_args(hint)[0])}"
    if get_origin(hint) is dict:
        return f"a table of {_named(get_args(hint)[1])}"
    if get_origin(hint) is UnionType:
        return " or ".join(_named(option) for option in get_args(hint) if option is not NoneType)
    names = {str: "text", int: "a whole number", float: "a number", bool: "true or false"}
    return names.get(hint, "a value")
