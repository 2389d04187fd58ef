"""What is true beside what was estimated, where the truth is known."""

from typing import Any

import numpy as np

from doublelogit._types import Floats
from doublelogit.common.wording import between, percent
from doublelogit.report.analysis import Analysis


def beside_truth(analysis: Analysis, y: Floats, e_x: Floats) -> dict[str, Any]:
    """Prevalence, hidden positives, propensities and the list, true and estimated."""
    found, s = analysis.probabilities, analysis.table.s
    hidden = (y == 1) & (s == 0)
    order = np.argsort(-np.where(s == 0, found.hidden, -1.0), kind="stable")[:100]
    main = analysis.main
    lines = [
        (
            "share of positives",
            percent(float(np.mean(y))),
            f"{percent(main.value)} ({between(main)})",
        ),
        ("  if unlabelled were negative", percent(float(np.mean(y))), percent(float(s.mean()))),
        ("  if labelling were at random", percent(float(np.mean(y))), percent(analysis.scar.value)),
        (
            "hidden positives",
            f"{int(hidden.sum()):,}",
            f"{float((found.hidden * (s == 0)).sum()):,.0f}",
        ),
        (
            "probability of a label, positives",
            percent(float(e_x[y == 1].mean())),
            percent(float(np.average(found.propensity, weights=found.positive))),
        ),
        (
            "positives in the first 100",
            str(int(hidden[order].sum())),
            f"{float(found.hidden[order].sum()):.0f}",
        ),
    ]
    return {
        "prevalence": float(np.mean(y)),
        "hidden": int(hidden.sum()),
        "lines": [{"what": a, "truth": b, "estimate": c} for a, b, c in lines],
    }
