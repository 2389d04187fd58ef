"""How columns of a table become features: numbers as they are, categories as indicators."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from doublelogit._types import Floats


@dataclass(frozen=True)
class Encoding:
    """Columns in order, and the categories of those that hold words.

    A column of k categories is k - 1 features, ``"city=Paris"`` and so on; the first category in
    alphabetical order is the one that the others are compared with.
    """

    columns: tuple[str, ...]
    categories: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the features."""
        return tuple(name for column in self.columns for name in self.features_of(column))

    def features_of(self, column: str) -> tuple[str, ...]:
        """Names of the features that a column becomes."""
        if column not in self.categories:
            return (column,)
        return tuple(f"{column}={category}" for category in self.categories[column][1:])

    def write(self, batch: Any, out: Floats, path: str) -> None:
        """The features of an Arrow record batch, which comes from the file at path."""
        at = 0
        for column in self.columns:
            values, width = batch.column(column), len(self.features_of(column))
            if values.null_count:
                raise ValueError(
                    f"features must have no missing values; got {values.null_count} in column "
                    f"{column!r} of {path}. Fill them in, or leave the column out by columns=."
                )
            if column in self.categories:
                out[:, at : at + width] = self._indicators(column, values, path)
            else:
                out[:, at] = _finite(numbers(values), column, path)
            at += width

    def _indicators(self, column: str, values: Any, path: str) -> Any:
        import pyarrow as pa
        import pyarrow.compute as pc

        known = self.categories[column]
        words = values.cast(pa.string())
        codes = pc.index_in(words, value_set=pa.array(known, pa.string()))
        if codes.null_count:
            new = pc.filter(words, pc.is_null(codes))[0].as_py()
            raise ValueError(
                f"column {column!r} must hold categories that were there in fit; got {new!r} in "
                f"{path}."
            )
        return codes.to_numpy()[:, None] == np.arange(1, len(known))


def numbers(values: Any) -> Any:
    """An Arrow array as a NumPy array; missing values of a number become NaN."""
    import pyarrow as pa

    kind = values.type
    if pa.types.is_dictionary(kind):
        values = values.dictionary_decode()
    elif pa.types.is_decimal(kind):
        values = values.cast(pa.float64())
    return values.to_numpy(zero_copy_only=False)


def _finite(values: NDArray[Any], column: str, path: str) -> NDArray[Any]:
    # the sum is finite if all values are, or nearly always; it takes no time
    if not np.isfinite(values.sum()) and not np.isfinite(values).all():
        bad = values[~np.isfinite(values)][0]
        raise ValueError(
            f"features must be finite numbers; got {bad} in column {column!r} of {path}."
        )
    return values
