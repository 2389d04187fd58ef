"""What a page says of nine real tables whose positives were hidden by a biased mechanism.

    python benchmarks/doubt_tables.py [table ...]

As a new user would: ``report`` with the default method, the columns that drive labelling named. A
page is without doubt if no finding needs attention. Found: the share of real positives among the
first fifty rows of the list; claimed: the interval of the page. Results go to
benchmarks/results/doubt_tables.csv, one line per table and draw of the labels.
"""

import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from doubt_designs import tables

from doublelogit import Report, Roles, TableClassifier
from doublelogit.common.thresholds import LARGE_SAMPLE
from doublelogit.findings import worst
from doublelogit.report.opinions import first_rows

RESULTS = Path(__file__).parent / "results" / "doubt_tables.csv"


def examined(name, frame, y, e_x, named, seed):
    """One line: truth, estimate, what the page doubts, precision found and claimed."""
    y = np.asarray(y).astype(bool)
    s = y & (np.random.default_rng(seed).random(len(y)) < np.asarray(e_x))
    began = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table = frame.assign(label_=s.astype(int))
        model = TableClassifier(Roles("label_", propensity_features=named)).fit(table)
        # beyond, the chi-square law takes the place of samples
        drawn = 39 if len(table) <= LARGE_SAMPLE else None
        report = Report(model, table, random_state=seed, n_resamples=drawn, n_jobs=1)
        analysis, page = report.analysis, report.to_dict()
    main, claim = page["prevalence"]["main"], page["doubt"]["claim"]
    first = first_rows(analysis.table, analysis.probabilities.listed, claim["length"])
    doubted = [f["topic"] for f in page["verdict"] if f["level"] in ("attention", "problem")]
    return {
        "table": name,
        "rows": len(y),
        "seed": seed,
        "truth": y.mean(),
        "estimate": main["value"],
        "low": main["low"],
        "high": main["high"],
        "covers": any(low <= y.mean() <= high for low, high in main["regions"]),
        "page": worst(report.findings),
        "doubted": "; ".join(dict.fromkeys(doubted)),
        "found": y[first].mean(),
        "expected": claim["expected"],
        "claim_low": claim["low"],
        "claim_high": claim["high"],
        "inside": claim["low"] <= y[first].mean() <= claim["high"],
        "cpu_seconds": time.process_time() - began,
    }


def main(*names, seed=2026):
    lines = pd.read_csv(RESULTS).to_dict("records") if RESULTS.exists() and names else []
    for table in tables():
        if names and table[0] not in names:
            continue
        lines = [line for line in lines if line["table"] != table[0]]
        lines.append(examined(*table, seed))
        print(lines[-1], flush=True)
        pd.DataFrame(lines).to_csv(RESULTS, index=False, float_format="%.4f")


if __name__ == "__main__":
    main(*sys.argv[1:])
