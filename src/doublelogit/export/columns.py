"""Columns of a table as inputs of a graph, and the features that they become."""

from functools import singledispatch
from typing import Any

import numpy as np

from doublelogit.export.graph import Graph, Value
from doublelogit.tables import TableEncoding
from doublelogit.tables.columns import MISSING, OTHER, YEAR, Category, Date, Number
from doublelogit.tables.words import pattern


def features(graph: Graph, encoding: TableEncoding) -> Value:
    """The features of a table, from an input for each of its columns."""
    values = []
    for column in encoding.used:
        texts = isinstance(column, Category)
        values += encoded(column, graph.input(column.name, texts=texts))
    return graph.node("Concat", *values, axis=1)


@singledispatch
def encoded(column: Any, x: Value) -> list[Value]:
    """The features of one column, in order."""
    raise TypeError(f"a graph cannot encode a {type(column).__name__}.")


@encoded.register
def _(column: Number, x: Value) -> list[Value]:
    gone = _gone(x)
    filled = gone.node("Where", column.fill, x)
    if column.low is not None:
        filled = filled.node("Max", column.low)
    if column.high is not None:
        filled = filled.node("Min", column.high)
    if column.transform == "log":
        filled = (filled + column.offset).node("Log") / np.log(2.0)
    elif column.transform == "root":
        filled = filled.node("Sign") * filled.node("Abs").node("Sqrt")
    values = (filled - column.centre) / column.scale
    return [values, gone.numbers()] if column.missing else [values]


@encoded.register
def _(column: Date, x: Value) -> list[Value]:
    """A date is given in seconds since 1970."""
    gone = _gone(x)
    years = gone.node("Where", column.fill, x / YEAR)
    pieces = [(years - column.centre) / column.scale]
    if column.season:
        present = 1.0 - gone.numbers()
        angle = years * (2 * np.pi)  # not every runtime has the cosine in double precision
        pieces += [present * (angle + shift).node("Sin") for shift in (0.0, np.pi / 2)]
    return [*pieces, gone.numbers()] if column.missing else pieces


@encoded.register
def _(column: Category, x: Value) -> list[Value]:
    """Indicators of all levels but the first; a missing value is an empty text."""
    named = [level for level in column.levels if level != OTHER]
    each = {level: x.node("RegexFullMatch", pattern=_texts(level)).numbers() for level in named}
    each[OTHER] = 1.0 - sum(list(each.values())[1:], each[named[0]])
    return [each[level] for level in column.levels[1:]]


def _texts(level: str) -> str:
    """Regular expression of the texts of a level."""
    return pattern("", MISSING) if level == MISSING else pattern(level)


def _gone(x: Value) -> Value:
    """Whether a number is missing, or none."""
    return x.node("IsNaN").node("Or", x.node("IsInf"))
