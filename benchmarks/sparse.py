"""Wide tables: SPARSE beside L1 regression of the label and AVERAGED on the columns that matter.

    python benchmarks/sparse.py [seeds] [cell ...]
    python benchmarks/sparse.py calibrate [seeds]

Normal features with correlations .5^|i-j|, 12 of which make the class with slopes of 1 or -1 at
places drawn at random; prevalence .4, label frequency .5. Labels are at random, by three other
features, or by three of which two matter for the class too. A sparse design has counts of words
with frequencies by Zipf's law. Each line of benchmarks/results/sparse.csv is a cell: mean absolute
error of y(x), how many of the features were selected, cover of 90% intervals of the prevalence and
of y(x), and seconds of CPU; the same of rivals. ``calibrate`` measures cover of rows by the
variance that is added for what a selection misses, on designs that the study does not have.
"""

import sys
import time
import warnings
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import sparse
from scipy.optimize import brentq
from shared import chance
from sklearn.linear_model import LogisticRegressionCV

from doublelogit import AveragedClassifier, SparseClassifier
from doublelogit.estimators import sparse as of_sparse

RESULT = Path(__file__).parent / "results" / "sparse.csv"
CALIBRATED = RESULT.with_name("sparse_calibrated.csv")
LEVEL, PREVALENCE, FREQUENCY, CORRELATION = 0.9, 0.4, 0.5, 0.5
OTHERS, OVERLAPPING, RANDOM = "others", "overlapping", "random"


class Design(NamedTuple):
    """Size of a table, what labels depend on, and how the class depends on its features."""

    n: int
    p: int
    labels: str
    words: bool = False
    real: int = 12
    slope: float = 1.0


CELLS = (
    Design(1000, 1000, OTHERS),
    Design(2000, 1000, OVERLAPPING),
    Design(1000, 1000, OVERLAPPING),
    Design(1000, 1000, RANDOM),
    Design(1000, 4000, OTHERS),
    Design(4000, 15_000, OTHERS, words=True),
    Design(1000, 200, OTHERS),
    Design(1000, 200, OVERLAPPING),
    Design(1000, 200, RANDOM),
)
OWN = (
    Design(700, 600, OTHERS, real=8),
    Design(700, 600, RANDOM, real=8),
    Design(1500, 1500, RANDOM, real=15, slope=0.8),
    Design(1500, 1500, OVERLAPPING, real=15, slope=0.8),
    Design(1200, 800, OTHERS, real=6, slope=0.6),
)
MISSED = (0.0, 0.25, 0.5, 1.0, 2.0)


class Sample(NamedTuple):
    """Features, labels, y(x), classes, and the features of class and labelling."""

    X: np.ndarray | sparse.csr_matrix
    s: np.ndarray
    y_x: np.ndarray
    y: np.ndarray
    true: np.ndarray


def normal(design: Design, rng: np.random.Generator) -> np.ndarray:
    X = rng.normal(size=(design.n, design.p))
    for j in range(1, design.p):
        X[:, j] = CORRELATION * X[:, j - 1] + np.sqrt(1 - CORRELATION**2) * X[:, j]
    return X


def words(design: Design, rng: np.random.Generator) -> sparse.csr_matrix:
    """Counts of words in texts, the commonest in four of ten."""
    often = 0.4 / (1 + np.arange(design.p) / 20)
    columns = [np.flatnonzero(rng.random(design.n) < rate) for rate in often]
    rows = np.concatenate(columns)
    at = np.repeat(np.arange(design.p), [len(each) for each in columns])
    counts = 1.0 + rng.poisson(0.3, len(rows))
    return sparse.csr_matrix((counts, (rows, at)), (design.n, design.p))


def level(a: np.ndarray, mean: float, weight: np.ndarray) -> float:
    return brentq(lambda b: weight @ chance(a + b) / weight.sum() - mean, -30, 30)


def sampled(design: Design, seed: int) -> Sample:
    rng = np.random.default_rng([seed, design.n, design.p, len(design.labels)])
    X = words(design, rng) if design.words else normal(design, rng)
    k, pool = design.real, 200 if design.words else design.p
    places = rng.permutation(pool)[: k + 3]
    signs = design.slope * rng.choice([-1.0, 1.0], k)
    a = np.asarray(X[:, places[:k]] @ signs)
    y_x = chance(a + level(a, PREVALENCE, np.ones(design.n)))
    y = rng.random(design.n) < y_x
    by = {OTHERS: places[k:], OVERLAPPING: places[[0, 1, k]], RANDOM: places[:0]}[design.labels]
    b = np.asarray(X[:, by] @ np.array([1.0, -1.0, 1.0])[: len(by)])
    s = y & (rng.random(design.n) < chance(b + level(b, FREQUENCY, y_x)))
    return Sample(X, s.astype(int), y_x, y, np.union1d(places[:k], by))


