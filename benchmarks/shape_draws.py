"""Draws from which the weight of a class of any shape, and its label frequency, are learned.

    python benchmarks/shape_draws.py STREAM     appends to results/shape_draws.csv

Streams: ``learn``, tables of the learn half of the corpus (1,000 rows, 15 columns) and, among them,
designs in which class and labelling are as strong as each other; ``rare``, tables whose positives
were thinned to .6% to 10%; ``designs``, simulated with labelling weaker than the class. A row is a
draw: what AVERAGED and the label models say of it, from which a rule may be made (``own``,
``cosine``, ``lift`` ...), and how well present methods, lines and a class of any shape do. ``q_*``
are mean products of errors, from which the Brier score of any mixture follows. What is there is not
computed again; two CPU seconds a draw. ``shape_rule.py`` reads the result.
"""

import sys
import time
import warnings
import zlib
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.optimize import brentq
from scipy.special import expit, logit
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from doublelogit.averaged.level import level_from_table, sums_of_table
from doublelogit.averaged.readings import linear
from doublelogit.common.threads import paying_threads
from doublelogit.estimators import AveragedClassifier, TwoModelsSimpleClassifier
from doublelogit.label_models import fit_label_model
from doublelogit.label_models.stack import likelihoods
from doublelogit.studies.datasets import corpus_table, load_corpus

RESULT = Path(__file__).parent / "results" / "shape_draws.csv"
MECHANISMS = ("random", "column", "steps", "causes", "follow")
SHAPES = ("line", "bump")
STRONG = ("random", "other", "opposed", "follow", "slopes", "steps", "causes")
WEAK = ("other", "random", "opposed", "slopes", "steps", "follow", "causes")
FEWEST_LABELS = 15
LIST, TOP = 50, 20  # rows of a list; one row in so many is at the top of a label model
# Log label frequency by log lift, log mean S and the lines' log label frequency, and its deviation:
# least squares on these draws (``shape_rule.py``).
LAW, LAW_SD = (0.05, 0.13, 0.44, 0.34), 0.42
LEAST_MEAN_S, LEAST_LOG_C = 0.07, -1.6  # below, a regressor says no more
NODES = np.array([-1.8, -1.2, -0.6, 0.0, 0.6, 1.2, 1.8])  # standard deviations
ONE = 0.985  # largest prevalence of a class of any shape


def standardised(X):
    X = np.asarray(X, dtype=float)
    X = X[:, X.std(axis=0) > 0]
    return (X - X.mean(axis=0)) / X.std(axis=0)


def at_level(along, y, c):
    """Propensity logistic in a predictor, a share c of the positives labelled."""
    return expit(along + brentq(lambda a: expit(along[y == 1] + a).mean() - c, -30, 30))


def labelled_by(mechanism, X, y, rng):
    """Propensity of every row, and the columns that drive it; None where it follows the class."""
    c = rng.choice([0.1, 0.3, 0.6, 0.9]) if mechanism == "random" else rng.uniform(0.1, 0.7)
    p = X.shape[1]
    columns = rng.permutation(p)
    if mechanism == "random":
        return np.full(len(y), c), columns[:0]
    if mechanism == "column":
        slope = rng.choice([-1, 1]) * rng.uniform(1, 2.5)
        return at_level(slope * X[:, columns[0]], y, c), columns[:1]
    if mechanism == "steps":
        along = np.zeros(len(y))
        for x in X[:, columns[:2]].T:
            beyond = x > np.quantile(x, rng.uniform(0.3, 0.7))
            along += beyond * rng.uniform(1, 3) * rng.choice([-1, 1])
        return at_level(along, y, c), columns[:2]
    if mechanism == "causes":
        two = columns[[0, 1 % p]]
        a, b = (rng.choice([-1, 1]) * rng.uniform(1.5, 3) * x for x in X[:, two].T)
        return _either(a, b, y, c), np.unique(two)
    along = LogisticRegression(max_iter=300).fit(X, y).decision_function(X)
    return at_level(rng.uniform(0.5, 1.5) * along, y, c), None


