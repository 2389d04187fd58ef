"""Threads of BLAS and OpenMP: as few as pay wherever work is done, and afterwards as before."""

import multiprocessing
import subprocess
import sys
import threading
from typing import ClassVar

import dask
import dask.array as da
import numpy as np
import pytest
from joblib import Parallel, delayed
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_info, threadpool_limits

from doublelogit import (
    AveragedClassifier,
    JointClassifier,
    TwoModelsClassifier,
    infer,
)
from doublelogit.common import threads as module
from doublelogit.common.threads import (
    WIDE_PRODUCT,
    paying_threads,
    thread_limit,
    with_paying_threads,
)
from doublelogit.engines.memory import MemoryRows

BEFORE = 3  # more than any limit, and than this machine may have cores


def now(api="blas"):
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == api}


@pytest.fixture
def many():
    """A process whose libraries may start several threads."""
    import sklearn.ensemble  # noqa: F401 - brings OpenMP

    with threadpool_limits(BEFORE):
        yield


@pytest.fixture(scope="module")
def sample():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = rng.random(300) < 1 / (1 + np.exp(-2 * X[:, 0]))
    return X, (y & (rng.random(300) < 0.6)).astype(int)


class Spy:
    """Notes how many threads there are whenever a block of rows is read."""

    def __init__(self, monkeypatch):
        self.threads = set()
        inner = MemoryRows._features

        def features(this, block):
            self.threads |= now() | now("openmp")
            return inner(this, block)

        monkeypatch.setattr(MemoryRows, "_features", features)


@pytest.mark.parametrize("api", ["blas", "openmp"])
def test_as_many_as_asked_for_and_afterwards_as_before(many, api):
    with thread_limit(1):
        assert now(api) == {1}
        with thread_limit(2):
            assert now(api) == {1}
        assert now(api) == {1}
    assert now(api) == {BEFORE}


def test_never_more_than_before():
    with threadpool_limits(1), thread_limit(4):
        assert now() == {1}


@pytest.mark.parametrize("api", ["blas", "openmp"])
def test_after_an_error_as_before(many, api):
    with pytest.raises(ZeroDivisionError), thread_limit(1):
        1 / 0  # noqa: B018
    assert now(api) == {BEFORE}


def test_narrow_products_get_one_thread_and_wide_ones_more(many):
    with paying_threads(WIDE_PRODUCT - 1):
        assert now() == {1}
    with paying_threads(WIDE_PRODUCT, most=2):
        assert now() == {min(2, module.os.cpu_count())}

    @with_paying_threads
    def inside(X):
        return now()

    assert inside(np.empty((2, WIDE_PRODUCT - 1))) == {1}
    assert inside(X=np.empty((2, WIDE_PRODUCT))) == {min(BEFORE, module.os.cpu_count())}


def test_two_python_threads_that_overlap_do_not_undo_each_other(many):
    entered, left = threading.Event(), threading.Event()
    inside = []

    def second():
        with thread_limit(1):
            entered.set()
            left.wait(10)
            inside.append(now())

    other = threading.Thread(target=second)
    with thread_limit(1):
        other.start()
        assert entered.wait(10)
    left.set()  # the first limit is left while the second holds
    other.join(10)
    assert inside == [{1}]
    assert now() == {BEFORE}


def test_a_library_that_is_loaded_later_is_limited_too():
    code = """
import sys
from doublelogit.common.threads import thread_limit
with thread_limit(1):
    pass
assert "sklearn" not in sys.modules
import sklearn.ensemble
from threadpoolctl import threadpool_info, threadpool_limits
with threadpool_limits(3):
    with thread_limit(1):
        assert {pool["num_threads"] for pool in threadpool_info()} == {1}
    assert {pool["num_threads"] for pool in threadpool_info()} == {3}
print(sorted({pool["user_api"] for pool in threadpool_info()}))
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.stdout == "['blas', 'openmp']\n", run.stderr


def test_a_forked_process_can_set_limits_of_its_own(many):
    if "fork" not in multiprocessing.get_all_start_methods():
        return
    holding, done = threading.Event(), threading.Event()

    def hold():
        with module._BLAS._lock:
            holding.set()
            done.wait(10)

    holder = threading.Thread(target=hold)
    holder.start()
    holding.wait(10)
    child = multiprocessing.get_context("fork").Process(target=_limited)
    child.start()
    child.join(20)
    done.set()
    holder.join()
    assert child.exitcode == 0


def _limited():
    with thread_limit(1):
        raise SystemExit(0 if now() == {1} else 1)


@pytest.mark.parametrize(
    "model", [AveragedClassifier(), JointClassifier(n_starts=1), TwoModelsClassifier()]
)
def test_fits_and_predictions_run_with_one_thread(many, monkeypatch, sample, model):
    X, s = sample
    spy = Spy(monkeypatch)
    fitted = model.fit(X, s)
    assert spy.threads == {1}
    assert now() == {BEFORE}

    def asked(features):
        spy.threads |= now() | now("openmp")
        return inner(features)

    inner = fitted.model_.outcome_proba
    object.__setattr__(fitted.model_, "outcome_proba", asked)
    fitted.predict_proba(X)
    assert spy.threads == {1}
    assert now() == now("openmp") == {BEFORE}


def test_inference_runs_with_one_thread(many, monkeypatch, sample):
    X, s = sample
    fitted = JointClassifier(n_starts=1).fit(X, s)
    spy = Spy(monkeypatch)
    infer(fitted, X, s).prevalence()
    assert spy.threads == {1}


class Noting(LogisticRegression):
    """A plugged classifier that notes how many threads its fits may use."""

    threads: ClassVar[set] = set()

    def fit(self, X, y, sample_weight=None):
        self.threads.update(now(), now("openmp"))
        return super().fit(X, y, sample_weight)


def test_classifiers_that_are_plugged_in_run_with_one_thread(many, sample):
    Noting.threads.clear()
    TwoModelsClassifier(outcome=Noting()).fit(*sample)
    assert Noting.threads == {1}


def test_partitions_of_dask_run_with_one_thread(many, monkeypatch, sample):
    spy = Spy(monkeypatch)
    X, s = (da.from_array(part, chunks=(100, *part.shape[1:])) for part in sample)
    with dask.config.set(scheduler="threads"):
        JointClassifier(n_starts=1).fit(X, s)
    assert spy.threads == {1}
    assert now() == now("openmp") == {BEFORE}


def test_a_failed_fit_leaves_threads_as_they_were(many, sample):
    X, _ = sample
    with pytest.raises(ValueError, match="label"):
        JointClassifier().fit(X, np.zeros(len(X)))
    assert now() == now("openmp") == {BEFORE}


def _threads_of_a_fit(X, s):
    with threadpool_limits(BEFORE), pytest.MonkeyPatch.context() as patch:
        spy = Spy(patch)
        JointClassifier(n_starts=1).fit(X, s)
        return spy.threads, now()


def test_workers_of_joblib_run_with_one_thread(sample):
    for inside, after in Parallel(n_jobs=2)(delayed(_threads_of_a_fit)(*sample) for _ in range(2)):
        assert inside == {1}
        assert after == {BEFORE}
