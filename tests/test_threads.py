"""Threads of BLAS: as few as asked for, never more than there were."""

from threadpoolctl import threadpool_info, threadpool_limits

from doublelogit.common.threads import blas_threads


def now():
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}


def test_as_many_as_asked_for_and_afterwards_as_before():
    with threadpool_limits(2, user_api="blas"):
        with blas_threads(1):
            assert now() == {1}
        assert now() == {2}


def test_never_more_than_before():
    with threadpool_limits(1, user_api="blas"), blas_threads(4):
        assert now() == {1}
