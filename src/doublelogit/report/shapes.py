"""How the share of positives, and of labels among them, changes along a column: its shape.

Partial dependence (Friedman, 2001): rows as they are but for one column, which is given one value
after the other, and the mean of what the model says of them. A straight class is drawn beside it.
"""

from numbers import Real
from typing import Any

import numpy as np

from doublelogit.registry import CHECKING_METHOD, METHODS
from doublelogit.report.analysis import Analysis
from doublelogit.table_models.learners import LINES
from doublelogit.table_models.table_model import fit_table, quietly
from doublelogit.tables.columns import Date, Number
from doublelogit.tables.expansion import plain

STEPS = np.linspace(0.02, 0.98, 25)  # quantiles of a column
MOST_COLUMNS = 4
MOST_ROWS = 300
FLAT = 1e-6  # share by which a column must move a model to have a shape


def shapes(analysis: Analysis) -> dict[str, list[dict[str, Any]]]:
    """The columns whose shape matters most to class and labelling, strongest first.

    None where both are straight lines.
    """
    model, table = analysis.model, analysis.table
    if model.learners == LINES:
        return {"outcome": [], "labelling": []}
    lines = quietly(fit_table, table, METHODS[CHECKING_METHOD], model.known)
    found: dict[str, list[dict[str, Any]]] = {"outcome": [], "labelling": []}
    for column in model.encoding.columns:
        if not isinstance(plain(column), Number | Date) or vars(plain(column)).get("two"):
            continue
        values = table.features[column.name].dropna().sort_values(ignore_index=True)
        values = values.iloc[(STEPS * (len(values) - 1)).astype(int)]
        bent, straight = (_along(fitted, table, column.name, values) for fitted in (model, lines))
        for side in found:
            shape = {
                "column": column.name,
                "quantile": STEPS,
                "low": _said(values.iloc[0]),
                "high": _said(values.iloc[-1]),
                "share": bent[side],
                "straight": straight[side],
            }
            found[side] += [shape] if np.ptp(bent[side]) > FLAT else []
    return {side: _strongest(along) for side, along in found.items()}


def _strongest(along: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(along, key=lambda shape: -np.ptp(shape["share"]))[:MOST_COLUMNS]


def _said(value: Any) -> str:
    """A value as people read it: numbers with three digits, dates without hours."""
    return f"{value:.3g}" if isinstance(value, Real) else str(value)[:10]


def _along(fitted: Any, table: Any, name: str, values: Any) -> dict[str, Any]:
    """Mean y(x) and e(x) of rows with one column at each of the values."""
    X = table.encoded(fitted.encoding).to_numpy()
    X = X[:: max(1, -(-len(X) // MOST_ROWS))]
    own = np.array(fitted.encoding.sources) == name
    column = next(c for c in fitted.encoding.columns if c.name == name)
    features = column.encode(values).values
    everywhere = np.repeat(X, len(values), axis=0)
    everywhere[:, own] = np.tile(features, (len(X), 1))
    said = {
        "outcome": fitted.model.outcome_proba(everywhere),
        "labelling": fitted.model.propensity(everywhere),
    }
    return {side: p.reshape(len(X), -1).mean(axis=0) for side, p in said.items()}
