"""Scores: against the truth in experiments, against the observed label in practice.

A labelled row with propensity e(x) stands for 1/e(x) positives (inverse propensity weighting), so
recall, precision, AUC and the Lee-Liu criterion can be estimated without any true class. They are
as right as e(x) is; with a constant e(x) they are the usual ones of SCAR.
"""

from collections.abc import Callable
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from doublelogit._types import Floats

FLOOR = 0.01  # of e(x): a labelled row stands for a hundred positives at most


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
    return _mean(label_log_likelihoods(s, s_x), sample_weight)


def label_log_likelihoods(s: ArrayLike, s_x: ArrayLike) -> Floats:
    """Log-likelihood of the observed label of each row; see :func:`label_log_likelihood`."""
    s, s_x = _same_length(s=s, s_x=s_x)
    tiny = np.finfo(float).tiny  # a label held impossible costs much, not everything
    return np.where(s == 1, np.log(np.maximum(s_x, tiny)), np.log1p(-np.minimum(s_x, 1 - 1e-16)))


def ipw_prevalence(
    s: ArrayLike, e_x: ArrayLike, sample_weight: ArrayLike | None = None, floor: float = FLOOR
) -> float:
    """Share of positives: labelled rows count 1/e(x) each.

    Parameters
    ----------
    s : array-like of shape (n_samples,)
        Observed labels, 1 or 0.
    e_x : array-like of shape (n_samples,)
        P(S=1 | Y=1, x); a constant is the SCAR assumption.
    sample_weight : array-like of shape (n_samples,), optional
    floor : float, default=0.01
        Propensities below it are taken for it.

    Examples
    --------
    >>> ipw_prevalence([1, 0, 0, 1], [0.5, 0.5, 0.5, 1.0])
    0.75
    """
    weight, positives = _weights(s, e_x, sample_weight, floor)
    return float(positives.sum() / weight.sum())


def ipw_recall(
    s: ArrayLike,
    predicted: ArrayLike,
    e_x: ArrayLike,
    sample_weight: ArrayLike | None = None,
    floor: float = FLOOR,
) -> float:
    """Share of the positives that are predicted positive.

    Parameters are those of :func:`ipw_prevalence`, and ``predicted``, 1 or 0 for every row.
    """
    _, positives = _weights(s, e_x, sample_weight, floor)
    return float(positives @ _vector("predicted", predicted) / positives.sum())


def ipw_precision(
    s: ArrayLike,
    predicted: ArrayLike,
    e_x: ArrayLike,
    sample_weight: ArrayLike | None = None,
    floor: float = FLOOR,
) -> float:
    """Share of positives among the rows predicted positive; NaN if there are none."""
    weight, positives = _weights(s, e_x, sample_weight, floor)
    chosen = _vector("predicted", predicted)
    taken = float(weight @ chosen)
    return float(positives @ chosen) / taken if taken > 0 else float("nan")


def ipw_precision_at_k(
    s: ArrayLike,
    score: ArrayLike,
    e_x: ArrayLike,
    k: int,
    sample_weight: ArrayLike | None = None,
    floor: float = FLOOR,
) -> float:
    """Precision of the list of the k rows ranked first."""
    score = _vector("score", score)
    if not 1 <= k <= len(score):
        raise ValueError(f"k must be between 1 and the number of rows, {len(score)}; got {k}.")
    first = np.zeros(len(score))
    first[np.argsort(-score, kind="stable")[:k]] = 1.0
    return ipw_precision(s, first, e_x, sample_weight, floor)


def ipw_roc_auc(
    s: ArrayLike,
    score: ArrayLike,
    e_x: ArrayLike,
    sample_weight: ArrayLike | None = None,
    floor: float = FLOOR,
) -> float:
    """Probability that a positive is ranked above a negative.

    Positives against all rows is what can be observed, A; as a share pi of all rows is positive,
    A = pi/2 + (1 - pi) AUC.
    """
    from sklearn.metrics import roc_auc_score  # commands need none of it

    weight, positives = _weights(s, e_x, sample_weight, floor)
    score = _vector("score", score)
    both, group = np.concatenate([score, score]), np.repeat([1, 0], len(score))
    against_all = roc_auc_score(group, both, sample_weight=np.concatenate([positives, weight]))
    pi = float(positives.sum() / weight.sum())
    return (against_all - pi / 2) / (1 - pi) if pi < 1 else float("nan")


def ipw_lee_liu(
    s: ArrayLike,
    predicted: ArrayLike,
    e_x: ArrayLike,
    sample_weight: ArrayLike | None = None,
    floor: float = FLOOR,
) -> float:
    """recall^2 / P(predicted positive): behaves like the F score, without the prevalence."""
    weight, _ = _weights(s, e_x, sample_weight, floor)
    share = float(weight @ _vector("predicted", predicted) / weight.sum())
    recall = ipw_recall(s, predicted, e_x, sample_weight, floor)
    return recall**2 / share if share > 0 else 0.0


