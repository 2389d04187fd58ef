"""What each part of AVERAGED is worth: the method with one part changed.

    python benchmarks/ablation.py [repetitions]

On the draws of benchmarks/averaged.py, on which nothing is reported. Results go to
benchmarks/results/ablation.csv: per data set the mean absolute error of y(x), over scenarios and
label frequencies; then the mean over data sets, and seconds, as a ratio to the method as it is.
"""

import sys
import time
import warnings
from contextlib import nullcontext
from dataclasses import replace
from importlib import import_module
from unittest.mock import patch

import numpy as np
import pandas as pd
from averaged import DATASETS, RESULTS, draws, on_draw
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from doublelogit import likelihood, link
from doublelogit.engines.memory import memory_rows
from doublelogit.experiments import load_plan
from doublelogit.methods import Problem, averaged

EXPLORATION = import_module("doublelogit.methods.exploration")
REFERENCE = "as it is"


def expected(s, known, a, b):
    """The loss with the curvature expected of a row instead of the one observed."""
    found = likelihood.double_logistic(s, known, a, b)
    one, no = np.ones_like(a), np.full_like(a, np.nan)
    labelled = likelihood.double_logistic(one, one, a, b)
    unlabelled = likelihood.double_logistic(np.zeros_like(a), no, a, b)
    chance = likelihood.sigmoid(a).p * likelihood.sigmoid(b).p
    curvature = zip(labelled[3:], unlabelled[3:], strict=True)
    return likelihood.PairLoss(*found[:3], *(chance * h + (1 - chance) * g for h, g in curvature))


def mode(mixture):
    """The component of the highest evidence for its width alone."""
    top = np.argmax(mixture.log_evidence - np.log(mixture.outcome_model.share_sd))
    return replace(mixture, weight=np.eye(len(mixture.weight))[top])


def from_zero(posterior, _cell):
    return np.zeros(posterior.to_theta.shape[1] - 1)


def parts(**changed):
    return patch.multiple(EXPLORATION, **changed)


VARIANTS = {  # what is changed before a fit, and what is done with its mixture
    REFERENCE: (nullcontext, None),
    "the mode alone": (nullcontext, mode),
    "six cells, never cut": (lambda: parts(HEAVY=1.1), None),
    "48 cells": (lambda: parts(CELLS=48), None),
    "every mode from zero": (lambda: parts(_start=from_zero), None),
    "expected information": (lambda: patch.object(link, "double_logistic", expected), None),
}


def errors(X, s, X_test, truth):
    """Mean absolute error of y(x), and seconds, of every variant."""
    found = {}
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        for name, (changed, then) in VARIANTS.items():
            start = time.perf_counter()
            with changed():
                mixture = averaged(Problem(memory_rows(X, s))).model
            found[f"{name}: seconds"] = time.perf_counter() - start
            mixture = mixture if then is None else then(mixture)
            found[name] = np.abs(mixture.outcome_proba(X_test) - truth).mean()
    return found


def main(repetitions=2):
    plan = load_plan("ecai2023")
    tasks = [delayed(on_draw)(plan, draw, errors) for draw in draws(plan, repetitions)]
    rows = pd.DataFrame(Parallel(n_jobs=-1)(tasks)).drop(columns="value")
    means = rows.groupby(["dataset", "scenario"]).mean().groupby("dataset").mean().loc[DATASETS]
    table = means[list(VARIANTS)].T
    table["mean"] = table.mean(axis=1)
    seconds = means[[f"{name}: seconds" for name in VARIANTS]].sum()
    table["time"] = (seconds / seconds.iloc[0]).to_numpy()
    table.to_csv(RESULTS / "ablation.csv", index_label="variant", float_format="%.4f")
    print(table.round(3).to_string())


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
