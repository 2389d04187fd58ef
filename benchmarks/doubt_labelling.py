"""How often a bias of the labels is said where there is none, and where there is.

    python benchmarks/doubt_labelling.py [samples]

The designs of doubt_designs.SHAPES with 20,001 rows, where the chi-square law gives the p-value:
labels at random for the size, with as many samples as asked for, and labels that lean on the last
feature by a strength for the power, a fifth as many. "rejects" is the test of version 0.1, which
takes the class to be logistic in the columns. Results go to benchmarks/results/doubt_labelling.csv.
"""

import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from doubt_designs import SHAPES, at_random

from doublelogit import scar_test

RESULTS = Path(__file__).parent / "results" / "doubt_labelling.csv"
ROWS = 20_001
STRENGTHS = (0.0, 0.25, 0.5, 1.0)


def tested(name, strength, seed):
    """Whether the straight test rejects, and what the verdict is."""
    rng = np.random.default_rng([seed, 2026, round(100 * strength)])
    X, s = at_random(name, ROWS, rng, strength)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = scar_test(X, s, asymptotic=True)
    return {"rejects": found.rejects, "bias": found.verdict == "bias"}


def main(samples=100):
    tables = []
    for strength in STRENGTHS:
        for name in SHAPES:
            runs = samples if strength == 0 else max(samples // 5, 1)
            frame = pd.DataFrame([tested(name, strength, seed) for seed in range(runs)])
            kept = frame.bias[frame.rejects].mean()
            line = {"class": name, "strength": strength, "samples": runs}
            tables.append(line | frame.mean().to_dict() | {"bias_of_rejected": kept})
            print(tables[-1], flush=True)
            pd.DataFrame(tables).to_csv(RESULTS, index=False, float_format="%.3f")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
