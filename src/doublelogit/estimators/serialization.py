"""What of a fitted classifier is kept in a file: its parameters, its model and a few attributes."""

import re
from importlib.metadata import version
from typing import Any

import numpy as np
import sklearn

from doublelogit import archive, fitted
from doublelogit.exceptions import ModelFileError
from doublelogit.findings import Finding
from doublelogit.fit import Orientation
from doublelogit.fitted import FittedModel
from doublelogit.fitted.plugged import NumericSide
from doublelogit.registry import CLASSIFIERS
from doublelogit.tables.columns import Category, Date, Ignored, Number
from doublelogit.tables.encoding import TableEncoding

KIND = "classifier"
FITTED = re.compile(r"[a-z][a-z0-9_]*_", flags=re.IGNORECASE)
# The types that fitted attributes may have.
RECORDS = {
    cls.__name__: cls
    for cls in (
        fitted.CertainLabel,
        fitted.HalfwayLabel,
        fitted.LinearPair,
        fitted.LinearSide,
        fitted.PluggedPair,
        fitted.PluggedSide,
        fitted.PosteriorMixture,
        fitted.PosteriorSide,
        Category,
        Date,
        Finding,
        Ignored,
        Number,
        NumericSide,
        Orientation,
        TableEncoding,
    )
}


def state_of(model: Any) -> dict[str, Any]:
    """Class, parameters and fitted attributes of a classifier."""
    kept = {k: v for k, v in vars(model).items() if FITTED.fullmatch(k)}
    return {
        "class": type(model).__name__,
        "params": model.get_params(deep=False),
        "fitted": kept,
    }


def from_state(state: dict[str, Any]) -> Any:
    """The classifier of such a state."""
    if state["class"] not in CLASSIFIERS:
        raise ModelFileError(f"there is no classifier {state['class']!r}. Upgrade doublelogit.")
    import doublelogit.estimators as home

    model = home.__getattr__(state["class"])(**state["params"])
    for name, value in state["fitted"].items():
        if not FITTED.fullmatch(name):
            raise ModelFileError(f"a classifier has no attribute {name!r}.")
        setattr(model, name, value)
    _check_sizes(model.model_, model.n_features_in_)
    return model


def _check_sizes(model: FittedModel, n_features: int) -> None:
    """Every linear model must have a coefficient for every feature."""
    for which, coef in zip(("outcome", "propensity"), model.coefficients(), strict=True):
        if coef is not None and np.shape(coef) != (n_features + 1,):
            raise ModelFileError(
                f"the {which} model does not have a coefficient for every feature."
            )


def versions() -> dict[str, str]:
    """Versions of what made a file."""
    return {"doublelogit": version("doublelogit"), "scikit-learn": sklearn.__version__}


def save(model: Any, path: Any) -> None:
    """Write a fitted classifier to a file."""
    archive.write(path, KIND, state_of(model), versions())
