"""One measurement of benchmarks/scale.py, in a process of its own: JSON in, JSON out.

A process of its own, because the peak of its memory is one of the things measured.
"""

import json
import resource
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from scipy import sparse
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from doublelogit import (
    EMClassifier,
    JointClassifier,
    LBEClassifier,
    NaiveClassifier,
    Roles,
    TwoModelsClassifier,
    TwoModelsSimpleClassifier,
    scan_parquet,
)
from doublelogit.core.rows import RowColumns
from doublelogit.engines.memory import memory_rows
from doublelogit.estimators.out_of_core import as_source
from doublelogit.estimators.validation import row_columns
from doublelogit.methods import Problem

FEATURES = 50
FILE_ROWS = 1_000_000
CLASSES = np.array([0, 1])
MODELS = {
    "LogisticRegression": lambda: LogisticRegression(C=1, tol=1e-6, solver="newton-cholesky"),
    "NAIVE": NaiveClassifier,
    "TM SIMPLE": TwoModelsSimpleClassifier,
    "TM, five rounds": lambda: TwoModelsClassifier(tol=0, max_iter=5),
    "EM, five rounds": lambda: EMClassifier(tol=0, max_iter=5),
    "LBE, five steps": lambda: LBEClassifier(max_iter=5),
    "JOINT": lambda: JointClassifier(propensity_features=range(0, FEATURES, 2), n_starts=1),
}
ENGINES = {
    "memory": {},
    "parquet": {},
    "parquet, cached": {"cache": True},
    "dask, two workers": {"distributed": True},
}


def main() -> None:
    cell = json.loads(sys.argv[1])
    print(json.dumps({**CELLS[cell.pop("cell")](**cell), "peak_mb": round(peak_mb())}))


def peak_mb() -> float:
    """Of this process or of the largest of its children."""
    kinds = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return max(resource.getrusage(kind).ru_maxrss for kind in kinds) / 1024


def files(folder: str, n: int) -> str:
    """Parquet files of n rows, written once: 50 normal features, half of them drive labelling."""
    here = Path(folder) / f"rows{n}"
    here.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(0)
    beta = rng.normal(size=FEATURES) * 0.3
    gamma = np.where(np.arange(FEATURES) % 2 == 0, rng.normal(size=FEATURES) * 0.3, 0.0)
    for i, start in enumerate(range(0, n, FILE_ROWS)):
        path, size = here / f"{i:04}.parquet", min(FILE_ROWS, n - start)
        rng = np.random.default_rng([1, i])
        if path.exists():
            continue
        X = rng.standard_normal((size, FEATURES), dtype=np.float32)
        y = rng.random(size) < expit(X @ beta)
        s = y & (rng.random(size) < expit(X @ gamma))
        columns = {f"x{j}": X[:, j] for j in range(FEATURES)}
        table = pa.table({**columns, "y": y.astype(np.int8), "s": s.astype(np.int8)})
        # a dictionary of values that never repeat would only make the files larger
        part = path.with_suffix(".part")
        pq.write_table(table, part, row_group_size=2**18, use_dictionary=False)
        part.rename(path)
    return str(here)


NAMES = [f"x{j}" for j in range(FEATURES)]


def arrays(path: str, *names: str) -> tuple[np.ndarray, ...]:
    """Features in single precision, and other columns, all in memory."""
    parts = sorted(Path(path).glob("*.parquet"))
    sizes = [pq.read_metadata(part).num_rows for part in parts]
    X, at = np.empty((sum(sizes), FEATURES), np.float32), 0
    others = [np.empty(len(X), np.int8) for _ in names]
    for part, size in zip(parts, sizes, strict=True):
        table = pq.read_table(part)
        for j, name in enumerate(NAMES):
            X[at : at + size, j] = table[name].to_numpy()
        for other, name in zip(others, names, strict=True):
            other[at : at + size] = table[name].to_numpy()
        at += size
    return X, *others


@contextmanager
def cluster() -> Iterator[None]:
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as workers,
        Client(workers),
    ):
        yield


