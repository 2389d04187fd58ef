"""Run what a plan asks for and a store has not: on this machine, or on a Dask cluster.

Draws are seeded by their own keys and each is computed with one BLAS thread, so that any subset,
order or number of workers gives the same numbers.
"""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import pandas as pd
from joblib import Parallel, delayed

from doublelogit.common.threads import thread_limit
from doublelogit.studies.experiments.cell import parameters, run_draw
from doublelogit.studies.experiments.plan import Draw, Plan, PlanMethod
from doublelogit.studies.experiments.store import KEY, Store

ResultRows = list[dict[str, Any]]
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
    progress : callable (done, total, rows), optional
        Called after every draw.
    """
    tasks = pending(plan, mode, store, datasets, repetitions)
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
) -> list[Task]:
    """What is left to do."""
    done, oracle = store.done("parameters"), plan.oracle(mode)
    tasks = []
    for draw in plan.draws(mode, datasets, repetitions):
        key, methods = draw.coordinates, plan.methods_of(mode, draw.scenario.id)
        left = tuple(m for m in methods if (*key, m.name, parameters(draw, m, oracle)) not in done)
        if left:
            tasks.append(Task(draw, left, oracle))
    return tasks


def current(rows: pd.DataFrame, plan: Plan, mode: str) -> pd.DataFrame:
    """The rows that the plan as it is now would make: a store may hold others, of earlier ones."""
    oracle = plan.oracle(mode)
    columns = [name for name in KEY if name != "repetition"] + ["parameters"]
    wanted = [
        (*draw.coordinates[:-1], method.name, parameters(draw, method, oracle))
        for draw in plan.draws(mode, repetitions=1)
        for method in plan.methods_of(mode, draw.scenario.id)
    ]
    keys = pd.MultiIndex.from_tuples(wanted)
    return rows[pd.MultiIndex.from_frame(rows[columns]).isin(keys)]


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
