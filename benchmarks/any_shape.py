"""AVERAGED with a class of any shape beside its lines, on draws that choices may be made on.

    python benchmarks/any_shape.py STREAM [EVERY]     appends to build/any_shape_draws.csv
    python benchmarks/any_shape.py show               writes results/any_shape.csv

Streams are those of ``shape_draws.py`` and ``named``, draws of ``learn`` whose driving columns are
named. Every so many-th draw is taken; what is there is not computed again. ``show`` has
means by source, and intervals for other deviations and parts of the law of the label frequency
(``doublelogit/averaged/frequency.py``), which need no new fits.
"""

import json
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from shape_draws import FEWEST_LABELS, STREAMS, sample, scores

from doublelogit.averaged import frequency
from doublelogit.averaged.readings import linear
from doublelogit.averaged.shapes.any import FINE, nodes_of
from doublelogit.estimators import AveragedClassifier
from doublelogit.fitted.mixture import BELOW, quantile

RESULTS = Path(__file__).parent / "results"
DRAWS = Path("build") / "any_shape_draws.csv"
LEVEL = 0.9
DRIVEN = ("column", "steps", "causes")  # mechanisms whose columns can be named


def draws(stream):
    """Source, number, table, family, mechanism and seed of every draw, and whether to name."""
    named = stream == "named"
    for source, *rest in STREAMS["learn" if named else stream]():
        if not named or (source == "learn" and rest[3] in DRIVEN):
            yield ("named" if named else source), *rest, named


def row_of(keys, X, y, s, columns):
    """How good both shapes are on a draw, and what the law of the label frequency was given."""
    given = dict.fromkeys(("log_lift", "mean_s", "log_c_lines"), np.nan)
    law = frequency.law

    def noted(s_x, labels, weight, log_c_lines, cells):
        mean_s = float(np.average(labels, weights=weight))
        lift = frequency.log_lift(s_x, labels, weight, mean_s)
        given.update(log_lift=lift, mean_s=mean_s, log_c_lines=log_c_lines)
        return law(s_x, labels, weight, log_c_lines, cells)

    frequency.law = noted
    row = dict(keys, n=len(y), prevalence=y.mean())
    features = None if columns is None else np.sort(columns)
    for shape in ("line", "any"):
        start = time.process_time()
        model = AveragedClassifier(shape=shape, propensity_features=features).fit(X, s)
        p, (low, high) = model.probabilities(X), model.prevalence_interval(LEVEL)
        row |= scores(shape, y, s, p.positive, p.hidden)
        row |= {f"{shape}_low": low, f"{shape}_high": high}
        row[f"{shape}_seconds"] = time.process_time() - start
    frequency.law = law
    mixture = model.model_
    lines, side = linear(mixture), mixture.outcome_model
    held = [mixture.weight[lines] / mixture.weight[lines].sum(), side.share[lines]]
    held = json.dumps([np.round(one, 5).tolist() for one in (*held, side.share_sd[lines])])
    return row | given | {"weight": mixture.weight[~lines].sum(), "lines": held}


def interval_score(low, high, truth):
    """Width and what a miss costs."""
    miss = max(low - truth, 0) + max(truth - high, 0)
    return high - low + 2 / (1 - LEVEL) * miss


def other_interval(row, sd, flat, nobody):
    """The interval of a draw under another law."""
    law = frequency.law_at(
        row.mean_s, row.log_lift, row.log_c_lines, FINE, sd=sd, flat=flat, nobody=nobody
    )
    nodes = nodes_of(np.log(law.mass), np.minimum(row.mean_s / law.c, frequency.MOST))
    weight, share, deviation = map(np.array, json.loads(row.lines))
    mass = np.exp(nodes.log_mass - np.logaddexp.reduce(nodes.log_mass))
    weight = np.append(weight * (1 - row.weight), mass * row.weight)
    share = np.append(share, nodes.pi)[None]
    deviation = np.append(deviation, nodes.sd)[None]
    tail = (1 - LEVEL) / 2
    ends = [quantile(weight, share, deviation, q)[0] for q in (BELOW * tail, 1 - tail)]
    return max(ends[0], row.mean_s), min(ends[1], 1.0)


def show():
    table = pd.read_csv(DRAWS).dropna(subset="mean_s")  # a reserve has no law
    for shape in ("line", "any"):
        judge(table, shape, table[f"{shape}_low"], table[f"{shape}_high"])
    found = table.groupby("source").mean(numeric_only=True).drop(columns=["number", "n"])
    print(found.T.round(4).to_string())
    rows = [{"law": "as it is", "source": k, **v} for k, v in found.round(5).T.to_dict().items()]
    for sd in (0.2, 0.25, 0.3, 0.42):
        for flat, nobody in ((0.06, 0.08), (0.25, 0.08), (0.06, 0.04)):
            ends = [other_interval(row, sd, flat, nobody) for row in table.itertuples()]
            low, high = map(np.array, zip(*ends, strict=True))
            judge(table, "any", low, high)
            means = table.groupby("source")[["any_cover", "any_width", "any_winkler"]].mean()
            law = f"sd {sd}, flat {flat}, nobody hidden {nobody}"
            rows += [{"law": law, "source": k, **v} for k, v in means.round(5).T.to_dict().items()]
    pd.DataFrame(rows).to_csv(RESULTS / "any_shape.csv", index=False)


def judge(table, shape, low, high):
    table[f"{shape}_cover"] = (low <= table.prevalence) & (table.prevalence <= high)
    table[f"{shape}_width"] = high - low
    ends = zip(low, high, table.prevalence, strict=True)
    table[f"{shape}_winkler"] = [interval_score(*one) for one in ends]


def main(stream, every=1):
    warnings.simplefilter("ignore")
    done = set()
    if DRAWS.exists():
        table = pd.read_csv(DRAWS)
        done = set(zip(table.source, table.number, strict=True))
    for source, k, name, family, mechanism, seed, named in list(draws(stream))[:: int(every)]:
        if (source, k) in done:
            continue
        rng = np.random.default_rng(seed)
        X, y, s, columns, mechanism = sample(source, name, mechanism, rng)
        if s.sum() < FEWEST_LABELS:
            continue
        keys = {"source": source, "number": k, "table": name, "family": family}
        row = row_of(keys | {"mechanism": mechanism}, X, y, s, columns if named else None)
        frame = pd.DataFrame([row]).round(5)
        frame.to_csv(DRAWS, mode="a", header=not DRAWS.exists(), index=False)
        print(k, name or mechanism, flush=True)


if __name__ == "__main__":
    show() if sys.argv[1] == "show" else main(*sys.argv[1:])
