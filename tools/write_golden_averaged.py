"""Write ``tests/golden/averaged.json``: numbers of AVERAGED that a refactor must not change.

    python -m tools.write_golden_averaged

Small samples cover the ways in which AVERAGED is asked; ``tests/test_golden_averaged.py`` fits them
again. Numbers stand by the names of public attributes and predictions. Also writes a model file of
the sample ``simulated``. Write them again only where numbers are meant to change, and say by how
much.
"""

import json
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dask.array as da
import numpy as np
import pandas as pd
from scipy import sparse
from scipy.special import expit

from doublelogit import (
    AveragedClassifier,
    Roles,
    TableClassifier,
    scan_parquet,
)
from doublelogit.datasets import load_benchmark
from doublelogit.labelling import Scar, draw

GOLDEN = Path(__file__).parent.parent / "tests" / "golden"
NUMBERS, MODEL_FILE = GOLDEN / "averaged.json", GOLDEN / "averaged.dlm"
COMPONENT = ("weight", "log_evidence", "prevalence", "prevalence_sd")
COEFFICIENTS = ("coef_", "intercept_", "propensity_coef_", "propensity_intercept_")
PREDICTIONS = (
    "predict_proba",
    "predict_propensity",
    "predict_label_proba",
    "predict_hidden",
    "predict_interval",
)
PREDICTED = 12  # rows of each sample
NAMES = ["a", "b", "c"]
APART = {"outcome_features": ["a", "b"], "propensity_features": ["b", "c"]}

Fitted = tuple[Any, Any]  # a classifier and rows for it to predict
DESIGNS: dict[str, Callable[[], Fitted]] = {}


def design(make: Callable[[], Fitted]) -> Callable[[], Fitted]:
    """Enter a fit among the designs."""
    DESIGNS[make.__name__] = make
    return make


def sample(n: int = 350, seed: int = 0) -> pd.DataFrame:
    """A double logistic sample of three features: label, class of audited rows, weight."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)) * [1.0, 3.0, 0.5] + [0.0, 2.0, -1.0]
    y = rng.random(n) < expit(1.5 * X[:, 0] - 0.4 * (X[:, 1] - 2) - 0.2)
    s = y & (rng.random(n) < expit(0.3 * (X[:, 1] - 2) - 2.0 * (X[:, 2] + 1)))
    audited = np.where((np.arange(n) % 5 == 0) & ~s, y, np.nan)
    frame = pd.DataFrame(X, columns=NAMES)
    return frame.assign(s=s.astype(int), audited=audited, weight=rng.integers(0, 7, size=n) / 2)


def of_sample(columns: tuple[str, ...] = (), n: int = 350, **parameters: Any) -> Fitted:
    """AVERAGED of the sample, with those of its columns that are no features."""
    frame = sample(n)
    roles = {"weight": "sample_weight", "audited": "audited_y"}
    extra = {roles[column]: frame[column].to_numpy() for column in columns}
    model = AveragedClassifier(shape="line", **parameters).fit(frame[NAMES], frame["s"], **extra)
    return model, frame[NAMES]


def wide(**parameters: Any) -> Fitted:
    """AVERAGED with more features than rows."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(50, 70)) * rng.uniform(0.5, 3.0, size=70) + rng.normal(size=70)
    y = rng.random(50) < expit(X[:, :4] @ np.full(4, 0.5))
    s = (y & (rng.random(50) < 0.6)).astype(int)
    return AveragedClassifier(shape="line", **parameters).fit(X, s), X


@design
def bundled() -> Fitted:
    """Nothing named; three hundred rows of a table, labels at random."""
    X, y = load_benchmark("diabetes", return_X_y=True)
    X, y = X[:300], y[:300]
    s = draw(y, Scar(0.5).propensity(X), np.random.default_rng(0))
    return AveragedClassifier(shape="line").fit(X, s), X


@design
def simulated() -> Fitted:
    """Nothing named; labels that depend on features of their own."""
    return of_sample()


@design
def simulated_many() -> Fitted:
    """Nothing named; rows enough for their evidence to be coarsened."""
    return of_sample(n=4000)


@design
def few_labels() -> Fitted:
    """Nothing named; fewer labels than slopes, so that labelling has none of its own."""
    frame = sample(n=200, seed=5)
    s = frame["s"] * (frame["s"].cumsum() <= 7)
    return AveragedClassifier(shape="line").fit(frame[NAMES], s), frame[NAMES]


@design
def sparse_rows() -> Fitted:
    """Nothing named; a sparse matrix."""
    rng = np.random.default_rng(7)
    X = sparse.csr_array(rng.normal(size=(300, 4)) * (rng.random((300, 4)) < 0.4))
    s = (rng.random(300) < expit(2 * X[:, [0]].toarray()[:, 0] - 1)).astype(int)
    return AveragedClassifier(shape="line").fit(X, s), X


@design
def named_apart() -> Fitted:
    """Each model with a feature that the other has not."""
    return of_sample(**APART)


@design
def named_disjoint() -> Fitted:
    """No feature of both models."""
    return of_sample(outcome_features=["a", "b"], propensity_features=["c"])


