"""``TableEncoder``: a table of numbers, categories, dates and missing values as numbers."""

import warnings
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from doublelogit.exceptions import TableError, TableWarning
from doublelogit.tables.columns import ColumnEncoding
from doublelogit.tables.encoding import TableEncoding
from doublelogit.tables.survey import describe


class TableEncoder(TransformerMixin, BaseEstimator):
    """Encode the columns of a frame as numbers, each by a description that JSON can hold.

    Numbers are standardised, with missing values at the median and an indicator of them; skewed
    ones are taken as logarithms or square roots before, and outliers capped;
    categories are compared with the commonest level, rare levels taken together; dates become a
    trend and a season. Columns that are constant, empty or free text are ignored, with a reason.

    Parameters
    ----------
    categorical : sequence of str, default=()
        Columns whose numbers are codes of categories.

    Attributes
    ----------
    encoding_ : TableEncoding
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

    encoding_: TableEncoding

    def __init__(self, categorical: Any = ()) -> None:
        self.categorical = categorical

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn a description of every column of a pandas DataFrame."""
        absent = [name for name in self.categorical if name not in X.columns]
        if absent:
            raise TableError(f"`categorical` must name columns of the table; got {absent[0]!r}.")
        columns = (_described(X[name], name in self.categorical) for name in X.columns)
        return self._keep(TableEncoding(tuple(columns)))

    def transform(self, X: Any) -> Any:
        """Return the encoded columns as a DataFrame; a TableWarning says what differs from fit."""
        encoded, issues = self.encode(X)
        for issue in issues:
            warnings.warn(issue, TableWarning, stacklevel=2)
        return encoded

    def encode(self, X: Any) -> tuple[Any, list[str]]:
        """Return the encoded columns as a DataFrame, and in words what differs from fit."""
        check_is_fitted(self)
        return self.encoding_.encode(X)

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Return the names of the encoded columns."""
        check_is_fitted(self)
        return np.array(self.encoding_.names, dtype=object)

    @classmethod
    def from_encoding(cls, encoding: TableEncoding) -> "TableEncoder":
        """Return the encoder of descriptions that were learned before."""
        return cls()._keep(encoding)

    def _keep(self, encoding: TableEncoding) -> Self:
        self.encoding_ = encoding
        self.feature_names_in_ = np.array([c.name for c in encoding.columns], dtype=object)
        self.n_features_in_ = len(encoding.columns)
        return self


def _described(column: Any, categorical: bool) -> ColumnEncoding:
    return describe(str(column.name), lambda: iter((column,)), categorical=categorical)
