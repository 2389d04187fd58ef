"""Inputs that are not in memory: scans of Parquet files, Dask arrays and data frames."""

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import replace
from functools import partial, wraps
from typing import Any

from sklearn.utils.validation import check_is_fitted

from doublelogit.engines.dask import dask_source, is_dask, scan_source
from doublelogit.engines.encoding import Encoding
from doublelogit.engines.parquet import ParquetSource
from doublelogit.engines.scan import ParquetScan
from doublelogit.rows import Source


def is_distant(X: Any) -> bool:
    """Whether rows are elsewhere than in memory."""
    return isinstance(X, ParquetScan) or is_dask(X)


def as_source(
    X: Any, y: Any = None, sample_weight: Any = None, audited_y: Any = None
) -> Source | None:
    """The rows of X for a fit; None if they are in memory."""
    if isinstance(X, ParquetScan):
        _check_alone(y, sample_weight, audited_y)
        if X.label is None:
            raise ValueError(
                "a fit needs labels: name their column, scan_parquet(path, label=...); got "
                "label=None."
            )
        return _scanned(X)
    if not is_dask(X):
        return None
    if y is None:
        raise ValueError("a fit needs labels; got y=None.")
    return dask_source(X, y, sample_weight, audited_y)


def _check_alone(*told: Any) -> None:
    if any(given is not None for given in told):
        raise ValueError(
            "a scan names its own labels, weights and audited classes; got y, sample_weight or "
            "audited_y beside it. Write scan_parquet(path, label=..., weight=..., audited=...)."
        )


def _scanned(scan: ParquetScan, encoding: Encoding | None = None) -> Source:
    return scan_source(scan, encoding) if scan.distributed else ParquetSource(scan, encoding)


def expanded(features: Sequence[Any] | None, encoding: Encoding | None) -> Sequence[Any] | None:
    """Features asked for, a column of words replaced by its indicators."""
    if features is None or encoding is None or isinstance(features, str):
        return features
    return [
        name
        for f in features
        for name in (encoding.features_of(f) if f in encoding.categories else (f,))
    ]


Predict = Callable[[Any, Any], Any]


def over_blocks(predict: Predict) -> Predict:
    """A prediction for arrays, made for scans (block by block) and Dask inputs (lazily) too."""

    @wraps(predict)
    def predict_any(self: Any, X: Any) -> Any:
        if not is_distant(X):
            return predict(self, X)
        return source_like_fit(self, X).map(partial(predict_any, nameless(self)))

    return predict_any


def nameless(model: Any) -> Any:
    """The model for blocks, which are plain arrays: whose names they bear was looked at before."""
    model = copy(model)
    model.__dict__.pop("feature_names_in_", None)
    return model


def source_like_fit(model: Any, X: Any, *told: Any) -> Source:
    """The rows of X, whose features must be those of fit."""
    check_is_fitted(model)
    names = getattr(model, "feature_names_in_", None)
    if isinstance(X, ParquetScan):
        _check_alone(*told)
        source = _scanned(X, _encoding_of_fit(model, X))
    else:
        source = dask_source(X, *told)
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


def _encoding_of_fit(model: Any, scan: ParquetScan) -> Encoding:
    encoding = getattr(model, "encoding_", None)
    if encoding is None:
        names = getattr(model, "feature_names_in_", scan.columns)
        encoding = Encoding(scan.chosen() if names is None else tuple(map(str, names)))
    replace(scan, columns=encoding.columns).chosen()  # all there, and of a kind for features
    return encoding
