"""Coefficients of both models, and whether what drives labelling survives another class."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from doublelogit.inference import Inference
from doublelogit.table_models.table_model import FittedTable

TERMS = {"outcome": "outcome", "propensity": "labelling"}


class Coefficient(NamedTuple):
    """A term of a model; its interval and p-value where they are known."""

    model: str
    term: str
    coef: float
    low: float | None = None
    high: float | None = None
    p: float | None = None

    @property
    def drives_labelling(self) -> bool:
        """Whether it is of the labelling, and its interval leaves no doubt of the direction."""
        if self.model != "propensity" or self.low is None or self.high is None:
            return False
        return self.low * self.high > 0


def coefficients(
    model: FittedTable, inference: Inference | None, names: Sequence[str]
) -> list[Coefficient]:
    """Every term of both models, as far as it is known."""
    if inference is not None:
        summary = inference.summary()
        nothing = [None] * len(summary.terms)
        columns = [
            summary.column(name).tolist() if name in summary.columns else nothing
            for name in ("coef", "low", "high", "p")
        ]
        rows = zip(summary.terms, *columns, strict=True)
        return [Coefficient(*term, *values) for term, *values in rows]
    models = zip(TERMS, model.model.coefficients(), strict=True)
    return [
        Coefficient(which, str(term), value)
        for which, coef in models
        if coef is not None
        for term, value in zip(names, coef[:-1].tolist(), strict=True)
        if value
    ]


def labelling_terms(classifier: Any, names: Sequence[str]) -> dict[str, float]:
    """What drives labelling by a classifier of linear models."""
    gamma = classifier.model_.coefficients()[1]
    return dict(zip(names, gamma[:-1].tolist(), strict=True))


def turned_round(terms: Sequence[Coefficient], other: Mapping[str, float]) -> list[str]:
    """Terms whose direction is settled by one model and the opposite by another."""
    return [t.term for t in terms if t.coef * other.get(t.term, t.coef) < 0]
