"""Every number of a report in one dictionary that JSON can hold."""

import math
import platform
from collections.abc import Iterator
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from doublelogit.common.thresholds import FITS_UNITS, LARGE_SAMPLE
from doublelogit.findings.fit import orientation_sentence
from doublelogit.metrics import label_calibration
from doublelogit.report import verdict as words
from doublelogit.report.analysis import Analysis
from doublelogit.report.audited import audit_answer, audit_numbers
from doublelogit.report.doubt import doubt_numbers
from doublelogit.report.drivers import TERMS
from doublelogit.report.ranking import examples, list_lengths, rank_hidden
from doublelogit.report.shapes import shapes
from doublelogit.table_models.table_rows import rows_of
from doublelogit.tables.columns import Category, ColumnEncoding, Ignored, Number
from doublelogit.tables.expansion import plain as plain_column

BINS = 20
PACKAGES = ("doublelogit", "numpy", "scipy", "scikit-learn", "pandas")


def summarise(
    analysis: Analysis,
    *,
    top: int = 100,
    show_ids: bool = False,
    source: str = "",
    command: str = "",
    truth: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """All numbers and sentences of a report.

    Parameters
    ----------
    analysis : Analysis
        Of a table.
    top : int, default=100
        Rows of the ranked list.
    show_ids : bool, default=False
        Whether the list names rows by their ids, which may be patients.
    source, command : str, default=""
        Where the table came from, and how the report was asked for.
    truth : dict, default=None
        What is known of the truth, in demonstrations.

    Returns
    -------
    summary : dict
        Of texts, finite numbers, lists and dicts alone.
    """
    table = analysis.table
    calibration = label_calibration(table.s, analysis.probabilities.label, min(10, len(table)))
    verdict = words.verdict(analysis, calibration.error)
    summary = {
        "source": source,
        "command": command,
        "seed": analysis.random_state,
        "method": analysis.model.method,
        "verdict": [finding.to_dict() for finding in verdict],
        "recommendation": words.recommendation(analysis),
        "caution": words.caution(analysis),
        "assumptions": words.assumptions(analysis),
        "data": _data(analysis),
        "scar_test": _test(analysis),
        "orientation": _orientation(analysis),
        "prevalence": _prevalence(analysis),
        "drivers": _drivers(analysis),
        "learner": _learner(analysis),
        "propensity": _propensity(analysis),
        "calibration": {
            "predicted": calibration.predicted,
            "observed": calibration.observed,
            "rows": calibration.rows,
            "gap": calibration.error,
        },
        "ranking": _ranking(analysis, top, show_ids),
        "list_lengths": list_lengths(analysis.probabilities.hidden[table.s == 0]),
        "list_examples": examples(analysis.probabilities.hidden[table.s == 0]),
        "profile": _profile(analysis),
        "doubt": doubt_numbers(analysis.doubt),
        "audit": audit_numbers(analysis),
        "truth": truth,
        "versions": _versions(),
    }
    return plain(summary)


def plain(value: Any) -> Any:
    """A value as JSON can hold it; what is no finite number is None."""
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, dict):
        return {str(key): plain(v) for key, v in value.items()}
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def _data(analysis: Analysis) -> dict[str, Any]:
    table = analysis.table
    columns = []
    for column in analysis.model.encoding.columns:
        values = table.features[column.name]
        entry = {
            "name": column.name,
            "kind": column.kind,
            "missing": float(values.isna().mean()),
            "distinct": int(values.nunique()),
            "unit": column.meaning,
            "note": _note(column),
        }
        if isinstance(column, Category) and values.nunique() > len(column.levels):
            entry["note"] = f"the {len(column.levels) - 1} commonest levels; the others together"
        columns.append(entry)
    return {
        "rows": len(table),
        "labelled": int(table.s.sum()),
        "unlabelled": int((table.s == 0).sum()),
        "audited": 0 if table.audited is None else int((~np.isnan(table.audited)).sum()),
        "weighted": table.weight is not None,
        "label": table.roles.label,
        "positive": table.roles.positive,
        "encoded_columns": analysis.X.shape[1],
        "columns": columns,
        "notes": list(table.notes),
    }


def _note(column: ColumnEncoding) -> str:
    """What is done to a column beyond what its kind says."""
    base = plain_column(column)
    if isinstance(base, Ignored):
        return base.reason
    return base.shape.words if isinstance(base, Number) else ""


def _test(analysis: Analysis) -> dict[str, Any]:
    test = analysis.test
    return {
        "sentence": test.sentence,
        "rejects": test.rejects,
        "verdict": test.verdict,
        "p_interval": test.p_interval,
        "bent": None if test.bent is None else test.bent.p_value,
        "statistic": test.statistic,
        "p_value": test.p_value,
        "asymptotic": test.asymptotic,
        "samples": test.draws,
        "note": " ".join(_test_notes(analysis)),
    }


