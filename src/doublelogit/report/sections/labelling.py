"""How labels come about: at random or not, told apart from the class or not, how often."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from doublelogit.common.thresholds import LARGE_SAMPLE, RARE_PROPENSITY
from doublelogit.findings import FINE, Finding
from doublelogit.findings import answer as answers
from doublelogit.findings import fit as fits
from doublelogit.findings import labelling as sentences
from doublelogit.metrics import label_calibration
from doublelogit.registry import method_of
from doublelogit.report import pictures
from doublelogit.report.analysis import Analysis
from doublelogit.report.pictures import BLUE, GRID_LINES, MUTED, Picture
from doublelogit.report.section import Checks, Numbers, Section, beside

PROPENSITY_BINS = 20


def compute(analysis: Analysis) -> Numbers:
    """The test of labelling at random, the orientation, propensities and their calibration."""
    table = analysis.table
    calibration = label_calibration(table.s, analysis.probabilities.label, min(10, len(table)))
    return {
        "scar_test": _test(analysis),
        "orientation": _orientation(analysis),
        "propensity": _propensity(analysis),
        "calibration": {
            "predicted": calibration.predicted,
            "observed": calibration.observed,
            "rows": calibration.rows,
            "gap": calibration.error,
        },
    }


def _test(analysis: Analysis) -> dict[str, Any]:
    test = analysis.test
    return {
        "sentence": test.sentence,
        "rejects": test.rejects,
        "verdict": test.verdict,
        "p_interval": test.p_interval,
        "bent": test.p_bent,
        "statistic": test.statistic,
        "p_value": test.p_value,
        "asymptotic": test.asymptotic,
        "samples": test.draws,
        "note": " ".join(_notes(analysis)),
    }


def _notes(analysis: Analysis) -> Iterator[str]:
    """Notes for a reader of the test."""
    if analysis.test.asymptotic:
        yield sentences.asymptotic(LARGE_SAMPLE)
    if analysis.table.audited is not None or analysis.table.weight is not None:
        yield sentences.LABELS_ALONE


def _orientation(analysis: Analysis) -> dict[str, Any]:
    orientation = analysis.model.classifier.orientation_
    return {
        "sentence": fits.orientation_sentence(orientation),
        "clear": analysis.clear,
        "rule": None if orientation is None else orientation.rule,
        "gap": None if orientation is None else orientation.gap,
        "unit": None if orientation is None else orientation.unit,
        "swapped": analysis.swapped,
    }


def _propensity(analysis: Analysis) -> dict[str, Any]:
    e_x, s, weight = analysis.probabilities.propensity, analysis.table.s, analysis.table.row_weight
    edges = np.linspace(0, 1, PROPENSITY_BINS + 1)
    positives = weight * analysis.probabilities.positive
    expected, _ = np.histogram(e_x, edges, weights=positives)
    labelled, _ = np.histogram(e_x[s == 1], edges, weights=weight[s == 1])
    low, middle, high = np.quantile(e_x[s == 1], [0.1, 0.5, 0.9])
    return {
        "edges": edges,
        "expected_positives": expected,
        "labelled": labelled,
        "rare": _rare_share(analysis),
        "mean": float(positives @ e_x / positives.sum()),
        "labelled_quantiles": [low, middle, high],
        "smallest": float(e_x.min()),
        "largest": float(e_x.max()),
    }


def findings(analysis: Analysis, numbers: Numbers) -> list[Finding]:
    """Whether labelling is at random, rare labels, calibration, and the fit's findings."""
    rare = fits.rare_labels(_rare_share(analysis))
    return [
        _bias(analysis),
        *([rare] if rare.level != FINE else []),
        answers.calibration(numbers["calibration"]["gap"]),
        *(f for f in analysis.model.classifier.findings_ if f.topic != "orientation"),
    ]


def _rare_share(analysis: Analysis) -> float:
    """Share of the expected positives that hardly ever get a label."""
    positives = analysis.table.row_weight * analysis.probabilities.positive
    rare = analysis.probabilities.propensity < RARE_PROPENSITY
    return float(positives @ rare / positives.sum())


def checks(analysis: Analysis) -> Checks:
    """Whether labelling is at random."""
    return {"Labelling at random": [_bias(analysis)]}


def _bias(analysis: Analysis) -> Finding:
    named = analysis.table.roles.propensity_features
    allowed = named != () and not method_of(analysis.model.classifier).assumes_scar
    return sentences.bias(analysis.test, analysis.scar, allowed=allowed)


def _histogram(ax: Any, summary: dict[str, Any]) -> bool:
    bins = summary["propensity"]
    edges = np.array(bins["edges"])
    width = edges[1] - edges[0]
    ax.bar(edges[:-1], bins["expected_positives"], width, align="edge", color=GRID_LINES)
    ax.bar(edges[:-1], bins["labelled"], width, align="edge", color=BLUE, alpha=0.85)
    ax.plot([], [], "s", color=GRID_LINES, label="expected positives")
    ax.plot([], [], "s", color=BLUE, label="labelled")
    pictures.legend_above(ax, handletextpad=0.2)
    pictures.percents(ax.xaxis)
    ax.set(xlabel="probability that a positive is labelled, e(x)", ylabel="rows", xlim=(0, 1))
    return True


def _calibration(ax: Any, summary: dict[str, Any]) -> bool:
    bins = summary["calibration"]
    most = 1.05 * max(*bins["predicted"], *bins["observed"], 0.01)
    ax.plot([0, most], [0, most], color=MUTED, lw=1, ls="--")
    ax.plot(bins["predicted"], bins["observed"], "o-", color=BLUE, ms=5, lw=1.4)
    pictures.percents(ax.xaxis)
    pictures.percents(ax.yaxis)
    ax.grid(lw=0.6)
    ax.set(xlabel="predicted probability of a label, s(x)", ylabel="labelled share")
    return True


SECTION = Section(
    "labelling",
    "How labels come about",
    compute,
    findings,
    checks,
    pictures={"propensity": Picture(_histogram), "calibration": Picture(_calibration)},
    fragment=beside(__file__),
    link="Labelling",
    place=4,
)
