"""Faults at every write: errors, full disks, interrupts and kills, and threads that save one path.

    python benchmarks/faults.py

Writes results/faults.csv: how often each was tried on what, and how often something else than the
old or the whole new file was there afterwards, or a temporary file was left.
"""

import sys
import tempfile
from pathlib import Path

import pandas as pd

ROOT = Path(__file__).parent.parent
RESULTS = Path(__file__).parent / "results" / "faults.csv"
sys.path.insert(0, str(ROOT / "tests"))


def study(scratch: Path) -> list[dict[str, object]]:
    from fault_cases import CASES, count, inject, kill
    from fault_shim import KILLS, KINDS

    lines = []
    for name in CASES:
        (folder := scratch / f"{name} count").mkdir()
        calls = count(name, folder)
        for kind in (*KINDS, *KILLS):
            attempt = kill if kind in KILLS else inject
            failures = []
            for k, call in enumerate(calls, start=1):
                (folder := scratch / f"{name} {kind} {k}").mkdir()
                said = attempt(name, kind, k, folder)
                failures += [f"{kind} at {call}: {said}"] if said else []
            print(f"{name:8} {kind:14} {len(calls):3} calls", *failures, sep="\n  ")
            lines.append(
                {"written": name, "fault": kind, "tried": len(calls), "failures": len(failures)}
            )
    return lines


def many(scratch: Path) -> list[dict[str, object]]:
    from fault_cases import race, storm

    for name in ("race", "storm"):
        (scratch / name).mkdir()
    savers, signals = race(scratch / "race", 8, 1000), storm(scratch / "storm", 1000)
    print(savers, signals, sep="\n")
    tried = {
        "saved by 8 threads": (1000, savers["errors"] + savers["left behind"]),
        "read while 8 threads save": (savers["reads"], savers["corrupt"]),
        "saved under a storm of signals": (1000, signals["corrupt"] + signals["left behind"]),
    }
    return [
        {"written": "model", "fault": fault, "tried": n, "failures": failures}
        for fault, (n, failures) in tried.items()
    ]


def main() -> None:
    with tempfile.TemporaryDirectory() as scratch:
        table = pd.DataFrame(study(Path(scratch)) + many(Path(scratch)))
    table.to_csv(RESULTS, index=False)
    failures = int(table["failures"].sum())
    print(f"{table['tried'].sum()} faults and readings, {failures} failures; {RESULTS}")
    sys.exit(failures > 0)


if __name__ == "__main__":
    main()
