"""From what a user passes to what a method takes: labels, audited classes, named features."""

import warnings
from collections.abc import Sequence
from functools import partial
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_expit
from sklearn.utils._param_validation import Interval
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import column_or_1d

from doublelogit._types import Floats, Ints, Matrix
from doublelogit.core.design import predictor
from doublelogit.core.labels import Labels, labels_of
from doublelogit.core.link import Link, to_logit
from doublelogit.core.rows import Extremes, RowColumns, Rows
from doublelogit.estimators.label_sources import is_several, missing_labels
from doublelogit.exceptions import LabelOrderWarning
from doublelogit.methods.belief import Belief
from doublelogit.methods.prevalence import prevalence_at
from doublelogit.tables.labels import cluster_codes, evident_positive

MOST_WEIGHT = 1e15  # beyond, a row more or less is lost to rounding
LEAST_WEIGHT = 1e-9  # below, variances overflow, and nothing was seen that could tell anything
LEAST_SHARE = 1e-12  # of the weight; below, labelled or unlabelled rows are lost to rounding
# Codes that say by themselves which value means labelled: False/True, 0/1 and -1/1.
SELF_EVIDENT = ({0, 1}, {-1, 1})


def with_unlabelled(y: Any, pos_label: Any, unlabelled: Any = None) -> Any:
    """Labels in which a missing one (NaN, None) has the value that means unlabelled."""
    values = np.asarray(y)
    missing = missing_labels(values)
    if values.ndim > 2 or not missing.any():
        return y
    present = np.array(values[~missing].tolist())
    filled = values.copy()
    if unlabelled is None:
        unlabelled = _unlabelled_value(np.unique(present), pos_label)
    filled[missing] = unlabelled
    return filled.astype(present.dtype) if present.dtype.kind in "biuf" else filled


def _unlabelled_value(known: NDArray[Any], pos_label: Any) -> Any:
    """The value that a missing label stands for, given those that are not missing."""
    if len(known) == 2:
        with warnings.catch_warnings():  # fit says it
            warnings.simplefilter("ignore", LabelOrderWarning)
            positive = _positive_value(known, pos_label)
        return known[known != positive][0]
    if known.dtype.kind in "biuf":
        return known.dtype.type(0 if pos_label is None or pos_label else -1)
    return ""


def encode_labels(y: Any, pos_label: Any) -> tuple[Floats, NDArray[Any]]:
    """Labels as 1.0 (labelled) and 0.0, and the two values in the order (unlabelled, labelled)."""
    y = one_column(y)
    classes = label_classes(y, pos_label)
    return (y == classes[1]).astype(np.float64), classes


def label_classes(y: NDArray[Any], pos_label: Any) -> NDArray[Any]:
    """The two values among the labels, in the order (unlabelled, labelled)."""
    values = np.unique(y)
    if len(values) > 2:
        check_classification_targets(y)
        raise ValueError(
            "Only binary classification is supported. The type of the target is "
            f"{type_of_target(y)}: y must hold two values, labelled and unlabelled; got "
            f"{len(values)} classes, {listed(values)}."
        )
    positive = _positive_value(values, pos_label)
    others = values[values != positive]
    if len(others) == len(values):
        raise ValueError(
            "y must hold labelled and unlabelled rows, but no row is labelled: it has one class, "
            f"{listed(values)}, and a labelled row would be {listed([positive])}."
            if len(values) == 1
            else f"pos_label must be one of the classes of y, {listed(values)}; got {pos_label!r}."
        )
    if len(others) == 0:
        raise ValueError(
            "y must hold labelled and unlabelled rows, but every row is labelled: it has one "
            f"class, {listed(values)}."
        )
    return np.array([others[0], positive], dtype=values.dtype)


def _positive_value(values: NDArray[Any], pos_label: Any) -> Any:
    """The value that means labelled: as given, as evident, or by scikit-learn's order."""
    if pos_label is not None:
        return pos_label
    evident = values.dtype.kind in "biuf" and any(set(values.tolist()) <= c for c in SELF_EVIDENT)
    if evident:
        return values.dtype.type(1)
    texts = all(isinstance(value, str) for value in values.tolist())
    evident_text = evident_positive(values.tolist()) if texts else None
    if evident_text is not None:
        return evident_text
    if len(values) == 2 and "" in values.tolist():  # a mark, or nothing
        return values[-1]
    if len(values) == 2:
        warnings.warn(
            f"pos_label was not given and the labels {listed(values)} do not say which of them "
            f"means labelled: taking {listed(values[1:])}, the last in order. Set pos_label to be "
            "sure.",
            LabelOrderWarning,
            stacklevel=5,
        )
    return values[-1]


