"""Every write of model, report, table, store and cache fails once: old files or whole new ones.

`make -C benchmarks faults` injects every kind at every call and kills at every call; this is a part
of it.
"""

import itertools

import pytest
from fault_cases import CASES, count, inject, kill, race, storm
from fault_shim import KILLS, KINDS


@pytest.fixture
def folder(tmp_path):
    (folder := tmp_path / "folder").mkdir()
    return folder


@pytest.mark.parametrize("name", CASES)
def test_a_fault_at_any_call_leaves_old_or_whole_new_files(name, tmp_path):
    (scratch := tmp_path / "count").mkdir()
    calls, turns = count(name, scratch), itertools.cycle(KINDS)
    assert len(calls) >= 4
    for k, kind in zip(range(1, len(calls) + 1), turns, strict=False):
        (folder := tmp_path / f"{kind} {k}").mkdir()
        assert inject(name, kind, k, folder) is None, f"{kind} at {calls[k - 1]}, call {k}"


@pytest.mark.parametrize("kind", KINDS)
def test_every_fault_at_any_call_of_save_leaves_the_old_or_the_new_model(kind, tmp_path):
    (scratch := tmp_path / "count").mkdir()
    for k in range(1, len(count("model", scratch)) + 1):
        (folder := tmp_path / f"{k}").mkdir()
        assert inject("model", kind, k, folder) is None


@pytest.mark.parametrize(("name", "k"), [("model", 9), ("report", 12), ("store", 2), ("store", 13)])
@pytest.mark.parametrize("kind", KILLS)
def test_a_kill_leaves_old_or_whole_new_files_and_the_next_write_tidies_up(name, kind, k, folder):
    assert kill(name, kind, k, folder) is None


def test_threads_that_save_one_path_write_whole_models(folder):
    counts = race(folder, n_threads=8, n_saves=80)
    assert counts.pop("reads") > 0
    assert counts == {"saves": 80, "errors": 0, "corrupt": 0, "left behind": 0}


def test_interrupted_system_calls_are_taken_up_again(folder):
    counts = storm(folder, n_saves=20)
    assert counts.pop("signals") > 0
    assert counts == {"corrupt": 0, "left behind": 0}
