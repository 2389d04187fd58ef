"""Size and power of the tests of SCAR.

    python benchmarks/scar.py [simulations]

Three designs under SCAR (g = 0) for the size, and labels that lean on the features by g for the
power. The likelihood-ratio and the Wald test share the samples drawn under the null, and drawing
ends as soon as neither can reject any more, which changes no decision. Results go to
benchmarks/results/scar.csv as designs finish.
"""

import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from shared import chance

from doublelogit.inference.scar import WEAK
from doublelogit.inference.scar_likelihood import STATISTIC, Hypotheses
from doublelogit.studies.scar import resampled_scar_test
from doublelogit.studies.scar_statistics import STATISTICS

RESULTS = Path(__file__).parent / "results" / "scar.csv"
DRAWS = 39  # under the null, per test: as exact as more, a little less powerful
LEVEL = 0.05
DESIGNS = {  # n, beta, label frequency
    "moderate": (500, (1.5, -1.0, 0.0), 0.5),
    "separated": (500, (4.0, 2.0, -1.0), 0.5),
    "few labels": (800, (1.5, -1.0, -1.0), 0.25),
}


def sample(name, g, seed):
    """Features and labels; g is the slope of the propensity in the last feature."""
    n, beta, c = DESIGNS[name]
    rng = np.random.default_rng([seed, len(name)])
    X = rng.normal(size=(n, 3))
    y = rng.random(n) < chance(X[:, :2] @ np.array(beta[:2]) + beta[2])
    e = chance(np.log(c / (1 - c)) + g * X[:, 2])
    return X, (y & (rng.random(n) < e)).astype(float)


def measured(contrast):
    """Both statistics of the likelihood."""
    return {name: statistic(contrast) for name, statistic in STATISTIC.items()}


def p_values(name, g, seed):
    """p-value of every test on one sample; where it is no rejection, a bound of it."""
    X, s = sample(name, g, seed)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        hypotheses = Hypotheses.about(X, s, WEAK)
        real = measured(hypotheses.contrast(s))
        larger = dict.fromkeys(real, 0)
        for child in np.random.SeedSequence(seed).spawn(DRAWS):
            drawn = measured(hypotheses.contrast(hypotheses.drawn(child)))
            larger = {m: larger[m] + (drawn[m] >= real[m]) for m in real}
            if min(larger.values()) >= LEVEL * (DRAWS + 1):
                break
        found = {m: (1 + larger[m]) / (DRAWS + 1) for m in real}
        for method in STATISTICS:
            if method != "nb":  # slow, and like the others
                found[method] = resampled_scar_test(X, s, method=method, n_resamples=200).p_value
    return {"design": name, "g": g} | found


def main(simulations=1000):
    tables = []
    for name in DESIGNS:
        for g in (0.0, 0.5, 1.0, 2.0):
            runs = simulations if g == 0 else max(simulations // 20, 1)
            work = delayed(p_values)
            frame = pd.DataFrame(Parallel(n_jobs=-1)(work(name, g, seed) for seed in range(runs)))
            rejected = (frame.drop(columns=["design", "g"]) <= LEVEL).mean()
            tables.append({"design": name, "g": g, "simulations": runs} | rejected.to_dict())
            print(tables[-1], flush=True)
            pd.DataFrame(tables).to_csv(RESULTS, index=False, float_format="%.4f")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
