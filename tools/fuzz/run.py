"""Run targets for some cases: each in a process of its own, failures kept as files."""

import hashlib
import json
import multiprocessing
import shutil
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings

from tools.fuzz import configs, estimators, model_files, tables
from tools.fuzz.contract import Outcome, judge, watch
from tools.fuzz.targets import Target

TARGETS = {
    "model_files": model_files.TARGET,
    "tables": tables.TARGET,
    "samples": estimators.TARGET,
    "options": configs.TARGET,
}
CHUNK = 250  # cases of one process: what a crash or a leak can spoil


@dataclass
class Tally:
    """How often each kind of outcome came, and the files that failed."""

    kinds: Counter[str] = field(default_factory=Counter)
    failures: list[tuple[str, str]] = field(default_factory=list)

    @property
    def total(self) -> int:
        """Number of cases."""
        return self.kinds.total()


def run_chunk(
    target: Target,
    n: int,
    number: int,
    folder: Path,
    keep: Path | None = None,
    until: float = float("inf"),
) -> Tally:
    """Judge some cases of a seed, in this process."""
    tally = Tally()

    @seed(number)
    @settings(
        max_examples=n,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(target.cases())
    def one(case: tuple[str, bytes]) -> None:
        if time.time() > until:
            return
        path = folder / f"case{case[0]}"
        path.write_bytes(case[1])
        outcome = judge(target.check, path)
        tally.kinds[outcome.kind] += 1
        if outcome.failed:
            tally.failures.append((_kept(target.name, path, outcome, keep), outcome.detail))
        path.unlink(missing_ok=True)

    one()
    return tally


def _kept(name: str, path: Path, outcome: Outcome, keep: Path | None) -> str:
    """Keep the file of a failure, to be tried again by the tests."""
    digest = hashlib.sha256(path.read_bytes()).hexdigest()[:12]
    found = f"{name.replace(' ', '_')}-{digest}{path.name.removeprefix('case')}"
    if keep is not None:
        keep.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, keep / found)
    return f"{outcome.kind}: {found}"


def _work(name: str, n: int, number: int, folder: str, keep: str, until: float) -> None:
    watch()
    tally = run_chunk(TARGETS[name], n, number, Path(folder), Path(keep), until)
    answer = {"kinds": tally.kinds, "failures": tally.failures}
    (Path(folder) / "tally.json").write_text(json.dumps(answer))


def run(name: str, n: int, first: int, keep: Path, until: float) -> Tally:
    """Judge n cases of a target in processes of their own; one that dies has failed."""
    total, number = Tally(), first
    context: Any = multiprocessing.get_context("spawn")
    while total.total < n and time.time() < until:
        with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
            count = min(CHUNK, n - total.total)
            worker = context.Process(
                target=_work, args=(name, count, number, folder, str(keep), until)
            )
            worker.start()
            worker.join()
            _add(total, TARGETS[name], Path(folder), worker.exitcode, keep)
        number += 1
    return total


def _add(total: Tally, target: Target, folder: Path, code: int | None, keep: Path) -> None:
    answer = folder / "tally.json"
    if answer.exists():
        found = json.loads(answer.read_text())
        total.kinds.update(found["kinds"])
        total.failures += [tuple(failure) for failure in found["failures"]]
        return
    if not any(folder.glob("case*")):
        raise RuntimeError(f"the fuzzer of {target.name} itself has failed, see above")
    outcome = Outcome(f"process died ({code})", True)
    total.kinds[outcome.kind] += 1
    for path in folder.glob("case*"):
        total.failures.append((_kept(target.name, path, outcome, keep), ""))
