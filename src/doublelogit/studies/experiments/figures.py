"""The paper's figures from result rows, and those that answer its questions.

A method has one colour in all of them.
"""

from collections.abc import Iterator
from math import ceil
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from doublelogit.common.files import written_whole
from doublelogit.studies.experiments.cell import prepared
from doublelogit.studies.experiments.plan import Plan
from doublelogit.studies.experiments.summary import long

# Okabe & Ito: told apart by everyone; yellow left out, which white paper swallows.
COLOURS = {
    "ORACLE": "#000000",
    "NAIVE": "#999999",
    "TM_SIMPLE": "#56B4E9",
    "EM": "#E69F00",
    "TM": "#D55E00",
    "JOINT": "#009E73",
    "LBE": "#CC79A7",
    "AVERAGED": "#0072B2",
    "KNOWN_C": "#555555",
}
# for methods that others add
SPARE = ("#7F3C8D", "#80BA5A", "#994F00", "#A5AA99", "#E73F74", "#2F4B7C", "#B8860B", "#00A5B5")
LABELS = {"accuracy": "accuracy", "approximation_error": "approximation error"}
STYLE: dict[Any, Any] = {
    "font.size": 8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#E6E6E6",
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "lines.linewidth": 1.4,
    "svg.hashsalt": "doublelogit",  # the same figure is the same file
}


class Named(NamedTuple):
    """A figure and the name of its file."""

    name: str
    figure: Figure

    def write(self, directory: Path) -> None:
        """Write it as SVG."""
        directory.mkdir(parents=True, exist_ok=True)
        path = directory / f"{self.name}.svg"
        with mpl.rc_context(STYLE), written_whole(path) as file:
            self.figure.savefig(file, format="svg", metadata={"Date": None})


def figures(rows: pd.DataFrame, plan: Plan, mode: str) -> Iterator[Named]:
    """All figures that the rows allow."""
    with mpl.rc_context(STYLE):
        rows = rows[rows["mode"] == mode]
        cells, oracle = long(rows), plan.oracle(mode).name
        order = [oracle, *(m.name for m in plan.methods_of(mode) if m.name != oracle)]
        artificial, tables = _kinds(plan, mode, set(rows["dataset"]))
        scenarios = {s.id: s.parameter for s in plan.scenarios if not s.modes or mode in s.modes}
        for scenario, parameter in scenarios.items():
            here = cells[cells["scenario"] == scenario]
            if here["value"].nunique() < 2:
                continue
            panels = [(d, metric) for d in artificial for metric in LABELS]
            if panels:
                name = f"artificial_scenario{scenario}_{mode}"
                yield Named(name, curves(here, panels, parameter, order))
            for metric in LABELS if tables else ():
                panels = [(d, metric) for d in tables]
                name = f"benchmark_{metric}_scenario{scenario}_{mode}"
                yield Named(name, curves(here, panels, parameter, order))
        yield Named(f"loss_against_oracle_{mode}", loss(cells, plan, mode, order))
        scar = cells[cells["scenario"] == min(scenarios)]
        if scar["value"].nunique() > 1:
            figure = effect_of_c(scar, order, scenarios[min(scenarios)])
            yield Named(f"effect_of_c_{mode}", figure)
        if len(artificial) == 2 and scar["value"].nunique() > 1:
            figure = misspecification(scar, artificial, order)
            yield Named(f"misspecification_{mode}", figure)
        yield Named(f"time_{mode}", time_against_n(rows, plan, mode, order))


def colour(method: str, order: list[str]) -> str:
    """The colour of a method, also of one that the paper does not know; the oracle comes first."""
    if method == order[0] and method not in COLOURS:
        return COLOURS["ORACLE"]
    others = [name for name in order if name not in COLOURS]
    return COLOURS[method] if method in COLOURS else SPARE[others.index(method) % len(SPARE)]


