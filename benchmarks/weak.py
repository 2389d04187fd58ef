"""Where classes hardly separate: AVERAGED's 90% intervals in designs that the first edition failed.

    python benchmarks/weak.py [samples]

Ten features of slope .2 or of norm .5, one real slope among more and more features of noise, more
features than rows, labels at random; and eight tables of econometrics whose classes overlap, labels
at random with c = .1, .3, .5 and .8. Error of the prevalence, cover, width and how often a warning
says that labels hardly determine it go to benchmarks/results/weak.csv.
"""

import sys
import warnings
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from shared import chance, measured

from doublelogit import AveragedClassifier
from doublelogit.studies.datasets import load_corpus

RESULT = Path(__file__).parent / "results" / "weak.csv"
LEVEL = 0.9
TABLES = ("mroz", "loanapp", "affairs", "crime1", "recid", "smoke", "charity", "fertil2")
FREQUENCIES = (0.1, 0.3, 0.5, 0.8)


class Design(NamedTuple):
    """Normal features, some of which matter, and labels at random."""

    name: str
    n: int
    p: int
    real: int
    norm: float
    intercept: float
    frequency: float


DESIGNS = (
    Design("slopes of .2", 4000, 10, 5, 0.2 * np.sqrt(5), -1.0, 0.8),
    Design("slopes of norm .5", 1400, 10, 5, 0.5, -1.0, 0.5),
    Design("slopes of norm .5", 10_000, 10, 5, 0.5, -1.0, 0.5),
    *(Design("one slope and noise", 1000, p, 1, 1.0, -1.0, 0.5) for p in (3, 10, 30, 60)),
    Design("more features than rows", 150, 200, 5, 1.0, -1.0, 0.5),
)


def drawn(design: Design, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Features, classes and labels of a sample."""
    rng = np.random.default_rng([seed, design.n, design.p])
    X = rng.normal(size=(design.n, design.p))
    slopes = np.full(design.real, design.norm / np.sqrt(design.real))
    y = rng.random(design.n) < chance(X[:, : design.real] @ slopes + design.intercept)
    return X, y, y & (rng.random(design.n) < design.frequency)


def answer(X: np.ndarray, y: np.ndarray, s: np.ndarray) -> dict[str, float]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = AveragedClassifier().fit(X, s.astype(int))
    found = measured(model.prevalence_interval(LEVEL), y.mean(), LEVEL)
    warned = any(finding.topic == "identification" for finding in model.findings_)
    return {"error": abs(model.prevalence_ - y.mean()), **found, "warned": warned}


def of_design(design: Design, seed: int) -> dict:
    about = {"design": design.name, "n": design.n, "p": design.p}
    return about | answer(*drawn(design, seed))


def of_table(name: str, frequency: float, seed: int) -> dict:
    data = load_corpus(name)
    X, y = np.asarray(data.data, dtype=float), np.asarray(data.target) == 1
    rng = np.random.default_rng([seed, int(100 * frequency)])
    s = y & (rng.random(len(y)) < frequency)
    return {"design": name, "n": len(y), "p": X.shape[1]} | answer(X, y, s)


def main(samples: int = 40) -> None:
    jobs = [delayed(of_design)(d, seed) for d in DESIGNS for seed in range(samples)]
    repeats = range(-(-samples // len(FREQUENCIES)))
    jobs += [delayed(of_table)(t, c, seed) for t in TABLES for c in FREQUENCIES for seed in repeats]
    frame = pd.DataFrame(Parallel(n_jobs=-1)(jobs))
    keys = ["design", "n", "p"]
    table = frame.groupby(keys, sort=False).mean().assign(samples=frame.groupby(keys).size())
    table.round(4).to_csv(RESULT)
    print(table.round(3).to_string())


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
