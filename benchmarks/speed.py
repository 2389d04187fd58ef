"""Speed: methods as multiples of one logistic regression, growth, commands; in CPU time, one run.

    python benchmarks/speed.py [--repeats N] [--parts methods,p,n,pages,threads,bootstrap]
                               [--peers PYTHON] [--only "TM, 100 rounds;AVERAGED"]

Nothing is set, as users set nothing; logistic regressions to compare with get one BLAS thread, and
part ``threads`` compares fits with and without a limit of one. Everything is interleaved, so that
a slow minute hits all alike; a measure is the smallest time of the repeats. Passes over the rows
and Hessians are counted beside (counts.py), and answers of JOINT and TM are compared with those of
tolerances near rounding. What is measured replaces its rows in results/speed.csv; of parts
methods, p and n, ``--only`` some methods if asked. Then results/speed.svg is drawn, with a copy in
docs.
"""

import argparse
import csv
import json
import platform
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import tracemalloc
import warnings
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pandas as pd
import sklearn
from counts import counted
from scipy.special import expit
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

import doublelogit
from doublelogit import (
    AveragedClassifier,
    EMClassifier,
    JointClassifier,
    LBEClassifier,
    NaiveClassifier,
    TwoModelsClassifier,
    TwoModelsSimpleClassifier,
    infer,
)
from doublelogit.datasets import load_benchmark
from doublelogit.labelling import Scar, draw
from doublelogit.methods import logistic

HERE = Path(__file__).parent
OUT = HERE / "results" / "speed.csv"
FIELDS = ("part", "what", "n", "p", "measure", "value", "limit")
NEWTON, LBFGS = "LogisticRegression, newton-cholesky", "LogisticRegression, lbfgs"
REFERENCES = {
    NEWTON: lambda: LogisticRegression(C=1, tol=1e-6, solver="newton-cholesky"),
    LBFGS: lambda: LogisticRegression(C=1, tol=1e-6, solver="lbfgs", max_iter=10_000),
}
METHODS = {
    "NAIVE": NaiveClassifier,
    "TM SIMPLE": TwoModelsSimpleClassifier,
    "TM, 100 rounds": lambda: TwoModelsClassifier(tol=0, max_iter=100),
    "JOINT, one start": lambda: JointClassifier(n_starts=1),
    "JOINT, default": JointClassifier,
    "EM, to JOINT's gradient": lambda: EMClassifier(init="naive"),
    "LBE, 1000 steps": LBEClassifier,
    "AVERAGED": AveragedClassifier,
}
LIMITS = {
    "TM, 100 rounds": 12,
    "JOINT, one start": 5,
    "JOINT, default": 15,
    "EM, to JOINT's gradient": 15,
    "AVERAGED": 15,
}
WIDTHS, LENGTHS = (100, 200, 500), (10_000, 100_000, 1_000_000)
PAGES = (  # by the default method, and a wide table by JOINT: rows, features, limit
    ("check", 1000, 10, 3),
    ("report", 1000, 10, 6),
    ("report", 20_000, 20, 20),
    ("report", 100_000, 50, 40),
    ("report --method joint", 500, 500, 20),
)
SHAPES = ((800, 57), (5_000, 20), (20_000, 100))  # fits with and without a limit of threads
PEERS = ("pulearn", "pu-toolbox", "pysarpu")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--parts", default="methods,p,n,pages,threads,bootstrap")
    parser.add_argument("--peers", help="a Python that has the other packages; adds part peers")
    parser.add_argument("--only", help="names of methods, between semicolons")
    options = parser.parse_args()
    wanted = [part for part in options.parts.split(",") if part and part != "peers"]
    wanted += ["peers"] * bool(options.peers)
    kept = read()
    for part in wanted:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = list(PARTS[part](options))  # measured here, not when it is written
        new = [dict(zip(FIELDS, (part, *map(shown, row)), strict=True)) for row in found]
        again = {key(row) for row in new}
        kept = [row for row in kept if key(row) not in again] + new
        write(kept)
    for row in kept:
        print(*(f"{row[name]!s:>9}" if name != "what" else f"{row[name]:38}" for name in FIELDS))
    picture(kept)


