"""Samples: extreme but finite numbers, weights and labels, for every classifier."""

import io
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import strategies as st

from tools.fuzz.contract import proper
from tools.fuzz.targets import Case, Target

# As a user would call them, but for limits on rounds that are a matter of patience only.
CLASSIFIERS: dict[str, dict[str, Any]] = {
    "NaiveClassifier": {},
    "TwoModelsSimpleClassifier": {},
    "TwoModelsClassifier": {},
    "JointClassifier": {},
    "EMClassifier": {"max_iter": 200},
    "LBEClassifier": {"max_iter": 100},
    "AveragedClassifier": {},
}
POWERS = (-320, -200, -100, -90, -9, -3, 0, 3, 9, 15, 90, 99, 160, 200, 300)


def _cell(X: Any, rng: Any, power: int) -> Any:
    X[rng.integers(len(X)), rng.integers(X.shape[1])] = 10.0**power
    return X


SPOILS = {
    "none": lambda X, rng, power: X,
    "scaled column": lambda X, rng, power: X * np.where(np.arange(X.shape[1]) == 0, 10.0**power, 1),
    "scaled": lambda X, rng, power: X * 10.0**power,
    "cell": _cell,
    "far": lambda X, rng, power: X + 10.0 ** min(power, 15),
    "constant": lambda X, rng, power: np.full_like(X, 10.0 ** min(power, 99)),
    "constant column": lambda X, rng, power: np.insert(X, 0, 10.0 ** min(power, 99), axis=1),
    "collinear": lambda X, rng, power: np.c_[X, X[:, 0] * 2, X.sum(axis=1)],
    "duplicated": lambda X, rng, power: X[rng.integers(0, 3, len(X))],
    "wide": lambda X, rng, power: rng.standard_normal((len(X), 2 * len(X))),
    "zeros": lambda X, rng, power: np.zeros_like(X),
    "binary": lambda X, rng, power: (X > 0).astype(float),
    "separated": lambda X, rng, power: X + 20 * (np.arange(len(X)) % 3 == 0)[:, None],
}
WEIGHTS = {
    "none": lambda n, rng: None,
    "tiny": lambda n, rng: np.full(n, 1e-300),
    "some tiny": lambda n, rng: np.where(rng.random(n) < 0.5, 1e-300, 1.0),
    "wild": lambda n, rng: 10.0 ** rng.integers(-300, 12, n),
    "zeros": lambda n, rng: (rng.random(n) < 0.7).astype(float),
    "large": lambda n, rng: np.full(n, 1e9),
}
LABELS = {
    "related": lambda X, rng: X[:, 0] + rng.standard_normal(len(X)) > 0.3,
    "random": lambda X, rng: rng.random(len(X)) < 0.3,
    "one": lambda X, rng: np.arange(len(X)) == 0,
    "all but one": lambda X, rng: np.arange(len(X)) > 0,
    "every third": lambda X, rng: np.arange(len(X)) % 3 == 0,
}


@st.composite
def cases(draw: Any) -> Case:
    """A sample and the name of a classifier, as numpy keeps them."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n, p = draw(st.integers(3, 40)), draw(st.integers(1, 4))
    X = rng.standard_normal((n, p))
    s = LABELS[draw(st.sampled_from(sorted(LABELS)))](X, rng)
    with np.errstate(all="ignore"):
        for _ in range(draw(st.integers(1, 2))):
            spoil = SPOILS[draw(st.sampled_from(sorted(SPOILS)))]
            X = spoil(X, rng, draw(st.sampled_from(POWERS)))
        weight = WEIGHTS[draw(st.sampled_from(sorted(WEIGHTS)))](n, rng)
    X = np.nan_to_num(X)  # extreme, but finite
    packed, arrays = io.BytesIO(), {"X": X, "s": s.astype(int)}
    if weight is not None:
        arrays["weight"] = weight
    name = draw(st.sampled_from(sorted(CLASSIFIERS)))
    np.savez(packed, classifier=np.array(name), **arrays)
    return ".npz", packed.getvalue()


def check(path: Path) -> str:
    """Fit the classifier and ask for its probabilities."""
    import doublelogit as dl

    with np.load(path) as case:
        sample = dict(case)
    name = str(sample["classifier"])
    model = vars(dl)[name] if name in vars(dl) else getattr(dl, name)
    weight = {"sample_weight": sample["weight"]} if "weight" in sample else {}
    fitted = model(**CLASSIFIERS[name]).fit(sample["X"], sample["s"], **weight)
    proper(fitted.predict_proba(sample["X"]))
    proper(fitted.predict_label_proba(sample["X"]))
    return f"answered: {name}"


TARGET = Target("samples", cases, check)
