"""Pictures of a summary as SVG whose colours follow the page, light or dark.

Matplotlib knows no style sheets, so it draws in colours that stand for names, and the names take
their place in the text of the SVG.
"""

import io
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from doublelogit.common.thresholds import FITS_UNITS
from doublelogit.report.answers import ALL_NEGATIVE, AT_RANDOM, AUDITED, BIASED, SWAPPED

INK, MUTED, GRID, BLUE, ORANGE, GREEN = (f"#0{i}0{i}0{i}" for i in range(1, 7))
NAMES = {
    INK: "currentColor",
    MUTED: "var(--muted)",
    GRID: "var(--line)",
    BLUE: "var(--blue)",
    ORANGE: "var(--orange)",
    GREEN: "var(--green)",
}
STYLE: dict[Any, Any] = {
    "font.family": ["DejaVu Sans"],
    "font.size": 10,
    "axes.edgecolor": MUTED,
    "axes.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "grid.color": GRID,
    "legend.frameon": False,
    "svg.fonttype": "none",  # text stays text: it can be searched, read aloud and scaled
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.labelsize": 9,
    "ytick.labelsize": 9,
}
WIDTH = 4.9  # inches: at this width text is as large as that of the page on a phone
MOST_TERMS = 14  # lines of a forest plot; the table has all
LONGEST = 27  # letters of a label


def draw(summary: dict[str, Any]) -> dict[str, str]:
    """SVG of every picture that the summary has numbers for."""
    found = {}
    for name, (height, plot) in PLOTS.items():
        svg = _svg(name, height(summary), plot, summary)
        if svg is not None:
            found[name] = svg
    return found


def _svg(
    name: str, height: float, plot: Callable[[Any, Any], bool], summary: dict[str, Any]
) -> str | None:
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context({**STYLE, "svg.hashsalt": name}):  # ids differ between pictures of a page
        figure = Figure(figsize=(WIDTH, height), layout="constrained")
        figure.patch.set_alpha(0)
        ax = figure.subplots()
        ax.patch.set_alpha(0)
        if not plot(ax, summary):
            return None
        buffer = io.StringIO()
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    return _for_page(buffer.getvalue())


