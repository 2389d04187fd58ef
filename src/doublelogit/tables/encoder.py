"""A table of numbers, words, dates and holes as a table of numbers."""

import warnings
from dataclasses import asdict
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from doublelogit.exceptions import TableError, TableWarning
from doublelogit.tables.columns import KINDS, Column, learn


class TableEncoder(TransformerMixin, BaseEstimator):
    """Encode the columns of a frame as numbers, each by a description that can be kept as JSON.

    Numbers are standardised, with missing values at the median and an indicator of them; words are
    compared with the commonest level, rare levels taken together; dates become a trend and a
    season. Columns that are constant, empty or free text are ignored, with a reason.

    Parameters
    ----------
    categorical : sequence of str, default=()
        Columns whose numbers are codes of categories.

    Attributes
    ----------
    columns_ : tuple
        The description of every column.
    feature_names_in_ : ndarray of str
        Names of the columns of fit.

    Examples
    --------
    >>> import pandas as pd
    >>> from doublelogit import TableEncoder
    >>> frame = pd.DataFrame({"age": [31, None, 64], "sex": ["f", "m", "f"]})
    >>> TableEncoder().fit(frame).get_feature_names_out().tolist()
    ['age', 'age (missing)', 'sex: m']
    """

    def __init__(self, categorical: Any = ()) -> None:
        self.categorical = categorical

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn a description of every column of a pandas DataFrame."""
        absent = [name for name in self.categorical if name not in X.columns]
        if absent:
            raise TableError(f"categorical must name columns of the table; got {absent[0]!r}.")
        return self._keep(tuple(learn(X[name], name in self.categorical) for name in X.columns))

    def transform(self, X: Any) -> Any:
        """The encoded columns as a DataFrame; a TableWarning says what differs from fit."""
        encoded, issues = self.encode(X)
        for issue in issues:
            warnings.warn(issue, TableWarning, stacklevel=2)
        return encoded

    def encode(self, X: Any) -> tuple[Any, list[str]]:
        """The encoded columns as a DataFrame, and in words what differs from fit."""
        import pandas as pd

        check_is_fitted(self)
        used = [c for c in self.columns_ if c.names]
        absent = [c.name for c in used if c.name not in X.columns]
        if len(absent) == len(used):
            raise TableError(
                f"the table has none of the model's columns ({', '.join(absent[:5])}). "
                "Give a table with the columns of fit."
            )
        nothing = pd.Series(np.full(len(X), np.nan))
        parts, issues = (
            [],
            [
                f"there is no column {name!r}; all its values are taken to be missing."
                for name in absent
            ],
        )
        for column in used:
            here = column.name not in absent
            part = column.encode(X[column.name] if here else nothing.rename(column.name))
            parts.append(part.values)
            issues += part.issues if here else []
        names = self.get_feature_names_out()
        return pd.DataFrame(np.hstack(parts), columns=names, index=X.index), issues

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Names of the encoded columns."""
        return np.array([name for c in self.columns_ for name in c.names], dtype=object)

    @property
    def sources(self) -> list[str]:
        """For every encoded column, the column of the table that it is of."""
        return [c.name for c in self.columns_ for _ in c.names]

    def encoded(self, features: Any, what: str = "features") -> list[str]:
        """Names of the encoded columns of these columns of the table."""
        known = {c.name: c for c in self.columns_}
        for name in features:
            if name not in known:
                raise TableError(
                    f"{what} must name columns of the table that are features; got {name!r}. "
                    f"They are {', '.join(map(repr, known))}."
                )
        return [name for f in dict.fromkeys(features) for name in known[f].names]

    def to_dict(self) -> list[dict[str, Any]]:
        """The descriptions as JSON would hold them."""
        return [{"kind": c.kind, **asdict(c)} for c in self.columns_]

    @classmethod
    def from_dict(cls, descriptions: list[dict[str, Any]]) -> "TableEncoder":
        """The encoder of such descriptions."""
        columns = [_column(**description) for description in descriptions]
        return cls()._keep(tuple(columns))

    def _keep(self, columns: tuple[Column, ...]) -> Self:
        names = [name for c in columns for name in c.names]
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise TableError(f"two columns would be called {twice!r} when encoded. Rename one.")
        if not names:
            raise TableError("no column of the table can be used as a feature.")
        self.columns_ = columns
        self.feature_names_in_ = np.array([c.name for c in columns], dtype=object)
        self.n_features_in_ = len(columns)
        return self


def _column(kind: str, **fields: Any) -> Column:
    if "levels" in fields:
        fields["levels"] = tuple(fields["levels"])
    return KINDS[kind](**fields)
