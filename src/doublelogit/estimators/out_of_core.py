"""Inputs that are not in memory: scans of Parquet files, Dask arrays and data frames."""

from collections.abc import Callable, Sequence
from copy import copy
from functools import partial, wraps
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_is_fitted

from doublelogit.common.threads import with_paying_threads
from doublelogit.core.rows import Source
from doublelogit.engines.dask import dask_source, is_dask, scan_source
from doublelogit.engines.memory import BLOCK_ROWS
from doublelogit.engines.parquet import ParquetSource
from doublelogit.engines.scan import ParquetScan
from doublelogit.tables.encoding import TableEncoding


def is_distant(X: Any) -> bool:
    """Whether rows are elsewhere than in memory."""
    return isinstance(X, ParquetScan) or is_dask(X)


def as_source(
    X: Any, y: Any = None, sample_weight: Any = None, audited_y: Any = None, groups: Any = None
) -> Source | None:
    """The rows of X for a fit; None if they are in memory."""
    if isinstance(X, ParquetScan):
        _check_alone(y, sample_weight, audited_y, groups)
        return _scanned(X, X.learned_encoding(scaled=False))
    if not is_dask(X):
        return None
    if y is None:
        raise ValueError("a fit needs labels; got y=None.")
    return dask_source(X, y, sample_weight, audited_y, groups)


def _check_alone(*given: Any) -> None:
    if any(column is not None for column in given):
        raise ValueError(
            "the roles of a scan name its labels, weights, audited classes and clusters; got y, "
            "sample_weight, audited_y or groups beside it. Write scan_parquet(path, "
            "Roles(label=..., weight=..., audited=..., cluster=...))."
        )


def check_parameters(X: Any, pos_label: Any) -> None:
    """Refuse what is said twice: to a classifier, and by the roles of a scan."""
    if not isinstance(X, ParquetScan):
        return
    if pos_label is not None:
        raise ValueError(
            "the roles of a scan say which value means labelled: Roles(positive=...); got "
            f"pos_label={pos_label!r} beside them."
        )
    roles = X.roles
    named = roles is not None and (roles.outcome_features, roles.propensity_features)
    if X.encoding is None and named and named != (None, None):
        raise ValueError(
            "a classifier takes outcome_features and propensity_features as its own parameters; "
            "got them in the roles of a scan. Pass them to the classifier, or use TableClassifier."
        )


def _scanned(scan: ParquetScan, encoding: TableEncoding) -> Source:
    return scan_source(scan, encoding) if scan.distributed else ParquetSource(scan, encoding)


def expanded(
    features: Sequence[Any] | None, encoding: TableEncoding | None
) -> Sequence[Any] | None:
    """Features asked for, a column of the table replaced by the features that it became."""
    if features is None or encoding is None or isinstance(features, str):
        return features
    names_of = {column.name: column.names for column in encoding.columns}
    return [name for f in features for name in names_of.get(f, (f,))]


Predict = Callable[[Any, Any], Any]


def over_blocks(predict: Predict) -> Predict:
    """A prediction for few rows, made for arrays and scans (block by block) and Dask (lazily).

    A mixture has a column for each of its components, so all rows at once would take many times
    the memory of X.
    """

    @wraps(predict)
    @with_paying_threads
    def predict_any(self: Any, X: Any) -> Any:
        if is_distant(X):
            return source_like_fit(self, X).map(partial(predict_any, nameless(self)))
        if _length(X) <= BLOCK_ROWS:
            return predict(self, X)
        check_is_fitted(self)
        X = self._features(X)  # as a whole: checks of a block would count its rows alone
        model = self if hasattr(X, "columns") else nameless(self)
        blocks = (slice(i, i + BLOCK_ROWS) for i in range(0, X.shape[0], BLOCK_ROWS))
        return np.concatenate([predict(model, _safe_indexing(X, block)) for block in blocks])

    return predict_any


def _length(X: Any) -> int:
    """Number of rows, 0 of what is no table."""
    shape = getattr(X, "shape", ())
    return int(shape[0]) if shape else 0


def nameless(model: Any) -> Any:
    """The model for blocks, which are plain arrays: their names were looked at before."""
    model = copy(model)
    model.__dict__.pop("feature_names_in_", None)
    return model


def source_like_fit(model: Any, X: Any, *given: Any) -> Source:
    """The rows of X, whose features must be those of fit."""
    check_is_fitted(model)
    names = vars(model).get("feature_names_in_")
    if isinstance(X, ParquetScan):
        _check_alone(*given)
        source = _scanned(X, _encoding_of_fit(model, X))
    else:
        source = dask_source(X, *given)
        if names is not None and source.names is not None and source.names != tuple(names):
            raise ValueError(
                f"X must have the features of fit, {', '.join(names)}; got "
                f"{', '.join(source.names)}."
            )
    if source.n_features != model.n_features_in_:
        raise ValueError(
            f"X has {source.n_features} features, but {type(model).__name__} is expecting "
            f"{model.n_features_in_} features as input."
        )
    return source


def _encoding_of_fit(model: Any, scan: ParquetScan) -> TableEncoding:
    """How fit encoded the columns of a scan; columns of numbers if it was shown an array."""
    fitted = vars(model)
    encoding = fitted.get("encoding_", scan.encoding)
    if encoding is None:
        names = fitted.get("feature_names_in_")
        columns = scan.files.schema.names if names is None else names
        if names is None and scan.roles is not None:
            columns = scan.roles.feature_columns(list(columns))
        encoding = TableEncoding.as_they_are([str(name) for name in columns])
    needed = [column.name for column in encoding.used]
    scan.files.check(lambda _: needed)
    return encoding
