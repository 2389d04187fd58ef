"""Show the corpus in the docs: the picture of its landscape, and the tables of docs/corpus.md.

The picture, docs/corpus.png, has the signal against the rows, coloured by misfit. In the page, what
stands between ``<!-- packages -->`` and ``<!-- end -->``, and so on, is written here.

Usage: ``python -m tools.show_corpus``
"""

import re
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.colors import PowerNorm
from matplotlib.patheffects import withStroke

from doublelogit.studies.datasets import corpus_table, natural_table

DOCS = Path(__file__).resolve().parents[1] / "docs"
PAPER = ("diabetes", "BreastCancer", "heart-c", "credit-a", "adult", "vote", "wdbc", "spambase")
NAMED = (*PAPER, "smoke", "movies", "flights", "flchain", "tips", "Smarket", "tic-tac-toe")
MARKERS = {"learn": "o", "test": "^"}
MOST_MISFIT = 0.25  # nats per row; more is drawn as this much
TICKS = (0, 0.01, 0.03, 0.1, 0.25)
BANDS = {"below 0.5": 0, "0.5 to 1": 0.5, "1 to 2": 1, "2 to 5": 2, "above 5": 5}


def main() -> None:
    table = corpus_table()
    draw(table)
    blocks = {
        "packages": packages(table),
        "signal": bands(table),
        "natural": natural(natural_table()),
    }
    page = DOCS / "corpus.md"
    page.write_text(filled(page.read_text(), blocks))


def filled(text: str, blocks: dict[str, str]) -> str:
    """The page with its generated parts renewed."""
    for name, block in blocks.items():
        pattern = rf"(<!-- {name} -->\n).*?(<!-- end -->)"
        text, found = re.subn(pattern, lambda m, b=block: m[1] + b + m[2], text, flags=re.DOTALL)
        if found != 1:
            raise ValueError(f"the page must have one part {name!r}; got {found}.")
    return text


def packages(table: pd.DataFrame) -> str:
    """How much each package gives."""
    lines = ["| package | tables | data sets | rows | learn | test | licence |"]
    lines.append("|---|---:|---:|---:|---:|---:|---|")
    for package, rows in table.groupby("package"):
        halves = rows["half"].value_counts()
        licence = rows["licence"].mode()[0]
        version = f" {rows['version'].iloc[0]}" if rows["version"].notna().all() else ""
        lines.append(
            f"| {package}{version} | {len(rows)} | {rows['family'].nunique()} | "
            f"{rows['n'].sum():,} | {halves.get('learn', 0)} | {halves.get('test', 0)} | "
            f"{licence} |"
        )
    halves = table["half"].value_counts()
    lines.append(
        f"| **all** | {len(table)} | {table['family'].nunique()} | {table['n'].sum():,} | "
        f"{halves['learn']} | {halves['test']} | |"
    )
    return "\n".join(lines) + "\n"


def bands(table: pd.DataFrame) -> str:
    """How the signal is distributed, and what goes with it."""
    band = pd.cut(table["signal"], [*BANDS.values(), np.inf], labels=list(BANDS), right=False)
    misfit = table[["spline_gain", "boosting_gain"]].max(axis=1).clip(0)
    lines = ["| signal | learn | test | median AUC | median R2 (Tjur) | median misfit |"]
    lines.append("|---|---:|---:|---:|---:|---:|")
    for name in BANDS:
        rows = table[band == name]
        halves = rows["half"].value_counts()
        lines.append(
            f"| {name} | {halves.get('learn', 0)} | {halves.get('test', 0)} | "
            f"{rows['auc'].median():.2f} | {rows['tjur_r2'].median():.2f} | "
            f"{misfit[rows.index].median():.3f} |"
        )
    return "\n".join(lines) + "\n"


