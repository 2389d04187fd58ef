"""How often fits and inference look at the rows: passes are counted, not timed."""

import tracemalloc
from importlib import import_module

import numpy as np
import pytest
from scipy.special import expit

from benchmarks.counts import counted
from doublelogit import (
    AveragedClassifier,
    EMClassifier,
    JointClassifier,
    NaiveClassifier,
    Roles,
    TwoModelsClassifier,
    infer,
    scan_parquet,
    scar_test,
)
from doublelogit.engines.parquet import ParquetBlocks

newton = import_module("doublelogit.core.solvers.newton")  # whose name is that of its function

pytestmark = pytest.mark.usefixtures("one_signal")

FEATURES = ["a", "b", "c"]
APART = {"outcome_features": ["a", "b"], "propensity_features": ["c"]}


@pytest.fixture
def passes(monkeypatch):
    """Number of passes over the features of Parquet files so far."""
    made, iterate = [], ParquetBlocks.__iter__

    def counted(self):
        made.append(1)
        return iterate(self)

    monkeypatch.setattr(ParquetBlocks, "__iter__", counted)
    return made


@pytest.fixture(scope="module")
def scan(table):
    return scan_parquet(table[1], Roles("s", features=FEATURES))


@pytest.fixture(scope="module")
def model(scan):
    return JointClassifier(**APART, n_starts=1).fit(scan)


KINDS = {"prevalence": "observed", "label_frequency": "robust", "hidden": "cluster"}


@pytest.mark.parametrize(
    ("what", "cov_type"),
    [
        pytest.param(what, kind, marks=() if KINDS[what] == kind else pytest.mark.slow)
        for what in KINDS
        for kind in KINDS.values()
    ],
)
def test_twenty_groups_take_as_many_passes_as_one(what, cov_type, model, scan, passes):
    clusters = np.arange(3000) % 40 if cov_type == "cluster" else None
    counts = {}
    for n_groups in (1, 20):
        found = infer(model, scan, cov_type=cov_type, groups=clusters)
        assert found.misfits is not None  # what warnings need, with the profile
        assert found.weak in (True, False)
        passes.clear()
        getattr(found, what)(by=np.arange(3000) % n_groups, method="delta")
        counts[n_groups] = len(passes)
    assert counts[20] == counts[1] <= 7


@pytest.mark.usefixtures("small_blocks")
def test_the_four_probabilities_of_a_scan_take_one_pass(scan, monkeypatch):
    from doublelogit.engines.scan import ParquetScan

    model, reads, blocks = JointClassifier(**APART, n_starts=1).fit(scan), [], ParquetScan.blocks
    monkeypatch.setattr(ParquetScan, "blocks", lambda *given: reads.append(1) or blocks(*given))
    four = model.probabilities(scan)
    assert len(reads) == 1
    np.testing.assert_array_equal(four.hidden, model.predict_hidden(scan))


def test_twenty_groups_of_a_posterior_take_one_pass(scan, table, passes):
    model = AveragedClassifier(**APART).fit(scan)
    found = infer(model, scan)
    for n_groups in (1, 20):
        passes.clear()
        found.prevalence(by=np.arange(3000) % n_groups)
        assert len(passes) == 1


def test_the_information_is_computed_once(model, scan, monkeypatch):
    from doublelogit.core.objective import DoubleLogisticObjective

    found = infer(model, scan)
    assert found.weak in (True, False)  # which the information is part of
    hessians, compute = [], DoubleLogisticObjective.value_grad_hess
    monkeypatch.setattr(
        DoubleLogisticObjective,
        "value_grad_hess",
        lambda self, theta: hessians.append(1) or compute(self, theta),
    )
    found.summary()
    for what in (found.prevalence, found.label_frequency, found.hidden):
        what(method="delta")
    found.prevalence(by=np.arange(3000) % 20, method="delta")
    assert not hessians


@pytest.fixture(scope="module")
def biased():
    """Labels that lean on all of eight features."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 8))
    y = rng.random(4000) < expit(X @ np.linspace(-1, 1.5, 8))
    return X, y & (rng.random(4000) < expit(X @ np.linspace(0.8, -0.6, 8)))


# Passes over the rows and Hessians, a quarter above what was counted when they were set down.
LIMITS = {
    "NAIVE": (NaiveClassifier(), 16, 2),
    "JOINT, one start": (JointClassifier(n_starts=1), 54, 12),
    "JOINT": (JointClassifier(), 190, 30),
    "EM": (EMClassifier(init="naive"), 520, 18),
    "TM, 100 rounds": (TwoModelsClassifier(tol=0, max_iter=100), 910, 15),
    "AVERAGED": (AveragedClassifier(), 85, 70),
}


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", LIMITS)
def test_no_fit_looks_at_the_rows_more_often_than_it_did(name, biased):
    model, passes, hessians = LIMITS[name]
    with counted() as found:
        model.fit(*biased)
    assert 0 < found["passes"] <= passes
    assert 0 < found["hessians"] <= hessians


@pytest.fixture(scope="module")
def wide():
    """So many rows of fifty features that a block is two fifths of them."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(20_000, 50))
    y = rng.random(20_000) < expit(X @ np.linspace(-0.5, 0.7, 50))
    return X, y & (rng.random(20_000) < expit(X @ np.linspace(0.4, -0.2, 50)))


LEAN = {
    "NAIVE": NaiveClassifier(),
    "JOINT": JointClassifier(n_starts=2),
    "EM": EMClassifier(tol=0, max_iter=3),
    "TM": TwoModelsClassifier(tol=0, max_iter=5),
}


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", LEAN)
def test_no_fit_takes_a_third_of_the_memory_of_its_rows(name, wide):
    X, s = wide
    LEAN[name].fit(X[:200], s[:200])  # modules that a first fit imports are not its memory
    tracemalloc.start()
    try:
        LEAN[name].fit(X, s)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < X.nbytes / 3


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_tm_is_as_exact_as_if_every_last_step_were_looked_at(biased, monkeypatch):
    X, s = biased
    found = TwoModelsClassifier(tol=0, max_iter=30).fit(X, s)
    monkeypatch.setattr(newton, "TRUSTED", np.inf)
    exact = TwoModelsClassifier(tol=0, max_iter=30).fit(X, s)
    np.testing.assert_allclose(found.predict_positive(X), exact.predict_positive(X), atol=1e-7)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_refits_of_tests_and_of_the_bootstrap_start_where_they_end(biased):
    X, s = biased
    model = JointClassifier().fit(X, s)
    with counted() as one:
        JointClassifier(n_starts=1).fit(X, s)
    with counted() as found:
        infer(model, X, s).prevalence(method="bootstrap", n_resamples=5, n_jobs=1)
    assert found["hessians"] / 6 < 0.7 * one["hessians"]
    with counted() as found:
        scar_test(X, s, n_resamples=20, stop_early=False, n_jobs=1)
    assert found["hessians"] / 21 < 20  # three climbs each


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("n_starts", [1, 4])
def test_joint_is_as_exact_as_its_tolerance_promises(n_starts, biased):
    X, s = biased
    found, tight = (
        JointClassifier(n_starts=n_starts, tol=tol).fit(X, s).predict_positive(X)
        for tol in (1e-6, 1e-11)
    )
    np.testing.assert_allclose(found, tight, atol=1e-6)