def curves(
    cells: pd.DataFrame, panels: list[tuple[str, str]], parameter: str, order: list[str]
) -> Figure:
    """Mean of a metric against the parameter of a scenario, with two standard errors."""
    columns = 2 if len(panels) <= 4 else 4
    lines = ceil(len(panels) / columns)
    figure = Figure(figsize=(1.9 * columns + 0.4, 1.75 * lines + 0.6), layout="constrained")
    axes = figure.subplots(lines, columns, squeeze=False, sharex=True)
    for ax, (dataset, metric) in zip(axes.flat, panels, strict=False):
        here = cells[(cells["dataset"] == dataset) & (cells["metric"] == metric)]
        for method in order:
            if method == order[0] and metric == "approximation_error":
                continue  # zero by definition, or the error of estimation alone
            _line(ax, here[here["method"] == method], "value", method, order)
        ax.set_title(dataset, fontsize=8, fontweight="bold")
        ax.set_ylabel(LABELS[metric])
    for ax in axes.flat[len(panels) :]:
        ax.set_axis_off()
    for ax in axes[-1]:
        ax.set_xlabel(f"${parameter}$" if len(parameter) == 1 else parameter)
    add_legend(figure, axes.flat[0], order)
    return figure


def loss(cells: pd.DataFrame, plan: Plan, mode: str, order: list[str]) -> Figure:
    """Accuracy lost against the ORACLE on the same draws, per data set and scenario."""
    oracle = order[0]
    lost = _lost(cells[cells["metric"] == "accuracy"], oracle)
    scenarios = sorted(lost["scenario"].unique())
    titles = {s.id: s.title or f"scenario {s.id}" for s in plan.scenarios}
    datasets = [d for d in plan.names(mode) if d in set(lost["dataset"])][::-1]
    size = (2.2 * len(scenarios) + 1.0, 0.32 * len(datasets) + 1.1)
    figure = Figure(figsize=size, layout="constrained")
    axes = figure.subplots(1, len(scenarios), squeeze=False, sharey=True, sharex=True)[0]
    for ax, scenario in zip(axes, scenarios, strict=True):
        means = lost[lost["scenario"] == scenario].groupby(["dataset", "method"])["lost"].mean()
        for method in order:
            if method == oracle:
                continue
            x = [means.get((dataset, method), np.nan) for dataset in datasets]
            ax.plot(x, range(len(datasets)), "o", ms=4.5, color=colour(method, order), label=method)
        ax.set_yticks(range(len(datasets)), datasets)
        ax.axvline(0, color="black", lw=0.8)
        ax.set_title(titles[scenario], fontsize=8, fontweight="bold")
        ax.set_xlabel("accuracy lost against ORACLE")
    add_legend(figure, axes[0], order)
    return figure


def effect_of_c(here: pd.DataFrame, order: list[str], parameter: str) -> Figure:
    """Accuracy lost against ORACLE and the error, over all data sets, against the parameter."""
    figure = Figure(figsize=(5.6, 2.7), layout="constrained")
    axes = figure.subplots(1, 2)
    lost = _lost(here[here["metric"] == "accuracy"], order[0]).rename(columns={"lost": "y"})
    error = here[here["metric"] == "approximation_error"].assign(y=lambda f: f["score"])
    labels = ("accuracy lost against ORACLE", "approximation error")
    for ax, frame, label in zip(axes, (lost, error), labels, strict=True):
        for method in order[1:]:
            means = frame[frame["method"] == method].groupby(["dataset", "value"])["y"].mean()
            mean = means.groupby("value").mean()  # every data set counts the same
            ax.plot(mean.index, mean, color=colour(method, order), label=method)
        ax.set_xlabel("label frequency $c$" if parameter == "c" else parameter)
        ax.set_ylabel(label)
        ax.set_ylim(bottom=min(0.0, ax.get_ylim()[0]))
    add_legend(figure, axes[0], order)
    return figure


