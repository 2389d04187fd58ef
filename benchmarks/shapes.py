"""Whether skewed numbers are better transformed, and far ones capped, before a fit.

Real tables with known classes, positives hidden by three mechanisms: at random, by a logistic
propensity in columns as they are (which favours leaving them so), and in their ranks. The columns
that labelling depends on are named to JOINT and EM. Rules are compared on the learn half of the
corpus; the one chosen is judged on the test half, and on movies and flights, on which nothing was
chosen. Only tables that a rule changes take part.

    python benchmarks/shapes.py columns  what the transform of a column is worth to telling the true
                                         class by it alone, on the learn half
    python benchmarks/shapes.py learn    rules, by JOINT and TM SIMPLE
    python benchmarks/shapes.py test     none and the one chosen, by JOINT, EM and TM SIMPLE
"""

import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import norm, rankdata
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss, roc_auc_score

from doublelogit import TableEncoder
from doublelogit.labelling import draw
from doublelogit.metrics import approximation_error
from doublelogit.registry import METHODS
from doublelogit.simulation import propensities
from doublelogit.studies.datasets import corpus_families, load_corpus
from doublelogit.table_models.table_model import make_classifier
from doublelogit.tables import Roles, shapes
from doublelogit.tables.stream import Stream

RESULTS = Path(__file__).parent / "results"
ROWS, COLUMNS, DRIVERS = 1000, 12, 3
LIST = 50
NONE = (np.inf, np.inf)
CHOSEN = (shapes.SKEWED, shapes.FENCE)
# how lopsided a column must be, and how far its fences are
RULES = [NONE, (2.0, 4.0), (3.0, 4.0), (5.0, 4.0)]
APART = ("movies", "flights")  # shown by themselves


def main(half):
    """Run one half and write its rows and means."""
    rules = RULES if half == "learn" else [NONE, CHOSEN]
    methods = ["joint", "tm-simple"] if half == "learn" else ["joint", "em", "tm-simple"]
    names = [name for name in corpus_families(half, siblings=False) if name not in APART]
    names += [] if half == "learn" else list(APART)
    rows = []
    for i, name in enumerate(names):
        rows += table_rows(name, rules, methods)
        pd.DataFrame(rows).to_csv(RESULTS / f"shapes_{half}.csv", index=False)
        print(f"{i + 1} of {len(names)}", name, len(rows), flush=True)
    print(means(pd.DataFrame(rows)).to_string())


def columns():
    """How much better the class is told by a transformed column than by the column as it is."""
    shapes.SKEWED = 1.5  # whatever may be skewed
    rows = []
    for name in corpus_families("learn", siblings=False):
        data = load_corpus(name, max_rows=ROWS)
        frame = pd.DataFrame(data.data, columns=data.feature_names)
        for column in TableEncoder().fit(frame).encoding_.used:
            if name not in APART and getattr(column, "transform", ""):
                rows.append({"table": name, **gained(column, frame[column.name], data.target)})
    found = pd.DataFrame(rows)
    found.to_csv(RESULTS / "shapes_columns.csv", index=False)
    cut = pd.cut(found["lopsided"], [1, 2, 3, 5, 10, np.inf])
    print(found.groupby(["transform", cut], observed=True)["gain"].describe().round(2).to_string())


def gained(column, values, y):
    """What a transform is worth to a logistic regression on this column alone."""
    x = np.where(values.isna(), column.fill, values)
    judged = x if (x == x.min()).mean() < 0.5 else x[x > x.min()]
    reach = shapes.HalfRanges.over(Stream(lambda: iter((judged,))), float(np.median(judged)))
    bent = column.encode(values)[0][:, 0]
    return {
        "column": column.name,
        "transform": column.transform,
        "lopsided": round(float(np.exp(reach.lopsidedness("", 0.0))), 3),
        "gain": round(log_likelihood(bent, y) - log_likelihood(x, y), 3),
    }


def log_likelihood(x, y):
    """Of a logistic regression on one column."""
    z = ((x - x.mean()) / (x.std() or 1.0))[:, None]
    model = LogisticRegression(C=1e4, solver="newton-cholesky").fit(z, y)
    return -log_loss(y, model.predict_proba(z)[:, 1], normalize=False)


