"""Plans, runs and the store: the same numbers however they were run, nothing lost when killed."""

import errno
import json
import shutil
import time
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from plans import SMALL_PLAN, run_quick

from doublelogit.studies.experiments import Store, load_plan, run
from doublelogit.studies.experiments.run import pending
from doublelogit.studies.experiments.store import KEY, StoreWarning

ROOT = Path(__file__).parent.parent
PLAN = ROOT / "papers" / "ecai2023" / "plan.toml"

SMALL = (
    SMALL_PLAN
    + """
[repetitions]
quick = 8
[[methods]]
name = "TM"
estimator = "doublelogit:TwoModelsClassifier"
options = { tol = 0.0, max_iter = 5 }
"""
)


@pytest.fixture
def plan(tmp_path):
    path = tmp_path / "plan.toml"
    path.write_text(SMALL)
    return load_plan(path)


def numbers(store):
    """The table of results as bytes, times excluded."""
    return store.frame().drop(columns="seconds").to_csv(index=False)


@pytest.fixture(scope="module")
def run_once(tmp_path_factory):
    """The directory of a store in which the plan was run."""
    folder = tmp_path_factory.mktemp("once")
    (folder / "plan.toml").write_text(SMALL)
    store = Store(folder / "complete")
    run(load_plan(folder / "plan.toml"), "quick", store)
    return store.directory


@pytest.fixture
def complete(run_once, tmp_path):
    """A copy of that store, which a test may damage."""
    return Store(shutil.copytree(run_once, tmp_path / "complete"))


def test_a_run_has_one_row_per_cell(plan, complete):
    frame = complete.frame()
    assert len(frame) == 2 * 3 * 8 * 3
    assert (frame["status"] == "ok").all()
    assert frame["accuracy"].between(0.2, 1).all()
    assert not pending(plan, "quick", complete)
    oracle = frame[(frame["method"] == "ORACLE") & (frame["dataset"] == "heart-c")]
    assert (oracle["approximation_error"] < 1e-15).all()


def test_two_workers_give_the_same_numbers(plan, complete, tmp_path):
    store = Store(tmp_path / "two")
    run(plan, "quick", store, jobs=2)
    assert numbers(store) == numbers(complete)


def test_a_dask_cluster_gives_the_same_numbers(plan, complete, tmp_path):
    distributed = pytest.importorskip("distributed")
    store = Store(tmp_path / "dask")
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=2, dashboard_address=":0"
    ) as cluster:
        run(plan, "quick", store, dask=cluster.scheduler_address)
    assert numbers(store) == numbers(complete)


def test_a_subset_gives_the_same_numbers_as_the_whole(plan, complete, tmp_path):
    store = Store(tmp_path / "part")
    run(plan, "quick", store, datasets=["Artif1"], repetitions=2)
    part, whole = store.frame(), complete.frame()
    whole = whole[(whole["dataset"] == "Artif1") & (whole["repetition"] < 2)]
    pd.testing.assert_frame_equal(
        part.drop(columns="seconds"), whole.drop(columns="seconds").reset_index(drop=True)
    )


def test_killed_ten_times_and_resumed_it_gives_the_same_bytes(plan, complete, tmp_path):
    plan_path, directory = tmp_path / "plan.toml", tmp_path / "killed"
    forks = get_context("forkserver")  # which has imported everything before it is asked
    forks.set_forkserver_preload(
        ["doublelogit.studies.experiments", "doublelogit.estimators.naive"]
    )
    rng = np.random.default_rng(0)
    interrupted = 0
    for _ in range(10):
        before = len(Store(directory).frame())
        process = forks.Process(target=run_quick, args=(plan_path, directory))
        process.start()
        while process.is_alive() and len(Store(directory).frame()) == before:
            time.sleep(0.01)
        time.sleep(rng.uniform(0, 0.05))
        process.kill()  # SIGKILL: no chance to clean up
        process.join()
        interrupted += process.exitcode != 0
    assert interrupted >= 5
    run_quick(plan_path, directory)
    assert not pending(plan, "quick", Store(directory))
    assert numbers(Store(directory)) == numbers(complete)


class Overtaken(Store):
    """A store that another process compacts between listing its segments and reading them."""

    def _segments(self):
        listed = super()._segments()
        Store(self.directory).compact()
        return listed


def test_segments_compacted_while_they_are_read_are_neither_missed_nor_an_error(tmp_path):
    store = Store(tmp_path / "busy")
    row = dict.fromkeys(KEY, 0) | {"accuracy": 0.5}
    store.append([row, row | {"repetition": 1}])
    assert len(Overtaken(store.directory).frame()) == 2
    Store(store.directory).append([row | {"repetition": 2}])
    assert len(Overtaken(store.directory).frame()) == 3


def test_a_line_cut_short_is_dropped_and_its_cell_run_again(plan, complete, tmp_path):
    store = Store(tmp_path / "cut")
    rows = complete.frame().to_dict("records")
    store.append(rows[:-1])
    segment = next(store.directory.glob("segment-*"))
    with segment.open("a") as file:
        file.write(json.dumps(rows[-1])[:40])
    again = Store(store.directory)
    assert len(again.frame()) == len(rows) - 1
    run(plan, "quick", again)
    assert numbers(again) == numbers(complete)


