"""What of a fitted classifier is kept in a file: its parameters and fitted attributes."""

import re
from importlib.metadata import version
from typing import Any

import sklearn

from doublelogit import archive
from doublelogit.exceptions import ModelFileError
from doublelogit.fit import Orientation
from doublelogit.mixture import Mixture, Side
from doublelogit.registry import METHODS

KIND = "classifier"
FITTED = re.compile(r"[a-z][a-z0-9_]*_", flags=re.IGNORECASE)
# the types that fitted attributes may have
RECORDS = {"Mixture": Mixture, "Orientation": Orientation, "Side": Side}


def state_of(model: Any) -> dict[str, Any]:
    """Class, parameters and fitted attributes of a classifier."""
    fitted = {k: v for k, v in vars(model).items() if FITTED.fullmatch(k)}
    return {
        "class": type(model).__name__,
        "params": model.get_params(deep=False),
        "fitted": fitted,
    }


def of_state(state: dict[str, Any]) -> Any:
    """The classifier of such a state."""
    import doublelogit.estimators as home

    if state["class"] not in METHODS.values():
        raise ModelFileError(f"there is no classifier {state['class']!r}. Upgrade doublelogit.")
    model = getattr(home, state["class"])(**state["params"])
    for name, value in state["fitted"].items():
        if not FITTED.fullmatch(name):
            raise ModelFileError(f"a classifier has no attribute {name!r}.")
        setattr(model, name, value)
    for name in ("coef_", "propensity_coef_", "label_coef_"):
        if hasattr(model, name) and getattr(model, name).shape != (1, model.n_features_in_):
            raise ModelFileError(f"{name} does not have a coefficient for every feature.")
    return model


def versions() -> dict[str, str]:
    """Of what made a file."""
    return {"doublelogit": version("doublelogit"), "scikit-learn": sklearn.__version__}


def save(model: Any, path: Any) -> None:
    """Write a fitted classifier to a file."""
    archive.write(path, KIND, state_of(model), versions())
