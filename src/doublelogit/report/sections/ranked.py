"""The list of rows to check first, and how long it should be."""

from typing import Any

from doublelogit.report import pictures
from doublelogit.report.analysis import Analysis
from doublelogit.report.pictures import BLUE, ORANGE, Picture
from doublelogit.report.ranking import examples, list_lengths, rank_hidden
from doublelogit.report.section import Numbers, Section, beside


def compute(analysis: Analysis) -> Numbers:
    """The list, and expected precision and recall by its length."""
    hidden = analysis.probabilities.hidden[analysis.table.s == 0]
    return {
        "ranking": _ranking(analysis),
        "list_lengths": list_lengths(hidden),
        "list_examples": examples(hidden),
    }


def _ranking(analysis: Analysis) -> list[dict[str, Any]]:
    table, rows = analysis.table, analysis.probabilities
    listed = rank_hidden(analysis.rows, analysis.top)
    return [
        {
            "rank": rank,
            **({"id": str(table.ids[row])} if analysis.show_ids else {}),
            "probability": probability,
            "positive": rows.positive[row],
            "propensity": rows.propensity[row],
            "reasons": reasons,
        }
        for rank, (row, probability, reasons) in enumerate(listed, 1)
    ]


def _lengths(ax: Any, summary: dict[str, Any]) -> bool:
    from matplotlib.ticker import FuncFormatter

    curves = summary["list_lengths"]
    if not curves["length"]:
        return False
    ax.plot(curves["length"], curves["precision"], color=BLUE, lw=2, label="precision")
    ax.plot(curves["length"], curves["recall"], color=ORANGE, lw=2, ls="--", label="recall")
    ax.set_xscale("log")
    ax.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:,.0f}"))
    pictures.percents(ax.yaxis)
    ax.set_ylim(0, 1.02)
    ax.grid(lw=0.6)
    pictures.legend_above(ax)
    ax.set(xlabel="length of the list", ylabel="expected")
    return True


SECTION = Section(
    "ranked",
    "Rows to check first",
    compute,
    pictures={"lengths": Picture(_lengths)},
    fragment=beside(__file__),
    link="List to check",
)