def key(row) -> tuple:
    """What a row of the results is of."""
    return tuple(row[name] for name in FIELDS[:5])


def shown(value) -> str:
    """A value as the results hold it."""
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def cpu(work) -> float:
    """CPU seconds of a piece of work, with those of its children."""
    start = time.process_time() + _children()
    work()
    return time.process_time() + _children() - start


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def interleaved(makers, X, s, repeats: int) -> dict[str, float]:
    """The smallest time of each model's fit, all fitted in turn, so many times."""
    times = {name: [] for name in makers}
    for _ in range(repeats):
        for name, make in makers.items():
            with threadpool_limits(1) if name in REFERENCES else nullcontext():
                times[name].append(cpu(lambda make=make: make().fit(X, s)))
    return {name: min(taken) for name, taken in times.items()}


def chosen(options, makers):
    """Those of the models that were asked for; all, if none were named."""
    names = options.only.split(";") if options.only else makers
    return {name: makers[name] for name in names if name in makers}


def methods(options):
    """Every method on adult, whose labels were drawn at random or with a bias."""
    asked = chosen(options, METHODS)
    for name, (X, s) in {"at random": adult(None), "biased": adult(1.0)}.items():
        times = interleaved(REFERENCES | asked, X, s, options.repeats)
        for model, seconds in times.items():
            limit = LIMITS.get(model, "")
            for reference in REFERENCES:
                over = reference.rpartition(" ")[2]
                line = (f"{model}; labels {name}", *X.shape, f"times {over}")
                yield (*line, seconds / times[reference], limit if reference == NEWTON else "")
        for model, make in asked.items():
            line = (f"{model}; labels {name}", *X.shape)
            with counted() as found:
                make().fit(X, s)
            yield from ((*line, kind, count, "") for kind, count in sorted(found.items()))
            yield (*line, "peak memory over X", peak(make(), X, s) / X.nbytes, "")
        for model in EXACT.keys() & asked.keys():
            line = (f"{model}; labels {name}", *X.shape, "largest error of y(x)")
            yield (*line, error(EXACT[model], X, s), 1e-6)


# What a method leaves where it stops, beside where it would stop: models as they are by default,
# and as they are near rounding.
EXACT = {
    "JOINT, default": (JointClassifier, lambda: JointClassifier(tol=1e-12)),
    "TM, 100 rounds": (METHODS["TM, 100 rounds"], METHODS["TM, 100 rounds"]),
}


def error(makers, X, s) -> float:
    """How far probabilities are from those of a tolerance near rounding, also of fits inside."""
    found = [makers[0]().fit(X, s).predict_positive(X)]
    with patch.object(logistic, "_model", partial(_tight, logistic._model)):
        found.append(makers[1]().fit(X, s).predict_positive(X))
    return float(np.abs(np.subtract(*found)).max())


def _tight(model, problem, terms, l2, **options):
    return model(problem, terms, l2, **options | {"tol": 1e-12})


def growth_in_p(options):
    """2000 rows and more and more features."""
    asked = chosen(options, {name: METHODS[name] for name in ("JOINT, default", "AVERAGED")})
    seconds = {}
    for p in WIDTHS:
        X, s = sample(2000, p)
        times = interleaved(REFERENCES | asked, X, s, 1 if p > 200 else 2)
        for name in asked:
            seconds[name, p] = times[name]
            limit = 30 if (name, p) == ("AVERAGED", 500) else ""
            yield name, 2000, p, "times newton-cholesky", times[name] / times[NEWTON], limit
            yield name, 2000, p, "CPU seconds", times[name], ""
    for name in asked:
        slope = exponent(WIDTHS, [seconds[name, p] for p in WIDTHS])
        yield name, 2000, "", "exponent in p", slope, 2.2 if name == "AVERAGED" else ""


