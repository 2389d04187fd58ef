"""Fuzz: python -m tools.fuzz [--minutes M] [--seed S] [--only tables] [--out results.csv]."""

import argparse
import csv
import time
from pathlib import Path

from tools.fuzz.run import TARGETS, Tally, run

CASES = {"model_files": 6000, "tables": 6000, "samples": 3500, "options": 2000}
FOUND = Path(__file__).parents[2] / "tests" / "hostile" / "found"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=60.0, help="no longer than this")
    parser.add_argument("--seed", type=int, default=1, help="of the first process; then one more")
    parser.add_argument("--cases", type=int, help="of each target, instead of what is usual")
    parser.add_argument("--only", choices=sorted(TARGETS), nargs="+", default=list(TARGETS))
    parser.add_argument("--found", type=Path, default=FOUND, help="where failures are kept")
    parser.add_argument("--out", type=Path, help="CSV of counts by kind")
    given = parser.parse_args()
    until = time.time() + 60 * given.minutes
    lines: list[tuple[str, int, str, int]] = []
    failed = 0
    for name in given.only:
        start = time.time()
        tally = run(name, given.cases or CASES[name], given.seed, given.found, until)
        _show(name, tally, given.seed, time.time() - start)
        failed += len(tally.failures)
        lines += [(name, given.seed, kind, n) for kind, n in tally.kinds.most_common()]
    if given.out is not None:
        with given.out.open("w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(
                [("target", "seed", "outcome", "cases"), *lines]
            )
    raise SystemExit(1 if failed else 0)


def _show(name: str, tally: Tally, seed: int, seconds: float) -> None:
    failures = len(tally.failures)
    print(f"\n{name}: {tally.total} cases from seed {seed}, {failures} failures, {seconds:.0f} s")
    for kind, n in tally.kinds.most_common(25):
        print(f"  {n:6d}  {kind}")
    for found, detail in tally.failures[:40]:
        print(f"  FAILED {found} {detail[:200]}")


if __name__ == "__main__":
    main()