def row_columns(
    classes: NDArray[Any],
    certain: bool,
    y: Any,
    sample_weight: Any,
    audited_y: Any,
    groups: Any = None,
) -> RowColumns:
    """Labels, weight and cluster of some rows, from what was observed of them."""
    if y is None:
        raise ValueError("labels are needed; got None. Pass y, or name scan_parquet(..., label=).")
    several = is_several(y)
    y = np.asarray(y) if several else one_column(y)
    missing = missing_labels(y)
    unknown = y[(y != classes[0]) & (y != classes[1]) & ~missing]
    if len(unknown):
        raise ValueError(f"y must hold the labels of fit, {listed(classes)}; got {unknown[0]!r}.")
    s = (y == classes[1]).astype(np.float64)
    if several:
        s[missing] = np.nan
    audited = check_audited(audited_y, labels_of(s).any, certain)
    labels = labels_of(s, audited, certain)
    return RowColumns(labels, _checked_weight(sample_weight, len(s)), check_groups(groups, len(s)))


def one_column(y: Any) -> NDArray[Any]:
    """Labels of one source for one class, as a vector."""
    y = np.asarray(y)
    if y.ndim > 1 and y.shape[1] > 1:
        check_sources(y)
        raise ValueError(
            "this classifier learns from labels of one source for one class, y of shape (n,) or "
            f"(n, 1); got {y.shape[1]} columns. Use AveragedClassifier or JointClassifier for "
            "several sources, label the rows that any of them labelled, np.nanmax(y, axis=1), or "
            "fit one classifier per class."
        )
    y = column_or_1d(y, warn=True)
    # numbers kept as objects are numbers
    return np.array(y.tolist()) if y.dtype == object and not missing_labels(y).any() else y


def check_sources(values: Any, audited: Any = None, certain: bool = True) -> Labels:
    """Labels by source (n, m), or by source and class (n, m, K): 1, 0, or NaN where not looked at.

    ``audited`` is 1, 0 or NaN, of shape (n,) or (n, K).
    """
    values = _numbers("labels of several sources", values)
    if values.ndim not in (2, 3):
        raise ValueError(
            "labels of several sources must have the shape (n rows, m sources), of several "
            f"classes (n rows, m sources, K classes); got {values.shape}."
        )
    _check_zero_or_one(values, "labels of several sources", "not looked at")
    labelled = labels_of(values).any
    return labels_of(values, check_audited(audited, labelled, certain), certain)


def check_groups(groups: Any, n: int) -> Floats | None:
    """The cluster of each row as a number; None if rows do not belong together."""
    if groups is None:
        return None
    if np.shape(groups) != (n,):
        raise ValueError(f"groups must have one value per row; got {np.shape(groups)}, not {(n,)}.")
    return cluster_codes(groups)


def _checked_weight(sample_weight: Any, n: int) -> Floats:
    if sample_weight is None:
        return np.ones(n)
    weight = np.asarray(sample_weight, dtype=np.float64)
    if weight.shape != (n,):
        raise ValueError(f"sample_weight must have one value per row; got {weight.shape}.")
    wrong = weight[~(np.isfinite(weight) & (weight >= 0))]
    if len(wrong):
        raise ValueError(f"sample_weight must be finite and not negative; got {wrong[0]}.")
    return weight


