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
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pandas as pd
from grid import Design, sample

from doublelogit.averaged import posteriors, shapes, weights
from doublelogit.averaged.grid import explore
from doublelogit.averaged.mechanisms import Odds, following, mechanism_named
from doublelogit.averaged.mixture import lines_of, mixture, relevant
from doublelogit.averaged.settings import Settings
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


def ours(X, s, scale, k, narrow):
    """Mean and interval by AVERAGED under one scale and mechanism; flat priors, all evidence."""
    mechanism = mechanism_named("following" if k else "at random")
    problem = mechanism.problem(Problem(memory_rows(X, s)))
    settings = Settings(coarse=np.inf, few_coefficients=narrow)
    with (
        patch.object(posteriors, "class_scales", lambda *_: {scale: 1.0}),
        patch.object(weights, "log_prevalence", np.zeros_like),
        patch.object(following, "OFTEN", 1.0),
        # nothing is kept for other shapes of the class, which NUTS does not know
        patch.object(shapes, "SHAPES", shapes.SHAPES[:1]),
    ):
        posterior = posteriors.posterior_under(problem, mechanism, Odds(1.0, k), settings)
        components = relevant(explore(s.mean(), settings, [posterior]), settings)
        model = mixture(problem, lines_of(components, s.mean()), s.mean(), settings)
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
