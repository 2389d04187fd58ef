"""What of a fitted classifier is kept in a file: its parameters, its model and a few attributes."""

import re
from dataclasses import fields, is_dataclass
from importlib import import_module
from importlib.metadata import version
from typing import Any

import numpy as np
import sklearn

from doublelogit import fitted
from doublelogit.averaged.shapes import SHAPES
from doublelogit.common import archive
from doublelogit.exceptions import ModelFileError
from doublelogit.findings import Finding
from doublelogit.fitted.fit import Orientation
from doublelogit.fitted.plugged import NumericSide
from doublelogit.fitted.sources import SourceLaw, SourcesPair, SourcesPosterior, SourcesSide
from doublelogit.registry import CLASSIFIERS
from doublelogit.tables.columns import Category, Date, Ignored, Number
from doublelogit.tables.encoding import TableEncoding

KIND = "classifier"
FITTED = re.compile(r"[a-z][a-z0-9_]*_", flags=re.IGNORECASE)
# The types that fitted attributes may have.
RECORDS: dict[str, Any] = {
    cls.__name__: cls
    for cls in (
        fitted.CertainLabel,
        fitted.Forest,
        fitted.HalfwayLabel,
        fitted.ImpliedPropensity,
        fitted.LinearPair,
        fitted.LinearSide,
        fitted.PluggedPair,
        fitted.PluggedSide,
        fitted.MixtureSide,
        fitted.PosteriorMixture,
        fitted.PosteriorSide,
        fitted.ScaledLabel,
        fitted.SelectedComponents,
        fitted.SelectedSide,
        fitted.Selection,
        Category,
        Date,
        Finding,
        Ignored,
        Number,
        NumericSide,
        Orientation,
        SourceLaw,
        SourcesPair,
        SourcesPosterior,
        SourcesSide,
        TableEncoding,
        *(record for shape in SHAPES for record in shape.records),
    )
}


def allow_records(*records: Any) -> None:
    """Let fitted attributes be records of another package."""
    RECORDS.update({record.__name__: record for record in records})


def state_of(model: Any) -> dict[str, Any]:
    """Class, parameters and fitted attributes of a classifier."""
    name = type(model).__name__
    if name not in CLASSIFIERS or type(model) is not _class_named(name):
        raise TypeError(
            f"a model file holds classifiers of this library; got {name}, whose code it cannot "
            "hold. Save the classifier that it extends, or keep it by other means."
        )
    state = {k: v for k, v in vars(model).items() if FITTED.fullmatch(k)}
    return {"class": name, "params": model.get_params(deep=False), "fitted": state}


def from_state(state: dict[str, Any]) -> Any:
    """The classifier of such a state."""
    if state["class"] not in CLASSIFIERS:
        raise ModelFileError(
            f"there is no classifier {state['class']!r}. Import doublelogit.studies if it is a "
            "rival; otherwise upgrade doublelogit."
        )
    model = _class_named(state["class"])(**state["params"])
    model._validate_params()
    for name, value in state["fitted"].items():
        if not FITTED.fullmatch(name) or name in vars(type(model)):
            raise ModelFileError(f"a classifier has no attribute {name!r}.")
        setattr(model, name, value)
    _check_fitted(model)
    return model


def _class_named(name: str) -> Any:
    return vars(import_module(CLASSIFIERS[name].module))[name]


def _check_fitted(model: Any) -> None:
    """What a file says of a model must be a model: sizes that fit, numbers that are finite."""
    n, names = int(model.n_features_in_), vars(model).get("feature_names_in_")
    if np.shape(model.classes_) != (2,) or (names is not None and len(names) != n):
        raise ModelFileError("its classes or the names of its features are not those of a model.")
    for which, coef in zip(("outcome", "propensity"), model.model_.coefficients(), strict=True):
        if coef is not None and np.shape(coef) != (n + 1,):
            raise ModelFileError(
                f"the {which} model does not have a coefficient for every feature."
            )
    _check_finite(model.model_)
    if not isinstance(model.model_, fitted.PluggedPair):  # which may want names, or texts
        model.model_.label_proba(np.zeros((1, n)))  # a model that cannot answer is none


def _check_finite(record: Any) -> None:
    """Refuse coefficients, covariances and weights that are no numbers."""
    for entry in fields(record):
        value = vars(record)[entry.name]
        if isinstance(value, np.ndarray) and not np.isfinite(value.astype(float)).all():
            raise ModelFileError(f"its {entry.name} holds values that are not finite.")
        for inner in value if isinstance(value, tuple) else (value,):
            if is_dataclass(inner):
                _check_finite(inner)


def versions() -> dict[str, str]:
    """Versions of what made a file."""
    return {"doublelogit": version("doublelogit"), "scikit-learn": sklearn.__version__}


def save(model: Any, path: Any) -> None:
    """Write a fitted classifier to a file."""
    archive.write(path, KIND, state_of(model), versions())
