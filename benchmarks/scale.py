"""Time and memory against the number of rows, for every engine, and beside other packages.

    python benchmarks/scale.py [--rows N] [--folder DIR] [--peers PYTHON] [--repeats N]

Every measurement runs in a process of its own and is added to results/scale.csv when it is done;
what is there already is not run again, so that a run may be stopped and taken up. Then the
ratios are printed and results/scale.svg is drawn, with a copy in docs.
"""

import argparse
import csv
import json
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import sklearn
from scale_cells import ENGINES, MODELS, arrays, files
from threadpoolctl import threadpool_info

import doublelogit

HERE = Path(__file__).parent
OUT = HERE / "results" / "scale.csv"
KEY = ("cell", "n", "engine", "model")
FIELDS = (*KEY, "measure", "value")
SIZES = (10_000, 100_000, 1_000_000, 10_000_000)
LONG = ("JOINT", "TM, five rounds")  # fitted by every engine
PEERS = ("pulearn", "pu-toolbox", "pysarpu")
LONGEST = 3600  # seconds of one measurement
PEER_ROWS = 100_000  # beyond, some of them take hours


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=SIZES[-1], help="largest number of rows")
    parser.add_argument("--folder", default=str(HERE.parent / "build" / "scale"))
    parser.add_argument("--peers", help="a Python that has the other packages")
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    results = read()
    for cell in cells(options):
        key = tuple(str(cell.get(name, "")) for name in KEY)
        if key in results:
            continue
        print("measuring", *filter(None, key), flush=True)
        results[key] = run(cell, options)
        write(results)
    report(results)
    draw(results)


def cells(options: Any) -> Iterator[dict[str, Any]]:
    sizes = [n for n in SIZES if n <= options.rows]
    # times first: they want a machine with nothing else to do, the others' memory does not care
    yield from ({"cell": "passes", "n": n, "repeats": options.repeats} for n in sizes)
    for n in sizes:
        for engine in ENGINES:
            yield from ({"cell": "fit", "n": n, "engine": engine, "model": m} for m in LONG)
    for n in (n for n in sizes if n <= PEER_ROWS):
        yield from ({"cell": "accuracy", "n": n, "model": model} for model in MODELS)
        if options.peers:
            yield from ({"cell": "peer", "n": n, "model": name} for name in PEERS)
    yield from ({"cell": "text", "model": model} for model in ("NAIVE", "TM", "JOINT"))


def run(cell: dict[str, Any], options: Any) -> dict[str, Any]:
    if cell["cell"] == "peer":
        return run_peer(cell, options)
    named = {k: v for k, v in cell.items() if v != ""}
    if cell["cell"] != "text":
        named["folder"] = options.folder
    return answer([sys.executable, HERE / "scale_cells.py", json.dumps(named)])


def run_peer(cell: dict[str, Any], options: Any) -> dict[str, Any]:
    X, s = arrays(files(options.folder, cell["n"]), "s")
    X_new, y_new = arrays(files(options.folder, 100_000), "y")
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data.npz"
        np.savez(data, X=X, s=s, X_new=X_new, y_new=y_new)
        return answer([options.peers, HERE / "peers.py", data, cell["model"]])


def answer(command: list[Any]) -> dict[str, Any]:
    """What a process prints last, or why it failed."""
    words = [str(part) for part in command]
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=LONGEST)
    except subprocess.TimeoutExpired:
        return {"failed": f"took more than {LONGEST} seconds"}
    if done.returncode:
        return {"failed": done.stderr.strip().splitlines()[-1]}
    return json.loads(done.stdout.splitlines()[-1])


Results = dict[tuple[str, ...], dict[str, Any]]


def read() -> Results:
    results: Results = {}
    if OUT.exists():
        lines = [line for line in OUT.read_text().splitlines() if not line.startswith("#")]
        for row in csv.DictReader(lines):
            key = tuple(row[name] for name in KEY)
            results.setdefault(key, {})[row["measure"]] = number(row["value"])
    return results


def number(value: str) -> Any:
    try:
        return float(value)
    except ValueError:
        return value