def check_weighted(rows: Rows, classes: NDArray[Any]) -> None:
    """Both kinds of rows must be left when those without weight are put aside."""
    weights = rows.sum_columns(_weight_by_label, rows.labels.any, rows.weight)
    if not sum(weights) < MOST_WEIGHT:
        raise ValueError(
            f"sample_weight says how many times each row counts, so its sum must be below "
            f"{MOST_WEIGHT:g}; got {sum(weights):.3g}. Divide the weights."
        )
    if 0 < sum(weights) < LEAST_WEIGHT:
        raise ValueError(
            f"sample_weight says how many times each row counts, so its sum must be at least "
            f"{LEAST_WEIGHT:g}; got {sum(weights):.3g}. Multiply the weights."
        )
    for value, name, weight in zip((0, 1), ("unlabelled", "labelled"), weights, strict=True):
        if not weight > 0:
            raise ValueError(
                f"y must hold labelled and unlabelled rows of positive sample_weight, but every "
                f"{name} row (class {listed([classes[value]])}) has weight zero."
            )
        if weight < LEAST_SHARE * sum(weights):
            raise ValueError(
                f"labelled and unlabelled rows must each have a share of {LEAST_SHARE:g} of all "
                f"sample_weight; the {name} ones have {weight / sum(weights):.2g}. Weights say how "
                "many times each row counts."
            )


def _weight_by_label(s: Floats, weight: Floats) -> tuple[float, float]:
    return float(weight[s == 0].sum()), float(weight[s == 1].sum())


def check_audited(audited_y: Any, labelled: Floats, certain: bool = True) -> Floats | None:
    """Known classes as 1.0, 0.0 or NaN, like the labels; None if no row is audited.

    A labelled row that is negative is an error where labels are certain.
    """
    if audited_y is None:
        return None
    audited = _numbers("audited_y", column_or_1d(audited_y) if labelled.ndim == 1 else audited_y)
    if audited.shape != labelled.shape:
        got, rows = (" x ".join(map(str, each.shape)) for each in (audited, labelled))
        raise ValueError(f"audited_y must have one value per row; got {got} for {rows} rows.")
    _check_zero_or_one(audited, "audited_y", "not audited")
    clash = np.argwhere((audited == 0) & (labelled == 1))
    if len(clash) and certain:
        raise ValueError(
            "a labelled row is positive, so audited_y may not call it negative; "
            f"got label 1 and audited_y 0 in row {clash[0, 0]}"
            + (f" and {len(clash) - 1} more" if len(clash) > 1 else "")
            + ". If labels may be false, give JointClassifier a false_label_rate."
        )
    return None if np.isnan(audited).all() else audited


def _numbers(name: str, values: Any) -> Floats:
    """Values as numbers, None as NaN."""
    try:
        return np.asarray(values, dtype=object).astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be 1, 0 or NaN for each row; got {error}.") from None


def _check_zero_or_one(values: Floats, name: str, missing: str) -> None:
    wrong = np.argwhere(~(np.isnan(values) | np.isin(values, (0.0, 1.0))))
    if len(wrong):
        value, row = values[tuple(wrong[0])], wrong[0, 0]
        raise ValueError(
            f"{name} must be 1 (positive), 0 (negative) or NaN ({missing}); "
            f"got {value:g} in row {row}."
        )


# Squares of numbers beyond overflow, those of numbers below underflow, in sums over many rows.
LARGEST_FEATURE, SMALLEST_FEATURE = 1e100, 1e-100


def check_magnitudes(extremes: Extremes, every: Extremes, names: NDArray[Any] | None) -> None:
    """Refuse a column of numbers so large or so small that their squares are none.

    Large ones in any row, small ones in those that count.
    """
    counted, size = (np.maximum(np.abs(x.low), np.abs(x.high)) for x in (extremes, every))
    wrong = np.flatnonzero(
        (size > LARGEST_FEATURE) | ((counted > 0) & (counted < SMALLEST_FEATURE))
    )
    if len(wrong) == 0:
        return
    j = int(wrong[0])
    name = f"column {j}" if names is None else repr(str(names[j]))
    kind = "large" if size[j] > LARGEST_FEATURE else "small"
    size = size if kind == "large" else counted
    raise ValueError(
        f"features must be numbers between {SMALLEST_FEATURE:g} and {LARGEST_FEATURE:g} in size; "
        f"those of {name} are too {kind}, up to {size[j]:.3g}. Mend the cell, or choose another "
        "unit."
    )


