"""Scores: against the truth in experiments, against the observed label in practice."""

import numpy as np
from numpy.typing import ArrayLike

from doublelogit._types import Floats


def approximation_error(
    y_hat: ArrayLike, y_reference: ArrayLike, sample_weight: ArrayLike | None = None
) -> float:
    """Mean absolute difference of two posterior probabilities, AE of the paper.

    Parameters
    ----------
    y_hat : array-like of shape (n_samples,)
        Estimated P(Y=1 | x).
    y_reference : array-like of shape (n_samples,)
        That of the oracle, or the true one.
    sample_weight : array-like of shape (n_samples,), optional

    Examples
    --------
    >>> approximation_error([0.25, 0.75], [0.0, 1.0])
    0.25
    """
    y_hat, y_reference = _same_length(y_hat=y_hat, y_reference=y_reference)
    error = np.abs(y_hat - y_reference)
    return _mean(error, sample_weight)


def label_log_likelihood(
    s: ArrayLike, s_x: ArrayLike, sample_weight: ArrayLike | None = None
) -> float:
    """Mean log-likelihood of the observed labels under s(x) = P(S=1 | x).

    Larger is better. It is a proper score of y(x) e(x), computable without any true class.

    Parameters
    ----------
    s : array-like of shape (n_samples,)
        Observed labels, 1 or 0.
    s_x : array-like of shape (n_samples,)
        Estimated P(S=1 | x).
    sample_weight : array-like of shape (n_samples,), optional
    """
    s, s_x = _same_length(s=s, s_x=s_x)
    tiny = np.finfo(float).tiny  # a label held impossible costs much, not everything
    likelihood = np.where(
        s == 1, np.log(np.maximum(s_x, tiny)), np.log1p(-np.minimum(s_x, 1 - 1e-16))
    )
    return _mean(likelihood, sample_weight)


def _mean(values: Floats, sample_weight: ArrayLike | None) -> float:
    weights = None if sample_weight is None else _vector("sample_weight", sample_weight)
    return float(np.average(values, weights=weights))


def _same_length(**arrays: ArrayLike) -> list[Floats]:
    vectors = [_vector(name, values) for name, values in arrays.items()]
    if len({len(v) for v in vectors}) > 1:
        raise ValueError(
            f"{' and '.join(arrays)} must have one length; got "
            f"{' and '.join(str(len(v)) for v in vectors)}."
        )
    return vectors


def _vector(name: str, values: ArrayLike) -> Floats:
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1:
        raise ValueError(
            f"{name} must have one value per row; got an array of shape {array.shape}."
        )
    return array