def _either(a, b, y, c):
    """One of two causes suffices."""

    def propensity(t):
        return 1 - expit(-a - t) * expit(-b - t)

    return propensity(brentq(lambda t: propensity(t)[y == 1].mean() - c, -30, 30))


def designed(design, rng, strong):
    """A simulated sample; labelling is as strong as the class, or weaker."""
    n = int(np.exp(rng.uniform(np.log(500), np.log(3000 if strong else 4000))))
    p = int(rng.integers(4, 13 if strong else 16))
    X, a, h = rng.normal(size=(n, p)), np.zeros(p), max(1, p // 2)
    a[:h] = rng.normal(size=h)
    a *= (rng.uniform(1, 2.5) if strong else rng.uniform(1.5, 3)) / np.linalg.norm(a)
    shape, labels = design.split("-")
    if shape == "bump":
        z = X @ a / (np.linalg.norm(a) if strong else 1)
        along = 2 - 2 * ((z if strong else X @ a / np.linalg.norm(a)) / rng.uniform(0.6, 1.2)) ** 2
    else:
        along = X @ a - rng.uniform(-0.5, 1.5)
    y = (rng.random(n) < expit(along)).astype(float)
    c = rng.uniform(0.2, 0.6)
    strength = (1, 2.5) if strong else (0.7, 1.5)
    part = (0.5, 1) if strong else (0.3, 0.7)
    if labels == "random":
        return X, y, np.full(n, c)
    if labels in ("other", "slopes"):
        g = np.zeros(p)
        g[h if labels == "other" else 0 :] = rng.normal(size=p - h if labels == "other" else p)
        return X, y, at_level(X @ g * (rng.uniform(*strength) / np.linalg.norm(g)), y, c)
    if labels in ("opposed", "follow"):
        sign = -1 if labels == "opposed" else 1
        return X, y, at_level(sign * rng.uniform(*part) * (X @ a), y, c)
    return X, y, labelled_by(labels, X, y, rng)[0]


def learn_stream():
    """Tables of learn, family by family, and after every third a strong design."""
    table = corpus_table()
    table = table[(table.half == "learn") & (table.nature == "observed") & (table.n >= 250)]
    names = [
        (family, list(np.random.default_rng(zlib.crc32(family.encode())).permutation(part.index)))
        for family, part in table.groupby("family")
    ]
    np.random.default_rng(1).shuffle(names)
    designs = [f"{shape}-{labels}" for shape in SHAPES for labels in STRONG]
    count, k = 0, -1
    for repetition in range(8):
        for j, (family, tables) in enumerate(names):
            k, count = k + 1, count + 1
            mechanism = MECHANISMS[(j + repetition) % len(MECHANISMS)]
            name = tables[repetition % len(tables)]
            yield "learn", k, name, family, mechanism, [k, 77]
            if count % 3 == 0:
                k += 1
                design = designs[(count // 3) % len(designs)]
                yield "strong", k, "", design, design, [k, 77]


def rare_stream():
    """Tables of learn with 2,000 rows or more, for their positives to be thinned."""
    table = corpus_table()
    table = table[(table.half == "learn") & (table.nature == "observed") & (table.n >= 2000)]
    families, k = sorted(table.family.unique()), 0
    np.random.default_rng(5).shuffle(families)
    for repetition in range(4):
        for family in families:
            k += 1
            names = table.index[table.family == family]
            yield "rare", k, names[repetition % len(names)], family, "", [k, 99]


def design_stream():
    """Simulated designs, every third of them with labels by other features than the class's."""
    designs = [f"{shape}-{labels}" for labels in WEAK for shape in SHAPES]
    for k in range(300):
        design = designs[k % len(designs)] if k % 3 else "line-other"
        yield "designs", k, "", design, design, [k, 55]


SOURCES = {"learn": ("learn", "strong"), "rare": ("rare",), "designs": ("designs",)}
STREAMS = {"learn": learn_stream, "rare": rare_stream, "designs": design_stream}


def sample(source, name, mechanism, rng):
    """Features, class, label, columns that drive labelling, and its mechanism."""
    if source in ("strong", "designs"):
        X, y, e = designed(mechanism, rng, source == "strong")
        return X, y, _drawn(y, e, rng), None, mechanism
    rare = source == "rare"
    limits = (
        {"max_rows": 6000, "max_columns": 12} if rare else {"max_rows": 1000, "max_columns": 15}
    )
    X, y = load_corpus(name, return_X_y=True, **limits)
    X, y = np.asarray(X, dtype=float), np.asarray(y, dtype=float)
    if rare:
        share = np.exp(rng.uniform(np.log(0.006), np.log(0.1)))
        negative, positive = np.flatnonzero(y == 0)[:3000], np.flatnonzero(y == 1)
        most = min(len(positive), max(20, int(share / (1 - share) * len(negative))))
        rows = np.sort(np.append(rng.choice(positive, most, replace=False), negative))
        X, y = X[rows], y[rows]
        mechanism = MECHANISMS[int(rng.integers(5))]
    X = standardised(X)
    if rare and rng.random() < 0.4:
        c = np.exp(rng.uniform(np.log(0.1), 0))
        return X, y, _drawn(y, np.full(len(y), c), rng), None, "random"
    e, columns = labelled_by(mechanism, X, y, rng)
    return X, y, _drawn(y, e, rng), columns, mechanism


def _drawn(y, e, rng):
    return ((rng.random(len(y)) < e) & (y == 1)).astype(float)


def lines_of(model, X):
    """Mean y(x) and y(x)e(x) of AVERAGED's lines, and what they say of class and labelling."""
    mixture = model.model_
    line = linear(mixture)
    w = mixture.weight * line / (mixture.weight @ line)
    own = w * (mixture.labelling_scale > 0) * line
    with paying_threads():
        sides = (mixture.outcome_model, mixture.propensity_model)
        y, e = (expit(side.predictor(X)) for side in sides)
    beta, gamma = (np.sum([v @ s.coef[:, :-1] for v, s in _parts(m, own)], axis=0) for m in sides)
    R = np.atleast_2d(np.corrcoef(X.T))
    norm = np.sqrt(max((beta @ R @ beta) * (gamma @ R @ gamma), 1e-30))
    said = {"own": own.sum(), "cosine": beta @ R @ gamma / norm}
    return y @ w, (y * e) @ w, said


def _parts(side, weight):
    return zip(side.split(weight), side.sides, strict=True)


def by_prevalence(z, s, mean_s, log_c):
    """Class of any shape: mean over the law of c of sigma(z + a), a the level of mean S / c."""
    c = np.exp(np.minimum(log_c + LAW_SD * NODES, -0.01))
    pi = np.clip(mean_s / c, mean_s * 1.01, ONE)
    levels = level_from_table(sums_of_table(z, np.full(len(z), 1 / len(z))), pi)
    mass = np.exp(-(NODES**2) / 2)
    return np.maximum(s, expit(z[:, None] + levels) @ (mass / mass.sum()))


def scores(name, truth, s, y, hidden):
    """Brier, precision of the list, AUC of unlabelled rows, and error of the prevalence."""
    rows = s == 0
    first = np.argsort(-hidden[rows], kind="stable")[:LIST]
    both = 0 < truth[rows].sum() < rows.sum()
    found = {
        "brier": np.mean((y - truth) ** 2),
        "p50": truth[rows][first].mean(),
        "auc": roc_auc_score(truth[rows], hidden[rows]) if both else np.nan,
        "error": abs(y.mean() - truth.mean()),
    }
    return {f"{name}_{key}": value for key, value in found.items()}


def hidden_of(y, labelled):
    """P(Y=1 | x, S=0) from y(x) and s(x)."""
    return (np.maximum(y, labelled) - labelled) / np.maximum(1 - labelled, 1e-9)


def gains(P, names, s):
    """Log-likelihoods of held-out labels beyond the logistic model's, by kind."""
    log = np.log(likelihoods(P, s)).sum(axis=0)
    return {f"gain_{name}": value - log[0] for name, value in zip(names, log, strict=True)}


def share_of_shape(own, cosine):
    """Weight of a class of any shape beside the lines; opposed slopes are a bump."""
    return 0.5 + 0.45 * own * np.clip(-cosine / 0.5, 0, 1)


def columns_of_draw(d):
    """The row of a draw: ``d`` holds class y, label s, and what the fits say of every row."""
    y, s, p = d["y"], d["s"], np.clip(d["s_stack"], 1e-6, 1 - 1e-6)
    top = np.argsort(-p, kind="stable")[: max(5, -(-len(s) // TOP))]
    log_lift = np.log((s[top].sum() + 0.5) / (len(top) + 1) / s.mean())
    log_c_lines = np.log(s.mean() / d["y_lines"].mean())
    limited = max(np.log(s.mean()), np.log(LEAST_MEAN_S)), max(log_c_lines, LEAST_LOG_C)
    log_c = float(np.dot(LAW, (1, log_lift, *limited)))
    shape = by_prevalence(logit(p), p, s.mean(), log_c)
    w = share_of_shape(d["own"], d["cosine"])
    mixed, labelled = w * shape + (1 - w) * d["y_lines"], w * p + (1 - w) * d["ye_lines"]
    errors = {"line": d["y_lines"] - y, "shape": shape - y}
    naive = d["K"][:, 0]
    return {
        "n": len(y), "p": int(d["p"]), "labelled": s.sum(), "prevalence": y.mean(),
        "log_lift": log_lift, "log_c_lines": log_c_lines, "own": float(d["own"]),
        "cosine": float(d["cosine"]), "low": d["int90"][0], "high": d["int90"][1],
        "seconds_lines": d["t"][0], "seconds_labels": d["t"][1],
        **gains(np.column_stack([d["K"], p]), [*d["names"], "stack"], s),
        **dict(zip([f"weight_{name}" for name in d["names"]], d["mix"], strict=True)),
        **scores("averaged", y, s, d["y_avg"], d["h_avg"]),
        **scores("simple", y, s, d["y_tms"], d["h_tms"]),
        **scores("naive", y, s, naive, naive),
        **scores("line", y, s, d["y_lines"], hidden_of(d["y_lines"], d["ye_lines"])),
        **scores("shape", y, s, shape, p),
        **scores("mixed", y, s, mixed, hidden_of(mixed, labelled)),
        "q_line_line": np.mean(errors["line"] ** 2),
        "q_line_shape": np.mean(errors["line"] * errors["shape"]),
        "q_shape_shape": np.mean(errors["shape"] ** 2),
    }  # fmt: skip


def fitted(X, y, s):
    """What AVERAGED, TM SIMPLE and the label models say of every row of a draw."""
    start = time.process_time()
    model = AveragedClassifier().fit(X, s)
    middle = time.process_time()
    labels = fit_label_model(X, s)
    seconds = (middle - start, time.process_time() - middle)
    simple = TwoModelsSimpleClassifier().fit(X, s)
    y_lines, ye_lines, said = lines_of(model, X)
    return {
        "y": y, "s": s, "p": X.shape[1], "t": seconds, "int90": model.prevalence_interval(0.9),
        "y_avg": model.predict_positive(X), "h_avg": model.predict_hidden(X),
        "y_tms": simple.predict_positive(X), "h_tms": simple.predict_hidden(X),
        "y_lines": y_lines, "ye_lines": ye_lines, **said,
        "s_stack": labels.predict(X), "K": labels.by_kind(X), "names": labels.names,
        "mix": labels.weight,
    }  # fmt: skip


def main(stream):
    warnings.simplefilter("ignore")
    done = set()
    if RESULT.exists():
        table = pd.read_csv(RESULT)
        done = set(table.number[table.source.isin(SOURCES[stream])])
    for source, k, name, family, mechanism, seed in STREAMS[stream]():
        if k in done:
            continue
        rng = np.random.default_rng(seed)
        X, y, s, _, mechanism = sample(source, name, mechanism, rng)
        if s.sum() < FEWEST_LABELS:
            continue
        keys = {"source": source, "number": k, "table": name, "family": family}
        row = {**keys, "mechanism": mechanism, **columns_of_draw(fitted(X, y, s))}
        frame = pd.DataFrame([row]).round(5)
        frame.to_csv(RESULT, mode="a", header=not RESULT.exists(), index=False)
        print(k, name or mechanism, flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