def misspecification(scar: pd.DataFrame, datasets: list[str], order: list[str]) -> Figure:
    """What a wrong response function costs: each method on both artificial sets."""
    figure = Figure(figsize=(5.6, 2.7), layout="constrained")
    axes = figure.subplots(1, 2)
    for ax, metric in zip(axes, LABELS, strict=True):
        here = scar[scar["metric"] == metric]
        means = here.groupby(["method", "dataset"])["score"].agg(["mean", "sem"])
        for method in order:
            if method not in means.index:
                continue
            y = means.loc[method].reindex(datasets)
            style = {"color": colour(method, order), "label": method, "marker": "o", "ms": 3.5}
            ax.errorbar([0, 1], y["mean"], yerr=2 * y["sem"], capsize=2, **style)
        ax.set_xticks([0, 1], [f"{datasets[0]}\nlogistic", f"{datasets[1]}\nCauchy"])
        ax.set_xlim(-0.25, 1.25)
        ax.set_ylabel(f"{LABELS[metric]}, scenario 1")
    add_legend(figure, axes[0], order)
    return figure


def time_against_n(rows: pd.DataFrame, plan: Plan, mode: str, order: list[str]) -> Figure:
    """Median seconds of a fit against the rows of the training part."""
    sizes = {}
    for draw in plan.draws(mode, repetitions=1):
        if draw.dataset.name in set(rows["dataset"]) and draw.dataset.name not in sizes:
            sizes[draw.dataset.name] = (1 - draw.test_size) * len(prepared(draw).y)
    medians = rows.groupby(["method", "dataset"])["seconds"].median()
    figure = Figure(figsize=(4.4, 3.2), layout="constrained")
    ax = figure.subplots()
    by_size = sorted(sizes, key=lambda name: sizes[name])
    for method in order:
        y = [medians.get((method, dataset), np.nan) for dataset in by_size]
        x = [sizes[dataset] for dataset in by_size]
        ax.plot(x, y, "o-", ms=3.5, lw=1, color=colour(method, order), label=method)
    ax.set(xscale="log", yscale="log", xlabel="training rows", ylabel="seconds per fit (median)")
    add_legend(figure, ax, order)
    return figure


def _lost(cells: pd.DataFrame, oracle: str) -> pd.DataFrame:
    draw = ["scenario", "dataset", "value", "repetition"]
    best = cells[cells["method"] == oracle].set_index(draw)["score"]
    return cells.join(best.rename("oracle"), on=draw).assign(
        lost=lambda frame: frame["oracle"] - frame["score"]
    )


def _line(ax: Any, cells: pd.DataFrame, x: str, method: str, order: list[str]) -> None:
    mean = cells.groupby(x)["score"].agg(["mean", "sem"])
    style = {"ls": "--", "lw": 1.0} if method == order[0] else {}
    line_colour = colour(method, order)
    ax.plot(mean.index, mean["mean"], color=line_colour, label=method, **style)
    low, high = mean["mean"] - 2 * mean["sem"], mean["mean"] + 2 * mean["sem"]
    ax.fill_between(
        mean.index, low.clip(0, 1), high.clip(0, 1), color=line_colour, alpha=0.15, lw=0
    )


def add_legend(figure: Figure, ax: Any, order: list[str]) -> None:
    """A legend below a figure, methods in their order."""
    handles, labels = ax.get_legend_handles_labels()
    lines = ceil(len(labels) / int(figure.get_figwidth()))  # an entry is about an inch wide
    ranked = sorted(zip(labels, handles, strict=True), key=lambda pair: order.index(pair[0]))
    figure.legend(
        [handle for _, handle in ranked],
        [label.replace("_", " ") for label, _ in ranked],
        loc="outside lower center",
        ncols=ceil(len(labels) / lines),
        columnspacing=1.0,
        handlelength=1.2,
    )


def _kinds(plan: Plan, mode: str, present: set[str]) -> tuple[list[str], list[str]]:
    """Generated and bundled data sets, of those present."""
    generated = {d.name for d in plan.datasets if d.seeded}
    names = [name for name in plan.names(mode) if name in present]
    return [n for n in names if n in generated], [n for n in names if n not in generated]