def feature_index(
    features: Sequence[Any] | None, name: str, n_features: int, names: NDArray[Any] | None
) -> Ints | None:
    """Column indices of features given by name or index; None stands for all of them."""
    if features is None:
        return None
    if isinstance(features, str) or not hasattr(features, "__iter__"):
        raise ValueError(f"{name} must be a list of names or indices; got {features!r}.")
    places = {} if names is None else {str(value): j for j, value in enumerate(names)}
    features = list(features)
    if len(features) == n_features and all(isinstance(f, bool | np.bool_) for f in features):
        return np.flatnonzero(features)
    index = [_one_index(feature, name, n_features, places) for feature in features]
    return np.unique(np.array(index, dtype=np.intp))


def _one_index(feature: Any, name: str, n_features: int, places: dict[str, int]) -> int:
    if isinstance(feature, str):
        if feature not in places:
            hint = f"the features are {listed(places)}" if places else "X has no feature names"
            raise ValueError(f"{name} must name features of X; got {feature!r}, but {hint}.")
        return places[feature]
    whole = isinstance(feature, int | np.integer) and not isinstance(feature, bool)
    if whole and -n_features <= feature < n_features:
        return int(feature) % n_features
    raise ValueError(
        f"{name} must hold names or indices below the number of features {n_features}; "
        f"got {feature!r}."
    )


def listed(values: Any, most: int = 8) -> str:
    """The first values, for a message."""
    values = [v.item() if isinstance(v, np.generic) else v for v in values]
    shown = ", ".join(repr(v) for v in values[:most])
    return shown + (f", ... ({len(values)} in all)" if len(values) > most else "")


EXACT_BELIEF = 1e-5  # a number without uncertainty is taken to be known to this


# What may be said of a share that is known from elsewhere.
PROBABILITY_OR_RANGE = [Interval(Real, 0, 1, closed="both"), tuple, list, None]


def beliefs(
    prevalence: Any, label_frequency: Any, mean_s: float, false_rate: float = 0.0
) -> tuple[Belief, ...]:
    """What a user says is known of the prevalence or of the label frequency."""
    if prevalence is not None and label_frequency is not None:
        raise ValueError(
            "prevalence and label_frequency say the same thing twice (their product is the share "
            f"of labelled rows); give one. Got {prevalence!r} and {label_frequency!r}."
        )
    least = prevalence_at(1.0, mean_s, false_rate)
    if prevalence is not None:
        mean, sd = _mean_and_sd("prevalence", prevalence)
        if not least <= mean:
            raise ValueError(
                f"prevalence must not be below what the labelled rows prove, {least:.3g}; "
                f"got {prevalence!r}."
            )
        return (Belief(mean, max(sd, EXACT_BELIEF)),)
    if label_frequency is not None:
        c, sd = _mean_and_sd("label_frequency", label_frequency)
        if not c > false_rate or prevalence_at(c, mean_s, false_rate) > 1:
            raise ValueError(
                f"label_frequency must be at least the share of labelled rows, {mean_s:.3g}, or "
                f"the prevalence would exceed 1; got {label_frequency!r}."
            )
        return (Belief(c, max(sd, EXACT_BELIEF), "label frequency"),)
    return ()


def _mean_and_sd(name: str, given: Any) -> tuple[float, float]:
    try:
        mean, sd = given if isinstance(given, tuple | list) else (given, 0.0)
        mean, sd = float(mean), float(sd)
    except (TypeError, ValueError):
        mean = sd = np.nan
    if not (0 < mean <= 1 and sd >= 0):
        raise ValueError(
            f"{name} must be a number in (0, 1] or such a number with its standard deviation, "
            f"(mean, sd); got {given!r}."
        )
    return mean, sd


def separated(rows: Rows, link: Link, models: list[Floats]) -> bool:
    """Whether the fitted s(x) is larger on every labelled row than on any other."""
    ends = rows.sum_rows(partial(_nearest, link, models), rows.labels.any, rows.weight)
    return bool(ends.low > ends.high)


def _nearest(link: Link, models: list[Floats], X: Matrix, s: Floats, weight: Floats) -> Extremes:
    """The least log s(x) of labelled rows, and the largest of the others."""
    log_s = np.sum([log_expit(to_logit(link, predictor(X, coef))) for coef in models], axis=0)
    labelled, others = log_s[(weight > 0) & (s == 1)], log_s[(weight > 0) & (s == 0)]
    low, high = labelled.min(initial=np.inf), others.max(initial=-np.inf)
    return Extremes(np.asarray(low), np.asarray(high))
