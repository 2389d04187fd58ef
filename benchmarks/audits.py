"""Audits: do intervals cover, how wide are they, is misuse noticed, what do later rounds cost.

    python benchmarks/audits.py [part ...]     parts: cover crossfit misuse rounds speed

Each part writes benchmarks/results/audits_PART.csv. Tables are fitted once by JOINT; audits
of them are drawn 500 times. What the sampling design is was chosen on other tables (Chile, nwtco,
loanapp, pension_plan) and other seeds.
"""

import sys
import time
import warnings
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from shared import chance

from doublelogit import JointClassifier, infer
from doublelogit.audit import Audit, estimate, plan
from doublelogit.audit.blocks import Asked, MemoryBlocks, array_block
from doublelogit.audit.difference import Drawn, difference
from doublelogit.audit.draw import row_keys, smallest
from doublelogit.audit.estimate import error_of
from doublelogit.audit.expectation import expect
from doublelogit.audit.strata import bin_of, make_strata
from doublelogit.audit.tally import Question, add_up, tally
from doublelogit.studies.datasets import load_corpus, load_natural

RESULTS = Path(__file__).parent / "results"
BUDGETS = (40, 100, 300)
DRAWS = 500
BETA, GAMMA = np.array([1.2, 0.8, -0.8, 0, 0]), np.array([0, 0, 0, 1.0, -0.8])


def standardised(X):
    spread = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)


# Labelling of three of the tables that were tried as a new user would, and its columns.
LOGITS = {
    "flchain": (
        lambda c: 0.4 + 1.1 * c("sex: M") - 0.35 * (c("sample.yr") - 1997) + 0.03 * (70 - c("age")),
        ["sex: M", "sample.yr", "age"],
    ),
    "Hdma": (
        lambda c: (
            -0.2 + 1.5 * (1 - c("single: yes")) - 0.25 * (c("uria") - 3.8) - 0.8 * c("comdominiom")
        ),
        ["single: yes", "uria", "comdominiom"],
    ),
    "smoke": (
        lambda c: 0.6 - 0.16 * (c("educ") - 12) + 0.5 * (1 - c("white")) - 0.8 * c("restaurn"),
        ["educ", "white", "restaurn"],
    ),
}


def real(name, seed):
    """X, y, s of a table of the corpus whose labels are drawn, and the columns of labelling."""
    data = load_corpus(name)
    names = list(data.feature_names)
    logit, drivers = LOGITS[name]
    e_x = chance(logit(lambda column: data.data[:, names.index(column)]))
    y = data.target == 1
    s = y & (np.random.default_rng(seed).random(len(y)) < e_x)
    return standardised(data.data), y, s, [names.index(driver) for driver in drivers]


def natural(name):
    data = load_natural(name)
    names = list(data.feature_names)
    drivers = [names.index(driver) for driver in data.drivers]
    return standardised(data.data.astype(float)), data.target == 1, data.s == 1, drivers