def natural(table: pd.DataFrame) -> str:
    """The natural mechanisms: numbers, then stories."""
    lines = ["| `load_natural(...)` | n | p | prevalence | label frequency | false labels | half |"]
    lines.append("|---|---:|---:|---:|---:|---:|---|")
    for name, row in table.iterrows():
        lines.append(
            f'| `"{name}"` | {row["n"]:,} | {row["p"]} | {row["prevalence"]:.3f} | '
            f"{row['label_frequency']:.2f} | {row['false_labels']:.2f} | {row['half']} |"
        )
    for name, row in table.iterrows():
        said = f"Truth: {row['truth']}. Label: {row['label']}. {row['story']}"
        drivers = row["drivers"].replace("; ", ", ")
        lines += ["", f"**{name}** ({row['package']}). {said} Drivers: {drivers}."]
    return "\n".join(lines) + "\n"


def draw(table: pd.DataFrame) -> None:
    style = {"font.size": 10, "axes.spines.top": False, "axes.spines.right": False}
    with plt.rc_context(style):
        figure, axes = plt.subplots(
            1, 2, figsize=(11, 6.2), width_ratios=[6, 1], sharey=True, layout="constrained"
        )
        points = draw_points(axes[0], table)
        draw_halves(axes[1], table)
        bar = figure.colorbar(points, ax=axes, pad=0.01, aspect=35, ticks=TICKS)
        bar.set_label("misfit: log-likelihood per row gained by splines or boosting (nats)")
        bar.outline.set_visible(False)
        figure.savefig(DOCS / "corpus.png", dpi=130)


def draw_points(axis: Any, table: pd.DataFrame) -> Any:
    """Every table a point, those of the paper and of known failures named."""
    misfit = table[["spline_gain", "boosting_gain"]].max(axis=1).clip(0, MOST_MISFIT)
    for half, marker in MARKERS.items():
        rows = table["half"] == half
        points = axis.scatter(
            table.loc[rows, "n_source"],
            table.loc[rows, "signal"],
            c=misfit[rows],
            marker=marker,
            s=46,
            cmap="plasma_r",
            norm=PowerNorm(0.4, 0, MOST_MISFIT),
            edgecolors="black",
            linewidths=0.4,
            label=f"{half}: {rows.sum()} tables, {table.loc[rows, 'family'].nunique()} data sets",
        )
    halo = [withStroke(linewidth=2.5, foreground="white")]
    for name in NAMED:
        place = (table.loc[name, "n_source"], table.loc[name, "signal"])
        text = axis.annotate(name, place, xytext=(5, 5), textcoords="offset points", fontsize=8.5)
        text.set_path_effects(halo)
    axis.axvline(20_000, color="black", linewidth=0.8, linestyle=":")
    axis.set(xscale="log", yscale="log")
    axis.set_xlabel("rows of the source; at most 20,000 are kept (dotted)")
    axis.set_ylabel("signal: standard deviation of x'beta, ORACLE")
    axis.set_title("The corpus: how much its classes show, and how logistic they are", loc="left")
    for limits, formatter in ((axis.xaxis, "{x:,.0f}"), (axis.yaxis, "{x:g}")):
        limits.set_major_formatter(formatter)
    axis.set_yticks([0.1, 0.2, 0.5, 1, 2, 5, 10, 20])
    axis.grid(alpha=0.25)
    for handle in axis.legend(loc="lower left", frameon=False).legend_handles:
        handle.set_array(None)  # a marker stands for a half, whatever its colour
        handle.set_facecolor("white")
    return points


def draw_halves(axis: Any, table: pd.DataFrame) -> None:
    """The distribution of the signal in both halves: the split is fair if they agree."""
    bins = np.geomspace(table["signal"].min(), table["signal"].max(), 16)
    for half, colour in (("learn", "#777777"), ("test", "#d1495b")):
        signal = table.loc[table["half"] == half, "signal"]
        share = np.full(len(signal), 100 / len(signal))
        axis.hist(
            signal,
            bins=bins,
            weights=share,
            orientation="horizontal",
            histtype="step",
            linewidth=1.6,
            color=colour,
            label=half,
        )
    axis.set_xlabel("% of tables")
    axis.legend(frameon=False, loc="lower right", handlelength=1)
    axis.grid(alpha=0.25)


if __name__ == "__main__":
    main()
