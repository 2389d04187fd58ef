"""Whether intervals of the prevalence cover where nothing warns.

    python benchmarks/doubt_intervals.py [samples]

Every design of doubt_designs.INTERVALS is drawn again and again and fitted by JointClassifier. A
fit is quiet if neither it nor its inference warns. Beside each interval stands that of version
0.1: by the curvature, on the logit of the prevalence, quiet below a standard error of .25.
Results go to benchmarks/results/doubt_intervals.csv as designs finish.
"""

import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from doubt_designs import CLASS, INTERVALS, LABELLING

from doublelogit import JointClassifier, infer
from doublelogit.inference.estimate import share_estimate

RESULTS = Path(__file__).parent / "results" / "doubt_intervals.csv"
KNOWN = {
    True: {"outcome_features": CLASS, "propensity_features": LABELLING},
    False: {},
    "scar": {"propensity_features": [], "n_starts": 1},
}
OLD_LIMIT = 0.25


def simulate(draw, seed):
    """Whether the interval covers, its width, what warned; and the same of version 0.1."""
    X, _, s = draw(np.random.default_rng([seed, 2026]))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = JointClassifier(**KNOWN[draw.named]).fit(X, s)
        found = infer(model, X, s).prevalence()
    old = share_estimate("prevalence", found.value, found.se, 0.95, "")
    old_error = found.se / (found.value * (1 - found.value))
    said = {warning.category.__name__ for warning in caught}
    return {
        "covers": any(low <= draw.prevalence <= high for low, high in found.regions),
        "width": sum(high - low for low, high in found.regions),
        "warned": bool(said),
        "weak": "WeakIdentificationWarning" in said,
        "misfit": "MisfitWarning" in said,
        "orientation": "OrientationWarning" in said,
        "old_covers": old.low <= draw.prevalence <= old.high,
        "old_width": old.high - old.low,
        "old_warned": old_error > OLD_LIMIT or "OrientationWarning" in said,
    }


def summarised(frame):
    """Shares over samples; covers and widths of quiet fits."""
    quiet, old = frame[~frame.warned], frame[~frame.old_warned]
    return {
        "samples": len(frame),
        "quiet": len(quiet),
        "covers_quiet": quiet.covers.mean(),
        "covers_all": frame.covers.mean(),
        "width_quiet": quiet.width.mean(),
        "width_all": frame.width.mean(),
        **frame[["warned", "weak", "misfit", "orientation"]].mean(),
        "old_quiet": len(old),
        "old_covers_quiet": old.old_covers.mean(),
        "old_covers_all": frame.old_covers.mean(),
        "old_width_all": frame.old_width.mean(),
    }


def main(samples=300):
    tables = []
    for name, design in INTERVALS.items():
        draw = design()
        runs = [simulate(draw, seed) for seed in range(samples)]
        tables.append({"design": name} | summarised(pd.DataFrame(runs)))
        print({k: round(v, 3) if isinstance(v, float) else v for k, v in tables[-1].items()})
        pd.DataFrame(tables).to_csv(RESULTS, index=False, float_format="%.4f")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
