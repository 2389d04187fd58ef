"""What drives the class and the labelling: odds ratios of both models, and shapes that bend.

A shape is a partial dependence (Friedman, 2001): rows as they are except for one column, which
takes one value after the other, and the mean of the model's probability. A straight class is drawn
beside it.
"""

from collections.abc import Callable
from numbers import Real
from typing import Any

import numpy as np

from doublelogit.registry import CHECKING_METHOD, METHODS
from doublelogit.report import pictures
from doublelogit.report.analysis import Analysis
from doublelogit.report.drivers import SIDES
from doublelogit.report.pictures import BLUE, GREEN, MUTED, ORANGE, Picture
from doublelogit.report.section import Numbers, Section, beside
from doublelogit.table_models.table_model import FittedTable, fit_table, quietly
from doublelogit.tables import Table
from doublelogit.tables.columns import Date, Number

QUANTILES = np.linspace(0.02, 0.98, 25)  # of a column, where its shape is drawn
MOST_SHAPES = 4
MOST_ROWS_OF_SHAPES = 300
LEAST_EFFECT = 1e-6  # share by which a column must move a model to have a shape


def compute(analysis: Analysis) -> Numbers:
    """Odds ratios, and the shapes of a class that is no line."""
    return {"drivers": _odds(analysis), "shapes": _shapes(analysis.model, analysis.table)}


def _odds(analysis: Analysis) -> dict[str, list[dict[str, Any]]]:
    """Coefficients of both models as odds ratios of a readable unit, largest effect first."""
    encoding = analysis.model.encoding
    columns = {column.name: column for column in encoding.columns}
    source = dict(zip(analysis.X.columns.tolist(), encoding.sources, strict=True))
    odds: dict[str, list[dict[str, Any]]] = {side: [] for side in SIDES.values()}
    for c in sorted(analysis.coefficients, key=lambda c: -abs(c.coef)):
        if c.term in source:  # intercepts have no column
            column = columns[source[c.term]]
            step = column.step if c.term == column.name else 1.0
            line = {"term": c.term, "column": column.name, "unit": column.meaning, "coef": c.coef}
            ends = {"odds": c.coef, "low": c.low, "high": c.high}
            ratios = {name: _exp(x, step) for name, x in ends.items()}
            odds[SIDES[c.model]].append({**line, **ratios, "p": c.p})
    return odds


def _exp(x: float | None, step: float) -> float | None:
    return None if x is None else float(np.exp(np.clip(x * step, -700, 700)))


def _shapes(model: FittedTable, table: Table) -> dict[str, list[dict[str, Any]]]:
    """The columns whose shape matters most to class and labelling, strongest first.

    None where the class is a line.
    """
    shapes: dict[str, list[dict[str, Any]]] = {side: [] for side in SIDES.values()}
    if not model.bends:
        return shapes
    straight_model = quietly(fit_table, table, METHODS[CHECKING_METHOD], model.known)
    for column in model.encoding.columns:
        if not isinstance(column, Number | Date) or vars(column).get("two"):
            continue
        values = table.features[column.name].dropna().sort_values(ignore_index=True)
        values = values.iloc[(QUANTILES * (len(values) - 1)).astype(int)]
        straight = _along(straight_model, table, column.name, values)
        for side, shares in _along(model, table, column.name, values).items():
            shape = {
                "column": column.name,
                "quantile": QUANTILES,
                "low": _short(values.iloc[0]),
                "high": _short(values.iloc[-1]),
                "share": shares,
                "straight": straight[side],
            }
            shapes[side] += [shape] if np.ptp(shares) > LEAST_EFFECT else []
    return {
        side: sorted(along, key=lambda shape: -np.ptp(shape["share"]))[:MOST_SHAPES]
        for side, along in shapes.items()
    }


def _short(value: Any) -> str:
    """A value as people read it: numbers with three digits, dates without hours."""
    return f"{value:.3g}" if isinstance(value, Real) else str(value)[:10]


def _along(fitted: FittedTable, table: Table, name: str, values: Any) -> dict[str, Any]:
    """Mean y(x) and e(x) of rows with one column at each of the values."""
    X = table.encoded(fitted.encoding).to_numpy()
    X = X[:: max(1, -(-len(X) // MOST_ROWS_OF_SHAPES))]
    column = next(c for c in fitted.encoding.columns if c.name == name)
    everywhere = np.repeat(X, len(values), axis=0)
    moving = np.array(fitted.encoding.sources) == name
    everywhere[:, moving] = np.tile(column.encode(values)[0], (len(X), 1))
    models = (fitted.model.outcome_proba, fitted.model.propensity)
    shares = (model(everywhere).reshape(len(X), -1).mean(axis=0) for model in models)
    return dict(zip(SIDES.values(), shares, strict=True))


def _forest(model: str) -> Picture:
    colour = BLUE if model == "outcome" else ORANGE

    def plot(ax: Any, summary: dict[str, Any]) -> bool:
        terms = summary["drivers"][model][: pictures.MOST_PICTURED_TERMS]
        if not terms:
            return False
        entries = [{**t, "value": t["odds"]} for t in terms]
        pictures.intervals(ax, entries, [t["term"] for t in terms], [colour] * len(terms))
        ax.set_xscale("log")
        ax.axvline(1, color=MUTED, lw=1)
        _ratio_ticks(ax, [t["odds"] for t in terms])
        what = "being positive" if model == "outcome" else "a label, if positive"
        ax.set_xlabel(f"odds ratio of {what}")
        return True

    return Picture(plot, pictures.lines(lambda summary: len(summary["drivers"][model])))


def _ratio_ticks(ax: Any, values: list[float]) -> None:
    """Few ticks that people can read, 0.1 0.5 1 2 10, and a range that shows every estimate."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullFormatter

    low, high = min(*values, 1.0) / 1.6, max(*values, 1.0) * 1.6
    ax.set_xlim(low, high)
    steps = [1, 2, 5] if high / low < 60 else [1]
    ticks = [s * 10.0**k for k in range(-6, 7) for s in steps if low <= s * 10.0**k <= high]
    ax.xaxis.set_major_locator(FixedLocator(ticks))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
    ax.xaxis.set_minor_formatter(NullFormatter())


def _curves(side: str, share: str) -> Callable[[Any, dict[str, Any]], bool]:
    def plot(ax: Any, summary: dict[str, Any]) -> bool:
        shapes = summary["shapes"][side]
        if not shapes:
            return False
        for shape, colour in zip(shapes, (BLUE, ORANGE, GREEN, MUTED), strict=False):
            ends = pictures.short_label(f"{shape['column']}: {shape['low']} to {shape['high']}")
            ax.plot(shape["quantile"], shape["share"], color=colour, lw=2, label=ends)
            ax.plot(shape["quantile"], shape["straight"], color=colour, lw=1, ls=":")
        pictures.percents(ax.xaxis)
        pictures.percents(ax.yaxis)
        ax.set_ylim(bottom=0)
        ax.grid(lw=0.6)
        pictures.legend_above(ax, fontsize=8)
        ax.set(xlabel="rows with a smaller value", ylabel=share)
        return True

    return plot


SECTION = Section(
    "drivers",
    "What drives the class, and what drives labelling",
    compute,
    pictures={
        "outcome": _forest("outcome"),
        "labelling": _forest("labelling"),
        "shapes": Picture(_curves("outcome", "share of positives")),
        "labelling_shapes": Picture(_curves("labelling", "share of labels among positives")),
    },
    fragment=beside(__file__),
    link="Drivers",
)
