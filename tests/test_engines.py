"""Parquet and Dask give the answer of memory, for every method, and fail in plain words."""

import os
import signal
import subprocess
import sys
import warnings
from dataclasses import replace

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pytest
from distributed import Client, LocalCluster
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from doublelogit import (
    AveragedClassifier,
    EMClassifier,
    JointClassifier,
    LBEClassifier,
    NaiveClassifier,
    Roles,
    TwoModelsClassifier,
    TwoModelsSimpleClassifier,
    infer,
    scan_parquet,
    scar_test,
)
from doublelogit.core import selection
from doublelogit.core.rows import quantile
from doublelogit.engines.memory import memory_rows
from doublelogit.studies.rivals import DETMClassifier

pytestmark = pytest.mark.usefixtures("small_blocks", "one_signal")
FEATURES = ["a", "b", "c"]
APART = {"outcome_features": ["a", "b"], "propensity_features": ["c"]}
METHODS = {
    "NAIVE": lambda: NaiveClassifier(tol=1e-12),
    "TM SIMPLE": lambda: TwoModelsSimpleClassifier(tol=1e-12),
    "TM": lambda: TwoModelsClassifier(tol=0, max_iter=3),
    "TM, literal, accelerated": lambda: TwoModelsClassifier(
        variant="literal", acceleration=True, tol=0, max_iter=3
    ),
    "EM": lambda: EMClassifier(tol=0, max_iter=3),
    "LBE": lambda: LBEClassifier(max_iter=10),
    "JOINT": lambda: JointClassifier(**APART, n_starts=1, tol=1e-12),
    "DETM": lambda: DETMClassifier(**APART, n_starts=1, tol=1e-12),
    "AVERAGED": lambda: AveragedClassifier(),
    "AVERAGED, named": lambda: AveragedClassifier(**APART),
    "AVERAGED, SCAR": lambda: AveragedClassifier(propensity_features=[]),
    "JOINT, centred": lambda: JointClassifier(outcome_features=["a", "far"], n_starts=1, tol=1e-12),
}


class Inputs:
    """The same rows for every engine."""

    def __init__(self, frame, folder, columns):
        self.frame, self.folder, self.columns = frame, folder, columns

    def scan(self, audited="truth", **options):
        roles = Roles("s", weight="weight", audited=audited, features=self.columns)
        return scan_parquet(f"{self.folder}/*.parquet", roles, **options)

    def fit(self, model, engine):
        X, frame = self.frame[self.columns], self.frame
        audited = None if isinstance(model, NaiveClassifier) else frame["truth"]
        if engine.startswith("parquet"):
            scan = self.scan(
                None if audited is None else "truth",
                cache=engine == "parquet, cached",
                distributed=engine == "parquet on workers",
            )
            return model.fit(scan)
        if engine == "dask array":
            X = da.from_array(X.to_numpy(), chunks=(800, 2))
            model = name_free(model, self.columns)
            s, weight = (da.from_array(frame[c].to_numpy(), chunks=1000) for c in ("s", "weight"))
            return model.fit(X, s, sample_weight=weight, audited_y=audited)
        if engine == "dask frame":
            lazy = dd.from_pandas(frame, npartitions=3)
            audited = None if audited is None else lazy["truth"]
            X = lazy[self.columns]
            return model.fit(X, lazy["s"], sample_weight=lazy["weight"], audited_y=audited)
        return model.fit(X, frame["s"], sample_weight=frame["weight"], audited_y=audited)


def name_free(model, columns):
    """Features by index, for an array has no names."""
    for name in ("outcome_features", "propensity_features"):
        named = model.get_params().get(name)
        if named is not None:
            model.set_params(**{name: [columns.index(f) for f in named]})
    return model


ENGINES = ["parquet", "parquet, cached", "parquet on workers", "dask array", "dask frame"]


@pytest.fixture(scope="module")
def in_memory():
    """Fits in memory, made once."""
    return {}


@pytest.fixture
def coarse(monkeypatch):
    """AVERAGED evaluates two cells and cuts none: the same sums over rows, in fewer passes."""
    settings = replace(AveragedClassifier._settings, cells=2, heavy=1.1, first=1.0, edge=1.1)
    monkeypatch.setattr(AveragedClassifier, "_settings", settings)


