"""The picture of a plan: how wide the interval of the prevalence will be, by rows looked at."""

from typing import Any

from doublelogit.audit.expectation import Expected

TRUTH_LINES = (
    ("holds", "if the model holds", "#1f6fb4", "-"),
    ("nothing", "if its scores tell nothing", "#d9772b", "--"),
    ("worst", "whatever is true", "#777777", ":"),
)


def draw_curve(curve: list[Expected], chosen: Expected) -> Any:
    """Half the expected width against the number of rows, as a matplotlib figure."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    figure = Figure(figsize=(6.4, 3.8), layout="constrained")
    ax = figure.subplots()
    rows = [line.rows for line in curve]
    for name, label, colour, style in TRUTH_LINES:
        half = [50 * vars(line)[name] for line in curve]
        ax.plot(rows, half, style, color=colour, lw=2, label=label)
    ax.plot([chosen.rows], [50 * chosen.holds], "o", color=TRUTH_LINES[0][2], ms=7)
    ax.annotate(
        f"{chosen.rows} rows: ±{50 * chosen.holds:.1f}",
        (chosen.rows, 50 * chosen.holds),
        textcoords="offset points",
        xytext=(-8, -12),
        ha="right",
        color=TRUTH_LINES[0][2],
    )
    ax.set_xscale("log")
    ax.xaxis.set_major_locator(FixedLocator([r for r in rows if str(r)[0] in "1235"] or rows))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:,.0f}"))
    ax.set_ylim(bottom=0)
    ax.grid(lw=0.5, color="#dddddd")
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False)
    ax.set(xlabel="rows looked at", ylabel="± percentage points (95% interval)")
    ax.set_title("How precisely will the share of positives be known?", loc="left", fontsize=11)
    return figure
