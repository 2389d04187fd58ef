"""AVERAGED beside the paper's six methods, and the bias battery.

Differences are those of the tables, paired by draw; means are those of cells.
"""

from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from verdicts import ACCURACY, ERROR, PRINTED, PU

from doublelogit.studies.experiments import Plan
from doublelogit.studies.experiments.cells import line_means
from doublelogit.studies.experiments.figures import COLOURS, STYLE, Named
from doublelogit.studies.experiments.tables import markdown_table

MINE = "AVERAGED"
TOLD = {"AVERAGED_FEATURES": "features named", "AVERAGED_AUDIT": "100 audited"}
NEAR = 1.1  # of the best method's error


def beyond(cells: pd.DataFrame, tests: pd.DataFrame, plan: Plan) -> dict[str, str]:
    """Parts of the report's section on AVERAGED."""
    published, bias = (cells[cells["mode"] == mode] for mode in ("as_published", "bias"))
    repetitions = published[published["method"] == MINE].groupby("dataset")["repetitions"].max()
    counts = ", ".join(f"{k} on {len(sets)}" for k, sets in repetitions.groupby(repetitions))
    error, accuracy = (against_six(tests, metric) for metric in (ERROR, ACCURACY))
    return {
        "averaged_repetitions": f"repetitions: {counts} data sets; "
        f"battery: {bias['repetitions'].max()}",
        "averaged_won": markdown_table(won(pd.concat([error, accuracy]))),
        "averaged_error": markdown_table(shown(error, published)),
        "averaged_accuracy": markdown_table(shown(accuracy, published)),
        "averaged_few_labels": few_labels(published),
        "averaged_battery": markdown_table(battery(bias, plan)),
    }


def against_six(tests: pd.DataFrame, metric: str) -> pd.DataFrame:
    """One line per scenario and data set: AVERAGED, the best of the six, the paired difference."""
    mine = tests[(tests["metric"] == metric) & (tests["method"] == MINE)]
    table = mine[["metric", "scenario", "dataset"]].assign(
        averaged=mine["mean"],
        best=mine["winner"],
        best_mean=mine["mean"] - mine["gain"],
        printed_mean=[
            printed_best(line.scenario, line.dataset, metric) for line in mine.itertuples()
        ],
        mean=mine["gain"],
        low=mine["gain_low"],
        high=mine["gain_high"],
    )
    return table.sort_values(["scenario", "dataset"], ignore_index=True)


def gains(tests: pd.DataFrame) -> Named:
    """Paired differences in error from the best of the six, with their intervals."""
    lines = against_six(tests, ERROR)
    names = list(dict.fromkeys(lines["dataset"]))[::-1]
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(8.4, 0.28 * len(names) + 1.3), layout="constrained")
        panels = figure.subplots(1, lines["scenario"].nunique(), sharex=True, sharey=True)
        for axes, (scenario, part) in zip(panels, lines.groupby("scenario"), strict=True):
            at = [names.index(name) for name in part["dataset"]]
            axes.axvline(0, color="#000000", lw=0.8)
            axes.hlines(at, part["low"], part["high"], color=COLOURS[MINE])
            axes.plot(part["mean"], at, "o", ms=4, color=COLOURS[MINE])
            axes.set(title=f"scenario {scenario}", yticks=range(len(names)), yticklabels=names)
            axes.tick_params(left=False)
    label = "AE of AVERAGED less that of the best of six (left: AVERAGED is better)"
    figure.supxlabel(label, size=8)
    return Named("averaged_gains", figure)


def printed_best(scenario: int, dataset: str, metric: str) -> float:
    table = PRINTED.results
    here = table[
        (table["scenario"] == scenario)
        & (table["dataset"] == dataset)
        & (table["metric"] == metric)
        & table["method"].isin(PU)
    ]["mean"]
    return here.min() if metric == ERROR else here.max()


