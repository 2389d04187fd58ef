"""Threads of BLAS and OpenMP: as many as pay for the products at hand, which is nearly always one.

Products of a few hundred columns take less time than waking a second thread, and a thread that
waits spins: with two threads a fit of 800 x 57 takes 18 times as long on an idle machine, and a
hundred times as long beside other work. So everything that fits, predicts or infers runs inside
:func:`paying_threads`, wherever it runs (the calling process, workers of joblib and Dask), and
users have nothing to set. Limits that users set themselves are never raised.

The number of BLAS threads belongs to the process: it is lowered by the first limit that is entered
and restored by the last one that is left, so that fits in several Python threads do not undo each
other. The number of OpenMP threads belongs to each Python thread and is restored by every limit.
"""

import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from threadpoolctl import ThreadpoolController

# Columns from which a second thread pays (benchmarks/threads.py): narrower products are slices of
# half a MiB, which one core finishes before another has begun.
WIDE_PRODUCT = 2000

P = ParamSpec("P")
R = TypeVar("R")


@contextmanager
def paying_threads(columns: int = 0, most: int | None = None) -> Iterator[None]:
    """Limit BLAS and OpenMP to the threads that pay for products of so many columns.

    ``most`` is a further limit, for code that uses the other cores itself.
    """
    paying = 1 if columns < WIDE_PRODUCT else (os.cpu_count() or 1)
    with thread_limit(paying if most is None else min(paying, most)):
        yield


def limited_by(width: Callable[..., int]) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Limit a function or method to the threads that pay, given how wide its arguments make it."""

    def decorated(fn: Callable[P, R]) -> Callable[P, R]:
        @wraps(fn)
        def limited(*args: P.args, **kwargs: P.kwargs) -> R:
            with paying_threads(width(*args, **kwargs)):
                return fn(*args, **kwargs)

        return limited

    return decorated


def _widest(*args: Any, **kwargs: Any) -> int:
    """Columns of the features that a function or method has for its first argument."""
    return max(map(_columns, (*args[:2], *kwargs.values())), default=0)


def _columns(X: Any) -> int:
    shape = getattr(X, "shape", ())
    return int(shape[1]) if isinstance(shape, tuple) and len(shape) == 2 else 0


with_paying_threads = limited_by(_widest)


@contextmanager
def thread_limit(most: int) -> Iterator[None]:
    """Let BLAS and OpenMP start so many threads at most; fewer, if they may start no more now."""
    mine = [(pool, pool.num_threads) for pool in _pools() if not _of_process(pool)]
    for pool, threads in mine:
        pool.set_num_threads(min(threads, most))
    _BLAS.enter(most, [pool for pool in _pools() if _of_process(pool)])
    try:
        yield
    finally:
        _BLAS.leave(most)
        for pool, threads in mine:
            pool.set_num_threads(threads)


def _of_process(pool: Any) -> bool:
    """Whether the number of threads is one for the process; OpenMP has one for each thread."""
    return pool.user_api == "blas" and getattr(pool, "threading_layer", None) != "openmp"


class _ProcessLimit:
    """The limits that hold in this process, and the threads of each library before the first."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._limits: list[int] = []
        self._before: dict[str, tuple[Any, int]] = {}

    def enter(self, most: int, pools: list[Any]) -> None:
        with self._lock:
            loaded = [pool for pool in pools if pool.filepath not in self._before]
            lower = most < min(self._limits, default=sys.maxsize)
            self._limits.append(most)
            self._before |= {pool.filepath: (pool, pool.num_threads) for pool in loaded}
            if lower or loaded:
                self._apply()

    def leave(self, most: int) -> None:
        with self._lock:
            lowest = min(self._limits)
            self._limits.remove(most)
            if min(self._limits, default=sys.maxsize) > lowest:
                self._apply()
            if not self._limits:
                self._before.clear()

    def unlock(self) -> None:
        """Replace the lock in a forked process, which lacks the thread that may hold it."""
        self._lock = threading.Lock()

    def _apply(self) -> None:
        for pool, threads in self._before.values():
            _set(pool, min([threads, *self._limits]))


def _set(pool: Any, threads: int) -> None:
    """Set the number of threads of a process, from whichever Python thread.

    threadpoolctl lets one Python thread do so and ignores all others; here they take turns.
    """
    claimed = hasattr(pool, "clear_controlling_thread")  # since threadpoolctl 3.8
    if claimed:
        pool.clear_controlling_thread(force=True)
    pool.set_num_threads(threads)
    if claimed:
        pool.clear_controlling_thread(force=True)


_BLAS = _ProcessLimit()
# Libraries come with imports, so that those of a time with fewer modules may not be all.
_loaded: tuple[int, list[Any]] = (0, [])


def _pools() -> list[Any]:
    """The thread pools of all libraries that are loaded now."""
    global _loaded
    modules = len(sys.modules)
    if modules != _loaded[0]:  # looking for the libraries takes longer than a small fit
        _loaded = modules, ThreadpoolController().lib_controllers
    return _loaded[1]


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_BLAS.unlock)
