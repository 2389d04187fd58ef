"""Which rule orders the two models of JOINT best where nothing tells them apart.

Writes benchmarks/results/orientation.csv: for every draw the approximation error of the model that
each rule takes for the outcome, and of the better of the two.
"""

import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import expit

from doublelogit.engines.memory import memory_rows
from doublelogit.labelling import draw as draw_labels
from doublelogit.methods import Problem, joint
from doublelogit.methods.orientation import larger_first, strength_gap, variation
from doublelogit.metrics import approximation_error
from doublelogit.studies.experiments import load_plan
from doublelogit.studies.experiments.cell import prepared

SETS = ["Artif1", "heart-c", "credit-a", "diabetes", "wdbc", "BreastCancer"]
FITS = {
    "Newton": {"n_starts": 2},
    "MM, 100 rounds": {"solver": "mm", "n_starts": 1, "stopping": "objective", "max_iter": 100},
}


def errors(d, plan):
    """One line per fit: the error under each rule."""
    data, rng = prepared(d), d.rng("labels")
    train = rng.permutation(len(data.y)) < 0.7 * len(data.y)
    s = draw_labels(data.y[train], np.full(train.sum(), d.value), rng)
    told = plan.oracle("as_published").make().fit(data.X[train], data.y[train])
    truth = told.predict_positive(data.X) if data.reference is None else data.reference
    problem = Problem(memory_rows(data.X[train], s), 1.0, 1.0)
    for name, options in FITS.items():
        fit = joint(problem, orientation="norm", **options)
        first, second = (
            approximation_error(expit(data.X[~train] @ c[:-1] + c[-1]), truth[~train])
            for c in (fit.beta, fit.gamma)
        )
        theta = np.concatenate([fit.beta, fit.gamma])
        rules = {
            "norm": larger_first(fit.beta, fit.gamma),
            "strength": variation(problem, fit.beta) >= variation(problem, fit.gamma),
            "strength less noise": strength_gap(problem, theta) >= 0,
        }
        line = {"fit": name, "dataset": d.dataset.name, "c": d.value, "best": min(first, second)}
        yield line | {rule: first if chosen else second for rule, chosen in rules.items()}


def main():
    plan = load_plan("ecai2023")
    scar = next(s for s in plan.scenarios if s.id == 1)
    plan = replace(plan, scenarios=(replace(scar, values=(0.1, 0.3, 0.5, 0.7, 0.9)),))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        lines = [x for d in plan.draws("as_published", SETS, 3) for x in errors(d, plan)]
    table = pd.DataFrame(lines)
    table.to_csv(Path(__file__).parent / "results" / "orientation.csv", index=False)
    print(table.groupby("fit").mean(numeric_only=True).round(3))


if __name__ == "__main__":
    main()
