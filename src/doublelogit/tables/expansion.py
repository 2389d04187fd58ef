"""Columns with more features than their plain ones: what models that are no straight line need.

Plain features are those of a column's own description; they serve logistic models. What is added
serves the class alone: smooth terms beside the line of a number, the number of a category's level.

A spline is an encoding: as further columns, smooth terms work with every engine, method and file.
Labelling is given plain features only, and along columns named for labelling the class stays
straight: a curve there would make up for whatever labelling is not. Knots are quantiles of a
thinned column, the same in a frame and in files.
"""

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

import numpy as np

from doublelogit._types import Floats
from doublelogit.tables.columns import KINDS, Category, ColumnEncoding, Date, Encoded, Number
from doublelogit.tables.curves import Curves, thinned

# Parts of the column of a name as pandas Series, from the beginning whenever it is called.
Parts = Callable[[str], Iterator[Any]]


@dataclass(frozen=True)
class Smooth:
    """A number or a date with smooth terms beside its straight line."""

    base: Number | Date
    curves: Curves
    kind: ClassVar[str] = "smooth"

    @property
    def name(self) -> str:
        return self.base.name

    @property
    def bent(self) -> tuple[str, ...]:
        """Names of the smooth terms."""
        return tuple(f"{self.name} (curve {i + 1})" for i in range(len(self.curves)))

    @property
    def names(self) -> tuple[str, ...]:
        return (*self.base.names, *self.bent)

    @property
    def meaning(self) -> str:
        return self.base.meaning

    @property
    def step(self) -> float:
        return self.base.step

    def encode(self, column: Any) -> Encoded:
        values, issues = self.base.encode(column)
        return np.column_stack([values, self.curves.at(values[:, 0])]), issues


@dataclass(frozen=True)
class Coded:
    """A category with the number of its level beside the indicators, for trees."""

    base: Category
    kind: ClassVar[str] = "coded"

    @property
    def name(self) -> str:
        return self.base.name

    @property
    def code(self) -> str:
        """Name of the feature that holds the number of the level."""
        return f"{self.name} (level)"

    @property
    def names(self) -> tuple[str, ...]:
        return (*self.base.names, self.code)

    @property
    def meaning(self) -> str:
        return self.base.meaning

    @property
    def step(self) -> float:
        return self.base.step

    def encode(self, column: Any) -> Encoded:
        values, issues = self.base.encode(column)
        level = values @ np.arange(1, len(self.base.levels))
        return np.column_stack([values, level]), issues


def smooth(column: ColumnEncoding, batches: Parts) -> ColumnEncoding:
    """A number or date with smooth terms, if it has enough values to bend; others as they are."""
    if not isinstance(column, Number | Date) or (isinstance(column, Number) and column.two):
        return column
    curves = Curves.learn(thinned(_known(column, batch) for batch in batches(column.name)))
    return column if curves is None else Smooth(column, curves)


def coded(column: ColumnEncoding) -> ColumnEncoding:
    """A category of more than two levels with the number of the level; others as they are."""
    levels = column.levels if isinstance(column, Category) else ()
    return Coded(column) if isinstance(column, Category) and len(levels) > 2 else column


def plain(column: ColumnEncoding) -> ColumnEncoding:
    """The column without what was added to its plain features."""
    return column.base if isinstance(column, Smooth | Coded) else column


def frame_parts(frame: Any) -> Parts:
    """Columns of a frame, each in one part."""
    return lambda name: iter((frame[name],))


def _known(column: Number | Date, batch: Any) -> Floats:
    """The scaled values that are not missing."""
    values = column.encode(batch)[0]
    return np.asarray(values[values[:, -1] == 0, 0] if column.missing else values[:, 0])


def to_dict(column: ColumnEncoding) -> dict[str, Any]:
    """A description as JSON holds it."""
    if isinstance(column, Smooth | Coded):
        added = {"curves": asdict(column.curves)} if isinstance(column, Smooth) else {}
        return {"kind": column.kind, "base": to_dict(column.base), **added}
    return {"kind": column.kind, **asdict(column)}  # type: ignore[call-overload]


def from_dict(kind: str, **fields: Any) -> ColumnEncoding:
    """The column of such a description."""
    if kind in (Smooth.kind, Coded.kind):
        base: Any = from_dict(**fields["base"])
        return Coded(base) if kind == Coded.kind else Smooth(base, _curves(**fields["curves"]))
    if "levels" in fields:
        fields["levels"] = tuple(fields["levels"])
    return KINDS[kind](**fields)


def _curves(knots: Any, values: Any) -> Curves:
    return Curves(tuple(knots), tuple(map(tuple, values)))
