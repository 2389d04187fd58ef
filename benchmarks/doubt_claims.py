"""What pages of many real tables claim, and find: by it claims and levels of doubt are chosen.

    python benchmarks/doubt_claims.py learn|test [number of tables]

Tables of one half of the corpus, one of each family, labels hidden by a mechanism that depends on
one to three columns, which are named. One line per table and draw: truth, interval, what each
method says of the first fifty rows, what is found there, and which topics of the page
need attention. Rules are chosen by the half *learn*, without the nine tables of doubt_tables.py,
and reported on the half *test*. Results go to benchmarks/results/doubt_claims_HALF.csv.
"""

import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from shared import chance

from doublelogit import Report, Roles, TableClassifier
from doublelogit.inference import scar_test
from doublelogit.metrics import label_calibration
from doublelogit.report.sections import SECTIONS
from doublelogit.studies.datasets import corpus_table, load_corpus

RESULTS = Path(__file__).parent / "results"
FEWEST_ROWS, MOST_ROWS, MOST_COLUMNS = 600, 6000, 20
FEWEST_LABELS = 40
NINE = {"flchain", "Hdma", "Chile", "smoke", "nwtco", "happiness", "movies", "loanapp", "flights"}


def drawn(name, seed):
    """Frame with hidden labels, true class and the columns that labelling depends on."""
    data = load_corpus(name, max_rows=MOST_ROWS, max_columns=MOST_COLUMNS)
    frame = pd.DataFrame(data.data, columns=[f"c{j}" for j in range(data.data.shape[1])])
    y, rng = data.target == 1, np.random.default_rng([seed, 9])
    k = min(3, max(1, frame.shape[1] // 3))
    named = rng.choice(frame.columns, k, replace=False).tolist()
    Z = ((frame[named] - frame[named].mean()) / frame[named].std().replace(0, 1)).clip(-3, 3)
    slopes = rng.choice([-1, 1], k) * rng.uniform(0.4, 1.2, k)
    e_x = chance(rng.uniform(-1, 1) + Z.to_numpy() @ slopes)
    s = y & (rng.random(len(y)) < e_x)
    return frame.assign(label_=s.astype(int)), y, named


def examined(name, seed):
    """One line; None if too few labels were drawn."""
    frame, y, named = drawn(name, seed)
    if frame["label_"].sum() < FEWEST_LABELS:
        return None
    began = time.process_time()
    roles = Roles("label_", propensity_features=tuple(named))
    analysis = Report(TableClassifier(roles).fit(frame), frame, n_jobs=1).analysis
    table, main, doubt = analysis.table, analysis.main, analysis.doubt
    # only noted where labelling may depend on columns, so that no samples need be drawn
    vars(analysis)["test"] = scar_test(analysis.X.to_numpy(), table.s, asymptotic=True)
    gap = label_calibration(table.s, analysis.probabilities.label).error
    numbers = {"calibration": {"gap": gap}, "sources": None}
    verdict = [f for section in SECTIONS for f in section.findings(analysis, numbers)]
    doubted = [f.topic for f in verdict if f.level in ("attention", "problem")]
    opinions = {o.name: o for o in [doubt.page, *doubt.methods]}
    return {
        "table": name,
        "seed": seed,
        "rows": len(y),
        "features": analysis.X.shape[1],
        "labels": int(table.s.sum()),
        "truth": y.mean(),
        "estimate": main.value,
        "low": main.low,
        "high": main.high,
        "covers": any(low <= y.mean() <= high for low, high in main.regions),
        "found": y[doubt.first].mean(),
        "claim_low": doubt.claim.low,
        "claim_high": doubt.claim.high,
        "inside": doubt.claim.low <= y[doubt.first].mean() <= doubt.claim.high,
        "doubted": "; ".join(dict.fromkeys(doubted)),
        "clear": analysis.clear,
        "weak": analysis.weak,
        "misfit": min((m.p_value for m in doubt.misfits if m.rejects), default=np.nan),
        **{f"precision {n}": o.precision for n, o in opinions.items()},
        **{f"prevalence {n}": o.prevalence for n, o in opinions.items()},
        **{f"overlap {n}": o.overlap for n, o in opinions.items()},
        "cpu_seconds": time.process_time() - began,
    }


def main(half, most="50"):
    table = corpus_table().reset_index()
    mine = table[(table["half"] == half) & (table["n"] >= FEWEST_ROWS)]
    names = np.random.default_rng(5).permutation(mine.drop_duplicates("family")["name"])
    lines = []
    for i, name in enumerate(names):
        if len(lines) == int(most) or name in NINE:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            line = examined(name, i)
        if line is not None:
            lines.append(line)
            print(i, name, line["found"], line["inside"], line["doubted"], flush=True)
            file = RESULTS / f"doubt_claims_{half}.csv"
            pd.DataFrame(lines).to_csv(file, index=False, float_format="%.4f")


if __name__ == "__main__":
    main(*sys.argv[1:])