@pytest.fixture(scope="session")
def two_workers():
    """A cluster of two processes; whoever connects to it has lazy inputs computed there."""
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster:
        yield cluster


def pairwise():
    """Three methods on every engine, and every other method on one; the full grid is slow."""
    full = ("JOINT", "TM", "AVERAGED")
    rest = [method for method in METHODS if method not in full]
    for i, engine in enumerate(ENGINES):
        covered = {*full, *rest[i :: len(ENGINES)]}
        for method in METHODS:
            marks = () if method in covered else pytest.mark.slow
            yield pytest.param(method, engine, marks=marks, id=f"{method} on {engine}")


def on_processes():
    """One method with a Hessian, one with columns and one with a search; the others are slow."""
    for engine in ("dask frame", "parquet on workers"):
        for method in METHODS:
            quick = (method, engine) in QUICK_ON_PROCESSES
            yield pytest.param(method, engine, marks=() if quick else pytest.mark.slow)


QUICK_ON_PROCESSES = [
    ("JOINT", "dask frame"),
    ("TM", "parquet on workers"),
    ("AVERAGED", "dask frame"),
]


@pytest.mark.parametrize(("method", "engine"), [*on_processes()])
def test_two_worker_processes_have_the_answer_of_memory(
    method, engine, table, in_memory, two_workers, coarse
):
    with Client(two_workers):
        compare(method, engine, table, in_memory)


@pytest.mark.parametrize(("method", "engine"), [*pairwise()])
def test_every_method_has_the_answer_of_memory(method, engine, table, in_memory, coarse):
    compare(method, engine, table, in_memory)


@pytest.mark.parametrize("method", ["AVERAGED", "AVERAGED, named"])
def test_a_search_goes_the_same_way_on_every_engine(method, table):
    compare(method, "dask frame", table, {})


def compare(method, engine, table, in_memory):
    columns = [*FEATURES, "far"] if "centred" in method else FEATURES
    inputs = Inputs(*table, columns)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if method not in in_memory:
            in_memory[method] = inputs.fit(METHODS[method](), "memory")
        got, wanted = inputs.fit(METHODS[method](), engine), in_memory[method]
    for name in ("coef_", "intercept_", "propensity_coef_", "propensity_intercept_"):
        if hasattr(wanted, name):
            scale = np.abs(getattr(wanted, name)).max()
            np.testing.assert_allclose(
                getattr(got, name), getattr(wanted, name), rtol=1e-8, atol=1e-8 * scale
            )


@pytest.fixture(scope="module")
def fitted(table):
    frame, _ = table
    X, s = frame[FEATURES], frame["s"]
    model = JointClassifier(**APART, n_starts=1, tol=1e-10)
    return model.fit(X, s, sample_weight=frame["weight"], audited_y=frame["truth"])


def given_rows(table, engine):
    """Arguments of infer."""
    frame, folder = table
    inputs = Inputs(frame, folder, FEATURES)
    if engine.startswith("parquet"):
        return (inputs.scan(distributed=engine != "parquet"),), {}
    lazy = dd.from_pandas(frame, npartitions=3) if engine == "dask" else frame
    options = {"sample_weight": lazy["weight"], "audited_y": lazy["truth"]}
    return (lazy[FEATURES], lazy["s"]), options


KINDS = {"parquet": "observed", "parquet on workers": "robust", "dask": "cluster"}


@pytest.mark.parametrize(
    ("engine", "kind"),
    [
        pytest.param(engine, kind, marks=() if KINDS[engine] == kind else pytest.mark.slow)
        for engine in KINDS
        for kind in KINDS.values()
    ],
)
def test_inference_has_the_answer_of_memory(engine, kind, table, fitted):
    groups = np.where(table[0]["a"] > 0, "old", "young")
    options = {"groups": np.arange(3000) % 50} if kind == "cluster" else {"cov_type": kind}
    results = []
    for where in ("memory", engine):
        args, named = given_rows(table, where)
        result = infer(fitted, *args, **named, **options)
        shares = [result.prevalence(), result.label_frequency(), result.hidden()]
        shares += result.prevalence(by=groups).values()
        numbers = [(share.value, share.se) for share in shares]
        results.append((result.covariance, np.array(numbers), str(result.summary())))
    for got, wanted in zip(results[1][:2], results[0][:2], strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-8, atol=1e-12)
    assert results[0][2] == results[1][2]


