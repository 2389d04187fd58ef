"""What removes a gap to the printed numbers, and what does not.

    python papers/ecai2023/ablations.py STORE OUT

Runs scenario 1 of the plan with one thing changed at a time (every third label frequency, a few
repetitions; resumable in STORE) and writes the mean difference from print per data set, method and
change, and a study of how JOINT's optimum relates to its error.
"""

import sys
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from doublelogit import JointClassifier
from doublelogit.labelling import draw as draw_labels
from doublelogit.metrics import approximation_error
from doublelogit.studies.experiments import Plan, Store, load_plan, run
from doublelogit.studies.experiments.cell import prepared
from doublelogit.studies.experiments.plan import importable
from doublelogit.studies.experiments.summary import summarise
from doublelogit.studies.experiments.tables import Printed, markdown_table

REPETITIONS = 4
SETS = ["diabetes", "BreastCancer", "heart-c", "credit-a", "vote", "wdbc", "spambase"]
ARTIFICIAL = ["Artif1", "Artif2"]


def part(plan: Plan) -> Plan:
    """Scenario 1 alone, every third label frequency."""
    scar = next(s for s in plan.scenarios if s.id == 1)
    return replace(plan, scenarios=(replace(scar, values=scar.values[::3]),))


def changed(plan: Plan) -> dict[str, Plan]:
    """The plan as it is, and with one thing changed."""
    return {
        "as_published": plan,
        "trained on 30%": replace(plan, test_size=0.7),
        "C = 10": with_options(plan, C=10.0, propensity_C=10.0),
        "TM: alpha = .1": with_options(plan, only="TM", stratum_quantile=0.1),
        "JOINT: by strength": with_options(plan, only="JOINT", orientation="auto"),
    }


def with_options(plan: Plan, only: str | None = None, **options: Any) -> Plan:
    """The plan with other options of all methods that know them, or of one alone."""
    methods = [m for m in plan.methods if m.given == "class"]
    for method in plan.methods:
        if method in methods or only not in (None, method.name):
            continue
        known = importable(method.estimator)().get_params()
        new = {k: v for k, v in options.items() if k in known}
        methods.append(replace(method, options=method.options | new))
    return replace(plan, methods=tuple(methods))


def differences(frames: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """Mean minus printed, one column per change."""
    printed = Printed.from_plan("ecai2023").results
    keys = ["scenario", "metric", "dataset", "method"]
    theirs = printed.set_index(keys)["mean"]
    columns = {
        name: summarise(rows).set_index(keys)["mean"].sub(theirs).dropna()
        for name, rows in frames.items()
    }
    table = pd.DataFrame(columns).reset_index().drop(columns="scenario")
    return table[table["method"] != "ORACLE"]


def optimum_and_error(plan: Plan) -> pd.DataFrame:
    """JOINT by MM and by Newton on the same draws: the likelihood reached, the error made."""
    solvers = {
        "MM, 100 rounds": {"solver": "mm", "n_starts": 1, "stopping": "objective", "max_iter": 100},
        "MM, to 1e-6": {"solver": "mm", "n_starts": 1, "stopping": "objective"},
        "Newton, 1 start": {"n_starts": 1},
        "Newton, 4 starts": {"n_starts": 4},
    }
    lines = []
    for d in plan.draws("as_published", [*ARTIFICIAL, *SETS[:-1]], 3):
        data = prepared(d)
        rng = d.rng("labels")
        train = rng.permutation(len(data.y)) < 0.7 * len(data.y)
        s = draw_labels(data.y[train], np.full(train.sum(), d.value), rng)
        told = plan.oracle("as_published").make().fit(data.X[train], data.y[train])
        truth = told.predict_positive(data.X) if data.reference is None else data.reference
        for name, options in solvers.items():
            model = JointClassifier(orientation="norm", **options).fit(data.X[train], s)
            y_x = model.predict_positive(data.X[~train])
            lines.append(
                {
                    "solver": name,
                    "dataset": d.dataset.name,
                    "c": d.value,
                    "penalised log-likelihood": -model.trace_[-1],
                    "AE": approximation_error(y_x, truth[~train]),
                }
            )
    return pd.DataFrame(lines)


def main(store: str, out: str) -> None:
    folder, plan = Path(out), part(load_plan("ecai2023"))
    folder.mkdir(parents=True, exist_ok=True)
    frames = {}
    for name, ablated in changed(plan).items():
        kept = Store(Path(store) / name.replace(" ", "_").replace(":", ""))
        run(ablated, "as_published", kept, datasets=[*ARTIFICIAL, *SETS], repetitions=REPETITIONS)
        frames[name] = kept.frame()
    table = differences(frames)
    table.to_csv(folder / "differences.csv", index=False, float_format="%.4f")
    (folder / "differences.md").write_text(markdown_table(table.round(3)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # not converging is what is studied
        study = optimum_and_error(plan)
    study.to_csv(folder / "joint.csv", index=False, float_format="%.6f")
    means = study.groupby(["dataset", "solver"])[["penalised log-likelihood", "AE"]].mean()
    (folder / "joint.md").write_text(markdown_table(means.round(4).reset_index()))


if __name__ == "__main__":
    main(*sys.argv[1:])
