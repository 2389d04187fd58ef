"""Where JOINT, EM and TM end up: the likelihood has several optima, and TM may cycle.

Six bundled tables, standardised, two label frequencies, three draws, C = 1: 36 problems. From the
naive start: is the optimum of JOINT that of plain EM? And how many rounds does TM take to
settle, with and without acceleration? Writes results/optima.csv and prints a summary.

    python benchmarks/optima.py
"""

import csv
from pathlib import Path

import numpy as np
from sklearn.preprocessing import StandardScaler

from doublelogit.datasets import load_benchmark
from doublelogit.engines.memory import memory_rows
from doublelogit.labelling import Scar, draw
from doublelogit.methods import Problem, em, joint, tm

OUT = Path(__file__).parent / "results" / "optima.csv"
TABLES = ("diabetes", "BreastCancer", "credit-a", "heart-c", "vote", "wdbc")
STARTS = (1, 2, 4)
MOST_ROUNDS = 300
SAME = 1e-6  # of the mean log-likelihood


def main() -> None:
    rows = [measure(name, c, seed) for name in TABLES for c in (0.3, 0.6) for seed in range(3)]
    OUT.parent.mkdir(exist_ok=True)
    with OUT.open("w", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    for n in STARTS:
        gain = np.array([row["em"] - row[f"joint_{n}"] for row in rows])
        print(
            f"JOINT, {n} starts, against EM: same {(np.abs(gain) <= SAME).sum()}, "
            f"better {(gain > SAME).sum()}, worse {(gain < -SAME).sum()} of {len(rows)}"
        )
    for key in ("tm_rounds", "tm_accelerated_rounds"):
        rounds = np.array([row[key] for row in rows])
        settled = (rounds < MOST_ROUNDS).sum()
        print(f"{key}: settled {settled} of {len(rows)}, median {np.median(rounds):.0f} rounds")


def measure(name: str, c: float, seed: int) -> dict[str, object]:
    X, y = load_benchmark(name, return_X_y=True)
    X = StandardScaler().fit_transform(X)
    s = draw(y, Scar(c).propensity(X), np.random.default_rng(seed))
    problem = Problem(memory_rows(X, s), 1.0, 1.0)
    return {
        "table": name,
        "c": c,
        "seed": seed,
        "em": em(problem, init="naive", max_iter=5000).trace[-1],
        **{f"joint_{n}": joint(problem, n_starts=n).trace[-1] for n in STARTS},
        "tm_rounds": tm(problem, max_iter=MOST_ROUNDS).n_iter,
        "tm_accelerated_rounds": tm(problem, max_iter=MOST_ROUNDS, accelerate=True).n_iter,
    }


if __name__ == "__main__":
    main()
