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
from doublelogit.report.analysis import Analysis
from doublelogit.report.drivers import TERMS
from doublelogit.report.pictures import (
    BLUE,
    GREEN,
    MOST_TERMS,
    MUTED,
    ORANGE,
    Picture,
    intervals,
    legend_above,
    lines,
    percents,
    short_label,
)
from doublelogit.report.section import Numbers, Section, beside
from doublelogit.table_models.learners import STRAIGHT
from doublelogit.table_models.table_model import fit_table, quietly
from doublelogit.tables.columns import Date, Number
from doublelogit.tables.expansion import plain

STEPS = np.linspace(0.02, 0.98, 25)  # quantiles of a column
MOST_COLUMNS = 4
DRAWN_ROWS = 300
FLAT_EFFECT = 1e-6  # share by which a column must move a model to have a shape


def compute(analysis: Analysis) -> Numbers:
    """Odds ratios, the learner of the class, and the shapes that it fitted."""
    model = analysis.model
    return {
        "drivers": _odds(analysis),
        "learner": {
            "name": model.learners.outcome,
            "labelling": model.learners.propensity,
            "choice": "" if model.choice is None else model.choice.finding.text,
            "shapes": _shapes(analysis),
        },
    }


def _odds(analysis: Analysis) -> dict[str, list[dict[str, Any]]]:
    """Coefficients of both models as odds ratios of a readable unit, largest effect first."""
    encoding = analysis.model.encoding
    columns = {column.name: column for column in encoding.columns}
    source = dict(zip(analysis.X.columns.tolist(), encoding.sources, strict=True))
    odds: dict[str, list[dict[str, Any]]] = {name: [] for name in TERMS.values()}
    for model, term, coef, low, high, p in analysis.coefficients:
        if term in source and term not in encoding.curves:  # no odds of a curve
            column = columns[source[term]]
            step = column.step if term == column.name else 1.0
            odds[TERMS[model]].append(
                {
                    "term": term,
                    "column": column.name,
                    "unit": column.meaning,
                    "coef": coef,
                    "odds": _exp(coef, step),
                    "low": _exp(low, step),
                    "high": _exp(high, step),
                    "p": p,
                }
            )
    for terms in odds.values():
        terms.sort(key=lambda t: -abs(t["coef"]))
    return odds


def _exp(x: float | None, step: float) -> float | None:
    return None if x is None else float(np.exp(np.clip(x * step, -700, 700)))


def _shapes(analysis: Analysis) -> dict[str, list[dict[str, Any]]]:
    """The columns whose shape matters most to class and labelling, strongest first.

    None where both are straight lines.
    """
    model, table = analysis.model, analysis.table
    if model.learners == STRAIGHT:
        return {"outcome": [], "labelling": []}
    straight_model = quietly(fit_table, table, METHODS[CHECKING_METHOD], model.known)
    shapes: dict[str, list[dict[str, Any]]] = {"outcome": [], "labelling": []}
    for column in model.encoding.columns:
        if not isinstance(plain(column), Number | Date) or vars(plain(column)).get("two"):
            continue
        values = table.features[column.name].dropna().sort_values(ignore_index=True)
        values = values.iloc[(STEPS * (len(values) - 1)).astype(int)]
        models = (model, straight_model)
        bent, straight = (_along(fitted, table, column.name, values) for fitted in models)
        for side, shares in bent.items():
            shape = {
                "column": column.name,
                "quantile": STEPS,
                "low": _short(values.iloc[0]),
                "high": _short(values.iloc[-1]),
                "share": shares,
                "straight": straight[side],
            }
            shapes[side] += [shape] if np.ptp(shares) > FLAT_EFFECT else []
    return {side: _strongest(along) for side, along in shapes.items()}


def _strongest(along: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(along, key=lambda shape: -np.ptp(shape["share"]))[:MOST_COLUMNS]


def _short(value: Any) -> str:
    """A value as people read it: numbers with three digits, dates without hours."""
    return f"{value:.3g}" if isinstance(value, Real) else str(value)[:10]


def _along(fitted: Any, table: Any, name: str, values: Any) -> dict[str, Any]:
    """Mean y(x) and e(x) of rows with one column at each of the values."""
    X = table.encoded(fitted.encoding).to_numpy()
    X = X[:: max(1, -(-len(X) // DRAWN_ROWS))]
    mine = np.array(fitted.encoding.sources) == name
    column = next(c for c in fitted.encoding.columns if c.name == name)
    features = column.encode(values)[0]
    everywhere = np.repeat(X, len(values), axis=0)
    everywhere[:, mine] = np.tile(features, (len(X), 1))
    shares = {
        "outcome": fitted.model.outcome_proba(everywhere),
        "labelling": fitted.model.propensity(everywhere),
    }
    return {side: p.reshape(len(X), -1).mean(axis=0) for side, p in shares.items()}


def _forest(model: str) -> Picture:
    colour = BLUE if model == "outcome" else ORANGE

    def plot(ax: Any, summary: dict[str, Any]) -> bool:
        terms = summary["drivers"][model][:MOST_TERMS]
        if not terms:
            return False
        entries = [{**t, "value": t["odds"]} for t in terms]
        intervals(ax, entries, [t["term"] for t in terms], [colour] * len(terms))
        ax.set_xscale("log")
        ax.axvline(1, color=MUTED, lw=1)
        _ratio_ticks(ax, [t["odds"] for t in terms])
        what = "being positive" if model == "outcome" else "a label, if positive"
        ax.set_xlabel(f"odds ratio of {what}")
        return True

    return Picture(plot, lines(lambda summary: len(summary["drivers"][model])))


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


def _bent(side: str, share: str) -> Callable[[Any, dict[str, Any]], bool]:
    def plot(ax: Any, summary: dict[str, Any]) -> bool:
        shapes = summary["learner"]["shapes"][side]
        if not shapes:
            return False
        for shape, colour in zip(shapes, (BLUE, ORANGE, GREEN, MUTED), strict=False):
            ends = short_label(f"{shape['column']}: {shape['low']} to {shape['high']}")
            ax.plot(shape["quantile"], shape["share"], color=colour, lw=2, label=ends)
            ax.plot(shape["quantile"], shape["straight"], color=colour, lw=1, ls=":")
        percents(ax.xaxis)
        percents(ax.yaxis)
        ax.set_ylim(bottom=0)
        ax.grid(lw=0.6)
        legend_above(ax, fontsize=8)
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
        "shapes": Picture(_bent("outcome", "share of positives")),
        "labelling_shapes": Picture(_bent("labelling", "share of labels among positives")),
    },
    fragment=beside(__file__),
    link="Drivers",
)