def _for_page(svg: str) -> str:
    """The svg element alone, sized and coloured by the page."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r'(<svg[^>]*?) width="[^"]*"', r"\1", svg, count=1)
    svg = re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", svg, count=1)
    # the figure around it has the words
    svg = svg.replace("<svg", '<svg aria-hidden="true" focusable="false"', 1)
    for colour, name in NAMES.items():
        svg = svg.replace(colour, name)
    return svg


def short_label(text: str) -> str:
    """A label that leaves room for the picture; $ would begin a formula."""
    text = text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
    return text.replace("$", r"\$")


def _intervals(ax: Any, lines: list[dict[str, Any]], names: list[str], colours: list[str]) -> None:
    """A point and its interval on every line, first line on top."""
    at = np.arange(len(lines))[::-1]
    for y, line, colour in zip(at, lines, colours, strict=True):
        if line["low"] is not None and line["high"] is not None:
            for ends in line.get("regions") or [(line["low"], line["high"])]:
                ax.plot(ends, [y, y], color=colour, lw=2.2)
        ax.plot([line["value"]], [y], "o", color=colour, ms=6)
    ax.set_yticks(at, [short_label(name) for name in names])
    ax.set_ylim(-0.6, len(lines) - 0.4)
    ax.tick_params(axis="y", length=0)
    ax.grid(axis="x", lw=0.6)


def _percents(axis: Any) -> None:
    from matplotlib.ticker import PercentFormatter

    axis.set_major_formatter(PercentFormatter(1.0, decimals=None))


# Assumptions as a picture calls them, and their colours.
ASSUMPTIONS = {
    ALL_NEGATIVE: ("all unlabelled negative", MUTED),
    AT_RANDOM: ("labelling at random", ORANGE),
    BIASED: ("biased labelling", BLUE),
    SWAPPED: ("swapped", MUTED),
    AUDITED: ("audit alone", INK),
}


def _prevalence(ax: Any, summary: dict[str, Any]) -> bool:
    lines = summary["prevalence"]["by_assumption"]
    names, colours = zip(*(ASSUMPTIONS[line["assumption"]] for line in lines), strict=True)
    _intervals(ax, lines, list(names), list(colours))
    _truth(ax, summary)
    _percents(ax.xaxis)
    ax.set_xlabel("share of positives")
    ax.set_xlim(left=0)
    return True


def _truth(ax: Any, summary: dict[str, Any]) -> None:
    if summary["truth"]:
        ax.axvline(summary["truth"]["prevalence"], color=GREEN, lw=1.6, ls="--")
        ax.text(
            summary["truth"]["prevalence"], ax.get_ylim()[1], " truth", color=GREEN, va="bottom"
        )


def _groups(ax: Any, summary: dict[str, Any]) -> bool:
    lines = summary["prevalence"]["groups"]
    if not lines:
        return False
    _intervals(ax, lines, [line["group"] for line in lines], [BLUE] * len(lines))
    _percents(ax.xaxis)
    ax.set_xlabel("share of positives")
    ax.set_xlim(left=0)
    return True


def _forest(model: str) -> Callable[[Any, dict[str, Any]], bool]:
    colour = BLUE if model == "outcome" else ORANGE

    def plot(ax: Any, summary: dict[str, Any]) -> bool:
        terms = summary["drivers"][model][:MOST_TERMS]
        if not terms:
            return False
        lines = [{**t, "value": t["odds"]} for t in terms]
        _intervals(ax, lines, [t["term"] for t in terms], [colour] * len(terms))
        ax.set_xscale("log")
        ax.axvline(1, color=MUTED, lw=1)
        _ratio_ticks(ax, lines)
        what = "being positive" if model == "outcome" else "a label, if positive"
        ax.set_xlabel(f"odds ratio of {what}")
        return True

    return plot


def _ratio_ticks(ax: Any, lines: list[dict[str, Any]]) -> None:
    """Few ticks that people can read, 0.1 0.5 1 2 10, and a range that shows every estimate."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullFormatter

    values = [line["value"] for line in lines]
    low, high = min(*values, 1.0) / 1.6, max(*values, 1.0) * 1.6
    ax.set_xlim(low, high)
    steps = [1, 2, 5] if high / low < 60 else [1]
    ticks = [s * 10.0**k for k in range(-6, 7) for s in steps if low <= s * 10.0**k <= high]
    ax.xaxis.set_major_locator(FixedLocator(ticks))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
    ax.xaxis.set_minor_formatter(NullFormatter())


def _propensity(ax: Any, summary: dict[str, Any]) -> bool:
    found = summary["propensity"]
    edges = np.array(found["edges"])
    width = edges[1] - edges[0]
    ax.bar(edges[:-1], found["expected_positives"], width, align="edge", color=GRID)
    ax.bar(edges[:-1], found["labelled"], width, align="edge", color=BLUE, alpha=0.85)
    ax.plot([], [], "s", color=GRID, label="expected positives")
    ax.plot([], [], "s", color=BLUE, label="labelled")
    ax.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=2, borderaxespad=0, handletextpad=0.2)
    _percents(ax.xaxis)
    ax.set(xlabel="probability that a positive is labelled, e(x)", ylabel="rows", xlim=(0, 1))
    return True


def _calibration(ax: Any, summary: dict[str, Any]) -> bool:
    found = summary["calibration"]
    most = 1.05 * max(*found["predicted"], *found["observed"], 0.01)
    ax.plot([0, most], [0, most], color=MUTED, lw=1, ls="--")
    ax.plot(found["predicted"], found["observed"], "o-", color=BLUE, ms=5, lw=1.4)
    _percents(ax.xaxis)
    _percents(ax.yaxis)
    ax.grid(lw=0.6)
    ax.set(xlabel="predicted probability of a label, s(x)", ylabel="labelled share")
    return True


