"""AVERAGED's 90% credible intervals of the prevalence: do they cover, and what do they cost.

    python benchmarks/credible.py [runs]

Well-specified designs with a known prevalence, drawn again and again. On the first hundred samples
the interval of the profile likelihood stands beside it, and `over_profile` is the ratio of the mean
widths there. `score` is the interval score: width plus 20 times the distance by which the truth is
missed. Results go to benchmarks/results/credible.csv as designs finish.
"""

import sys
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from shared import measured

from doublelogit import AveragedClassifier, JointClassifier, infer
from doublelogit.labelling import Scar, draw
from doublelogit.studies.datasets import make_half
from doublelogit.studies.labelling import DirectedSar

RESULTS = Path(__file__).parent / "results" / "credible.csv"
LEVEL = 0.9
PROFILED = 100  # samples; the profile takes longer than all else together
DISJOINT = DirectedSar(tuple(np.repeat([0.0, 0.6], 6)), 1.0)


@dataclass(frozen=True)
class Design:
    """How labels are given, and what the analyst knows besides them."""

    name: str
    n: int
    mechanism: object
    propensity_features: tuple[int, ...] | None = None
    audited: int = 0


NAMED = tuple(range(6, 12))
DESIGNS = [
    Design("at random", 700, Scar(0.5)),
    Design("at random", 4000, Scar(0.5)),
    Design("at random, named", 700, Scar(0.5), ()),
    Design("disjoint", 700, DISJOINT),
    Design("disjoint", 4000, DISJOINT),
    Design("disjoint, named", 700, DISJOINT, NAMED),
    Design("disjoint, named", 4000, DISJOINT, NAMED),
    Design("disjoint, 100 audited", 700, DISJOINT, None, 100),
]


def prevalence():
    return float(make_half(1_000_000, random_state=0).posterior.mean())


def simulate(design, truth, seed):
    """One line per interval."""
    rng = np.random.default_rng([seed, len(design.name), design.n])
    sample = make_half(design.n, random_state=rng)
    X, y = sample.data, sample.target
    s = draw(y, design.mechanism.propensity(X), rng)
    audited = np.full(design.n, np.nan)
    audited[: design.audited] = y[: design.audited]
    data = {"X": X, "y": s, "audited_y": audited if design.audited else None}
    named = {"propensity_features": design.propensity_features}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = AveragedClassifier(**named).fit(**data)
        found = {"credible": model.prevalence_interval(LEVEL)}
        if seed < PROFILED:
            likelihood = infer(JointClassifier(**named).fit(**data), **data)
            found["profile"] = likelihood.profile.interval(LEVEL)
    return [
        {"seed": seed, "interval": name, **measured(ends, truth, LEVEL)}
        for name, ends in found.items()
    ]


def main(runs=400):
    tables, truth = [], prevalence()
    for design in DESIGNS:
        found = Parallel(n_jobs=-1)(delayed(simulate)(design, truth, seed) for seed in range(runs))
        frame = pd.DataFrame([line for lines in found for line in lines])
        lines = frame.drop(columns="seed").groupby("interval")
        widths = frame.pivot(index="seed", columns="interval", values="width").dropna().mean()
        table = lines.mean().assign(runs=lines.size(), over_profile=widths / widths["profile"])
        table = table.reset_index()
        table.insert(0, "design", design.name)
        table.insert(1, "n", design.n)
        tables.append(table)
        print(table.round(3).to_string(index=False), flush=True)
        pd.concat(tables).to_csv(RESULTS, index=False, float_format="%.4f")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