def scan(path: str, engine: str) -> object:
    return scan_parquet(path, Roles("s", features=NAMES), **ENGINES[engine])


def timed(fn: Callable[[], object]) -> float:
    start = time.perf_counter()
    fn()
    return time.perf_counter() - start


def passes(folder: str, n: int, repeats: int) -> dict[str, float]:
    """Seconds of a pass for the gradient and of one for the Hessian, interleaved over engines."""
    path = files(folder, n)
    X, s = arrays(path, "s")
    theta = np.random.default_rng(2).normal(size=2 * FEATURES + 2) * 0.1

    def prepare(*observed: object) -> RowColumns:
        return row_columns(CLASSES, True, *observed)

    with ExitStack() as stack:
        rows = {"memory": memory_rows(X, s.astype(float))}
        for engine in ENGINES:
            if engine == "memory":
                continue
            stack.enter_context(cluster() if "dask" in engine else nullcontext())
            rows[engine] = as_source(scan(path, engine)).rows(prepare)
        problems = {engine: Problem(r, 1.0, 1.0) for engine, r in rows.items()}
        for problem in problems.values():
            problem.likelihood.value_grad(theta)
        found: dict[str, list[float]] = {}
        for _ in range(repeats):
            decoding = found.setdefault("decoding", [])
            decoding.append(timed(lambda: deque(rows["parquet"].blocks, maxlen=0)))
            for engine, problem in problems.items():
                for what in ("value_grad", "value_grad_hess"):
                    fn = getattr(problem.likelihood, what)
                    times = found.setdefault(f"{engine}: {what}", [])
                    times.append(timed(lambda fn=fn: fn(theta)))
    return {name: float(np.median(times)) for name, times in found.items()}


def fit(folder: str, n: int, engine: str, model: str) -> dict[str, object]:
    """Seconds and peak memory of a fit."""
    path = files(folder, n)
    made = MODELS[model]()
    if engine == "memory":
        X, s = arrays(path, "s")
        seconds = timed(lambda: made.fit(X, s))
    else:
        with cluster() if "dask" in engine else nullcontext():
            seconds = timed(lambda: made.fit(scan(path, engine)))
    return {"seconds": seconds, "rounds": int(np.max(made.n_iter_))}


def accuracy(folder: str, n: int, model: str) -> dict[str, object]:
    """Seconds of a fit in memory, and how often it is right about the class of new rows."""
    made = MODELS[model]()
    X, s = arrays(files(folder, n), "s")
    seconds = timed(lambda: made.fit(X, s))
    X, y = arrays(files(folder, 100_000), "y")
    return {"seconds": seconds, "accuracy": float((made.predict(X) == y).mean())}


def text(model: str) -> dict[str, object]:
    """50,000 rows of 500,000 sparse features, 100 in each row, 1,000 rows labelled."""
    rng = np.random.default_rng(0)
    n, p, k = 50_000, 500_000, 100
    columns = (p * rng.random((n, k)) ** 3).astype(np.int32)  # few words are in most rows
    data = np.ones(n * k)
    X = sparse.csr_matrix((data, columns.ravel(), np.arange(0, n * k + 1, k)), shape=(n, p))
    X.sum_duplicates()
    beta = rng.normal(size=p) * (rng.random(p) < 0.05)
    order = np.argsort(-(X @ beta) - rng.logistic(size=n))
    s = np.zeros(n)
    s[rng.choice(order[: n // 5], 1000, replace=False)] = 1
    options = {} if model == "NAIVE" else {"propensity_features": []}
    made = {
        "NAIVE": NaiveClassifier,
        "TM": lambda **o: TwoModelsClassifier(tol=0, max_iter=5, **o),
        "JOINT": lambda **o: JointClassifier(n_starts=1, **o),
    }[model](**options)
    seconds = timed(lambda: made.fit(X, s))
    return {"seconds": seconds, "rounds": int(made.n_iter_), "converged": bool(made.converged_)}


CELLS = {"passes": passes, "fit": fit, "accuracy": accuracy, "text": text}

if __name__ == "__main__":
    main()