def drawn_sample(n, beta, b0, gamma, g0, named, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    y = rng.random(n) < chance(X @ beta + b0)
    return X, y, y & (rng.random(n) < chance(X @ gamma + g0)), named


TABLES = {
    "flchain": partial(real, "flchain", 11),
    "Hdma": partial(real, "Hdma", 12),
    "smoke": partial(real, "smoke", 13),
    "thornton_hiv": partial(natural, "thornton_hiv"),
    "right": partial(drawn_sample, 5000, 1.5 * BETA, -1.0, GAMMA, 0.0, [3, 4], 14),
    # the columns of the class are named as those of labelling
    "wrong": partial(drawn_sample, 4000, 0.5 * BETA, -0.5, 1.6 * GAMMA, 0.2, [0, 1, 2], 15),
    "rare": partial(drawn_sample, 8000, 1.3 * BETA, -5.8, GAMMA, -0.3, [3, 4], 16),
}


def fitted(X, s, named):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return JointClassifier(propensity_features=named).fit(X, s)


def audit_of(y, h, stratum, size, sample, n):
    """What a draw of rows tells of the number of positives."""
    return difference(
        Drawn(
            y=y[sample],
            h=h[sample],
            stratum=stratum[sample],
            round=np.zeros(len(sample), dtype=int),
            size=size,
            round_of=np.zeros(len(size), dtype=int),
            domain=np.ones(len(size)),
            all_h=float(h.sum()),
            all_rows=float(n),
        )
    )


def strata_of(model, X, s, budget):
    blocks = MemoryBlocks(array_block(model, X, s, Asked()))
    question = Question(("prevalence",), set(), 0)
    sums, _ = add_up(question, blocks.map(partial(tally, question), [0]), None)
    return make_strata(sums, budget)


def cover(draws=DRAWS):
    """Cover and width of stratified and of simple random audits."""
    lines = []
    for table, make in TABLES.items():
        X, y, s, named = make()
        model = fitted(X, s, named)
        hidden = ~s
        h, y_hidden = model.predict_hidden(X)[hidden], y[hidden].astype(float)
        for budget in BUDGETS:
            strata = strata_of(model, X, s, budget)
            predicted = expect(strata, budget, len(y)).holds
            designs = {
                "planned": (strata.of[0, bin_of(h)], strata.rows, strata.allocation(budget)),
                "random": (np.zeros(len(h), int), np.array([float(len(h))]), np.array([budget])),
            }
            for design, (stratum, size, n_k) in designs.items():
                lines.append(
                    {
                        "table": table,
                        "prevalence": y.mean(),
                        "model": model.predict_positive(X).mean(),
                        "budget": budget,
                        "design": design,
                        **_measured(
                            y_hidden,
                            h if design == "planned" else 0 * h,
                            stratum,
                            size,
                            n_k,
                            len(y),
                            draws,
                        ),
                        "predicted": predicted if design == "planned" else np.nan,
                    }
                )
                print(lines[-1], flush=True)
    return lines


def _measured(y, h, stratum, size, n_k, n, draws):
    truth, low, high, widths, values = y.sum(), 0, 0, [], []
    rows = np.arange(len(y))
    for seed in range(draws):
        sample = smallest(row_keys(rows, 1000 + seed), stratum, n_k)
        found = audit_of(y, h, stratum, size, sample, len(y))
        low += found.low > truth + 1e-6
        high += found.high < truth - 1e-6
        widths.append((found.high - found.low) / n)
        values.append(found.value)
    return {
        "cover": 1 - (low + high) / draws,
        "too_high": low / draws,
        "too_low": high / draws,
        "width": np.mean(widths),
        "median_width": np.median(widths),
        "bias": (np.mean(values) - truth) / n,
        "rmse": np.sqrt(np.mean((np.array(values) - truth) ** 2)) / n,
    }


def filled(drawn, y):
    """A plan's audit with the classes of its rows."""
    return Audit(drawn.audit.frame.assign(**{"class": y[drawn.rows].astype(int).astype(str)}))


def crossfit(draws=DRAWS):
    """Cover where the audited classes are in the likelihood: with and without cross-fitting."""
    from doublelogit import Roles, TableClassifier
    from doublelogit.audit import joined
    from doublelogit.tables import Table

    lines = []
    for table in ("smoke", "Hdma"):
        X, y, s, named = TABLES[table]()
        frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
        frame["s"], frame["id"] = s.astype(int), np.arange(len(s)).astype(str)
        roles = Roles("s", id="id", propensity_features=[f"x{j}" for j in named])
        rows = Table.from_frame(frame, roles)
        found = {True: [], False: []}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            first = TableClassifier(roles).fit(rows)
            for seed in range(draws):
                audit = filled(plan(first, rows, budget=100, random_state=2000 + seed), y)
                known = joined(rows, audit)
                model = TableClassifier(roles).fit(known)
                for cross in found:
                    answer = estimate(model, known, audit, cross_fit=cross).prevalence
                    found[cross].append(
                        (answer.low <= y.mean() <= answer.high, answer.high - answer.low)
                    )
        for cross, each in found.items():
            covers, widths = zip(*each, strict=True)
            lines.append(
                {
                    "table": table,
                    "cross_fit": cross,
                    "draws": draws,
                    "cover": np.mean(covers),
                    "width": np.mean(widths),
                }
            )
            print(lines[-1], flush=True)
    return lines


def as_if_random(rows, y, hidden):
    """An audit of these rows, said to be a simple random one."""
    n = len(rows)
    frame = pd.DataFrame(
        {"id": [str(row + 1) for row in rows], "class": y[rows].astype(int).astype(str)}
    )
    frame["chance"], frame["of"] = n / hidden.sum(), int(hidden.sum())
    return frame


def misuse(samples=40, draws=5):
    """How often the designs of misuse are noticed, and honest audits suspected."""
    counts = {}
    for sample in range(samples):
        X, y, s, named = drawn_sample(2000, BETA, -0.9, GAMMA, 0.0, [3, 4], 3000 + sample)
        _count_misuse(counts, "model right", X, y, s, fitted(X, s, named), sample, draws)
    for table in ("smoke", "thornton_hiv", "flchain"):
        X, y, s, named = TABLES[table]()
        _count_misuse(counts, table, X, y, s, fitted(X, s, named), 99, samples)
    return [
        {"table": t, "audit": kind, **{k: np.mean(v) for k, v in each.items()}}
        for (t, kind), each in counts.items()
    ]


def _count_misuse(counts, table, X, y, s, model, seed, draws):
    hidden = ~s
    rows = np.flatnonzero(hidden)
    h = model.predict_hidden(X)
    error = error_of(infer(model, X, s).reliable_prevalence())
    for draw in range(draws):
        rng = np.random.default_rng([seed, draw])
        n = min(100, int(y[rows].sum()) // 2)
        hunch = np.exp(1.5 * y[rows] + 0.0)
        chosen = {
            "honest": rng.choice(rows, 100, replace=False),
            "honest, planned": None,
            "confirmed positives": rng.choice(rows[y[rows]], n, replace=False),
            "hunch": rng.choice(rows, 100, replace=False, p=hunch / hunch.sum()),
            "top of the list": rows[np.argsort(-h[rows])[:100]],
        }
        for kind, picked in chosen.items():
            audit = (
                as_if_random(picked, y, hidden)
                if picked is not None
                else filled(plan(model, X, s, budget=100, random_state=draw), y)
            )
            found = estimate(model, X, audit, s, model_error=error)
            each = counts.setdefault(
                (table, kind), {"noticed": [], "unlike": [], "disagrees": [], "runs": []}
            )
            each["noticed"].append(found.signs.any)
            each["unlike"].append(found.signs.unlike)
            each["disagrees"].append(found.agreement.p_value < 0.05)
            each["runs"].append(1)


def rounds(runs=200, first=80):
    """Rows that a first and later rounds need for a width, beside Neyman's with the truth."""
    lines = []
    for table, width in (("right", 0.08), ("wrong", 0.10)):
        n, beta, b0, gamma, g0, *_ = TABLES[table].args
        X, y, s, named = TABLES[table]()
        y_x, e_x = chance(X @ beta + b0), chance(X @ gamma + g0)
        truth = (y_x * (1 - e_x) / (1 - y_x * e_x))[~s]
        neyman = _neyman(truth, width * n)
        model = fitted(X, s, named)
        total, number, covers = [], [], []
        for run in range(runs):
            used, used_rounds, answer = _sequence(model, X, y, s, width, first, 5000 + 10 * run)
            total.append(used)
            number.append(used_rounds)
            covers.append(answer.low <= y.mean() <= answer.high)
        lines.append(
            {
                "table": table,
                "width": width,
                "runs": runs,
                "rows": np.mean(total),
                "neyman": neyman,
                "ratio": np.mean(total) / neyman,
                "rounds": np.mean(number),
                "cover": np.mean(covers),
            }
        )
        print(lines[-1], flush=True)
    return lines


def _neyman(p, width):
    """Rows for which Neyman's allocation by the true probabilities has an interval so wide."""
    spread = np.sqrt(p * (1 - p)).sum()
    variance = (width / (2 * 1.96)) ** 2
    return spread**2 / (variance + (p * (1 - p)).sum())


def _sequence(model, X, y, s, width, first, seed):
    frames, step = [], plan(model, X, s, budget=first, random_state=seed)
    while not step.reached:
        frames.append(filled(step, y).frame)
        audit = Audit(pd.concat(frames, ignore_index=True))
        step = plan(model, X, s, width=width, audit=audit, random_state=seed)
    return len(audit), len(frames), step.before.prevalence


def speed(n=1_000_000, p=10):
    """Seconds for a plan of 100 rows, in memory and from a Parquet file."""
    import tempfile

    from doublelogit import Roles, TableClassifier, scan_parquet

    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, p))
    y = rng.random(n) < chance(X[:, :3].sum(axis=1) - 1)
    s = y & (rng.random(n) < chance(X[:, 3]))
    model = fitted(X[:20_000], s[:20_000], [3, 4])
    lines = []

    def timed(what, run):
        start, cpu = time.perf_counter(), time.process_time()
        run()
        lines.append(
            {
                "what": what,
                "rows": n,
                "seconds": time.perf_counter() - start,
                "cpu": time.process_time() - cpu,
            }
        )
        print(lines[-1], flush=True)

    timed("arrays in memory", lambda: plan(model, X, s, budget=100))
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(p)])
    frame["s"], frame["id"] = s.astype(int), np.arange(n).astype(str)
    roles = Roles("s", id="id", propensity_features=["x3", "x4"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table_model = TableClassifier(roles).fit(frame[:20_000])
    timed("table in memory", lambda: plan(table_model, frame, budget=100))
    with tempfile.TemporaryDirectory() as folder:
        frame.to_parquet(f"{folder}/t.parquet", index=False)
        timed(
            "Parquet file",
            lambda: plan(table_model, scan_parquet(f"{folder}/t.parquet", roles), budget=100),
        )
    return lines


PARTS = {"cover": cover, "crossfit": crossfit, "misuse": misuse, "rounds": rounds, "speed": speed}

if __name__ == "__main__":
    for part in sys.argv[1:] or PARTS:
        pd.DataFrame(PARTS[part]()).round(5).to_csv(RESULTS / f"audits_{part}.csv", index=False)
