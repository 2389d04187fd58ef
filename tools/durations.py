"""Write ``tests/durations.csv``: how long each test takes, from the report of one run.

    options="-n 2 --dist loadfile --no-loadscope-reorder --junitxml=junit.xml"
    time python -m pytest $options -m "not slow" tests src
    python -m tools.durations junit.xml USER+SYS-SECONDS

Seconds of setup, call and teardown of all parameters of a test function are summed; a fixture
counts for whoever asked for it first. The slowest come first.
"""

import csv
import re
import sys
from collections import defaultdict
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).parent.parent
CSV = ROOT / "tests" / "durations.csv"


def node(classname: str, name: str) -> str:
    """Node id of a test function, given its names in a report of JUnit."""
    file, *inside = re.split(r"\.(?=[A-Z])", classname)
    return "::".join([file.replace(".", "/") + ".py", *inside, name.split("[")[0]])


def summed(report: Path) -> dict[str, tuple[float, int]]:
    """Seconds and number of cases of each test function, the slowest first."""
    cases = defaultdict(list)
    for case in ElementTree.parse(report).iter("testcase"):
        cases[node(case.attrib["classname"], case.attrib["name"])].append(
            float(case.attrib["time"])
        )
    rows = {name: (sum(times), len(times)) for name, times in cases.items()}
    return dict(sorted(rows.items(), key=lambda row: (-row[1][0], row[0])))


def main(report: str, cpu: str) -> None:
    rows = summed(Path(report))
    with CSV.open("w", newline="") as out:
        cases, wall = sum(n for _, n in rows.values()), sum(seconds for seconds, _ in rows.values())
        out.write(f"# {cases} tests, {wall:.0f} seconds one after the other; the run took {cpu} ")
        out.write("CPU seconds (user and sys) in two processes\n")
        table = csv.writer(out, lineterminator="\n")
        table.writerow(["test", "seconds", "cases"])
        table.writerows([name, f"{seconds:.2f}", n] for name, (seconds, n) in rows.items())


if __name__ == "__main__":
    main(*sys.argv[1:])
