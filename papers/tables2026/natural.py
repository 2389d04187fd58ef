"""Real labellers: what each method says of tables whose truth and labels are both real.

    python papers/tables2026/natural.py OUT

Every method is fitted to the labels that somebody really gave (false ones taken out), with nothing
named and with the features named that drive labelling by the story.
"""

import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from doublelogit import (
    AveragedClassifier,
    JointClassifier,
    NaiveClassifier,
    TwoModelsClassifier,
    infer,
)
from doublelogit.common.files import write_text
from doublelogit.exceptions import WeakIdentificationWarning
from doublelogit.studies.datasets import load_natural, natural_table

LEVEL = 0.9
METHODS = {
    "NAIVE": (NaiveClassifier(), {}),
    "TM": (TwoModelsClassifier(tol=0, max_iter=100), {}),
    "JOINT": (JointClassifier(), {"method": "profile"}),
    "AVERAGED": (AveragedClassifier(), {}),
}


def main(out: str) -> None:
    lines = [line for name in natural_table().index for line in answers(name)]
    write_text(Path(out) / "natural.csv", pd.DataFrame(lines).to_csv(index=False))


def answers(name: str) -> list[dict[str, Any]]:
    """Prevalence and interval by every method on one table."""
    data = load_natural(name)
    X = np.asarray(data.data, dtype=float)
    spread = X.std(axis=0)
    X = (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    drivers = [list(data.feature_names).index(driver) for driver in data.drivers]
    lines = []
    for method, (model, how) in METHODS.items():
        told = [{}, {"propensity_features": drivers}] if how or method == "AVERAGED" else [{}]
        for given in told:
            line = {"table": name, "truth": round(data.prevalence, 3), "method": method}
            line["given"] = "drivers" if given else "labels"
            lines.append(
                line | answer(model.__class__(**{**model.get_params(), **given}), X, data, how)
            )
    return lines


def answer(model: Any, X: np.ndarray, data: Any, how: dict[str, str]) -> dict[str, Any]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, data.s)
        found: dict[str, Any] = {"estimate": round(float(model.predict_positive(X).mean()), 3)}
        if how or isinstance(model, AveragedClassifier):
            ends = infer(model, X, data.s).prevalence(level=LEVEL, **how)
            found |= {"low": round(ends.low, 3), "high": round(ends.high, 3)}
            found["covers"] = "yes" if ends.low <= data.prevalence <= ends.high else "no"
    weak = any(issubclass(w.category, WeakIdentificationWarning) for w in caught)
    return found | {"warned": "yes" if weak else ""}


if __name__ == "__main__":
    main(*sys.argv[1:])
