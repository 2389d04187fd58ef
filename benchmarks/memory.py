"""Peak resident memory and CPU time of commands on generated tables, beside their limits.

    python benchmarks/memory.py [--only COMMAND] [--folder DIR]

Every command runs in a process of its own, as a user starts it; memory is the largest resident set
that the system has seen. CPU seconds depend on the machine: beside them stands that of one logistic
regression of adult (newton-cholesky, one thread), as limits are for a core where it takes .06 s.
"""

import argparse
import csv
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

import doublelogit
from doublelogit.datasets import load_benchmark

OUT = Path(__file__).parent / "results" / "memory.csv"
FIELDS = ("command", "rows", "columns", "categories", "megabytes", "limit", "cpu_seconds")
# command, rows, columns, columns of texts among them, limit of megabytes
RUNS = (
    ("--help", 0, 0, 0, None),
    ("rank", 1000, 10, 2, None),
    ("check", 1000, 10, 2, None),
    ("report", 1000, 10, 2, None),
    ("rank", 100_000, 50, 0, 450),
    ("rank", 100_000, 50, 5, 450),
    ("report", 100_000, 50, 0, 600),
    ("fit", 400_000, 10, 0, 1000),
    ("fit", 400_000, 10, 3, 1000),
    ("fit", 1_000_000, 20, 0, 2000),
)
WATCH = """
import os, subprocess, sys
quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
_, status, used = os.wait4(subprocess.Popen(sys.argv[1:], **quiet).pid, 0)
print(used.ru_maxrss, used.ru_utime + used.ru_stime)
sys.exit(os.waitstatus_to_exitcode(status))
"""
OUTPUTS = {"rank": "list.csv", "report": "page.html", "fit": "model.dlm"}


def table(n, p, texts, path):
    """A table with an id, numbers of four decimals, texts of six levels and a biased label."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, p - texts)).round(4)
    frame = pd.DataFrame(X).rename(columns="x{}".format)
    a, b = X[:, 0] + 0.7 * X[:, 1] - 1.2, 0.8 * X[:, 2] + 0.2
    for j in range(texts):
        level = rng.integers(6, size=n)
        frame[f"c{j}"] = np.array([f"level {k}" for k in "abcdef"])[level]
        a = a + 0.3 * (level == 1)
    frame.insert(0, "id", [f"P{i:07d}" for i in range(n)])
    labelled = rng.random(n) < 1 / (1 + np.exp(-a)) / (1 + np.exp(-b))
    frame.assign(s=labelled.astype(int)).to_csv(path, index=False)


def measure(command, n, p, texts, folder):
    """Megabytes and CPU seconds of a command."""
    arguments = [command]
    if n:
        table(n, p, texts, folder / "t.csv")
        arguments += ["t.csv", "--label", "s", "--id", "id"]
        arguments += ["--out", OUTPUTS[command]] if command in OUTPUTS else []
    megabytes, seconds = used(arguments, folder)
    return round(megabytes), round(seconds, 2)


def used(arguments, folder):
    """Megabytes and CPU seconds of doublelogit with these arguments.

    It is started by a small process, since the system counts the memory of who has started it.
    """
    code = "from doublelogit.cli import app; app()"
    command = [sys.executable, "-c", WATCH, sys.executable, "-c", code, *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    kibibytes, seconds = map(float, done.stdout.split())
    return kibibytes * 1024 / 1e6, seconds


def yardstick():
    """CPU seconds of one logistic regression of 70% of adult, the smallest of five."""
    X, y = load_benchmark("adult", return_X_y=True)
    n, seconds = int(0.7 * len(y)), []
    model = LogisticRegression(C=1, tol=1e-6, solver="newton-cholesky")
    with threadpool_limits(1):
        for _ in range(5):
            start = time.process_time()
            model.fit(X[:n], y[:n])
            seconds.append(time.process_time() - start)
    return min(seconds)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", help="this command alone; nothing is written then")
    parser.add_argument("--folder", type=Path, default=None)
    asked = parser.parse_args()
    lines = []
    with tempfile.TemporaryDirectory(dir=asked.folder) as folder:
        for command, n, p, texts, limit in RUNS:
            if asked.only in (None, command):
                megabytes, seconds = measure(command, n, p, texts, Path(folder))
                lines.append((command, n, p, texts, megabytes, limit, seconds))
                print(*lines[-1], flush=True)
    lines.append(("logistic regression of adult", 22792, 57, 0, "", "", round(yardstick(), 3)))
    print(*lines[-1])
    if asked.only is None:
        with OUT.open("w", newline="") as file:
            file.write(
                f"# {platform.machine()}; Python {platform.python_version()}, "
                f"numpy {np.__version__}, pandas {pd.__version__}, "
                f"doublelogit {doublelogit.__version__}\n"
            )
            writer = csv.writer(file, lineterminator="\n")
            writer.writerows([FIELDS, *lines])


if __name__ == "__main__":
    main()
