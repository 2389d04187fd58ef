"""Data that break or change on the way: refused in one sentence, and the model stays as it was."""

import os
import pickle
import shutil
from copy import deepcopy

import dask
import dask.array as da
import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from distributed import Client, LocalCluster

from doublelogit import NaiveClassifier, Roles, TableError, read_table, scan_parquet
from doublelogit.engines.parquet_files import Stamp
from doublelogit.exceptions import ClusterLostError, FileChangedError

FLIPS = 60


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.standard_normal((2000, 3)), columns=["a", "b", "c"])
    return frame.assign(s=(frame["a"] + rng.standard_normal(2000) > 1).astype(int))


@pytest.fixture
def path(frame, tmp_path):
    return written(frame, tmp_path / "t.parquet")


def written(frame, path):
    """A file whose size does not depend on its numbers."""
    options = {"compression": "none", "use_dictionary": False, "write_page_checksum": True}
    frame.to_parquet(path, index=False, **options)
    return path


def flipped(path):
    """Copies of a file, a bit of its pages flipped in each."""
    content, rng = path.read_bytes(), np.random.default_rng(1)
    chunks = [pq.read_metadata(path).row_group(0).column(i) for i in range(3)]
    start = min(c.dictionary_page_offset or c.data_page_offset for c in chunks)
    size = sum(c.total_compressed_size for c in chunks)
    for at in rng.integers(start, start + size, FLIPS):
        broken = bytearray(content)
        broken[at] ^= 1 << int(rng.integers(8))
        path.write_bytes(broken)
        yield path


DOORS = {"read": read_table, "scanned": lambda path: scan_parquet(path).frame()}


@pytest.mark.parametrize("door", DOORS)
def test_a_bit_flipped_in_a_page_never_changes_a_number(door, path, frame):
    said = []
    for broken in flipped(path):
        try:
            pd.testing.assert_frame_equal(DOORS[door](broken), frame)
        except (OSError, TableError) as error:
            said.append(str(error))
    assert len(said) >= 0.9 * FLIPS  # other bits are of no account
    assert all("t.parquet" in text and "cannot be read" in text for text in said)


def replaced(path, frame):
    """Another file of as many rows and bytes, as old as the first."""
    before = path.stat()
    written(frame.assign(a=-frame["a"]), path.with_name("other.parquet")).replace(path)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    return before.st_size == path.stat().st_size


def rewritten(path, frame):
    """The same file with other content."""
    content = path.read_bytes()
    shutil.copyfile(written(frame.assign(a=-frame["a"]), path.with_name("other.parquet")), path)
    return content != path.read_bytes()


@pytest.mark.parametrize("change", [replaced, rewritten])
def test_a_file_replaced_in_mid_fit_by_one_of_as_many_rows_is_refused(change, path, frame):
    class Changing(NaiveClassifier):
        def _fit(self, problem, X):
            assert change(path, frame)
            return super()._fit(problem, X)

    model = NaiveClassifier().fit(frame[["b"]], frame["s"])
    before, model.__class__ = dict(vars(model)), Changing
    with pytest.raises(FileChangedError, match=r"t\.parquet was changed or replaced since"):
        model.fit(scan_parquet(path, Roles("s")))
    assert vars(model) == before


def test_a_file_replaced_while_it_is_read_is_refused(path, frame):
    batches = scan_parquet(path).files.batches(["a"], 500)
    next(batches)
    assert replaced(path, frame)
    with pytest.raises(FileChangedError):
        list(batches)


def test_a_worker_refuses_a_file_that_was_replaced_since_the_scan_saw_it(path, frame):
    files = scan_parquet(path).files
    (piece,) = files.pieces()
    files = pickle.loads(pickle.dumps(files))
    assert sum(batch.num_rows for _, batch in files.batches(["a"], 500, piece)) == 2000
    assert replaced(path, frame)
    with pytest.raises(FileChangedError):
        list(pickle.loads(pickle.dumps(files)).batches(["a"], 500, piece))


def test_copies_of_a_file_on_two_machines_need_only_be_of_one_size():
    here = Stamp(10, 1, 2, "here")
    assert not here.differs(Stamp(10, 5, 6, "there"))
    assert here.differs(Stamp(11, 1, 2, "there"))
    assert here.differs(Stamp(10, 1, 3, "here"))


LOST = {
    "scheduler": lambda cluster, client: cluster.sync(cluster.scheduler.close),
    "cluster": lambda cluster, client: cluster.close(),
    "client": lambda cluster, client: client.close(),
}


@pytest.fixture
def small_cluster():
    """A cluster in this process, at any free port; whoever loses it must not wait for it."""
    before = deepcopy(dask.config.config)
    options = {"processes": False, "dashboard_address": ":0", "protocol": "inproc://"}
    quick = {f"distributed.comm.timeouts.{name}": "500ms" for name in ("connect", "tcp")}
    cluster = LocalCluster(n_workers=1, threads_per_worker=1, **options)
    client = Client(cluster, timeout=5)  # also how long it waits for a scheduler to come back
    with dask.config.set(quick):
        yield cluster, client
        client.close(timeout=1)
        cluster.close(timeout=1)
    # a client that lost its scheduler leaves its settings behind
    dask.config.config.clear()
    dask.config.config.update(before)


@pytest.mark.parametrize("what", LOST)
@pytest.mark.filterwarnings("ignore")  # Dask's own, of what was closed before its time
def test_a_cluster_lost_in_mid_fit_is_one_sentence_and_the_model_stays(what, frame, small_cluster):
    class Losing(NaiveClassifier):
        def _fit(self, problem, X):
            LOST[what](*small_cluster)
            return super()._fit(problem, X)

    model = NaiveClassifier().fit(frame[["b"]], frame["s"])
    before, model.__class__ = dict(vars(model)), Losing
    X = da.from_array(frame[["a", "b", "c"]].to_numpy(), chunks=(500, 3))
    s = da.from_array(frame["s"].to_numpy(), chunks=500)
    with pytest.raises(ClusterLostError, match=r"were lost .* the model is as it was before"):
        model.fit(X, s)
    assert vars(model) == before


def test_errors_of_the_work_itself_pass_through(frame, small_cluster):
    X = da.from_array(frame[["a"]].to_numpy(), chunks=(500, 1))
    spoilt, s = da.where(X > 2, np.nan, X), da.from_array(frame["s"].to_numpy(), chunks=500)
    with pytest.raises(ValueError, match="features must be finite numbers; partition"):
        NaiveClassifier().fit(spoilt, s)
