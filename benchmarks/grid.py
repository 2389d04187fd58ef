"""Whether AVERAGED's intervals cover where its model is right: 84 designs named beforehand.

    python benchmarks/grid.py [samples] [profile samples]

X ~ N(0, I_p), half of the features matter, with equal slopes of a norm; labels are given at random,
follow the class (gamma = beta) or lean on the other features (gamma of norm .6 |beta|). Of all
combinations 24 of each mechanism are chosen by the sha256 of their names, and twelve larger ones
(n = 10,000 or p = 60) likewise. Cover, width and score (Winkler) of 90% intervals of the share of
positives in the sample, beside the interval from the labelled share to 1 and, on the first samples,
that of the profile likelihood of JOINT, go to benchmarks/results/grid.csv, cell by cell. Samples
that were run are kept in build/grid, so that a run that was stopped goes on; the larger cells have
half as many samples.
"""

import hashlib
import json
import sys
import time
import warnings
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from scipy.optimize import brentq
from shared import chance, measured

from doublelogit import AveragedClassifier, JointClassifier, infer

RESULT = Path(__file__).parent / "results" / "grid.csv"
KEPT = Path(__file__).parent.parent / "build" / "grid"
LEVEL = 0.9
USUAL = 72  # designs before the larger ones
MECHANISMS = ("random", "follows", "disjoint")
NORMS, SHARES, FREQUENCIES = (0.3, 0.5, 1.0, 2.0, 4.0), (0.1, 0.3, 0.7), (0.2, 0.5, 0.8)


class Design(NamedTuple):
    """One cell of the grid."""

    mechanism: str
    norm: float
    p: int
    share: float
    frequency: float
    n: int

    @property
    def name(self) -> str:
        return "/".join(map(str, self))

    @property
    def order(self) -> str:
        return hashlib.sha256(self.name.encode()).hexdigest()


def designs() -> list[Design]:
    """The 72 designs, 24 of each mechanism, and the twelve larger ones."""
    common = (NORMS, (3, 10, 30), SHARES, FREQUENCIES, (500, 2000))
    usual = [
        sorted((Design(m, *cell) for cell in product(*common)), key=_order) for m in MECHANISMS
    ]
    sizes = ((10, 10_000), (60, 2000))
    large = [
        Design(m, norm, p, share, frequency, n)
        for m, norm, (p, n), share, frequency in product(
            MECHANISMS, NORMS, sizes, SHARES, FREQUENCIES
        )
    ]
    return [d for part in usual for d in part[:24]] + sorted(large, key=_order)[:12]


def _order(design: Design) -> str:
    return design.order


FOUND: dict[Design, tuple[np.ndarray, float, np.ndarray, float]] = {}


def coefficients(design: Design) -> tuple[np.ndarray, float, np.ndarray, float]:
    """Slopes and intercepts that give the share and the label frequency, found once."""
    if design not in FOUND:  # a cache of functools would not reach the workers
        FOUND[design] = _coefficients(design)
    return FOUND[design]


def _coefficients(design: Design) -> tuple[np.ndarray, float, np.ndarray, float]:
    half = -(-design.p // 2)
    beta, gamma = np.zeros(design.p), np.zeros(design.p)
    beta[:half] = design.norm / np.sqrt(half)
    if design.mechanism == "follows":
        gamma = beta
    elif design.mechanism == "disjoint":
        gamma[half:] = 0.6 * design.norm / np.sqrt(design.p - half)
    X = np.random.default_rng(0).normal(size=(100_000, design.p))
    b = brentq(lambda t: chance(X @ beta + t).mean() - design.share, -40, 40)
    y = chance(X @ beta + b)
    g = brentq(lambda t: y @ chance(X @ gamma + t) / y.sum() - design.frequency, -40, 40)
    return beta, b, gamma, g


def sample(design: Design, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Features, classes and labels; a sample with fewer than three labels is drawn again."""
    beta, b, gamma, g = coefficients(design)
    rng = np.random.default_rng([seed, int(design.order[:8], 16)])
    while True:
        X = rng.normal(size=(design.n, design.p))
        y = rng.random(design.n) < chance(X @ beta + b)
        s = y & (rng.random(design.n) < chance(X @ gamma + g))
        if s.sum() >= 3:
            return X, y, s.astype(int)


def run(design: Design, samples: int, profiled: int) -> list[dict]:
    """Intervals of all samples of a design, those kept from an earlier run included."""
    kept = KEPT / f"{design.order[:16]}.jsonl"
    lines = [json.loads(line) for line in kept.read_text().splitlines()] if kept.exists() else []
    done = {line["seed"] for line in lines}
    with warnings.catch_warnings(), kept.open("a") as file:
        warnings.simplefilter("ignore")
        for seed in sorted(set(range(samples)) - done):
            new = intervals(design, seed, profiled=seed < profiled)
            file.writelines(json.dumps(line) + "\n" for line in new)
            file.flush()
            lines += new
    return [line for line in lines if line["seed"] < samples]


def intervals(design: Design, seed: int, *, profiled: bool) -> list[dict]:
    """Intervals of one sample, with what they are worth."""
    X, y, s = sample(design, seed)
    start = time.process_time()
    model = AveragedClassifier().fit(X, s)
    seconds = time.process_time() - start
    warned = any(f.topic == "identification" for f in model.findings_)
    found = {"AVERAGED": model.prevalence_interval(LEVEL), "trivial": (s.mean(), 1.0)}
    if profiled:
        ends = infer(JointClassifier().fit(X, s), X, s).prevalence(method="profile", level=LEVEL)
        found["profile"] = (ends.low, ends.high)
    about = {**design._asdict(), "seed": seed, "warned": warned, "seconds": seconds}
    lines = []
    for method, interval in found.items():
        numbers = {k: float(v) for k, v in measured(interval, y.mean(), LEVEL).items()}
        lines.append(about | {"method": method} | numbers)
    return lines


def main(samples: int = 20, profiled: int = 0) -> None:
    KEPT.mkdir(parents=True, exist_ok=True)
    jobs = (
        delayed(run)(d, samples if k < USUAL else -(-samples // 2), profiled)
        for k, d in enumerate(designs())
    )
    lines = [line for part in Parallel(n_jobs=-1)(jobs) for line in part]
    keys = [*Design._fields, "method"]
    table = (
        pd.DataFrame(lines)
        .groupby(keys)
        .agg(
            samples=("seed", "size"),
            covers=("covers", "mean"),
            width=("width", "mean"),
            score=("score", "mean"),
            warned=("warned", "mean"),
            seconds=("seconds", "mean"),
        )
    )
    table.round(4).to_csv(RESULT)
    table = table.reset_index()
    for by in ("mechanism", "norm"):
        print(table.groupby(["method", by])[["covers", "width", "score", "warned"]].mean().round(3))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