def write(results: Results) -> None:
    OUT.parent.mkdir(exist_ok=True)
    temporary = OUT.with_suffix(".part")
    with temporary.open("w", newline="") as file:
        file.writelines(f"# {fact}\n" for fact in machine())
        table = csv.writer(file)
        table.writerow(FIELDS)
        for key, measures in results.items():
            for name, value in measures.items():
                shown = f"{value:.6g}" if isinstance(value, float) else value
                table.writerow([*key, name, shown])
    temporary.replace(OUT)


def machine() -> list[str]:
    blas = {f"{lib['internal_api']} {lib['version']}" for lib in threadpool_info()}
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return [
        f"{platform.machine()}, {os.cpu_count()} cores, {memory:.0f} GiB, load when last written "
        f"{os.getloadavg()[0]:.1f}",
        f"Python {platform.python_version()}, numpy {np.__version__}, pyarrow "
        f"{pyarrow.__version__}, scikit-learn {sklearn.__version__}, doublelogit "
        f"{doublelogit.__version__}; {', '.join(sorted(blas))}",
        "50 single-precision features; passes in seconds, peak_mb of the largest process",
    ]


def report(results: Results) -> None:
    print("\n".join(f"# {fact}" for fact in machine()))
    for (cell, n, engine, model), found in results.items():
        if "failed" in found:
            print(f"{cell} {n} {engine}{model}: {found['failed']}")
        elif cell == "passes":
            print(f"passes over {int(n):,} rows, as ratios to memory (parquet: + decoding)")
            for what in ("value_grad", "value_grad_hess"):
                base = found[f"memory: {what}"]
                for name in ENGINES:
                    whole = base + (found["decoding"] if name == "parquet" else 0.0)
                    print(f"  {what:8}{name:20}{found[f'{name}: {what}'] / whole:8.2f}")
        else:
            shown = ", ".join(f"{name} {value}" for name, value in found.items())
            print(f"{cell} {n} {engine} {model}: {shown}")
    for engine in ENGINES:
        print(f"seconds grow as n^{exponent(results, engine):.2f} from 1e5 rows on, {engine}")


def exponent(results: Results, engine: str) -> float:
    points = [
        (float(key[1]), found[f"{engine}: first"] + found[f"{engine}: second"])
        for key, found in results.items()
        if key[0] == "passes" and float(key[1]) >= 1e5 and "failed" not in found
    ]
    if len(points) < 2:
        return float("nan")
    n, seconds = np.log(np.array(points)).T
    return float(np.polyfit(n, seconds, 1)[0])


def draw(results: Results) -> None:
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "doublelogit"
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.5), layout="constrained")
    fits = {k: v for k, v in results.items() if k[0] == "fit" and "seconds" in v}
    for engine in ENGINES:
        for model, style in zip(LONG, ("-o", "--s"), strict=True):
            chosen = [(int(k[1]), v) for k, v in fits.items() if k[2:] == (engine, model)]
            n = [size for size, _ in sorted(chosen, key=lambda pair: pair[0])]
            found = [v for _, v in sorted(chosen, key=lambda pair: pair[0])]
            colour = f"C{list(ENGINES).index(engine)}"
            label = f"{engine}, {model}"
            left.plot(n, [v["seconds"] for v in found], style, color=colour, label=label)
            right.plot(n, [v["peak_mb"] for v in found], style, color=colour)
    left.set(xscale="log", yscale="log", xlabel="rows", ylabel="seconds of a fit")
    right.set(xscale="log", yscale="log", xlabel="rows", ylabel="peak memory, MiB")
    right.set_yticks([250, 500, 1000, 2000, 4000], ["250", "500", "1000", "2000", "4000"])
    right.minorticks_off()
    right.axhline(1536, color="grey", lw=0.8)
    right.annotate(
        "1.5 GiB", (right.get_xlim()[0], 1536), xytext=(4, 3), textcoords="offset points"
    )
    figure.legend(loc="outside lower center", ncols=4, fontsize=7, frameon=False)
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
    for path in (OUT.with_suffix(".svg"), HERE.parent / "docs" / "scale.svg"):
        figure.savefig(path, metadata={"Date": None})


if __name__ == "__main__":
    main()
