"""What is written while faults are injected: model, report, table, store and cache."""

import signal
import threading
import warnings
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir

import numpy as np
import pandas as pd
from fault_shim import Shim

from doublelogit import NaiveClassifier, Report, Roles, scan_parquet
from doublelogit.engines import column_buffer
from doublelogit.report.opinions import silent
from doublelogit.studies.experiments.store import KEY, Store
from doublelogit.tables.write import write_table


class Case:
    """Something that is written in a directory where an older one of its kind is."""

    files = ()  # names of what it may leave there

    def prepare(self, folder):
        """Write the old one."""
        self.write(folder, 1)

    def write(self, folder, version):
        raise NotImplementedError

    def state(self, folder):
        """What is there now, as bytes by name."""
        return {name: (folder / name).read_bytes() for name in self.files}

    def wrong(self, folder, old, new, failed_at, raised):
        """What must not be, in words; None if all is well."""
        found = self.state(folder)
        halves = [name for name in found if found[name] not in (old[name], new[name])]
        if halves:
            return f"{halves} are neither old nor new"
        if not raised and found != new:
            return "no error, but not the new files"
        if found not in (old, new) and failed_at != "replace":
            return "old and new files together"
        return None

    def leftovers(self, folder):
        """Files that should not be there."""
        return sorted({path.name for path in folder.iterdir()} - set(self.files))


class Model(Case):
    files = ("model.dlm",)

    def write(self, folder, version):
        _model(version).save(folder / "model.dlm")


class Computed(Report):
    """A report whose numbers and page are there: only the writing is at stake."""

    def __init__(self, numbers, page):
        self._table, self._progress = None, silent
        self.numbers, self.page = numbers, page

    def to_dict(self):
        return self.numbers

    def to_html(self):
        return self.page


class Page(Case):
    files = ("report.html", "report.json")

    def write(self, folder, version):
        numbers = {"verdict": [], "prevalence": [version] * 2000, "versions": {}}
        Computed(numbers, f"<h1>{version}</h1>" * 5000).write_html(folder / "report.html")


class Tables(Case):
    files = ("list.csv", "list.parquet")

    def write(self, folder, version):
        frame = pd.DataFrame({"id": np.arange(5000) + version})
        for name in self.files:
            write_table(frame, folder / name)

    def wrong(self, folder, old, new, failed_at, raised):
        found = self.state(folder)  # two tables are two commands
        halves = [name for name in found if found[name] not in (old[name], new[name])]
        return f"{halves} are neither old nor new" if halves else None


class Results(Case):
    """A store: rows appended twice, then compacted."""

    files = ("results.parquet",)

    def prepare(self, folder):
        store = Store(folder)
        store.append(_rows(0, 40))
        store.compact()

    def write(self, folder, version):
        store = Store(folder)
        store.append(_rows(40, 60))
        store.append(_rows(60, 80))
        store.compact()

    def state(self, folder):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            return {row["repetition"]: row for row in Store(folder).frame().to_dict("records")}

    def wrong(self, folder, old, new, failed_at, raised):
        found = self.state(folder)
        if not old.items() <= found.items() <= new.items():
            return "rows are lost or altered"
        return None if raised or found == new else "no error, but rows are missing"

    def leftovers(self, folder):
        names = super().leftovers(folder)
        return [name for name in names if not name.startswith("segment-")]


class Cache(Case):
    """A fit to Parquet files whose decoded features are kept in a file."""

    def prepare(self, folder):
        rng = np.random.default_rng(0)
        frame = pd.DataFrame(rng.standard_normal((3000, 3)), columns=["a", "b", "c"])
        frame["s"] = (frame["a"] + rng.standard_normal(3000) > 1).astype(int)
        frame.to_parquet(folder.parent / f"{folder.name}.parquet", index=False)
        self.model = NaiveClassifier().fit(frame[["b"]], frame["s"])

    def write(self, folder, version):
        large, column_buffer.LARGE_BUFFER = column_buffer.LARGE_BUFFER, 4000
        try:
            scan = scan_parquet(folder.parent / f"{folder.name}.parquet", Roles("s"), cache=folder)
            self.model.fit(scan)
        finally:
            column_buffer.LARGE_BUFFER = large

    def state(self, folder):
        return {"coef": self.model.coef_.tobytes()}


# imported once by the server from which processes to be killed are forked
HEAVY = [
    "doublelogit.estimators.naive",
    "doublelogit.report",
    "doublelogit.studies.experiments.store",
    "pyarrow.dataset",
    "pyarrow.parquet",
    "skrub",
]
CASES = {"model": Model, "report": Page, "table": Tables, "store": Results, "cache": Cache}