@design
def named_constant_class() -> Fitted:
    """A class that depends on nothing."""
    return of_sample(outcome_features=[], propensity_features=["b", "c"])


@design
def named_propensity() -> Fitted:
    """Features of the labelling named, the class has all."""
    return of_sample(propensity_features=["c"])


@design
def named_outcome() -> Fitted:
    """Features of the class named, the labelling has all."""
    return of_sample(outcome_features=["a", "b"])


@design
def named_at_random() -> Fitted:
    """The SCAR assumption."""
    return of_sample(propensity_features=[])


@design
def audited() -> Fitted:
    """Nothing named, but every fifth row audited."""
    return of_sample(("audited",))


@design
def audited_many() -> Fitted:
    """Audited rows among so many that evidence is coarsened."""
    return of_sample(("audited",), n=4000)


@design
def audited_and_named() -> Fitted:
    """Audited rows and named features."""
    return of_sample(("audited",), **APART)


@design
def smooth() -> Fitted:
    """Squares of two features bend the class."""
    frame = sample()
    X = frame[NAMES].assign(aa=frame["a"] ** 2, bb=(frame["b"] - 2) ** 2)
    return AveragedClassifier(
        shape="line", smooth_features=["aa", "bb"], propensity_features=NAMES
    ).fit(X, frame["s"]), X


@design
def table() -> Fitted:
    """A table with a category: its classifier, and the encoded rows."""
    frame = sample()
    table = frame[[*NAMES, "s"]].assign(d=np.where(frame["a"] > 0.5, "x", "y"))
    model = TableClassifier(Roles("s"), label_model="lines").fit(table)
    return model.classifier_, model.encoding_.encode(table)[0]


@design
def prevalence_believed() -> Fitted:
    """The prevalence from elsewhere, with its standard deviation."""
    return of_sample(prevalence=(0.45, 0.04))


@design
def prevalence_certain() -> Fitted:
    """The prevalence from elsewhere, for certain."""
    return of_sample(prevalence=0.45)


@design
def label_frequency_believed() -> Fitted:
    """The label frequency from elsewhere, with its standard deviation."""
    return of_sample(label_frequency=(0.5, 0.05))


@design
def weighted() -> Fitted:
    """Nothing named; weights, some of them zero."""
    return of_sample(("weight",))


@design
def wider_than_long() -> Fitted:
    """Nothing named; more features than rows."""
    return wide()


@design
def wider_than_long_named() -> Fitted:
    """More features than rows, labels at random."""
    return wide(propensity_features=[])


@design
def parquet() -> Fitted:
    """A scan of two files, with weights and audited rows."""
    frame = sample()
    with tempfile.TemporaryDirectory() as folder:
        frame[:200].to_parquet(f"{folder}/0.parquet")
        frame[200:].to_parquet(f"{folder}/1.parquet")
        roles = Roles("s", weight="weight", audited="audited", features=NAMES)
        return AveragedClassifier(shape="line").fit(
            scan_parquet(f"{folder}/*.parquet", roles)
        ), frame[NAMES]


@design
def dask_arrays() -> Fitted:
    """Dask arrays, with weights."""
    frame = sample()
    X = da.from_array(frame[NAMES].to_numpy(), chunks=(120, 3))
    s, weight = (da.from_array(frame[name].to_numpy(), chunks=100) for name in ("s", "weight"))
    model = AveragedClassifier(shape="line", propensity_features=[2]).fit(
        X, s, sample_weight=weight
    )
    return model, frame[NAMES].to_numpy()


def numbers(model: Any, X: Any) -> dict[str, Any]:
    """The public numbers of a fitted classifier, by name; None where it has none."""
    decided, first = model.orientation_, X[:PREDICTED]
    rival = np.isfinite(decided.gap) and model.model_.swapped() is not None
    return {
        "prevalence_": model.prevalence_,
        "label_frequency_": model.label_frequency_,
        "prevalence_interval": list(model.prevalence_interval(0.9)),
        "orientation": [decided.rule, float(decided.gap), decided.unit, bool(decided.clear)],
        "prevalence_ of swapped": model.swapped().prevalence_ if rival else None,
        "evidence_": {name: model.evidence_[name].tolist() for name in COMPONENT},
        **{name: _coefficient(model, name) for name in COEFFICIENTS},
        **{name: getattr(model, name)(first).tolist() for name in PREDICTIONS},
    }


def _coefficient(model: Any, name: str) -> Any:
    """A coefficient as lists; None for a model that is no line."""
    return getattr(model, name).tolist() if hasattr(model, name) else None


def main() -> None:
    """Fit every design and write its numbers, one quantity a line."""
    warnings.simplefilter("ignore")
    every = {name: numbers(*make()) for name, make in DESIGNS.items()}
    lines = [
        f" {json.dumps(name)}: {{\n"
        + ",\n".join(f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in found.items())
        + "\n }"
        for name, found in every.items()
    ]
    NUMBERS.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    simulated()[0].save(MODEL_FILE)


if __name__ == "__main__":
    main()
