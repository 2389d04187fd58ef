"""Pictures of a comparison: ranks with critical differences, error and cover against signal."""

from collections.abc import Iterator
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from doublelogit.studies.experiments.comparison import (
    SCORES,
    Pairwise,
    described,
    intervals,
    over_families,
    pairwise,
)
from doublelogit.studies.experiments.figures import STYLE, Named, add_legend, colour
from doublelogit.studies.experiments.measures import LEVEL
from doublelogit.studies.experiments.plan import Plan

RANKED = ("approximation_error", "prevalence_error", "balanced_accuracy", "precision_at_50")
AGAINST_SIGNAL = ("approximation_error", "prevalence_error", "balanced_accuracy", "brier")
BINS = 6  # of the signal, with equally many tables


def comparison_figures(cells: pd.DataFrame, plan: Plan, mode: str) -> Iterator[Named]:
    """All figures that the cells allow."""
    done = described(cells, plan, mode)
    oracle = plan.oracle(mode).name
    order = [oracle, *(m.name for m in plan.methods_of(mode) if m.name != oracle)]
    methods = done[done["method"] != oracle]
    with mpl.rc_context(STYLE):
        for name in RANKED:
            if name in done and methods["method"].nunique() > 1:
                found = pairwise(methods, name)
                figure = critical_differences(found, SCORES[name], order)
                yield Named(f"ranks_{name}_{mode}", figure)
        yield Named(f"error_against_signal_{mode}", against_signal(done, order))
        found = intervals(done)
        if len(found):
            yield Named(f"cover_against_signal_{mode}", cover_against_signal(found, order))


def critical_differences(tests: Pairwise, score: str, order: list[str]) -> Figure:
    """Average ranks on a line; bars join methods that the tests cannot tell apart."""
    ranks, bars = tests.ranks, joined(tests)
    half = (len(ranks) + 1) // 2
    height = 0.9 + 0.21 * half + 0.1 * len(bars)
    figure = Figure(figsize=(6.4, height), layout="constrained")
    ax = figure.subplots()
    top, step = 0.1 * len(bars) + 0.1, 0.21
    low, high = int(np.floor(ranks.min())), int(np.ceil(ranks.max()))
    for i, (method, rank) in enumerate(ranks.items()):
        left = i < half
        depth = -top - step * (i if left else len(ranks) - 1 - i)
        end = low - 0.3 if left else high + 0.3
        line_colour = colour(str(method), order)
        ax.plot([rank, rank, end], [0, depth, depth], color=line_colour, lw=1.2, clip_on=False)
        name = str(method).replace("_", " ")
        label = f"{name} {rank:.1f}" if left else f"{rank:.1f} {name}"
        side = "right" if left else "left"
        ax.text(end + (-0.05 if left else 0.05), depth, label, ha=side, va="center", fontsize=8)
    for i, (first, last) in enumerate(bars):
        at = -0.1 - 0.1 * i
        ax.plot([first - 0.04, last + 0.04], [at, at], color="black", lw=2.5)
    ax.set(xlim=(low - 0.3, high + 0.3), ylim=(-top - step * half, 0), yticks=[])
    ax.set_xticks(range(low, high + 1))
    ax.xaxis.tick_top()
    ax.grid(visible=False)
    ax.spines[["left", "bottom"]].set_visible(False)
    ax.spines["top"].set_visible(True)
    ax.set_title(
        f"Average rank by {score} over {tests.families} families, 1 is best; bars join methods\n"
        "that Wilcoxon's signed-rank tests, corrected by Holm, cannot tell apart at 5%",
        fontsize=8,
    )
    return figure


def joined(tests: Pairwise) -> list[tuple[float, float]]:
    """First and last rank of every longest run of methods of which all pairs are tied."""
    names, ties = list(tests.ranks.index), set(tests.ties)
    runs: list[tuple[int, int]] = []
    for i in range(len(names)):
        j = i
        while j + 1 < len(names) and all((names[k], names[j + 1]) in ties for k in range(i, j + 1)):
            j += 1
        if j > i and not any(a <= i and j <= b for a, b in runs):
            runs.append((i, j))
    return [(tests.ranks.iloc[a], tests.ranks.iloc[b]) for a, b in runs]


def against_signal(rows: pd.DataFrame, order: list[str]) -> Figure:
    """Mean scores against the ORACLE's signal: where each method fails."""
    scores = [name for name in AGAINST_SIGNAL if name in rows]
    figure = Figure(figsize=(3.3 * len(scores), 3.3), layout="constrained")
    axes = np.atleast_1d(figure.subplots(1, len(scores)))
    binned, middles = _binned(rows)
    for ax, name in zip(axes, scores, strict=True):
        wide = over_families(binned, name, ["bin"])
        for method in order:
            if method in wide and not (method == order[0] and name == "approximation_error"):
                style = "o--" if method == order[0] else "o-"
                x, line = middles.reindex(wide.index), wide[method]
                ax.plot(x, line, style, ms=3, color=colour(method, order), label=method)
        ax.set_ylabel(SCORES[name])
        _signal_axis(ax)
    add_legend(figure, axes[-1], order)
    return figure


def cover_against_signal(ends: pd.DataFrame, order: list[str]) -> Figure:
    """Share of intervals that hold the truth, and their width, against the signal."""
    figure = Figure(figsize=(6.6, 3.2), layout="constrained")
    axes = figure.subplots(1, 2)
    methods = [*order, *(m for m in ends["method"].unique() if m not in order)]
    binned, middles = _binned(ends)
    for ax, name in zip(axes, ("covered", "width"), strict=True):
        wide = over_families(binned, name, ["bin"])
        for method in (m for m in methods if m in wide):
            style = {"color": colour(method, methods), "label": method}
            ax.plot(middles.reindex(wide.index), wide[method], "o-", ms=3, **style)
        ax.set_ylim(0, 1.03)
        _signal_axis(ax)
    axes[0].axhline(LEVEL, color="black", lw=0.8, ls=":")
    axes[0].set_ylabel("share of intervals that hold the truth")
    axes[1].set_ylabel("width")
    add_legend(figure, axes[0], methods)
    return figure


def _signal_axis(ax: Any) -> None:
    ax.set(xscale="log", xlabel="signal: sd of the ORACLE's predictor")
    ax.set_xticks([0.3, 1, 3, 10], ["0.3", "1", "3", "10"])
    ax.set_xticks([], minor=True)


def _binned(rows: pd.DataFrame) -> tuple[pd.DataFrame, pd.Series]:
    """Rows with the bin of their data set's signal, and the middle of every bin."""
    signal = rows.drop_duplicates("dataset").set_index("dataset")["signal"]
    bins = pd.qcut(signal.rank(method="first"), min(BINS, len(signal)), labels=False)
    middles = signal.groupby(bins).median()
    return rows.assign(bin=rows["dataset"].map(bins)), middles
