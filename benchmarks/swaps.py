"""How often JOINT takes the labelling for the class, silently or with a warning.

n = 3000, 20 features, two models of Euclidean norm one (equal strength) unless said otherwise, 50
seeds. Writes benchmarks/results/swaps.csv.
"""

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from joblib import Parallel, delayed

from doublelogit import JointClassifier, OrientationWarning
from doublelogit.core.likelihood import sigmoid

SEEDS, N, P = 50, 3000, 20
HALF = P // 2
NAMED = {"propensity_features": list(range(HALF, P))}
BOTH = NAMED | {"outcome_features": list(range(HALF))}
CASES = {  # disjoint features?, |beta|, |gamma|, audited rows, what is named
    "equal, disjoint features": (True, 1.0, 1.0, 0, {}),
    "equal, random directions": (False, 1.0, 1.0, 0, {}),
    "equal, propensity features named": (True, 1.0, 1.0, 0, NAMED),
    "equal, both named": (True, 1.0, 1.0, 0, BOTH),
    "equal, 100 rows audited": (True, 1.0, 1.0, 100, {}),
    "equal, random directions, 100 audited": (False, 1.0, 1.0, 100, {}),
    "class much stronger (3, .3)": (True, 3.0, 0.3, 0, {}),
    "class stronger (2, .5)": (True, 2.0, 0.5, 0, {}),
    "labelling stronger (.5, 2)": (True, 0.5, 2.0, 0, {}),
    "labelling stronger, 100 audited": (True, 0.5, 2.0, 100, {}),
}


def directions(rng, disjoint):
    b, g = rng.normal(size=(2, P))
    if disjoint:
        b, g = np.repeat([1.0, 0.0], HALF), np.repeat([0.0, 1.0], HALF)
    return b / np.linalg.norm(b), g / np.linalg.norm(g)


def one(case, seed):
    disjoint, strong_b, strong_g, n_audited, options = CASES[case]
    rng = np.random.default_rng([seed, len(case)])
    b, g = directions(rng, disjoint)
    b, g = strong_b * b, strong_g * g
    X = rng.normal(size=(N, P))
    y = rng.random(N) < sigmoid(X @ b).p
    s = (y & (rng.random(N) < sigmoid(X @ g).p)).astype(int)
    audited = np.full(N, np.nan)
    rows = rng.choice(N, n_audited, replace=False)
    audited[rows] = y[rows]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = JointClassifier(**options).fit(X, s, audited_y=audited if n_audited else None)
    warned = any(issubclass(w.category, OrientationWarning) for w in caught)
    beta = model.coef_[0]
    right = beta @ b / np.linalg.norm(b) > beta @ g / np.linalg.norm(g)
    return {"case": case, "right": right, "warned": warned, "silent swap": not right and not warned}


def main():
    work = delayed(one)
    lines = Parallel(n_jobs=-1)(work(case, seed) for case in CASES for seed in range(SEEDS))
    table = pd.DataFrame(lines).groupby("case", sort=False).sum().reset_index()
    table["of"] = SEEDS
    table.to_csv(Path(__file__).parent / "results" / "swaps.csv", index=False)
    print(table.to_string(index=False))


if __name__ == "__main__":
    main()