@cache
def _model(version):
    rng = np.random.default_rng(version)
    X = rng.standard_normal((200, 3))
    return NaiveClassifier().fit(X, (X[:, 0] > 0.5).astype(int))


def _rows(start, stop):
    values = ["m", "d", "s", 0.5, 0, "TM"]
    return [
        {
            **dict(zip(KEY, values, strict=True)),
            "repetition": i,
            "accuracy": i / 7,
            "note": "x" * 99,
        }
        for i in range(start, stop)
    ]


def count(name, folder):
    """Names of the calls that writing takes."""
    case = CASES[name]()
    case.prepare(folder)
    with Shim() as shim:
        case.write(folder, 2)
    return shim.calls


def inject(name, kind, k, folder):
    """Let the k-th call go wrong; what must not be, in words, or None."""
    case = CASES[name]()
    new = _undisturbed(name)
    case.prepare(folder)
    old, raised = case.state(folder), False
    with Shim(kind, k) as shim:
        try:
            case.write(folder, 2)
        except (OSError, KeyboardInterrupt):
            raised = True
    left = case.leftovers(folder)
    if left and shim.failed != "unlink":
        return f"left behind: {left}"
    return case.wrong(folder, old, new, shim.failed, raised) or _next(case, folder, new)


def kill(name, kind, k, folder):
    """Kill a process at the k-th call; what must not be, in words, or None."""
    case = CASES[name]()
    new = _undisturbed(name)
    case.prepare(folder)
    old = case.state(folder)
    forks = get_context("forkserver")
    forks.set_forkserver_preload(HEAVY)
    process = forks.Process(target=_killed, args=(name, kind, k, folder))
    process.start()
    process.join()
    if process.exitcode != -9:
        return f"the process ended with {process.exitcode} before it was killed"
    return case.wrong(folder, old, new, "replace", True) or _next(case, folder, new)


def _killed(name, kind, k, folder):
    case = CASES[name]()
    gettempdir()  # which writes a file when it is first asked
    if name == "cache":
        case.prepare(folder)  # the model to be fitted; what the others need is in the folder
    with Shim(kind, k):
        case.write(folder, 2)


@cache
def _undisturbed(name):
    case = CASES[name]()
    with TemporaryDirectory() as scratch:
        (folder := Path(scratch) / "folder").mkdir()
        case.prepare(folder)
        case.write(folder, 2)
        return case.state(folder)


def _next(case, folder, new):
    """Whether writing once more, without a fault, leaves the new files and nothing else."""
    case.write(folder, 2)
    if case.state(folder) != new:
        return "the next one is not whole"
    left = sorted({path.name for path in folder.iterdir()} - set(case.files))
    return f"left behind after the next one: {left}" if left else None


def race(folder, n_threads, n_saves):
    """Threads that save one path over and over while others read it; counts of what happened."""
    path, done = folder / "model.dlm", threading.Event()
    counts = dict.fromkeys(("saves", "errors", "reads", "corrupt"), 0)
    wanted = []
    for version in range(n_threads):
        _model(version).save(path)
        wanted.append(path.read_bytes())

    def save(version):
        for _ in range(n_saves // n_threads):
            try:
                _model(version).save(path)
                counts["saves"] += 1
            except Exception:
                counts["errors"] += 1

    def read():
        while not done.is_set():
            counts["corrupt"] += path.read_bytes() not in wanted
            counts["reads"] += 1

    reader = threading.Thread(target=read)
    savers = [threading.Thread(target=save, args=(i,)) for i in range(n_threads)]
    for thread in (reader, *savers):
        thread.start()
    for thread in savers:
        thread.join()
    done.set()
    reader.join()
    return {**counts, "left behind": len(list(folder.iterdir())) - 1}


def storm(folder, n_saves):
    """Save while signals arrive that interrupt system calls; how many files are not whole."""
    path, corrupt, caught = folder / "model.dlm", 0, []
    before = signal.signal(signal.SIGALRM, lambda *_: caught.append(1))
    _model(1).save(path)
    wanted = path.read_bytes()
    signal.setitimer(signal.ITIMER_REAL, 1e-4, 1e-4)
    try:
        for _ in range(n_saves):
            _model(1).save(path)
            corrupt += path.read_bytes() != wanted
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    left = len(list(folder.iterdir())) - 1
    return {"signals": len(caught), "corrupt": corrupt, "left behind": left}
