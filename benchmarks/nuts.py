"""AVERAGED's posterior beside NUTS, where coefficients are not few beside the labels.

    python benchmarks/nuts.py PYTHON

PYTHON is one that has numpyro (``make -C benchmarks nuts``), which runs nuts_chain.py on the
same sample, prior
and mechanism. Mean and 90% interval of the prevalence by both, and by Laplace's method, which is
what AVERAGED would be if laws were taken about the mode: benchmarks/results/nuts.csv.
"""

import json
import subprocess
import sys
import tempfile
import warnings
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pandas as pd
from grid import Design, sample

from doublelogit.averaged import gaussian, grid, prior
from doublelogit.averaged.mixture import mixture
from doublelogit.core.design import Terms
from doublelogit.engines.memory import memory_rows
from doublelogit.methods import Problem

HERE = Path(__file__).parent
RESULT = HERE / "results" / "nuts.csv"
# design, seed, and what is given: the scale of the slopes and what labelling has of the class's
CASES = (
    (Design("random", 2.0, 30, 0.3, 0.2, 500), 0, 3.6, 0.0),
    (Design("random", 2.0, 30, 0.3, 0.2, 500), 0, 1.15, 0.0),
    (Design("random", 4.0, 30, 0.3, 0.2, 2000), 1, 3.6, 0.0),
    (Design("random", 4.0, 60, 0.3, 0.2, 2000), 0, 4.9, 0.0),
    (Design("follows", 4.0, 60, 0.3, 0.2, 2000), 0, 4.9, 1.0),
)


def ours(X, s, kappa, k, narrow):
    """Mean and interval by AVERAGED under one scale and mechanism; flat priors, all evidence."""
    problem = Problem(memory_rows(X, s))
    if k == 0:
        problem = replace(problem, propensity=Terms(X.shape[1], np.array([], dtype=int)))
    with (
        patch.object(prior, "COARSE", np.inf),
        patch.object(prior, "signals", lambda _: {kappa: 1.0}),
        patch.object(grid, "log_prevalence", np.zeros_like),
        patch.object(prior, "OFTEN", 1.0),
        patch.object(gaussian, "NARROW", narrow),
    ):
        asked = prior.posterior_under(problem, prior.Mechanism(1.0, follows=k))
        # nothing is kept for other shapes of the class, which NUTS does not know
        model = mixture(grid.explore(s.mean(), [asked]), s.mean(), symmetric=False)
    side = model.outcome_model
    central = model.credible(side.share[None], side.share_sd[None], 0.9)[0]
    return (model.prevalence, *np.clip(central, s.mean(), 1.0))


def nuts(python, X, s, kappa, k):
    """The same by NUTS."""
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data.npz"
        np.savez(data, X=X, s=s, kappa=kappa, k=k)
        done = subprocess.run(
            [python, HERE / "nuts_chain.py", data], capture_output=True, text=True, check=True
        )
    return json.loads(done.stdout.splitlines()[-1])


def main(python: str) -> None:
    warnings.simplefilter("ignore")
    rows = []
    for design, seed, kappa, k in CASES:
        X, y, s = sample(design, seed)
        X = (X - X.mean(axis=0)) / X.std(axis=0)
        answers = {
            "AVERAGED": ours(X, s.astype(float), kappa, k, 0.0),
            "Laplace": ours(X, s.astype(float), kappa, k, np.inf),
            "NUTS": nuts(python, X, s, kappa, k),
        }
        for method, (mean, low, high) in answers.items():
            about = {"design": design.name, "labels": s.sum(), "kappa": kappa, "truth": y.mean()}
            rows.append(about | {"method": method, "mean": mean, "low": low, "high": high})
        pd.DataFrame(rows).round(3).to_csv(RESULT, index=False)
        print(pd.DataFrame(rows[-3:]).round(3).to_string(index=False), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
