"""A short run of every fuzzer with fixed seeds; `make -C benchmarks fuzz` runs them for longer."""

import pytest

from tools.fuzz.contract import judge
from tools.fuzz.run import TARGETS, run_chunk

CASES = {"model_files": 30, "tables": 15, "samples": 15, "options": 10}


@pytest.mark.parametrize("name", TARGETS)
def test_altered_input_gets_an_answer_or_a_sentence(name, tmp_path):
    tally = run_chunk(TARGETS[name], CASES[name], 7, tmp_path)
    assert tally.failures == []
    assert tally.total >= CASES[name] // 2
    assert len(tally.kinds) > 1


CHECKS = {
    "foreign": (lambda path: {}["x"], "foreign KeyError"),
    "hanging": (lambda path: [None for _ in iter(int, 1)], "hangs"),
    "without a sentence": (lambda path: int("x" * 0 or "?"), "foreign ValueError"),
}


@pytest.mark.parametrize(("check", "kind"), CHECKS.values(), ids=CHECKS)
def test_the_contract_notices_what_is_broken(check, kind, tmp_path):
    outcome = judge(check, tmp_path, seconds=0.2)
    assert outcome.failed
    assert outcome.kind.startswith(kind)
