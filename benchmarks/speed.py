"""Speed of the methods as ratios to one logistic regression, timed side by side in one run.

adult, 70% of the rows, standardised, c = 0.5, and AVERAGED on a small table, in seconds. Writes
results/speed.csv and prints a table.

    python benchmarks/speed.py [--repeats N] [--out FILE]
"""

import argparse
import csv
import platform
import statistics
import time
import tracemalloc
from pathlib import Path

import numpy as np
import sklearn
from scipy.special import expit
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_info

import doublelogit
from doublelogit import (
    AveragedClassifier,
    EMClassifier,
    JointClassifier,
    LBEClassifier,
    NaiveClassifier,
    TwoModelsClassifier,
    TwoModelsSimpleClassifier,
)
from doublelogit.datasets import load_benchmark
from doublelogit.labelling import Scar, draw

REFERENCE = "LogisticRegression"
MODELS = {
    REFERENCE: lambda: LogisticRegression(C=1, tol=1e-6, solver="newton-cholesky"),
    "NAIVE": NaiveClassifier,
    "TM SIMPLE": TwoModelsSimpleClassifier,
    "TM, 100 rounds": lambda: TwoModelsClassifier(tol=0, max_iter=100),
    "JOINT, one start": lambda: JointClassifier(n_starts=1),
    "JOINT, default": JointClassifier,
    "EM, to JOINT's gradient": lambda: EMClassifier(init="naive"),
    "LBE, 1000 steps": LBEClassifier,
    "AVERAGED": AveragedClassifier,
}
TARGETS = {
    "TM, 100 rounds": 25,
    "JOINT, one start": 10,
    "EM, to JOINT's gradient": 30,
    "AVERAGED": 30,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results" / "speed.csv")
    options = parser.parse_args()

    X, s = sample()
    times = {name: [] for name in MODELS}
    for _ in range(options.repeats):  # interleaved, so that a slow minute hits all alike
        for name, make in MODELS.items():
            times[name].append(seconds(make(), X, s))
    memory = {name: peak(make(), X, s) / X.nbytes for name, make in MODELS.items()}
    facts = [*machine(X), small(options.repeats)]
    print("\n".join(f"# {fact}" for fact in facts))
    print(f"{'':26}{'ratio of medians':>17}{'of minima':>11}{'target':>8}{'peak memory / X':>17}")
    rows = []
    for name, taken in times.items():
        ratio = statistics.median(taken) / statistics.median(times[REFERENCE])
        least = min(taken) / min(times[REFERENCE])
        print(f"{name:26}{ratio:17.1f}{least:11.1f}{TARGETS.get(name, ''):>8}{memory[name]:17.2f}")
        rows.append(
            [name, f"{ratio:.2f}", f"{least:.2f}", TARGETS.get(name, ""), f"{memory[name]:.2f}"]
        )
    options.out.parent.mkdir(exist_ok=True)
    with options.out.open("w", newline="") as file:
        file.writelines(f"# {fact}\n" for fact in facts)
        writer = csv.writer(file)
        writer.writerow(
            ["model", "ratio_of_medians", "ratio_of_minima", "target", "peak_memory_over_X"]
        )
        writer.writerows(rows)


def sample() -> tuple[np.ndarray, np.ndarray]:
    X, y = load_benchmark("adult", return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    rng = np.random.default_rng(0)
    rows = rng.permutation(len(X))[: int(0.7 * len(X))]
    X, y = np.ascontiguousarray(X[rows]), y[rows]
    return X, draw(y, Scar(0.5).propensity(X), rng)


def small(repeats: int) -> str:
    """How long AVERAGED takes on a table of a few hundred rows, where nobody wants to wait."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((500, 30))
    y = (rng.random(500) < expit(X @ rng.normal(size=30) * 0.5)).astype(float)
    s = draw(y, Scar(0.5).propensity(X), rng)
    taken = statistics.median(seconds(AveragedClassifier(), X, s) for _ in range(repeats))
    return f"AVERAGED on 500 rows x 30 features: {taken:.3f} s (target 0.2)"


def seconds(model: object, X: np.ndarray, s: np.ndarray) -> float:
    start = time.perf_counter()
    model.fit(X, s)
    return time.perf_counter() - start


def peak(model: object, X: np.ndarray, s: np.ndarray) -> float:
    tracemalloc.start()
    model.fit(X, s)
    memory = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return memory


def machine(X: np.ndarray) -> list[str]:
    blas = ", ".join(
        f"{lib['internal_api']} {lib['version']} with {lib['num_threads']} threads"
        for lib in threadpool_info()
        if lib["user_api"] == "blas"
    )
    return [
        f"adult, {X.shape[0]} rows x {X.shape[1]} features, standardised, c = 0.5",
        f"{platform.machine()}, Python {platform.python_version()}, numpy {np.__version__}, "
        f"scikit-learn {sklearn.__version__}, doublelogit {doublelogit.__version__}",
        blas,
    ]


if __name__ == "__main__":
    main()