def won(lines: pd.DataFrame) -> pd.DataFrame:
    """How many data sets AVERAGED wins, per scenario and metric."""
    table = []
    for (metric, scenario), part in lines.groupby(["metric", "scenario"], sort=False):
        sign = 1 if metric == ERROR else -1
        n = len(part)
        below = sign * (part["averaged"] - part["printed_mean"])
        table.append(
            {
                "metric": "AE" if metric == ERROR else "accuracy",
                "scenario": scenario,
                "better than the best of six": f"{(sign * part['mean'] < 0).sum()} of {n}",
                "clearly (interval)": f"{(sign * part[['low', 'high']] < 0).all(axis=1).sum()}",
                "clearly worse": f"{(sign * part[['low', 'high']] > 0).all(axis=1).sum()}",
                "largest loss": f"{max((sign * part['mean']).max(), 0):.3f}",
                "better than the best printed": f"{(below < 0).sum()} of {n}",
            }
        )
    return pd.DataFrame(table)


def _ends(line: Any) -> str:
    """The interval of a difference, which one repetition does not give."""
    known = np.isfinite(line.low)
    return f"{line.low:+.3f} to {line.high:+.3f}" if known else "one repetition"


def shown(lines: pd.DataFrame, cells: pd.DataFrame) -> pd.DataFrame:
    """A data set per line, scenarios side by side."""
    known = line_means(cells[cells["method"] == "KNOWN_C"]).set_index(["metric", "dataset"])["mean"]
    text = pd.DataFrame(
        {
            "data set": lines["dataset"],
            "scenario": lines["scenario"],
            "text": [
                f"{line.averaged:.3f}, best {line.best_mean:.3f} ({line.best}), "
                f"{line.mean:+.3f} ({_ends(line)})"
                for line in lines.itertuples()
            ],
        }
    )
    wide = text.pivot(index="data set", columns="scenario", values="text")
    wide = wide.reindex(text["data set"].unique()).fillna("")
    wide.columns = [f"scenario {scenario}" for scenario in wide.columns]
    metric = lines["metric"].iloc[0]
    wide.insert(0, "KNOWN C, scenario 1", [f"{known.get((metric, d)):.3f}" for d in wide.index])
    return wide.reset_index()


def few_labels(cells: pd.DataFrame) -> str:
    """Scenario 1 with c up to .2: how much worse than NAIVE or TM SIMPLE, at most."""
    here = cells[(cells["scenario"] == 1) & (cells["value"] < 0.2 + 1e-9)]
    wide = here.pivot(index=["dataset", "value"], columns="method", values=ERROR)
    worse = wide[MINE] - wide[["NAIVE", "TM_SIMPLE"]].min(axis=1)
    dataset, c = worse.idxmax()
    return (
        f"Of the {len(worse)} pairs of data set and c up to .2 AVERAGED has a larger AE than the "
        f"better of NAIVE and TM SIMPLE in {(worse > 0).sum()}, by more than .01 in "
        f"{(worse > 0.01).sum()}; the largest difference is {worse.max():+.3f} ({dataset}, "
        f"c = {c:g})."
    )


def battery(cells: pd.DataFrame, plan: Plan) -> pd.DataFrame:
    """A design and data set per line: the best of the paper's methods, and AVERAGED's errors."""
    titles = {s.id: s.title for s in plan.scenarios}
    cells = cells[cells["dataset"].isin(cells.loc[cells["method"] == MINE, "dataset"])]
    means = cells.pivot_table(index=["scenario", "dataset"], columns="method", values=ERROR)
    order = {name: i for i, name in enumerate(plan.names("bias"))}
    means = means.sort_index(key=lambda level: level.map(lambda key: order.get(key, key)))
    lines = []
    for (scenario, dataset), line in means.iterrows():
        best = line[PU].idxmin()
        mark = {
            name: f"**{line[name]:.3f}**"
            if line[name] <= NEAR * line[best]
            else f"{line[name]:.3f}"
            for name in (MINE, *TOLD)
        }
        lines.append(
            {
                "design": titles[scenario],
                "data set": dataset,
                "NAIVE": f"{line['NAIVE']:.3f}",
                "best of six": f"{line[best]:.3f} ({best})",
                MINE: mark[MINE],
                **{title: mark[name] for name, title in TOLD.items()},
            }
        )
    return pd.DataFrame(lines)