def table_rows(name, rules, methods):
    """Scores of every rule on one table, if any rule changes it."""
    data = load_corpus(name, max_rows=ROWS, max_columns=COLUMNS)
    frame = pd.DataFrame(data.data, columns=data.feature_names)
    encodings = {rule: encoded(frame, rule) for rule in rules}
    if all(encoding == encodings[NONE] for encoding in encodings.values()):
        return []
    rng = np.random.default_rng(hash_of(name))
    columns = [c.name for c in encodings[NONE].columns if c.names]
    drivers = list(rng.permutation(columns)[:DRIVERS])
    found = []
    for mechanism, e_x in mechanisms(frame, data.target, drivers).items():
        s = draw(data.target, e_x, rng)
        for rule, encoding in encodings.items():
            X = encoding.encode(frame)[0]
            named = drivers if mechanism != "at random" else []
            for method in methods:
                scores = scored(method, X, s, data.target, encoding, named)
                key = {"table": name, "mechanism": mechanism, "skewed": rule[0], "fence": rule[1]}
                found.append({**key, "method": method, **scores})
    return found


def hash_of(name):
    """A number that belongs to a name, in every process."""
    return int.from_bytes(name.encode(), "little") % 2**32


def encoded(frame, rule):
    """The encoding of a table under a rule."""
    shapes.SKEWED, shapes.FENCE = rule
    return TableEncoder().fit(frame).encoding_


def mechanisms(frame, y, drivers):
    """e(x) of each mechanism; half of the positives are labelled."""
    values = frame[drivers].to_numpy()
    spread = values.std(axis=0)
    raw = (values - values.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    ranks = norm.ppf((rankdata(values, axis=0) - 0.5) / len(values))
    given = {"as they are": raw, "by ranks": ranks}
    found = {"at random": np.full(len(y), 0.5)}
    for name, columns in given.items():
        found[name] = propensities(pd.DataFrame(columns, columns=drivers), drivers, y, 1.0, 0.5)
    return found


def scored(method, X, s, y, encoding, named):
    """How well a method finds what was hidden, in one encoding."""
    has = METHODS[method].has_propensity
    roles = Roles("s", propensity_features=tuple(named) if has else None)
    model = make_classifier(METHODS[method], roles, encoding)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, s)
        oracle = LogisticRegression(C=1.0, solver="newton-cholesky", tol=1e-6).fit(X, y)
    y_x, hidden = model.predict_positive(X), np.flatnonzero(s == 0)
    first = hidden[np.argsort(-model.predict_hidden(X)[hidden], kind="stable")[:LIST]]
    scores = {
        "ae": approximation_error(y_x, oracle.predict_proba(X)[:, 1]),
        "auc": roc_auc_score(y, y_x),
        "oracle_auc": roc_auc_score(y, oracle.predict_proba(X)[:, 1]),
        "brier": np.mean((y_x - y) ** 2),
        "prevalence_error": abs(y_x.mean() - y.mean()),
        "precision": y[first].mean(),
    }
    return {name: round(float(value), 5) for name, value in scores.items()}


def means(rows):
    """Means over tables of what a rule changes by, with their standard errors."""
    key = ["table", "mechanism", "method"]
    measures = [c for c in rows.columns if c not in (*key, "skewed", "fence")]
    rows = rows.assign(rule=rows["skewed"].astype(str) + ", " + rows["fence"].astype(str))
    wide = rows.pivot_table(index=key, columns="rule", values=measures)
    none = f"{NONE[0]}, {NONE[1]}"
    lines = []
    for rule in rows["rule"].unique():
        for method, part in wide.groupby("method"):
            line = {"rule": rule, "method": method, "tables": part.index.unique("table").size}
            for measure in measures:
                change = (part[measure][rule] - part[measure][none]).groupby("table").mean()
                line[measure] = change.mean() if rule != none else part[measure][none].mean()
                line[f"{measure}_se"] = change.std() / np.sqrt(len(change))
            lines.append(line)
    return pd.DataFrame(lines).round(4)


if __name__ == "__main__":
    columns() if sys.argv[1] == "columns" else main(sys.argv[1])
