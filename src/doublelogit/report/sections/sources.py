"""Several label sources: how they overlap, whom each finds, and what hangs on their dependence."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from doublelogit.findings import Finding
from doublelogit.findings import sources as sentences
from doublelogit.inference.estimate import Estimate
from doublelogit.inference.sources import SourcesInference
from doublelogit.report import pictures
from doublelogit.report.analysis import Analysis
from doublelogit.report.answers import Answer
from doublelogit.report.pictures import BLUE, GRID_LINES, INK, MUTED, Picture
from doublelogit.report.section import Checks, Numbers, Section, beside
from doublelogit.table_models.table_model import quietly

MOST_PATTERNS = 12  # of labels, in table and picture: of six sources there are 63
INDEPENDENT, AS_USUAL = "sources that work independently", "sources as they usually depend"


def compute(analysis: Analysis) -> Numbers:
    """Overlaps, propensities of sources, and the answer by their odds ratio."""
    inference = analysis.inference
    if not isinstance(inference, SourcesInference):
        return {"sources": None}
    return {"sources": quietly(_numbers, analysis, inference)}


def _numbers(analysis: Analysis, inference: SourcesInference) -> dict[str, Any]:
    analysis.progress("label sources", 0.0)
    overlaps, dependence = inference.overlaps(), inference.dependence()
    positives = analysis.table.row_weight * analysis.probabilities.positive
    each = analysis.model.classifier.predict_source_propensity(analysis.X)
    curve = inference.curve()
    return {
        "names": inference.names,
        "patterns": [
            {"labelled": [int(one) for one in pattern], "rows": float(rows)}
            for pattern, rows in zip(overlaps.patterns, overlaps.rows, strict=True)
            if pattern.any()
        ],
        "overlaps": dependence.overlaps,
        "propensity": [float(share) for share in positives @ each / positives.sum()],
        "labelled": [float(n) for n in overlaps.rows @ overlaps.patterns],
        "alone": [_alone(overlaps, j) for j in range(len(overlaps.names))],
        "independent": _answer(INDEPENDENT, curve[1.0]),
        "as_usual": _answer(AS_USUAL, inference.prevalence()),
        "curve": [
            {"odds_ratio": ratio, "value": one.value, "low": one.low, "high": one.high}
            for ratio, one in curve.items()
        ],
        "dependence": {
            "log_odds_ratio": dependence.mean.value,
            "low": dependence.mean.low,
            "high": dependence.mean.high,
            "p_value": dependence.p_value,
        },
    }


def _answer(assumption: str, estimate: Estimate) -> Answer:
    return Answer.from_estimate(assumption, estimate)


def _alone(overlaps: Any, j: int) -> float:
    """Rows that one source labelled and no other."""
    alone = (overlaps.patterns[:, j] == 1) & (overlaps.patterns.sum(axis=1) == 1)
    return float(overlaps.rows[alone].sum())


def findings(_: Analysis, numbers: Numbers) -> list[Finding]:
    """Both answers, and whether labels show that sources depend on each other."""
    one = numbers["sources"]
    if one is None:
        return []
    found = one["dependence"]
    arguments = (found["p_value"], found["log_odds_ratio"], one["overlaps"], len(one["names"]))
    return [
        sentences.answers(one["independent"], one["as_usual"]),
        sentences.dependence(*arguments),
    ]


def checks(analysis: Analysis) -> Checks:
    """The same in ``check``, which does without the curve."""
    inference = analysis.inference
    if not isinstance(inference, SourcesInference):
        return {}
    independent = quietly(partial(inference.prevalence, dependence=0.0))
    both = (_answer(INDEPENDENT, independent), _answer(AS_USUAL, inference.prevalence()))
    dependence = inference.dependence()
    told = (dependence.p_value, dependence.mean.value, dependence.overlaps, len(inference.names))
    return {"Label sources": [sentences.answers(*both), sentences.dependence(*told)]}


def shown(summary: Mapping[str, Any]) -> bool:
    """Whether labels come from several sources."""
    return summary["sources"] is not None


def _patterns(ax: Any, summary: dict[str, Any]) -> bool:
    """Rows by the sources that labelled them: a matrix of dots with bars above."""
    one = summary["sources"]
    if one is None:
        return False
    patterns, names = one["patterns"][:MOST_PATTERNS], one["names"]
    rows = [pattern["rows"] for pattern in patterns]
    top, m = max(rows), len(names)
    # dots stand below the bars, a line each source, in units of the bars
    below = [-top * (0.12 + 0.13 * j) for j in range(m)]
    ax.bar(range(len(rows)), rows, 0.6, color=BLUE)
    for i, pattern in enumerate(patterns):
        inside = [y for y, labelled in zip(below, pattern["labelled"], strict=True) if labelled]
        ax.plot([i] * m, below, "o", color=GRID_LINES, ms=5)
        ax.plot([i] * len(inside), inside, "o-", color=INK, ms=5, lw=1.2)
    ticks = [tick for tick in ax.get_yticks() if 0 <= tick <= top]
    ax.set_yticks([*below, *ticks], [*names, *(f"{tick:.0f}" for tick in ticks)])
    ax.set(xticks=[], ylabel="rows")
    return True


def _curve(ax: Any, summary: dict[str, Any]) -> bool:
    """The share of positives by the odds ratio of any two sources."""
    one = summary["sources"]
    if one is None:
        return False
    x, low, high, value = (
        [point[name] for point in one["curve"]] for name in ("odds_ratio", "low", "high", "value")
    )
    ax.fill_between(x, low, high, color=BLUE, alpha=0.2, lw=0)
    ax.plot(x, value, "o-", color=BLUE, ms=4)
    as_usual = one["as_usual"]
    ax.axhline(as_usual["value"], color=MUTED, lw=1, ls="--")
    ax.set_xscale("log")
    ax.set_xticks(x, ["1/3", "1/2", "1", "2", "3"])
    ax.minorticks_off()
    pictures.percents(ax.yaxis)
    highest = float(np.min([1.0, 1.1 * max(high)]))
    ax.set(
        xlabel="odds ratio of two sources among positives",
        ylabel="share of positives",
        ylim=(0, highest),
    )
    return True


SECTION = Section(
    "sources",
    "What the label sources say together",
    compute,
    findings,
    checks,
    pictures={"overlaps": Picture(_patterns), "dependence": Picture(_curve)},
    fragment=beside(__file__),
    shown=shown,
    link="Sources",
    place=2,
)
