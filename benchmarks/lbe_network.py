"""How near LBE comes to its printed columns, with lines and with its authors' networks.

    python benchmarks/lbe_network.py [repetitions]      needs doublelogit[network]

Draws are those of the plan ecai2023, as published, at every third label frequency or strength, and
without adult, which is large. Rows are appended as they are computed; what is there is not computed
again.
"""

import sys
import warnings
from pathlib import Path

import pandas as pd

from doublelogit.studies.experiments.cell import run_draw
from doublelogit.studies.experiments.plan import PlanMethod, load_plan

RESULTS = Path(__file__).parent / "results" / "lbe_network.csv"
MODE = "as_published"
LEFT_OUT = ("adult",)
METHODS = (
    PlanMethod(
        "lines",
        "doublelogit:LBEClassifier",
        {"C": float("inf"), "propensity_C": float("inf"), "tol": 1e-6, "stopping": "objective"},
    ),
    PlanMethod("networks", "doublelogit:LBEClassifier", {"mode": "mlp"}),
)
KEY = ["dataset", "scenario", "value", "repetition", "method"]
METRICS = ["accuracy", "approximation_error"]


def measure(repetitions):
    plan = load_plan("ecai2023")
    every = plan.shortened(every_dataset=True)
    done = set()
    if RESULTS.exists():
        done = set(pd.read_csv(RESULTS)[KEY].itertuples(index=False, name=None))
    for draw in every.draws(MODE, repetitions=repetitions):
        where = (draw.dataset.name, draw.scenario.id, draw.value, draw.repetition)
        methods = tuple(m for m in METHODS if (*where, m.name) not in done)
        if draw.dataset.name in LEFT_OUT or not methods:
            continue
        rows = pd.DataFrame(run_draw(draw, methods, plan.oracle(MODE)))
        rows = rows[[*KEY, *METRICS, "status"]].round(5)
        rows.to_csv(RESULTS, mode="a", header=not RESULTS.exists(), index=False)


def show():
    """Means over draws beside the printed ones."""
    printed = Path(__file__).parents[1] / "papers" / "ecai2023" / "expected"
    printed = pd.read_csv(printed / "published_results.csv").query("method == 'LBE'")
    printed = printed.set_index(["scenario", "metric", "dataset"])["mean"].rename("printed")
    ours = pd.read_csv(RESULTS).rename(columns={"value": "strength"})
    key = [{"value": "strength"}.get(name, name) for name in KEY]
    ours = ours.melt(key, METRICS, "metric")
    ours = ours.pivot_table("value", ["scenario", "metric", "dataset"], "method")
    both = ours.join(printed).dropna()
    print(both.round(3).to_string())
    gaps = both.drop(columns="printed").sub(both["printed"], axis=0).abs()
    print("mean distance from print\n", gaps.groupby("metric").mean().round(3).to_string())
    print("within .03\n", (gaps <= 0.03).groupby("metric").mean().round(2).to_string())


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    measure(int(sys.argv[1]) if len(sys.argv) > 1 else 2)
    show()
