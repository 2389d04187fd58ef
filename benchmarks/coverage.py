"""Do 95% intervals cover, and what do they cost? Simulations with a known truth.

    python benchmarks/coverage.py [simulations [design ...]]

Every design is drawn again and again, fitted by JointClassifier, and the intervals of the
coefficients and of the prevalence are compared with the truth. Interval score (Gneiting &
Raftery): width plus 40 times the distance by which the truth is missed; smaller is better, and
neither [0, 1] nor a point wins. Results go to benchmarks/results/coverage.csv as designs finish;
those of designs that are not run again stay.
"""

import sys
import warnings
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from shared import chance, measured

from doublelogit import JointClassifier, WeakIdentificationWarning, infer

RESULTS = Path(__file__).parent / "results" / "coverage.csv"
LEVEL = 0.95


@dataclass(frozen=True)
class Design:
    """A population and what the analyst knows of it."""

    name: str
    n: int
    beta: tuple[float, ...]
    gamma: tuple[float, ...]
    named: bool = False  # features of both models are named
    audited: float = 0.0  # share of rows whose class is found out
    identified: bool = True
    options: dict = field(default_factory=dict)

    def draw(self, rng):
        """X, s, audited classes."""
        beta, gamma = np.array(self.beta), np.array(self.gamma)
        X = rng.normal(size=(self.n, len(beta) - 1))
        y = rng.random(self.n) < chance(X @ beta[:-1] + beta[-1])
        s = (y & (rng.random(self.n) < chance(X @ gamma[:-1] + gamma[-1]))).astype(int)
        audited = np.where(rng.random(self.n) < self.audited, y, np.nan)
        return X, s, audited if self.audited else None

    def model(self):
        options = {"C": np.inf, "propensity_C": np.inf} | self.options
        if self.named:
            options["outcome_features"] = np.flatnonzero(self.beta[:-1]).tolist()
            options["propensity_features"] = np.flatnonzero(self.gamma[:-1]).tolist()
        return JointClassifier(**options)

    def truth(self):
        """Coefficients that are estimated, and the prevalence."""
        coefs = [np.array(self.beta), np.array(self.gamma)]
        if self.named:
            coefs = [np.append(c[:-1][c[:-1] != 0], c[-1]) for c in coefs]
        x = np.random.default_rng(0).normal(size=(1_000_000, len(self.beta) - 1))
        pi = chance(x @ np.array(self.beta)[:-1] + self.beta[-1]).mean()
        return np.concatenate(coefs), float(pi)


DESIGNS = [
    Design("named features", 2000, (1.5, -1.0, 0, 0, 0.0), (0, 0, 1.0, 0.7, 0.3), named=True),
    Design("named, rare", 4000, (2.0, 1.0, 0, 0, -2.0), (0, 0, 1.0, -0.7, 0.0), named=True),
    Design("audited fifth", 2000, (1.0, -1.0, 0.5, 0.0), (0.5, 0.5, -0.5, 0.3), audited=0.2),
    Design(
        "weak: few rows",
        500,
        (1.0, -0.5, 0.0, 0.0),
        (0.0, 0.5, 0.5, 0.0),
        identified=False,
        options={"C": 1.0, "propensity_C": 1.0},
    ),
    Design(
        "weak: SCAR",
        1000,
        (1.0, 1.0, 0.0),
        (0.0, 0.0, -0.5),
        identified=False,
        options={"propensity_features": []},
    ),
]


def simulate(design, truth, seed):
    """One line per interval: method, parameter, whether it covers, width, score."""
    X, s, audited = design.draw(np.random.default_rng([seed, len(design.name)]))
    data = {"X": X, "y": s, "audited_y": audited}
    coefs, pi = truth
    lines = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = design.model().fit(**data)
        for kind in ("observed", "robust"):
            result = infer(model, **data, cov_type=kind)
            if design.identified:
                table = result.summary(LEVEL).values
                low, high = table[:, 4], table[:, 5]
                for i, c in enumerate(coefs):
                    lines.append(line(f"coefficients, {kind}", low[i], high[i], c))
        warnings.simplefilter("always")
        with warnings.catch_warnings(record=True) as caught:
            delta = result.prevalence(level=LEVEL)
        warned = any(issubclass(w.category, WeakIdentificationWarning) for w in caught)
        lines.append(line("prevalence, delta", delta.low, delta.high, pi, warned))
        low, high = result.profile.interval(LEVEL)
        lines.append(line("prevalence, profile", low, high, pi))
    return lines


def line(what, low, high, truth, warned=False):
    return {"interval": what, **measured((low, high), truth, LEVEL), "warned": warned}


def main(simulations=1000, *names):
    tables = {design.name: pd.DataFrame() for design in DESIGNS}
    if names:
        tables |= dict(tuple(pd.read_csv(RESULTS).groupby("design", sort=False)))
    for design in DESIGNS:
        if names and design.name not in names:
            continue
        truth = design.truth()
        work = delayed(simulate)
        runs = Parallel(n_jobs=-1)(work(design, truth, seed) for seed in range(simulations))
        frame = pd.DataFrame([line for lines in runs for line in lines])
        table = frame.groupby("interval").mean().reset_index()
        table.insert(0, "design", design.name)
        table["simulations"] = simulations
        tables[design.name] = table
        print(table.round(3).to_string(index=False), flush=True)
        pd.concat(tables.values()).to_csv(RESULTS, index=False, float_format="%.4f")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]), *sys.argv[2:])
