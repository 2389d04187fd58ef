"""Pictures of a summary as SVG whose colours follow the page, light or dark.

Matplotlib knows no style sheets, so it draws in colours that stand for names, and the names take
their place in the text of the SVG.
"""

import io
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

INK, MUTED, GRID_LINES, BLUE, ORANGE, GREEN = (f"#0{i}0{i}0{i}" for i in range(1, 7))
CSS_NAMES = {
    INK: "currentColor",
    MUTED: "var(--muted)",
    GRID_LINES: "var(--line)",
    BLUE: "var(--blue)",
    ORANGE: "var(--orange)",
    GREEN: "var(--green)",
}
PAGE_STYLE: dict[Any, Any] = {
    "font.family": ["DejaVu Sans"],
    "font.size": 10,
    "axes.edgecolor": MUTED,
    "axes.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "grid.color": GRID_LINES,
    "legend.frameon": False,
    "svg.fonttype": "none",  # text stays text: it can be searched, read aloud and scaled
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.labelsize": 9,
    "ytick.labelsize": 9,
}
PICTURE_WIDTH = 4.9  # inches: at this width text is as large as that of the page on a phone
MOST_PICTURED_TERMS = 14  # lines of a forest plot; the table has all
LONGEST_LABEL = 27  # letters of a label


def fixed(_: dict[str, Any]) -> float:
    """Height in inches of a picture with two axes."""
    return 3.1


def lines(count: Callable[[dict[str, Any]], int]) -> Callable[[dict[str, Any]], float]:
    """Height of a picture with a line for each of some entries."""
    return lambda summary: 0.95 + 0.27 * min(max(count(summary), 2), MOST_PICTURED_TERMS)


@dataclass(frozen=True)
class Picture:
    """A picture of a page.

    Parameters
    ----------
    plot : callable
        Draws the numbers of a page on axes; False if there is nothing to draw.
    height : callable, default=fixed
        Inches, by the numbers.
    words : str, default=""
        Caption and description, for sections without a fragment of their own.
    """

    plot: Callable[[Any, dict[str, Any]], bool]
    height: Callable[[dict[str, Any]], float] = fixed
    words: str = ""


def draw(summary: dict[str, Any], pictures: Mapping[str, Picture]) -> dict[str, str]:
    """SVG of every picture that the summary has numbers for."""
    drawn = {name: _svg(name, picture, summary) for name, picture in pictures.items()}
    return {name: svg for name, svg in drawn.items() if svg is not None}


def _svg(name: str, picture: Picture, summary: dict[str, Any]) -> str | None:
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context(
        {**PAGE_STYLE, "svg.hashsalt": name}
    ):  # ids differ between pictures of a page
        figure = Figure(figsize=(PICTURE_WIDTH, picture.height(summary)), layout="constrained")
        figure.patch.set_alpha(0)
        ax = figure.subplots()
        ax.patch.set_alpha(0)
        if not picture.plot(ax, summary):
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
    for colour, name in CSS_NAMES.items():
        svg = svg.replace(colour, name)
    return svg


def short_label(text: str) -> str:
    """A label that leaves room for the picture; $ would begin a formula."""
    text = text if len(text) <= LONGEST_LABEL else text[: LONGEST_LABEL - 1] + "…"
    return text.replace("$", r"\$")


def intervals(ax: Any, entries: list[dict[str, Any]], names: list[str], colours: list[str]) -> None:
    """A point and its interval on every line, first line on top."""
    at = np.arange(len(entries))[::-1]
    for y, line, colour in zip(at, entries, colours, strict=True):
        if line["low"] is not None and line["high"] is not None:
            for ends in line.get("regions") or [(line["low"], line["high"])]:
                ax.plot(ends, [y, y], color=colour, lw=2.2)
        ax.plot([line["value"]], [y], "o", color=colour, ms=6)
    ax.set_yticks(at, [short_label(name) for name in names])
    ax.set_ylim(-0.6, len(entries) - 0.4)
    ax.tick_params(axis="y", length=0)
    ax.grid(axis="x", lw=0.6)


def percents(axis: Any) -> None:
    """Ticks of an axis as percentages."""
    from matplotlib.ticker import FuncFormatter

    axis.set_major_formatter(FuncFormatter(lambda share, _: f"{100 * share:.6g}%"))


def truth(ax: Any, summary: dict[str, Any]) -> None:
    """The true share of positives, in demonstrations."""
    if summary["truth"]:
        share = summary["truth"]["prevalence"]
        ax.axvline(share, color=GREEN, lw=1.6, ls="--")
        ax.text(share, ax.get_ylim()[1], " truth", color=GREEN, va="bottom")


def legend_above(ax: Any, **style: Any) -> None:
    """A legend of two columns above the axes."""
    ax.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=2, borderaxespad=0, **style)
