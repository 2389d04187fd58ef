"""Coefficients of both models."""

from collections.abc import Sequence
from typing import NamedTuple

from doublelogit.inference import Inference
from doublelogit.table_models.table_model import FittedTable

SIDES = {"outcome": "outcome", "propensity": "labelling"}  # models, as the page's JSON names them


class Coefficient(NamedTuple):
    """A term of a model; its interval and p-value where they can be computed."""

    model: str
    term: str
    coef: float
    low: float | None = None
    high: float | None = None
    p: float | None = None


def coefficients(
    model: FittedTable, inference: Inference | None, names: Sequence[str]
) -> list[Coefficient]:
    """Every term of both models, as far as it is available."""
    if inference is not None:
        summary = inference.summary()
        nothing = [None] * len(summary.terms)
        columns = [
            summary.column(name).tolist() if name in summary.columns else nothing
            for name in Coefficient._fields[2:]
        ]
        rows = zip(summary.terms, *columns, strict=True)
        return [Coefficient(*term, *values) for term, *values in rows]
    return [
        Coefficient(side, str(term), value)
        for side, coef in zip(SIDES, model.model.coefficients(), strict=True)
        if coef is not None
        for term, value in zip(names, coef[:-1].tolist(), strict=True)
        if value
    ]
