"""How the share of positives, and of labels among them, changes along a column: its shape.

Partial dependence (Friedman, 2001): rows as they are but for one column, which is given one value
after the other, and the mean of what the model says of them. A straight class is drawn beside it.
"""

from numbers import Real
from typing import Any

import numpy as np

from doublelogit.registry import DEFAULT_METHOD, LINEAR, METHODS
from doublelogit.report.analysis import Analysis
from doublelogit.table_model import fit_table, quietly
from doublelogit.tables.columns import Date, Number
from doublelogit.tables.expansion import plain

STEPS = np.linspace(0.02, 0.98, 25)  # quantiles of a column
MOST_COLUMNS = 4
MOST_ROWS = 300


def shapes(analysis: Analysis) -> list[dict[str, Any]]:
    """The columns whose shape matters most to a class that is no line, strongest first."""
    model, table = analysis.model, analysis.table
    if model.learners.outcome == LINEAR:
        return []
    lines = quietly(fit_table, table, METHODS[DEFAULT_METHOD])
    found = []
    for column in model.encoding.columns:
        if not isinstance(plain(column), Number | Date) or vars(plain(column)).get("two"):
            continue
        values = table.features[column.name].dropna().sort_values(ignore_index=True)
        values = values.iloc[(STEPS * (len(values) - 1)).astype(int)]
        bent, straight = (_along(fitted, table, column.name, values) for fitted in (model, lines))
        found.append(
            {
                "column": column.name,
                "quantile": STEPS,
                "low": _said(values.iloc[0]),
                "high": _said(values.iloc[-1]),
                "positive": bent[0],
                "labelled": bent[1],
                "straight": straight[0],
            }
        )
    return sorted(found, key=lambda shape: -np.ptp(shape["positive"]))[:MOST_COLUMNS]


def _said(value: Any) -> str:
    """A value as people read it: numbers with three digits, dates without hours."""
    return f"{value:.3g}" if isinstance(value, Real) else str(value)[:10]


def _along(fitted: Any, table: Any, name: str, values: Any) -> tuple[Any, Any]:
    """Mean y(x) and e(x) of rows with one column at each of the values."""
    X = table.encoded(fitted.encoding).to_numpy()
    X = X[:: max(1, -(-len(X) // MOST_ROWS))]
    own = np.array(fitted.encoding.sources) == name
    column = next(c for c in fitted.encoding.columns if c.name == name)
    features = column.encode(values).values
    everywhere = np.repeat(X, len(values), axis=0)
    everywhere[:, own] = np.tile(features, (len(X), 1))
    means = (
        p.reshape(len(X), -1).mean(axis=0)
        for p in (fitted.model.outcome_proba(everywhere), fitted.model.propensity(everywhere))
    )
    positive, labelled = means
    return positive, labelled
