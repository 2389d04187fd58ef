"""The share of positives under each assumption and by group, and which model is the class."""

from dataclasses import asdict
from typing import Any

from doublelogit.findings import Finding
from doublelogit.findings import answer as answers
from doublelogit.findings import fit as fits
from doublelogit.registry import method_of
from doublelogit.report.analysis import Analysis
from doublelogit.report.answers import ALL_NEGATIVE, AT_RANDOM, AUDITED, BIASED, SWAPPED
from doublelogit.report.pictures import (
    BLUE,
    INK,
    MUTED,
    ORANGE,
    Picture,
    intervals,
    lines,
    percents,
    truth,
)
from doublelogit.report.section import Checks, Numbers, Section, beside


def compute(analysis: Analysis) -> Numbers:
    """The shares of positives."""
    answers = [analysis.naive, analysis.scar, analysis.main]
    answers += [a for a in (analysis.swapped, analysis.audit_answer) if a is not None]
    return {
        "prevalence": {
            "main": analysis.main,
            "weak": analysis.weak,
            "hidden": analysis.hidden,
            "hidden_interval": analysis.hidden_interval,
            "by_assumption": answers,
            "false_labels": list(analysis.false_labels.values()),
            "by": analysis.table.roles.by,
            "groups": _groups(analysis),
        }
    }


def _groups(analysis: Analysis) -> list[dict[str, Any]]:
    group, s = analysis.table.group, analysis.table.s
    return [
        {
            "group": name,
            "rows": int((group == name).sum()),
            "labelled": float(s[group == name].mean()),
            **asdict(answer),
        }
        for name, answer in analysis.groups.items()
    ]


def findings(analysis: Analysis, _numbers: Numbers) -> list[Finding]:
    """The share of positives, and which model is the class."""
    return [_share(analysis), _orientation(analysis)]


def _share(analysis: Analysis) -> Finding:
    main, labelled = analysis.main, analysis.naive.value
    if not analysis.clear and analysis.swapped is not None:
        return answers.two_answers(main, analysis.swapped, labelled)
    has_intervals = method_of(analysis.model.classifier).intervals is not None
    without = answers.no_interval(analysis.model.method, has_intervals=has_intervals)
    return answers.prevalence(main, labelled, analysis.hidden, weak=analysis.weak, without=without)


def _orientation(analysis: Analysis) -> Finding:
    return fits.orientation(analysis.orientation, audited=analysis.audited)


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
ASSUMPTIONS = {
    ALL_NEGATIVE: ("all unlabelled negative", MUTED),
    AT_RANDOM: ("labelling at random", ORANGE),
    BIASED: ("biased labelling", BLUE),
    SWAPPED: ("swapped", MUTED),
    AUDITED: ("audit alone", INK),
}


def _by_assumption(ax: Any, summary: dict[str, Any]) -> bool:
    entries = summary["prevalence"]["by_assumption"]
    names, colours = zip(*(ASSUMPTIONS[entry["assumption"]] for entry in entries), strict=True)
    intervals(ax, entries, list(names), list(colours))
    truth(ax, summary)
    _axis(ax)
    return True


def _by_group(ax: Any, summary: dict[str, Any]) -> bool:
    entries = summary["prevalence"]["groups"]
    if not entries:
        return False
    intervals(ax, entries, [entry["group"] for entry in entries], [BLUE] * len(entries))
    _axis(ax)
    return True


def _axis(ax: Any) -> None:
    percents(ax.xaxis)
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
            _by_assumption, lines(lambda s: len(s["prevalence"]["by_assumption"]))
        ),
        "groups": Picture(_by_group, lines(lambda s: len(s["prevalence"]["groups"]))),
    },
    fragment=beside(__file__),
    link="Prevalence",
    place=2,
)
