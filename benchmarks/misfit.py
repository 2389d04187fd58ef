"""How much an ill-fitting class may look like biased labelling: the choice of AVERAGED's MISFIT.

    python benchmarks/misfit.py [repetitions]

Mean absolute error of y(x) by how much log-evidence per row is allowed for, on draws that no table
reports (repetitions from 1000 on): the paper's scenarios on its tables and on the *second* tables
of benchmarks/unseen.py, and the bias battery (scenarios 4 to 9 of the plan). Results go to
benchmarks/results/misfit.csv, a line per data set and scenario.
"""

import sys
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
from averaged import DATASETS, FIRST, RESULTS, VALUES, on_draw
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits
from unseen import MODE, SECOND

from doublelogit.engines.memory import memory_rows
from doublelogit.experiments import load_plan
from doublelogit.methods import Problem, averaged

ALLOWED = (0.0, 0.002, 0.005, 0.007, 0.01, 0.02)
BATTERY = [*DATASETS[1:], "Half700", "Half4000"]


def errors(X, s, X_test, truth):
    found = {}
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        for misfit in ALLOWED:
            mixture = averaged(Problem(memory_rows(X, s)), misfit=misfit).model
            y_x = mixture.outcome_proba(X_test)
            found[misfit] = np.abs(y_x - truth).mean()
    return found


def draws(repetitions):
    """Plans with their draws, by what they are called in the results."""
    paper = load_plan("ecai2023")
    second = replace(paper, datasets=tuple(SECOND))
    for name, plan, mode, datasets in (
        ("paper", paper, MODE, DATASETS),
        ("second", second, MODE, None),
        ("battery", paper, "bias", BATTERY),
    ):
        for draw in plan.draws(mode, datasets, 1):
            if mode == "bias" or draw.value in VALUES[draw.scenario.id]:
                for k in range(repetitions):
                    yield name, plan, replace(draw, repetition=FIRST + k)


def measured(name, plan, draw):
    return {"tables": name} | on_draw(plan, draw, errors)


def main(repetitions=2):
    found = Parallel(n_jobs=-1, verbose=1)(delayed(measured)(*one) for one in draws(repetitions))
    rows = pd.DataFrame(found).drop(columns="value")
    table = rows.groupby(["tables", "scenario", "dataset"], sort=False).mean()
    table.to_csv(RESULTS / "misfit.csv", float_format="%.4f")
    print(table.groupby(["tables", "scenario"], sort=False).mean().round(4).to_string())
    print(table.groupby("tables", sort=False).mean().round(4).to_string())


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