def growth_in_n(options):
    """20 features and more and more rows."""
    makers = {
        "JOINT, one start": METHODS["JOINT, one start"],
        "TM, five rounds": lambda: TwoModelsClassifier(tol=0, max_iter=5),
        "AVERAGED": AveragedClassifier,
    }
    asked, seconds = chosen(options, makers), {}
    for n in LENGTHS:
        X, s = sample(n, 20)
        times = interleaved(REFERENCES | asked, X, s, 3 if n < LENGTHS[-1] else 1)
        for name in asked:
            seconds[name, n] = times[name]
            yield name, n, 20, "times newton-cholesky", times[name] / times[NEWTON], ""
            yield name, n, 20, "times lbfgs", times[name] / times[LBFGS], ""
            yield name, n, 20, "CPU seconds", times[name], ""
    for name in asked:
        slope = exponent(LENGTHS, [seconds[name, n] for n in LENGTHS])
        yield name, "", 20, "exponent in n", slope, "0.95 to 1.1"


def pages(_):
    """Commands as users type them, imports included."""
    command = [sys.executable, "-c", "from doublelogit.cli import app; app()"]
    with tempfile.TemporaryDirectory() as folder:
        for typed, n, p, limit in PAGES:
            X, s = sample(n, p)
            table = Path(folder) / f"table{n}.csv"
            pd.DataFrame(X).add_prefix("x").assign(s=s.astype(int)).to_csv(table, index=False)
            asked = [*command, *typed.split(), str(table), "--label", "s", "--json"]
            asked += ["--out", str(table.with_suffix(".html"))] * typed.startswith("report")
            seconds = cpu(partial(run, asked))
            yield f"doublelogit {typed}", n, p, "CPU seconds", seconds, limit