def test_a_diagnosis_reads_a_scan(table, fitted):
    args, _ = given_rows(table, "parquet")
    found = infer(fitted, *args).diagnose(n_starts=2)
    assert len(found.rows.label) == 3000
    assert not found.rows.separated


PREDICTIONS = [
    "decision_function",
    "predict",
    "predict_proba",
    "predict_positive",
    "predict_propensity",
    "predict_label_proba",
    "predict_hidden",
]


@pytest.mark.parametrize("predict", PREDICTIONS)
def test_predictions_are_streamed_or_lazy(predict, table, fitted):
    frame, folder = table
    X, scan = frame[FEATURES], scan_parquet(folder)
    wanted = getattr(fitted, predict)(X)
    np.testing.assert_allclose(getattr(fitted, predict)(scan), wanted, rtol=1e-12)
    lazy = [
        getattr(fitted, predict)(dd.from_pandas(X, npartitions=3)),
        getattr(fitted, predict)(scan_parquet(folder, distributed=True)),
        getattr(fitted, predict)(da.from_array(X.to_numpy(), chunks=700)),
    ]
    for got in lazy:
        assert dask.is_dask_collection(got)
        assert got.dtype == wanted.dtype
        np.testing.assert_allclose(got.compute(), wanted, rtol=1e-12)
    assert lazy[2].shape == wanted.shape


def test_scores_agree_on_every_engine(table, fitted):
    frame, folder = table
    wanted = fitted.score(frame[FEATURES], frame["s"], frame["weight"])
    scan = Inputs(frame, folder, FEATURES).scan()
    assert fitted.score(scan) == pytest.approx(wanted, rel=1e-12)
    lazy = dd.from_pandas(frame, npartitions=3)
    got = fitted.score(lazy[FEATURES], lazy["s"], sample_weight=lazy["weight"])
    assert got == pytest.approx(wanted, rel=1e-12)


def test_labels_in_memory_go_with_lazy_features(table):
    frame, _ = table
    X, s = frame[FEATURES], frame["s"].map({0: "no", 1: "yes"}).to_numpy()
    wanted = NaiveClassifier(pos_label="yes").fit(X, s)
    for lazy in (dd.from_pandas(X, npartitions=3), da.from_array(X.to_numpy(), chunks=700)):
        got = NaiveClassifier(pos_label="yes").fit(lazy, s)
        np.testing.assert_allclose(got.coef_, wanted.coef_, rtol=1e-10)
        assert got.classes_.tolist() == ["no", "yes"]


def test_sparse_partitions_stay_sparse(table):
    frame, _ = table
    X = sparse.csr_matrix(np.where(np.abs(frame[FEATURES]) > 1, frame[FEATURES], 0.0))
    lazy = da.from_array(X.toarray(), chunks=(700, 3)).map_blocks(sparse.csr_matrix)
    got = NaiveClassifier().fit(lazy, da.from_array(frame["s"].to_numpy(), chunks=700))
    np.testing.assert_allclose(got.coef_, NaiveClassifier().fit(X, frame["s"]).coef_, rtol=1e-10)


