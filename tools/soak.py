"""Random commands on random tables for a long time: python tools/soak.py [--minutes 60].

One process lives throughout and runs commands by the library; now and then a command is run in a
process of its own, or one is interrupted. At the end memory must be flat, no file may be left that
no command was asked for, no temporary file, and no child process.
"""

import argparse
import csv
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from typer.testing import CliRunner

METHODS = ("joint", "em", "averaged", "naive", "tm-simple")
MEMORY = 1.10  # the last third of a soak may take so much more than the second, at the median
EXPECTED = {0, 2, 3, 6, 130}  # done, wrong option, table that does not fit, problem found, stopped
SLOW = 0.06  # share of commands that are run in a process of their own
ENDINGS = (".csv", ".parquet", ".xlsx", ".dta")


def table(rng: random.Random, folder: Path) -> Path:
    """A table of random size and kind; now and then one that does not fit."""
    numbers = np.random.default_rng(rng.getrandbits(32))
    n, p = rng.randint(40, 400), rng.randint(1, 5)
    X = numbers.standard_normal((n, p)) * 10.0 ** rng.randint(-3, 3)
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(p)])
    frame["place"] = numbers.choice(["a", "b", "c"], n)
    frame["id"] = [f"{i:06d}" for i in range(n)]
    y = X[:, 0] / X[:, 0].std() + numbers.standard_normal(n) > 0
    frame["label"] = (y & (numbers.random(n) < 0.6)).astype(int)
    if rng.random() < 0.1:
        frame["label"] = rng.choice([1, 0, "maybe"])
    path = folder / f"table{rng.choice(ENDINGS)}"
    {
        ".csv": lambda: frame.to_csv(path, index=False),
        ".parquet": lambda: frame.to_parquet(path, index=False),
        ".xlsx": lambda: frame.to_excel(path, index=False),
        ".dta": lambda: frame.to_stata(path, write_index=False, version=118),
    }[path.suffix]()
    return path


def command(rng: random.Random, path: Path, folder: Path) -> list[str]:
    """A command on the table, and where it writes to."""
    roles = ["--label", "label", "--id", "id"]
    method = ["--method", rng.choice(METHODS)]
    model = folder / "model.dlm"
    choices = [
        ["fit", str(path), *roles, *method, "--out", str(model)],
        ["rank", str(path), *roles, *method, "--out", str(folder / "list.csv")],
        ["check", str(path), *roles, "--resamples", "19"],
        ["rank", str(path), *roles, *method, "--json"],
        ["fit", str(path), *roles, "--out", str(path)],  # never onto its input
        ["rank", str(path), "--label", "nobody"],
    ]
    if model.exists():
        choices += 2 * [["predict", str(model), str(path), "--out", str(folder / "p.csv")]]
    if rng.random() < 0.05:
        page = str(folder / "page.html")
        return ["report", str(path), *roles, "--resamples", "19", "--out", page]
    return rng.choice(choices)


def in_process(runner: CliRunner, arguments: list[str]) -> int:
    from doublelogit.cli import app

    return runner.invoke(app, arguments).exit_code


def apart(rng: random.Random, arguments: list[str]) -> int:
    """The command in a process of its own, which is interrupted half of the time."""
    start = "import sys; from doublelogit.cli import app; app(sys.argv[1:])"
    process = subprocess.Popen(
        [sys.executable, "-c", start, *arguments],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    if rng.random() < 0.5:
        time.sleep(rng.uniform(1.0, 4.0))
        process.send_signal(signal.SIGINT)
    code = process.wait()
    return 130 if code == -signal.SIGINT else code  # stopped before there was a command


def memory() -> float:
    """Resident memory of this process in MiB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def children() -> list[int]:
    """Processes whose parent this is, zombies among them."""
    listed = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    return [int(number) for number in listed]


def soak(minutes: float, seed: int) -> dict[str, Any]:
    """Run commands until the time is over; what was counted and measured."""
    rng, runner = random.Random(seed), CliRunner()
    codes: Counter[int] = Counter()
    sizes: list[float] = []
    strange: list[str] = []
    with tempfile.TemporaryDirectory(prefix="soak-") as home:
        folder, scratch = Path(home) / "work", Path(home) / "tmp"
        folder.mkdir()
        scratch.mkdir()
        tempfile.tempdir = os.environ["TMPDIR"] = str(scratch)
        os.chdir(folder)
        until = time.time() + 60 * minutes
        while time.time() < until:
            path = table(rng, folder)
            before = path.read_bytes()
            arguments = command(rng, path, folder)
            code = apart(rng, arguments) if rng.random() < SLOW else in_process(runner, arguments)
            codes[code] += 1
            if code not in EXPECTED or path.read_bytes() != before:
                strange.append(f"{code}: {' '.join(arguments)}")
            path.unlink()
            sizes.append(memory())
        asked = {"model.dlm", "list.csv", "p.csv", "page.html", "page.json"}
        left = sorted({found.name for found in folder.iterdir()} - asked)
        left += sorted(f"tmp/{found.name}" for found in scratch.iterdir())
        os.chdir("/")
        tempfile.tempdir = None
        del os.environ["TMPDIR"]
    return {"codes": codes, "sizes": sizes, "strange": strange, "left": left, "alive": children()}


def summary(found: dict[str, Any], minutes: float, seed: int) -> list[tuple[str, Any]]:
    """Figures of a soak, one per line."""
    sizes = np.array(found["sizes"])
    thirds = [float(np.median(part)) for part in np.array_split(sizes, 3)]
    later = sizes[len(sizes) // 3 :]  # by then everything is imported
    hours = np.linspace(0, minutes / 90, len(later))
    slope = np.polyfit(hours, later, 1)[0] if len(later) > 1 else 0.0
    return [
        ("minutes", minutes),
        ("seed", seed),
        ("commands", len(sizes)),
        *((f"exit {code}", n) for code, n in sorted(found["codes"].items())),
        ("unexpected", len(found["strange"])),
        *((f"MiB, third {i} (median)", round(size, 1)) for i, size in enumerate(thirds, 1)),
        ("MiB per hour (least squares)", round(float(slope), 1)),
        ("files left", len(found["left"])),
        ("processes left", len(found["alive"])),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, help="CSV of the figures")
    given = parser.parse_args()
    out = given.out and given.out.resolve()
    found = soak(given.minutes, given.seed)
    lines = summary(found, given.minutes, given.seed)
    for name, value in lines:
        print(f"{name:30} {value}")
    for text in (*found["strange"][:20], *found["left"][:20]):
        print("  ", text)
    if out:
        with out.open("w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([("figure", "value"), *lines])
    figures = dict(lines)
    growth = figures["MiB, third 3 (median)"] / figures["MiB, third 2 (median)"]
    bad = figures["unexpected"] or figures["files left"] or figures["processes left"]
    raise SystemExit(1 if bad or growth > MEMORY else 0)


if __name__ == "__main__":
    main()