def _lengths(ax: Any, summary: dict[str, Any]) -> bool:
    found = summary["list_lengths"]
    if not found["length"]:
        return False
    ax.plot(found["length"], found["precision"], color=BLUE, lw=2, label="precision")
    ax.plot(found["length"], found["recall"], color=ORANGE, lw=2, ls="--", label="recall")
    ax.set_xscale("log")
    from matplotlib.ticker import FuncFormatter

    ax.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:,.0f}"))
    _percents(ax.yaxis)
    ax.set_ylim(0, 1.02)
    ax.grid(lw=0.6)
    ax.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=2, borderaxespad=0)
    ax.set(xlabel="length of the list", ylabel="expected")
    return True


def _residuals(ax: Any, summary: dict[str, Any]) -> bool:
    found = summary["doubt"]["residuals"]
    if not found:
        return False
    ax.plot(found["value"], found["predicted"], color=MUTED, lw=1.6, label="predicted")
    ax.plot(found["value"], found["observed"], "o", color=BLUE, ms=5, label="labelled share")
    _percents(ax.yaxis)
    ax.grid(lw=0.6)
    ax.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=2, borderaxespad=0)
    ax.set(xlabel=short_label(found["column"]), ylabel="share", ylim=(0, None))
    return True


def _profile(ax: Any, summary: dict[str, Any]) -> bool:
    found = summary["profile"]
    if not found:
        return False
    drop = -np.array(found["drop"])
    for low, high in found["regions"]:
        ax.axvspan(low, high, color=BLUE, alpha=0.15, lw=0)
    ax.plot(found["prevalence"], drop, "o-", ms=3, lw=1.4, color=BLUE)
    ax.axhline(-FITS_UNITS, color=MUTED, lw=1, ls="--")
    _truth(ax, summary)
    _percents(ax.xaxis)
    ax.set(xlabel="share of positives", ylabel="log-likelihood, best = 0", ylim=(-5, 0.4))
    return True


def _shapes(side: str, share: str) -> Callable[[Any, Any], bool]:
    def plot(ax: Any, summary: dict[str, Any]) -> bool:
        found = summary["learner"]["shapes"][side]
        if not found:
            return False
        for shape, colour in zip(found, (BLUE, ORANGE, GREEN, MUTED), strict=False):
            ends = short_label(f"{shape['column']}: {shape['low']} to {shape['high']}")
            ax.plot(shape["quantile"], shape["share"], color=colour, lw=2, label=ends)
            ax.plot(shape["quantile"], shape["straight"], color=colour, lw=1, ls=":")
        _percents(ax.xaxis)
        _percents(ax.yaxis)
        ax.set_ylim(bottom=0)
        ax.grid(lw=0.6)
        ax.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=2, borderaxespad=0, fontsize=8)
        ax.set(xlabel="rows with a smaller value", ylabel=share)
        return True

    return plot


def _lines(count: Callable[[dict[str, Any]], int]) -> Callable[[dict[str, Any]], float]:
    return lambda summary: 0.95 + 0.27 * min(max(count(summary), 2), MOST_TERMS)


def _fixed(_: dict[str, Any]) -> float:
    return 3.1


PLOTS: dict[str, tuple[Callable[[dict[str, Any]], float], Callable[[Any, Any], bool]]] = {
    "prevalence": (_lines(lambda s: len(s["prevalence"]["by_assumption"])), _prevalence),
    "groups": (_lines(lambda s: len(s["prevalence"]["groups"])), _groups),
    "outcome": (_lines(lambda s: len(s["drivers"]["outcome"])), _forest("outcome")),
    "labelling": (_lines(lambda s: len(s["drivers"]["labelling"])), _forest("labelling")),
    "shapes": (_fixed, _shapes("outcome", "share of positives")),
    "labelling_shapes": (_fixed, _shapes("labelling", "share of labels among positives")),
    "propensity": (_fixed, _propensity),
    "calibration": (_fixed, _calibration),
    "lengths": (_fixed, _lengths),
    "profile": (_fixed, _profile),
    "residuals": (_fixed, _residuals),
}