def run(asked) -> None:
    """A command in a process of its own; what it prints is shown only if it fails."""
    done = subprocess.run(asked, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{asked}: {done.stdout[-500:]} {done.stderr[-500:]}")


def threads(options):
    """Fits as users get them, over fits with one thread: by the clock and in CPU."""
    makers = {name: METHODS[name] for name in ("AVERAGED", "JOINT, default", "TM, 100 rounds")}
    for n, p in SHAPES:
        X, s = sample(n, p)
        for name, make in chosen(options, makers).items():
            taken = {limited: [] for limited in (False, True)}
            for _ in range(options.repeats):
                for limited, times in taken.items():
                    with threadpool_limits(1) if limited else nullcontext():
                        start = time.perf_counter()
                        seconds = cpu(partial(make().fit, X, s))
                        times.append((time.perf_counter() - start, seconds))
            ratios = np.min(taken[False], axis=0) / np.min(taken[True], axis=0)
            yield f"{name}, default threads", n, p, "clock over one thread", ratios[0], 1.2
            yield f"{name}, default threads", n, p, "CPU over one thread", ratios[1], 1.5


def bootstrap(_):
    """200 resamples of a fit of JOINT."""
    X, s = sample(20_000, 20)
    found = infer(JointClassifier().fit(X, s), X, s)
    asked = {"method": "bootstrap", "n_resamples": 20, "n_jobs": 1}
    seconds = 10 * cpu(lambda: found.prevalence(**asked))
    yield "200 resamples, ten times 20", 20_000, 20, "CPU seconds", seconds, 60


def peers(options):
    """Other packages on one sample, beside ours."""
    X, s = sample(10_000, 20)
    X_new, y_new = sample(10_000, 20, seed=1)
    times = interleaved(REFERENCES | {"JOINT, default": JointClassifier}, X, s, 3)
    ours = times["JOINT, default"] / times[NEWTON]
    yield "JOINT, default", *X.shape, "times newton-cholesky", ours, ""
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data.npz"
        np.savez(data, X=X, s=s, X_new=X_new, y_new=y_new)
        for name in PEERS:
            asked = [options.peers, HERE / "peers.py", data, name]
            done = subprocess.run(asked, capture_output=True, text=True)
            if done.returncode:
                yield name, *X.shape, "failed: " + done.stderr.strip().splitlines()[-1][:60], "", ""
            else:
                seconds = json.loads(done.stdout.splitlines()[-1])["cpu"]
                yield name, *X.shape, "times newton-cholesky", seconds / times[NEWTON], ""


PARTS = {
    "methods": methods,
    "p": growth_in_p,
    "n": growth_in_n,
    "pages": pages,
    "threads": threads,
    "bootstrap": bootstrap,
    "peers": peers,
}


def adult(bias):
    """70% of adult, standardised; half of the positives labelled, or more of those far ahead."""
    X, y = load_benchmark("adult", return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    rng = np.random.default_rng(0)
    rows = rng.permutation(len(X))[: int(0.7 * len(X))]
    X, y = np.ascontiguousarray(X[rows]), y[rows]
    if bias is None:
        return X, draw(y, Scar(0.5).propensity(X), rng)
    return X, draw(y, expit(bias * X[:, 0]), rng)


def sample(n, p, seed=0):
    """Normal features, a class and a labelling that lean on all of them."""
    rng = np.random.default_rng([seed, p])
    beta, gamma = rng.normal(size=(2, p)) * np.array([[2.0], [1.0]]) / np.sqrt(p)
    X = rng.standard_normal((n, p))
    y = rng.random(n) < expit(X @ beta - 0.5)
    return X, (y & (rng.random(n) < expit(X @ gamma))).astype(float)


def exponent(sizes, seconds) -> float:
    """Slope of log seconds in log size."""
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def peak(model, X, s) -> float:
    """Largest memory that a fit asks Python for."""
    tracemalloc.start()
    model.fit(X, s)
    memory = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return memory


def read():
    """Rows of an earlier run."""
    if not OUT.exists():
        return []
    lines = [line for line in OUT.read_text().splitlines() if not line.startswith("#")]
    rows = list(csv.DictReader(lines))
    return rows if rows and set(rows[0]) == set(FIELDS) else []


def write(rows) -> None:
    fact = (
        f"# {platform.machine()}, CPU time; Python {platform.python_version()}, "
        f"numpy {np.__version__}, scikit-learn {sklearn.__version__}, doublelogit "
        f"{doublelogit.__version__}\n"
    )
    with OUT.open("w", newline="") as file:
        file.write(fact)
        table = csv.DictWriter(file, FIELDS)
        table.writeheader()
        table.writerows(rows)


def picture(rows) -> None:
    """Methods on adult beside their limits, and growth in n and p."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "doublelogit"
    import matplotlib.pyplot as plt

    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(13, 4.2), layout="constrained")
    names = [name for name in METHODS if name != "LBE, 1000 steps"][::-1]
    for shift, kind in ((0.2, "at random"), (-0.2, "biased")):
        values = [value(rows, f"{name}; labels {kind}", "times newton-cholesky") for name in names]
        at = np.arange(len(names)) + shift
        left.barh(at, values, 0.38, label=f"labels {kind}")
        for y, v in zip(at, values, strict=True):
            left.text(v, y, f" {v:.1f}", va="center", fontsize=8)
    for y, name in enumerate(names):
        if name in LIMITS:
            left.plot([LIMITS[name]] * 2, [y - 0.45, y + 0.45], "k--", lw=1)
    left.set_yticks(range(len(names)), names)
    left.set(xlabel="logistic regressions (newton-cholesky); dashed: limit", xscale="log")
    left.set_xlim(right=2 * left.get_xlim()[1])  # room for the numbers
    left.legend(fontsize=8)
    for ax, part, size in ((middle, "n", "n"), (right, "p", "p")):
        for name in dict.fromkeys(row["what"] for row in rows if row["part"] == part):
            points = [
                (float(row[size]), float(row["value"]))
                for row in rows
                if (row["part"], row["what"], row["measure"]) == (part, name, "CPU seconds")
            ]
            slope = value(rows, name, f"exponent in {part}")
            ax.plot(*zip(*points, strict=True), "o-", label=f"{name}: {part}^{slope:.2f}")
        ax.set(xscale="log", yscale="log", ylabel="CPU seconds")
        ax.legend(fontsize=8)
    middle.set_xlabel("rows, 20 features")
    right.set_xlabel("features, 2000 rows")
    right.set_xticks(WIDTHS, WIDTHS)
    right.minorticks_off()
    figure.savefig(OUT.with_suffix(".svg"), metadata={"Date": None})
    shutil.copy(OUT.with_suffix(".svg"), HERE.parent / "docs" / "speed.svg")


def value(rows, what, measure) -> float:
    """One number of the results."""
    found = [row["value"] for row in rows if (row["what"], row["measure"]) == (what, measure)]
    return float(found[0]) if found else np.nan


if __name__ == "__main__":
    sys.exit(main())
