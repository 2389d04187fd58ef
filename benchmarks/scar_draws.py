"""What a page loses that draws at most 99, 59 or 39 samples for its test of SCAR, and not 199.

    python benchmarks/scar_draws.py [simulations]

The likelihood-ratio test on the same samples with each of these numbers: how often it says that
labels are biased, under SCAR (g = 0) and where they lean on a feature by g, and how often the
verdict is another one than with 199. Results go to benchmarks/results/scar_draws.csv.
"""

import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from scar import sample

from doublelogit import scar_test
from doublelogit.inference.scar import BIAS, NO_EVIDENCE

RESULTS = Path(__file__).parent / "results" / "scar_draws.csv"
DRAWS = (199, 99, 59, 39)


def tests(name, g, seed):
    """The test of one sample by every number of draws."""
    X, s = sample(name, g, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [scar_test(X, s, n_resamples=n, random_state=seed, n_jobs=1) for n in DRAWS]


def measured(name, g, simulations):
    """One row per number of draws."""
    found = [tests(name, g, seed) for seed in range(simulations)]
    verdicts = np.array([[test.verdict for test in row] for row in found])
    for j, most in enumerate(DRAWS):
        pairs = verdicts[:, [0, j]]
        yield {
            "design": name,
            "g": g,
            "simulations": simulations,
            "most": most,
            "drawn": np.mean([row[j].draws for row in found]),
            "bias": (pairs[:, 1] == BIAS).mean(),
            "no evidence": (pairs[:, 1] == NO_EVIDENCE).mean(),
            "other verdict than by 199": (pairs[:, 0] != pairs[:, 1]).mean(),
            "opposite verdict": np.mean([{*pair} == {BIAS, NO_EVIDENCE} for pair in pairs]),
        }


def main(simulations=100):
    table = []
    for name in ("moderate", "separated"):
        for g in (0.0, 1.0):
            runs = simulations if g == 0 else 2 * simulations // 5
            table += measured(name, g, runs)
            print(*table[-len(DRAWS) :], sep="\n", flush=True)
            pd.DataFrame(table).to_csv(RESULTS, index=False, float_format="%.3f")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