def flipped(content):
    """A digit changed in a line in the middle."""
    at = content.index(b'"accuracy": 0.', len(content) // 2) + len(b'"accuracy": 0.')
    return content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :]


DAMAGE = {
    "a bit flipped": flipped,
    "zeros in the middle": lambda content: content[:300] + b"\0" * 200 + content[500:],
    "a line of another kind": lambda content: b'{"a": 1}\n' + content,
    "no text at all": lambda content: bytes(range(256)) * 4 + b"\n" + content,
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_segment_is_named_set_aside_and_run_again(damage, plan, complete, tmp_path):
    store = Store(tmp_path / "damaged")
    rows = complete.frame().to_dict("records")
    store.append(rows[:5])
    sound = Store(store.directory)
    sound.append(rows[5:])
    segment = min(store.directory.glob("segment-*"))
    segment.write_bytes(content := DAMAGE[damage](segment.read_bytes()))
    with pytest.warns(StoreWarning, match=rf"{segment.name} is damaged .* set aside as"):
        kept = Store(store.directory).frame()
    assert len(kept) == len(rows) - 5
    assert segment.with_name(f"{segment.name}.corrupt").read_bytes() == content
    run(plan, "quick", store)
    assert numbers(store) == numbers(complete)


def test_a_damaged_table_of_results_is_named_set_aside_and_run_again(plan, complete):
    wanted, content = numbers(complete), bytearray(complete.table.read_bytes())
    column = pq.read_metadata(complete.table).row_group(0).column(0)
    start = column.dictionary_page_offset or column.data_page_offset
    content[start + column.total_compressed_size - 1] ^= 1  # the end of a page
    complete.table.write_bytes(content)
    with pytest.warns(StoreWarning, match=r"results\.parquet is damaged .*CRC"):
        run(plan, "quick", complete)
    assert numbers(complete) == wanted
    assert complete.table.with_name("results.parquet.corrupt").read_bytes() == content


def test_a_file_that_the_system_cannot_read_is_not_set_aside(complete, monkeypatch):
    def fails(*args, **options):
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(pd, "read_parquet", fails)
    with pytest.raises(OSError, match="Input/output"):
        complete.frame()
    assert complete.table.exists()


def test_segments_of_older_releases_are_read(complete, tmp_path):
    store = Store(tmp_path / "old")
    rows = complete.frame().to_dict("records")
    segment = store.directory / "segment-00000000000000000000-0.jsonl"
    segment.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert numbers(store) == numbers(complete)


def test_compacting_leaves_one_file_and_all_rows(complete):
    before = numbers(complete)
    complete.append([complete.frame().to_dict("records")[0]])  # a duplicate
    complete.compact()
    assert [path.name for path in complete.directory.iterdir()] == ["results.parquet"]
    assert numbers(complete) == before


def test_a_failing_cell_is_stored_with_its_reason_and_stops_nothing(tmp_path):
    path = tmp_path / "plan.toml"
    path.write_text(
        SMALL.replace("tol = 0.0, max_iter = 5", "tol = -1.0")
        .replace("quick = 8", "quick = 1")
        .replace("values = [0.3, 0.5, 0.9]", "values = [0.5]")
    )
    store = Store(tmp_path / "failing")
    run(load_plan(path), "quick", store)
    frame = store.frame()
    failed = frame[frame["method"] == "TM"]
    assert (failed["status"] == "failed").all()
    assert failed["reason"].str.contains("'tol' parameter").all()
    assert (frame[frame["method"] != "TM"]["status"] == "ok").all()


def test_progress_is_told_after_every_draw(plan, tmp_path):
    seen = []
    run(
        plan,
        "quick",
        Store(tmp_path / "seen"),
        datasets=["Artif1"],
        progress=lambda done, total, rows: seen.append((done, total, len(rows))),
    )
    assert seen == [(k, 24, 3) for k in range(1, 25)]


def test_the_plan_of_the_paper_has_its_data_sets_scenarios_and_methods():
    plan = load_plan(PLAN)
    for mode in ("as_published", "as_written"):
        draws = plan.draws(mode, repetitions=1)
        assert len({draw.dataset.name for draw in draws}) == 10
        assert len(draws) == 10 * (19 + 10 + 1)
        assert len({draw.key for draw in draws}) == len(draws)
        assert len(plan.peers(mode)) == 7


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('name = "small"', "", "must have the entry 'name'"),
        ("seeded = true", "sown = true", "a DataSet of the plan is wrong: .*sown"),
        (
            "doublelogit.labelling:Scar",
            "nowhere:Scar",
            "must be module:attribute; got 'nowhere:Scar'",
        ),
    ],
)
def test_mistakes_in_a_plan_are_named(tmp_path, old, new, message):
    path = tmp_path / "plan.toml"
    path.write_text(SMALL.replace(old, new))
    with pytest.raises(ValueError, match=message):
        run(load_plan(path), "quick", Store(tmp_path / "store"))


def test_unknown_modes_and_data_sets_are_named(plan):
    with pytest.raises(ValueError, match="mode must be among quick of the plan small; got slow"):
        plan.draws("slow")
    with pytest.raises(ValueError, match=r"datasets must be among heart-c, Artif1 .*; got iris"):
        plan.draws("quick", ["iris"])
