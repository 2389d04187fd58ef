"""The share of positives under each assumption and by group, and which model is the class."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from doublelogit.findings import Finding
from doublelogit.findings import answer as answers
from doublelogit.findings import fit as fits
from doublelogit.inference import Inference
from doublelogit.registry import method_of
from doublelogit.report import pictures
from doublelogit.report.analysis import Analysis
from doublelogit.report.answers import (
    ALL_NEGATIVE,
    AT_RANDOM,
    AUDIT_ALONE,
    BIASED,
    SWAPPED,
    Answer,
    all_negative,
    by_group,
    with_false_labels,
)
from doublelogit.report.pictures import BLUE, INK, MUTED, ORANGE, Picture
from doublelogit.report.section import Checks, Numbers, Section, beside
from doublelogit.table_models.table_model import quietly
from doublelogit.tables import Table


def compute(analysis: Analysis) -> Numbers:
    """The shares of positives."""
    table, main = analysis.table, analysis.main
    bound = (analysis.model.classifier, table, analysis.X)
    answers = [all_negative(table), analysis.scar, main, analysis.swapped, analysis.audit_answer]
    return {
        "prevalence": {
            "main": main,
            "weak": analysis.weak,
            "hidden": _hidden(analysis),
            "hidden_interval": _hidden_interval(analysis.inference),
            "by_assumption": [answer for answer in answers if answer is not None],
            "false_labels": with_false_labels(*bound, main.value, analysis.progress),
            "by": table.roles.by,
            "groups": _groups(table, by_group(*bound, analysis.inference)),
        }
    }


def _hidden(analysis: Analysis) -> float:
    """Expected number of positives among the unlabelled rows."""
    table = analysis.table
    return float(table.row_weight @ (analysis.probabilities.hidden * (table.s == 0)))


def _hidden_interval(inference: Inference | None) -> tuple[float, float] | None:
    if inference is None:
        return None
    hidden = quietly(inference.hidden)
    return hidden.low, hidden.high


def _groups(table: Table, answers: Mapping[str, Answer]) -> list[dict[str, Any]]:
    group, s = table.group, table.s
    return [
        {
            "group": name,
            "rows": int((group == name).sum()),
            "labelled": float(s[group == name].mean()),
            **asdict(answer),
        }
        for name, answer in answers.items()
    ]


def findings(analysis: Analysis, _numbers: Numbers) -> list[Finding]:
    """The share of positives, and which model is the class."""
    return [_share(analysis), *_shapes(analysis), _orientation(analysis)]


def _share(analysis: Analysis) -> Finding:
    main, labelled = analysis.main, all_negative(analysis.table).value
    if not analysis.clear and analysis.swapped is not None:
        return answers.two_answers(main, analysis.swapped, labelled)
    has_intervals = method_of(analysis.model.classifier).intervals is not None
    without = answers.no_interval(analysis.model.method, has_intervals=has_intervals)
    return answers.prevalence(
        main, labelled, _hidden(analysis), weak=analysis.weak, without=without
    )


def _shapes(analysis: Analysis) -> list[Finding]:
    """What a class of any shape did to the answer, if it may have one."""
    if not analysis.model.bends or analysis.inference is None:
        return []
    shapes = {one.name: one for one in analysis.inference.shapes}
    if not {"any", "line"} <= shapes.keys():
        return []
    nonlinear, line = shapes["any"], shapes["line"]
    return [answers.class_of_any_shape(nonlinear.weight, nonlinear.prevalence, line.prevalence)]


def _orientation(analysis: Analysis) -> Finding:
    orientation = analysis.model.classifier.orientation_
    return fits.orientation(orientation, audited=analysis.audited)


def checks(analysis: Analysis) -> Checks:
    """Whether the labels determine the prevalence, before all that the page says of it."""
    determined = answers.determined(
        analysis.main,
        converged=analysis.inference is not None,
        weak=analysis.weak,
        clear=analysis.clear,
    )
    return {"Identifiability": [determined, _orientation(analysis), _share(analysis)]}


# Assumptions as a picture calls them, and their colours.
ASSUMPTION_STYLES = {
    ALL_NEGATIVE: ("all unlabelled negative", MUTED),
    AT_RANDOM: ("labelling at random", ORANGE),
    BIASED: ("biased labelling", BLUE),
    SWAPPED: ("swapped", MUTED),
    AUDIT_ALONE: ("audit alone", INK),
}


def _by_assumption(ax: Any, summary: dict[str, Any]) -> bool:
    entries = summary["prevalence"]["by_assumption"]
    names, colours = zip(
        *(ASSUMPTION_STYLES[entry["assumption"]] for entry in entries), strict=True
    )
    pictures.intervals(ax, entries, list(names), list(colours))
    pictures.truth(ax, summary)
    _axis(ax)
    return True


def _by_group(ax: Any, summary: dict[str, Any]) -> bool:
    entries = summary["prevalence"]["groups"]
    if not entries:
        return False
    pictures.intervals(ax, entries, [entry["group"] for entry in entries], [BLUE] * len(entries))
    _axis(ax)
    return True


def _axis(ax: Any) -> None:
    pictures.percents(ax.xaxis)
    ax.set_xlabel("share of positives")
    ax.set_xlim(left=0)


SECTION = Section(
    "prevalence",
    "How many are positive",
    compute,
    findings,
    checks,
    pictures={
        "prevalence": Picture(
            _by_assumption, pictures.lines(lambda s: len(s["prevalence"]["by_assumption"]))
        ),
        "groups": Picture(_by_group, pictures.lines(lambda s: len(s["prevalence"]["groups"]))),
    },
    fragment=beside(__file__),
    link="Prevalence",
    place=2,
)