def timed(fit, *rows):
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = fit(*rows)
    return model, time.process_time() - start


def dense(X, columns):
    some = X[:, columns]
    return some.toarray() if sparse.issparse(some) else some


def covers(model, X, y_x) -> float:
    low, high = model.predict_interval(X, LEVEL).T
    return float(((low <= y_x) & (y_x <= high)).mean())


def error(p, y_x) -> float:
    return float(np.abs(p - y_x).mean())


def answer(design: Design, seed: int) -> dict:
    sample = sampled(design, seed)
    X, s, y_x, y, true = sample
    model, seconds = timed(SparseClassifier().fit, X, s)
    naive = LogisticRegressionCV(
        penalty="l1", solver="liblinear", Cs=10, cv=3, use_legacy_attributes=False
    )
    naive, naive_seconds = timed(naive.fit, X, s)
    best, _ = timed(AveragedClassifier().fit, dense(X, true), s)
    low, high = model.prevalence_interval(LEVEL)
    chosen = model.selected_["feature"]
    hits = len(np.intersect1d(chosen, true))
    line = {
        "error": error(model.predict_positive(X), y_x),
        "error_l1": error(naive.predict_proba(X)[:, 1], y_x),
        "error_true_union": error(best.predict_positive(dense(X, true)), y_x),
        "f1": 2 * hits / (len(chosen) + len(true)),
        "selected": len(chosen),
        "rest": model.findings_[-1].numbers["rest"],
        "cover_rows": covers(model, X, y_x),
        "cover_rows_true_union": covers(best, dense(X, true), y_x),
        "cover_prevalence": low <= y.mean() <= high,
        "width_prevalence": high - low,
        "seconds": seconds,
        "seconds_l1": naive_seconds,
    }
    if design.p <= 200:
        every, _ = timed(AveragedClassifier().fit, X, s)
        line["error_averaged_on_all"] = error(every.predict_positive(X), y_x)
    return line


def calibrated(design: Design, seed: int) -> list[dict]:
    """Cover of rows by what is added, without another fit."""
    X, s, y_x, *_ = sampled(design, seed + 1000)
    model, _ = timed(SparseClassifier().fit, X, s)
    outcome = model.model_.outcome_model
    lines = []
    for missed in MISSED:
        factor = missed / of_sparse.MISSED
        sides = (replace(side, omitted=side.omitted * factor) for side in outcome.sides)
        model.model_ = replace(model.model_, outcome_model=replace(outcome, sides=tuple(sides)))
        width = float(np.ptp(model.predict_interval(X, LEVEL), axis=1).mean())
        lines.append({"missed": missed, "cover_rows": covers(model, X, y_x), "width_rows": width})
    return lines


def summary(lines: list[dict], keys: list[str], path: Path) -> None:
    frame = pd.DataFrame(lines).astype({"cover_rows": float})
    groups = frame.groupby(keys, sort=False)
    table = groups.mean(numeric_only=False).assign(seeds=groups.size()).astype(float).round(4)
    if path.exists():  # of cells that were not run the lines stay
        table = table.combine_first(pd.read_csv(path, index_col=keys))
    table.to_csv(path)
    print(table.round(3).to_string())


def main(seeds: int = 4, *cells: str) -> None:
    lines = []
    for at, design in enumerate(CELLS):
        if cells and str(at) not in cells:
            continue
        for seed in range(seeds if design.p > 200 else -(-seeds // 2)):
            about = design._asdict()
            lines.append(
                {k: about[k] for k in ("n", "p", "labels", "words")} | answer(design, seed)
            )
            print(lines[-1], flush=True)
    summary(lines, ["n", "p", "labels", "words"], RESULT)


def calibrate(seeds: int = 4) -> None:
    lines = [
        {"n": design.n, "p": design.p, "labels": design.labels} | line
        for design in OWN
        for seed in range(seeds)
        for line in calibrated(design, seed)
    ]
    summary(lines, ["n", "p", "labels", "missed"], CALIBRATED)


if __name__ == "__main__":
    if sys.argv[1:2] == ["calibrate"]:
        calibrate(*map(int, sys.argv[2:]))
    else:
        main(*map(int, sys.argv[1:2]), *sys.argv[2:])
