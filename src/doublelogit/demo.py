"""The main job on bundled data: hide positives by a biased mechanism, then find them again.

Run it with ``python -m doublelogit.demo``.
"""

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from doublelogit.datasets import BENCHMARKS, load_benchmark
from doublelogit.estimators import (
    EMClassifier,
    JointClassifier,
    LBEClassifier,
    NaiveClassifier,
    TwoModelsClassifier,
    TwoModelsSimpleClassifier,
)
from doublelogit.exceptions import OrientationWarning
from doublelogit.labelling import LogisticSar, draw
from doublelogit.metrics import approximation_error

METHODS: dict[str, Callable[[], Any]] = {
    "NAIVE": NaiveClassifier,
    "TM SIMPLE": TwoModelsSimpleClassifier,
    "TM": lambda: TwoModelsClassifier(tol=0, max_iter=100),
    "EM": EMClassifier,
    "JOINT": JointClassifier,
    "LBE": LBEClassifier,
}


class Line(NamedTuple):
    """One method's results on one data set."""

    method: str
    accuracy: float
    error: float
    prevalence: float
    seconds: float
    note: str = ""


def _note(caught: list[warnings.WarningMessage]) -> str:
    """What a fit warned of, in two words."""
    said = {
        ConvergenceWarning: "not converged",
        OrientationWarning: "class and labelling hard to tell apart",
    }
    notes = [word for kind, word in said.items() if any(w.category is kind for w in caught)]
    return f"  ({', '.join(notes)})" if notes else ""


def demo(name: str = "spambase", g: float = 1.0, seed: int = 0) -> Iterator[str]:
    """Lines of text: the data, the bias, and what each method makes of it."""
    X, y = load_benchmark(name, return_X_y=True)
    X = StandardScaler().fit_transform(X)
    rng = np.random.default_rng(seed)
    e_x = LogisticSar(g).propensity(X)
    s = draw(y, e_x, rng)
    train, test = train_test_split(np.arange(len(y)), test_size=0.3, random_state=seed)
    oracle = LogisticRegression(C=1.0, tol=1e-6, solver="newton-cholesky")
    start = time.perf_counter()
    oracle.fit(X[train], y[train])
    seconds = time.perf_counter() - start

    hidden = int(((y == 1) & (s == 0)).sum())
    low, high = np.quantile(e_x[y == 1], [0.1, 0.9])
    yield f"{name}: {len(y)} rows, {X.shape[1]} features, {int(y.sum())} positive ({y.mean():.1%})."
    yield (
        f"Labels are biased: a positive is labelled with a chance between {low:.0%} and {high:.0%}"
        f" that depends on its features. {int(s.sum())} are labelled, {hidden} are hidden."
    )
    yield ""
    yield f"{'method':10} {'accuracy':>9} {'AE':>7} {'prevalence':>11} {'seconds':>8}"
    reference = oracle.predict_proba(X[test])[:, 1]
    accuracy = float(oracle.score(X[test], y[test]))
    truth = Line("truth", accuracy, 0.0, float(y[train].mean()), seconds)
    yield _format(truth) + "  (accuracy and time of the oracle, which is told every class)"
    for method, make in METHODS.items():
        yield _format(_run(method, make(), X[train], s[train], X[test], y[test], reference))
    yield ""
    yield "accuracy: share of test rows whose true class is predicted."
    yield "AE: mean distance of the predicted P(Y=1|x) from the oracle's; smaller is better."
    yield "prevalence: estimated share of positives among the training rows."


def _run(method: str, model: Any, X: Any, s: Any, X_test: Any, y_test: Any, reference: Any) -> Line:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        start = time.perf_counter()
        model.fit(X, s)
        seconds = time.perf_counter() - start
    return Line(
        method,
        float((model.predict(X_test) == y_test).mean()),
        approximation_error(model.predict_positive(X_test), reference),
        float(model.predict_positive(X).mean()),
        seconds,
        _note(caught),
    )


def _format(line: Line) -> str:
    return (
        f"{line.method:10} {line.accuracy:9.3f} {line.error:7.3f} {line.prevalence:11.3f} "
        f"{line.seconds:8.2f}{line.note}"
    )


def main() -> None:
    """Print the demonstration."""
    parser = argparse.ArgumentParser(prog="python -m doublelogit.demo", description=__doc__)
    parser.add_argument("--data", default="spambase", choices=list(BENCHMARKS))
    parser.add_argument("--g", type=float, default=1.0, help="strength of the bias; 0 is none")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    for line in demo(options.data, options.g, options.seed):
        print(line, flush=True)


if __name__ == "__main__":
    main()
