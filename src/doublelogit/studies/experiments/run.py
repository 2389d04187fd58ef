"""Run what a plan asks for and a store has not: on this machine, or on a Dask cluster.

Draws are seeded by their own keys and each is computed with one BLAS thread, so that any subset,
order or number of workers gives the same numbers.

Every row holds the settings that it was made with; a cell whose settings differ from the plan's is
run again.
"""

import re
import signal
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np
import pandas as pd
from joblib import Parallel, delayed

from doublelogit.common.threads import thread_limit
from doublelogit.studies.experiments.cell import parameters, run_draw
from doublelogit.studies.experiments.plan import Draw, Plan, PlanMethod
from doublelogit.studies.experiments.store import KEY, Store

ResultRows = list[dict[str, Any]]
Counts = Mapping[tuple[Any, ...], int]
COMPACT_EVERY = 5000  # draws: seldom enough to cost nothing, often enough to keep segments small


class Task(NamedTuple):
    """A draw and the methods that are still to be run on it."""

    draw: Draw
    methods: tuple[PlanMethod, ...]
    oracle: PlanMethod


def run(
    plan: Plan,
    mode: str,
    store: Store,
    *,
    datasets: list[str] | None = None,
    repetitions: int | None = None,
    jobs: int = 1,
    dask: str | None = None,
    summarised: Counts | None = None,
    progress: Callable[[int, int, ResultRows], None] | None = None,
) -> None:
    """Fill the store with the cells it lacks.

    Parameters
    ----------
    plan : Plan
    mode : str
        One of the plan's readings of the protocol.
    store : Store
        Where rows go; cells that have one are not run again, failed ones included.
    datasets : list of str, optional
        Run these only.
    repetitions : int, optional
        Run so many instead of what the plan says.
    jobs : int, default=1
        Worker processes on this machine.
    dask : str, optional
        Address of a Dask scheduler, to run there instead.
    summarised : mapping of cell to repetitions, optional
        Cells whose rows are gone; those with enough repetitions are not run again.
    progress : callable (done, total, rows), optional
        Called after every draw.
    """
    tasks = pending(plan, mode, store, datasets, repetitions, summarised)
    results = _on_dask(tasks, dask) if dask else _on_this_machine(tasks, jobs)
    for done, rows in enumerate(results, start=1):
        store.append(rows)
        if progress:
            progress(done, len(tasks), rows)
        if done % COMPACT_EVERY == 0:
            store.compact()
    store.compact()


def pending(
    plan: Plan,
    mode: str,
    store: Store,
    datasets: list[str] | None = None,
    repetitions: int | None = None,
    summarised: Counts | None = None,
) -> list[Task]:
    """What is left to do."""
    done = {(*key, settings(str(text))) for *key, text in store.done("parameters")}
    draws, oracle = plan.draws(mode, datasets, repetitions), plan.oracle(mode)
    wanted = Counter(draw.coordinates[:-1] for draw in draws)
    enough = {cell for cell, n in (summarised or {}).items() if n >= wanted[cell[:-1]]}
    tasks = []
    for draw in draws:
        key = draw.coordinates
        left = tuple(
            method
            for method in plan.methods_of(mode, draw.scenario.id)
            if (*key[:-1], method.name) not in enough
            and (*key, method.name, settings(parameters(draw, method, oracle))) not in done
        )
        if left:
            tasks.append(Task(draw, left, oracle))
    return tasks


@cache
def settings(parameters: str) -> int:
    """Checksum of the parameters of a cell, without the modules that hold what they name.

    A loader or an estimator that moves to another module computes the same.
    """
    return crc32(re.sub(r'"[\w.]+:(\w+)"', r'"\1"', parameters).encode())


def current(rows: pd.DataFrame, plan: Plan, mode: str) -> pd.DataFrame:
    """The rows that the plan as it is now would make: a store may hold others, of earlier ones."""
    if rows.empty:  # such a store knows no columns but keys
        return rows
    return rows[matching(rows, rows["parameters"].map(settings), plan, mode)]


def matching(rows: pd.DataFrame, checksums: pd.Series, plan: Plan, mode: str) -> np.ndarray:
    """Which rows, or cells, the plan as it is now would make, by their settings."""
    oracle = plan.oracle(mode)
    wanted = [
        (*draw.coordinates[:-1], method.name, settings(parameters(draw, method, oracle)))
        for draw in plan.draws(mode, repetitions=1)
        for method in plan.methods_of(mode, draw.scenario.id)
    ]
    names = [name for name in KEY if name != "repetition"]
    keys = pd.MultiIndex.from_frame(rows[names].assign(settings=checksums))
    return np.asarray(keys.isin(pd.MultiIndex.from_tuples(wanted)))


def work(task: Task) -> ResultRows:
    """One task, with one BLAS thread wherever it runs."""
    with thread_limit(1):
        return run_draw(task.draw, task.methods, task.oracle)


def _on_this_machine(tasks: list[Task], jobs: int) -> Iterator[ResultRows]:
    parallel = Parallel(n_jobs=jobs, return_as="generator_unordered")
    with _deaf_to_interrupts():
        results = parallel(delayed(work)(task) for task in tasks)
    yield from results


@contextmanager
def _deaf_to_interrupts() -> Iterator[None]:
    """Processes started here ignore Ctrl-C for good: the terminal sends it to them as well.

    Only this process answers it, by stopping them; theirs would be a traceback each.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may say what becomes of a signal
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _on_dask(tasks: list[Task], address: str) -> Iterator[ResultRows]:
    try:
        from distributed import Client, as_completed
    except ImportError:
        raise ImportError("a Dask cluster needs: pip install 'doublelogit[dask]'") from None
    with Client(address) as client:
        futures = client.map(work, tasks, pure=False)
        for _, rows in as_completed(futures, with_results=True):
            yield rows
