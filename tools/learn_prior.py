"""Learn the prior of AVERAGED from the learn half of the corpus, and draw its fit.

    python -m tools.learn_prior PICTURE

Prints the constants of ``averaged/prior.py``: how the ORACLE's signal, the standard deviation of
x'beta, grows with the number of features, and how prevalences are spread. Every family counts
once; simulated tables and those of test do not.
"""

import sys
from typing import Any, NamedTuple

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from scipy import stats

from doublelogit.averaged.prior import UNLIKE
from doublelogit.studies.datasets import corpus_table
from doublelogit.studies.experiments.figures import STYLE


class Learned(NamedTuple):
    """The constants of the prior."""

    signal: float
    growth: float
    spread: float
    prevalence: tuple[float, float]


def learn_table() -> Any:
    """Observed tables of the learn half, with the weight of each: its share of a family."""
    table = corpus_table()
    table = table[(table["half"] == "learn") & (table["nature"] == "observed")]
    return table.assign(weight=1 / table.groupby("family")["n"].transform("size"))


def learn(table: Any) -> Learned:
    """Weighted least squares of log signal on log p, and a weighted fit of a Beta."""
    x, y, w = np.log(table["p"]), np.log(table["signal"]), table["weight"]
    growth, signal = np.polyfit(x, y, 1, w=np.sqrt(w))
    spread = np.sqrt(np.average((y - signal - growth * x) ** 2, weights=w))
    return Learned(float(signal), float(growth), float(spread), _beta(table["prevalence"], w))


def _beta(share: Any, weight: Any) -> tuple[float, float]:
    """Beta distribution with the mean and variance of the shares."""
    mean = np.average(share, weights=weight)
    variance = np.average((share - mean) ** 2, weights=weight)
    size = mean * (1 - mean) / variance - 1
    return float(mean * size), float((1 - mean) * size)


def picture(table: Any, found: Learned) -> Figure:
    """Signals against the number of features, and prevalences, beside what was learned."""
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(7.0, 2.9), layout="constrained")
        left, right = figure.subplots(1, 2)
        left.plot(table["p"], table["signal"], "o", ms=3, color="#0072B2", alpha=0.6)
        p = np.geomspace(table["p"].min(), table["p"].max(), 50)
        for z, style in ((0.0, "-"), (-1.645, "--"), (1.645, "--")):
            log_signal = found.signal + found.growth * np.log(p) + z * found.spread
            left.plot(p, np.exp(log_signal), style, color="#D55E00")
        left.set(xscale="log", yscale="log", xlabel="features", ylabel="signal: sd of x'beta")
        left.set_title("median and 90% of the learned prior", fontsize=8)
        share = np.linspace(0, 1, 200)
        style = {"color": "#0072B2", "alpha": 0.6}
        bins = np.linspace(0, 1, 21)
        right.hist(table["prevalence"], bins, weights=table["weight"], density=True, **style)
        right.plot(share, stats.beta.pdf(share, *found.prevalence), color="#D55E00")
        mixed = UNLIKE + (1 - UNLIKE) * stats.beta.pdf(share, *found.prevalence)
        right.plot(share, mixed, "--", color="#D55E00")
        right.set(xlabel="prevalence", yticks=[])
        right.set_title("learned (line), as it is used (dashed)", fontsize=8)
    return figure


def main(path: str) -> None:
    table = learn_table()
    found = learn(table)
    print(f"{len(table)} tables of {table['family'].nunique()} families: {found}")
    picture(table, found).savefig(path, dpi=150)


if __name__ == "__main__":
    main(*sys.argv[1:])