def _test_notes(analysis: Analysis) -> Iterator[str]:
    """What a reader of the test of labelling at random should know."""
    if analysis.test.asymptotic:
        yield f"Above {LARGE_SAMPLE:,} rows the chi-square law replaces resampling."
    if analysis.table.audited is not None or analysis.table.weight is not None:
        yield "The test looks at the labels alone: audited classes and weights take no part in it."


def _orientation(analysis: Analysis) -> dict[str, Any]:
    decided = analysis.orientation
    return {
        "sentence": orientation_sentence(decided),
        "clear": analysis.clear,
        "rule": None if decided is None else decided.rule,
        "gap": None if decided is None else decided.gap,
        "unit": None if decided is None else decided.unit,
        "swapped": None if analysis.swapped is None else asdict(analysis.swapped),
    }


def _prevalence(analysis: Analysis) -> dict[str, Any]:
    answers = [analysis.naive, analysis.scar, analysis.main]
    answers += [a for a in (analysis.swapped, audit_answer(analysis)) if a is not None]
    groups = [
        {
            "group": group,
            "rows": int((analysis.table.group == group).sum()),
            "labelled": float(analysis.table.s[analysis.table.group == group].mean()),
            **asdict(answer),
        }
        for group, answer in analysis.groups.items()
    ]
    return {
        "main": asdict(analysis.main),
        "weak": analysis.weak,
        "hidden": analysis.hidden,
        "hidden_interval": analysis.hidden_interval,
        "by_assumption": [asdict(answer) for answer in answers],
        "false_labels": [asdict(answer) for answer in analysis.false_labels.values()],
        "by": analysis.table.roles.by,
        "groups": groups,
    }


def _drivers(analysis: Analysis) -> dict[str, list[dict[str, Any]]]:
    """Coefficients of both models as odds ratios of a readable unit, largest effect first."""
    told = {c.name: c for c in analysis.model.encoding.columns}
    names = analysis.X.columns.tolist()
    source = dict(zip(names, analysis.model.encoding.sources, strict=True))
    found: dict[str, list[dict[str, Any]]] = {name: [] for name in TERMS.values()}
    for model, term, coef, low, high, p in analysis.coefficients:
        if term in source and term not in analysis.model.encoding.curves:  # no odds of a curve
            column = told[source[term]]
            step = column.step if term == column.name else 1.0
            found[TERMS[model]].append(
                {
                    "term": term,
                    "column": column.name,
                    "unit": column.meaning,
                    "coef": coef,
                    "odds": _exp(coef, step),
                    "low": _exp(low, step),
                    "high": _exp(high, step),
                    "p": p,
                }
            )
    for terms in found.values():
        terms.sort(key=lambda t: -abs(t["coef"]))
    return found


def _learner(analysis: Analysis) -> dict[str, Any]:
    """What models the class, why, and the shapes that it found."""
    model = analysis.model
    return {
        "name": model.learners.outcome,
        "labelling": model.learners.propensity,
        "choice": "" if model.choice is None else model.choice.finding.text,
        "shapes": shapes(analysis),
    }


def _exp(x: float | None, step: float) -> float | None:
    return None if x is None else float(np.exp(np.clip(x * step, -700, 700)))


def _propensity(analysis: Analysis) -> dict[str, Any]:
    e_x, s = analysis.probabilities.propensity, analysis.table.s
    edges = np.linspace(0, 1, BINS + 1)
    positives = analysis.weight * analysis.probabilities.positive
    expected, _ = np.histogram(e_x, edges, weights=positives)
    labelled, _ = np.histogram(e_x[s == 1], edges, weights=analysis.weight[s == 1])
    low, middle, high = np.quantile(e_x[s == 1], [0.1, 0.5, 0.9])
    return {
        "edges": edges,
        "expected_positives": expected,
        "labelled": labelled,
        "rare": analysis.rare_share,
        "mean": float(positives @ e_x / positives.sum()),
        "labelled_quantiles": [low, middle, high],
        "smallest": float(e_x.min()),
        "largest": float(e_x.max()),
    }


def _ranking(analysis: Analysis, top: int, show_ids: bool) -> list[dict[str, Any]]:
    table, found = analysis.table, analysis.probabilities
    ranked = rank_hidden(rows_of(analysis.model, table), top)
    return [
        {
            "rank": r.rank,
            **({"id": str(table.ids[r.row])} if show_ids else {}),
            "probability": r.probability,
            "positive": found.positive[r.row],
            "propensity": found.propensity[r.row],
            "reasons": r.reasons,
        }
        for r in ranked
    ]


def _profile(analysis: Analysis) -> dict[str, Any] | None:
    inference = analysis.inference
    if inference is None or (len(analysis.table) > LARGE_SAMPLE and not analysis.weak):
        return None
    walked = inference.profile
    if walked is None:
        return None
    regions = walked.fitting(FITS_UNITS)
    return {"prevalence": walked.prevalence, "drop": walked.drop, "regions": regions}


def _versions() -> dict[str, str]:
    found = {"Python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:  # pragma: no cover
            found[name] = "unknown"
    return found