class CalibrationCurve(NamedTuple):
    """Bins of equal size: mean probability predicted, labelled share, rows; and the mean gap."""

    predicted: Floats
    observed: Floats
    rows: Floats
    error: float


def label_calibration(s: ArrayLike, s_x: ArrayLike, n_bins: int = 10) -> CalibrationCurve:
    """Calibration of the probability of a label s(x): its distance from the labelled share by bin.

    Parameters
    ----------
    s : array-like of shape (n_samples,)
        Observed labels, 1 or 0.
    s_x : array-like of shape (n_samples,)
        Estimated P(S=1 | x).
    n_bins : int, default=10
        Bins with the same number of rows each.
    """
    s, s_x = _same_length(s=s, s_x=s_x)
    if not 1 <= n_bins <= len(s):
        raise ValueError(f"n_bins must be between 1 and the number of rows; got {n_bins}.")
    bins = np.array_split(np.argsort(s_x, kind="stable"), n_bins)
    predicted = np.array([s_x[rows].mean() for rows in bins])
    observed = np.array([s[rows].mean() for rows in bins])
    size = np.array([len(rows) for rows in bins], dtype=float)
    return CalibrationCurve(predicted, observed, size, _mean(np.abs(predicted - observed), size))


def scorer(
    metric: Callable[..., float], propensity: Any = None, **options: Any
) -> Callable[..., float]:
    """A scorer of one of these metrics, for ``scoring=`` of a grid search or cross-validation.

    A model that is scored by its own e(x) grades itself: the smaller its propensities, the more
    positives its labelled rows stand for. Precision, which is not divided by them, then rewards
    the worst models and exceeds 1; it needs propensities from elsewhere.

    Parameters
    ----------
    metric : callable
        ``ipw_roc_auc``, ``ipw_recall``, ``ipw_precision``, ``ipw_precision_at_k`` or
        ``ipw_lee_liu``. (``label_log_likelihood`` is what ``score`` does anyway.)
    propensity : fitted classifier, float or None, default=None
        Where e(x) comes from, the same for every model that is compared: another model, fitted
        before, or a constant. None, the model that is scored, is refused for precision.
    **options
        Passed on: ``k``, ``floor``.

    Examples
    --------
    >>> from sklearn.model_selection import GridSearchCV
    >>> from doublelogit import JointClassifier
    >>> grid = GridSearchCV(JointClassifier(), {"C": [0.1, 1.0]}, scoring=scorer(ipw_roc_auc))
    """
    ranks = metric in (ipw_roc_auc, ipw_precision_at_k)
    if propensity is None and metric in (ipw_precision, ipw_precision_at_k):
        raise ValueError(
            f"scorer({metric.__name__}) needs a propensity, a classifier fitted before or a "
            "number, the same for all models; got None, with which each would grade itself by "
            "its own e(x). Give one, or score by ipw_roc_auc."
        )

    def score(model: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
        s = np.asarray(y) == model.classes_[1]
        y_x = _asked(model, "predict_positive", X)
        e_x = propensity
        if not isinstance(propensity, Real):
            e_x = _asked(model if propensity is None else propensity, "predict_propensity", X)
        predicted = y_x if ranks else y_x > 0.5
        value = metric(s, predicted, e_x, sample_weight=sample_weight, **options)
        return 0.0 if np.isnan(value) else value  # nothing predicted positive: nothing is right

    return score


def _asked(model: Any, prediction: str, X: Any) -> Any:
    """A prediction of a model, or of the last step of a pipeline.

    A pipeline passes on only what scikit-learn knows of.
    """
    if not hasattr(model, "steps"):
        return getattr(model, prediction)(X)
    Z = model[:-1].transform(X) if len(model.steps) > 1 else X
    return getattr(model[-1], prediction)(Z)


def _weights(
    s: ArrayLike, e_x: ArrayLike, sample_weight: ArrayLike | None, floor: float
) -> tuple[Floats, Floats]:
    """Weight of every row, and how many positives it stands for."""
    s, e_x = _same_length(s=s, e_x=np.broadcast_to(np.asarray(e_x, dtype=float), np.shape(s)))
    if not np.isin(s, (0.0, 1.0)).all():
        raise ValueError(f"s must be 1 (labelled) or 0; got {s[~np.isin(s, (0.0, 1.0))][0]:g}.")
    if not ((e_x >= 0) & (e_x <= 1)).all():
        raise ValueError(f"e_x must lie between 0 and 1; got {e_x.min():.3g} to {e_x.max():.3g}.")
    weight = np.ones(len(s)) if sample_weight is None else _vector("sample_weight", sample_weight)
    return weight, weight * s / np.maximum(e_x, floor)


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
