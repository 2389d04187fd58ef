"""The coefficients of both models as a table: text, HTML, DataFrame."""

from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
from scipy.stats import norm

from doublelogit._types import Floats


@dataclass(frozen=True)
class Summary:
    """One line per coefficient of either model; prints as a table.

    Parameters
    ----------
    terms : list of (model, term)
        What each line is about.
    columns : tuple of str
        Names of the values, among them "low" and "high", the ends of the interval.
    values : ndarray of shape (len(terms), len(columns))
    heading : str
        What was fitted to what.
    level : float
        Level of the intervals.
    notes : tuple of str
        What a reader must know.
    """

    terms: list[tuple[str, str]]
    columns: tuple[str, ...]
    values: Floats
    heading: str
    level: float
    notes: tuple[str, ...] = ()

    @classmethod
    def from_covariance(
        cls,
        terms: list[tuple[str, str]],
        coef: Floats,
        covariance: Floats,
        heading: str,
        level: float,
        notes: tuple[str, ...],
    ) -> "Summary":
        """Tests and intervals from coefficients and their covariance."""
        se = np.sqrt(np.maximum(np.diagonal(covariance), 0.0))
        z = np.divide(coef, se, out=np.full_like(coef, np.nan), where=se > 0)
        reach = norm.ppf(0.5 + level / 2) * se
        with np.errstate(over="ignore"):
            odds = np.exp(coef)
        p = 2 * norm.sf(np.abs(z))
        columns = ("coef", "se", "z", "p", "low", "high", "odds ratio")
        values = np.column_stack([coef, se, z, p, coef - reach, coef + reach, odds])
        return cls(terms, columns, values, heading, level, notes)

    @classmethod
    def from_posterior(
        cls,
        terms: list[tuple[str, str]],
        values: Floats,
        heading: str,
        level: float,
        notes: tuple[str, ...],
    ) -> "Summary":
        """Posterior means, deviations, P(coef > 0), credible intervals and odds ratios."""
        columns = ("coef", "sd", "P(>0)", "low", "high", "odds ratio")
        return cls(terms, columns, values, heading, level, notes)

    def column(self, name: str) -> Floats:
        """One value per line, by the name of its column."""
        return self.values[:, self.columns.index(name)]

    def to_frame(self) -> Any:
        """A pandas DataFrame, indexed by model and term."""
        try:
            import pandas as pd
        except ImportError:
            raise ImportError("a DataFrame needs: pip install pandas") from None
        index = pd.MultiIndex.from_tuples(self.terms, names=["model", "term"])
        return pd.DataFrame(self.values, index=index, columns=list(self.columns))

    def __str__(self) -> str:
        width = max(12, *(len(term) for _, term in self.terms))
        head = f"{'':<{width}}" + "".join(f"{name:>11}" for name in self._names())
        rule = "-" * len(head)
        lines = [self.heading]
        for model, title in self._titles.items():
            lines += ["", title, rule, head, rule]
            lines += [
                f"{term:<{width}}" + "".join(f"{v:>11}" for v in row)
                for term, row in self._lines(model)
            ]
            lines.append(rule)
        return "\n".join([*lines, *self.notes])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        paragraphs = [f"<p>{escape(self.heading)}</p>"]
        for model, title in self._titles.items():
            head = "".join(f"<th>{name}</th>" for name in self._names())
            body = "".join(
                f"<tr><th style='text-align:left'>{escape(term)}</th>"
                + "".join(f"<td style='text-align:right'>{value}</td>" for value in row)
                + "</tr>"
                for term, row in self._lines(model)
            )
            paragraphs.append(
                f"<table><caption>{escape(title)}</caption>"
                f"<thead><tr><th></th>{head}</tr></thead><tbody>{body}</tbody></table>"
            )
        return "".join(paragraphs) + "".join(f"<p>{escape(note)}</p>" for note in self.notes)

    @property
    def _titles(self) -> dict[str, str]:
        return {
            "outcome": "Outcome: who is positive, P(Y=1 | x)",
            "propensity": "Labelling: which positives get a label, P(S=1 | Y=1, x)",
        }

    def _names(self) -> list[str]:
        tail = (1 - self.level) / 2
        ends = {"low": f"{tail:.1%}", "high": f"{1 - tail:.1%}", "p": "P>|z|"}
        return [ends.get(name, name) for name in self.columns]

    def _lines(self, model: str) -> list[tuple[str, list[str]]]:
        lines = zip(self.terms, self.values, strict=True)
        return [(term, [_short(v) for v in row]) for (m, term), row in lines if m == model]


def _short(value: float) -> str:
    if not np.isfinite(value):
        return str(value)
    return f"{value:.3f}" if abs(value) < 1e4 else f"{value:.2e}"
