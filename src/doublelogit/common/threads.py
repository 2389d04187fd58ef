"""How many threads BLAS may start: those that find no core only wait for each other."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from threadpoolctl import ThreadpoolController


@contextmanager
def blas_threads(most: int) -> Iterator[None]:
    """Let BLAS start so many threads at most; fewer, if it may start no more now."""
    pools = _pools()
    now = max((pool.num_threads for pool in pools.lib_controllers), default=1)
    with pools.limit(limits=min(most, now)):
        yield


@cache
def _pools() -> ThreadpoolController:
    # looking for the libraries takes longer than a small fit
    return ThreadpoolController().select(user_api="blas")