class TestRefusals:
    def test_no_rows_and_no_labels(self, table, fitted):
        empty = scan_parquet(table[1], Roles("s", features=FEATURES), filter=[("a", ">", 99)])
        with pytest.raises(ValueError, match="a fit needs rows; got none"):
            NaiveClassifier().fit(empty)
        assert fitted.predict(empty).shape == (0,)
        with pytest.raises(ValueError, match="labels are needed"):
            fitted.score(scan_parquet(table[1]))

    def test_a_scan_has_its_own_labels(self, table):
        scan = scan_parquet(table[1], Roles("s", features=FEATURES))
        with pytest.raises(ValueError, match="the roles of a scan name its labels"):
            NaiveClassifier().fit(scan, table[0]["s"])

    def test_classifiers_of_ones_own_need_memory(self, table):
        scan = scan_parquet(table[1], Roles("s", features=FEATURES))
        with pytest.raises(ValueError, match="needs rows in memory; got ParquetScan"):
            TwoModelsClassifier(outcome=LogisticRegression()).fit(scan)

    def test_the_bootstrap_and_tests_of_scar_need_memory(self, table, fitted):
        args, _ = given_rows(table, "parquet")
        with pytest.raises(ValueError, match="rows that are in memory; got ParquetScan"):
            infer(fitted, *args).prevalence(method="bootstrap")
        with pytest.raises(ValueError, match="rows that are in memory; got ParquetScan"):
            scar_test(args[0], None)

    def test_lazy_inputs_must_fit_together(self, table):
        frame, _ = table
        X = da.from_array(frame[FEATURES].to_numpy(), chunks=700)
        with pytest.raises(ValueError, match="y must have one value per row; got 2000 for 3000"):
            NaiveClassifier().fit(X, frame["s"][:2000].to_numpy())
        with pytest.raises(ValueError, match="a fit needs labels; got y=None"):
            NaiveClassifier().fit(X)
        model = NaiveClassifier().fit(X, frame["s"].to_numpy())
        with pytest.raises(ValueError, match="X has 2 features, but NaiveClassifier is expecting"):
            model.predict(X[:, :2])

    def test_features_of_workers_must_be_finite_numbers(self, table):
        frame, _ = table
        X = frame[FEATURES].to_numpy().copy()
        X[2500, 1] = np.nan
        with pytest.raises(ValueError, match="partition 3 has others"):
            NaiveClassifier().fit(da.from_array(X, chunks=(700, 3)), frame["s"].to_numpy())


def test_missing_extras_are_asked_for_in_one_sentence(tmp_path):
    code = (
        "import sys; sys.modules['pyarrow'] = None\n"
        "import doublelogit\n"
        "try: doublelogit.scan_parquet('x.parquet')\n"
        "except ImportError as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "Parquet needs pyarrow: pip install 'doublelogit[parquet]'\n"


@given(
    values=st.lists(
        st.tuples(st.floats(-1e300, 1e300) | st.sampled_from([0.0, -0.0, 1.0]), st.integers(0, 4)),
        min_size=1,
        max_size=80,
    ),
    q=st.floats(0, 1),
)
def test_quantiles_by_selection_are_those_by_sorting(values, q):
    column, weight = (np.array(v, dtype=float) for v in zip(*values, strict=True))
    if weight.sum() == 0:
        return
    rows = memory_rows(np.zeros((len(column), 1)), np.zeros(len(column)), block_rows=7)
    present = weight > 0
    wanted = quantile(column[present], weight[present], q)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(selection, "FEW_ROWS", 3)
        assert selection.quantile_over(rows, column, weight, q) == wanted


def test_a_worker_killed_in_mid_fit_costs_time_and_not_the_answer(table, two_workers):
    frame, folder = table
    with Client(two_workers) as client:
        scan = scan_parquet(folder, Roles("s", features=FEATURES), distributed=True)
        wanted = TwoModelsClassifier(tol=0, max_iter=6).fit(scan)
        pids = client.run(os.getpid)

        class Killing(TwoModelsClassifier):
            def _fit(self, problem, X):
                os.kill(next(iter(pids.values())), signal.SIGKILL)
                return super()._fit(problem, X)

        got = Killing(tol=0, max_iter=6).fit(scan)
        assert set(client.run(os.getpid).values()) != set(pids.values())
    # last digits may differ: a partition that moved lies at another address, and the vector units
    # take other elements together
    np.testing.assert_allclose(got.coef_, wanted.coef_, rtol=1e-12)
    in_memory = TwoModelsClassifier(tol=0, max_iter=6).fit(frame[FEATURES], frame["s"])
    np.testing.assert_allclose(got.coef_, in_memory.coef_, rtol=1e-8)
