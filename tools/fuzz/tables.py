"""Tables: CSV in hostile dialects, Parquet, Excel, Stata and SPSS, well made and then damaged."""

import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import strategies as st

from tools.fuzz.contract import proper
from tools.fuzz.targets import Case, Target, spoiled

ROWS = 24
CELLS = (
    *("", " ", "NA", "nan", "inf", "-inf", "1e400", "1e200", "0", "1", "-1", "1,5", "1.5", "1_000"),
    *("0x10", "000219", "9007199254740993", "99999999999999999999", "9999-01-01", "1677-09-21"),
    *(
        "2020-02-30",
        "yes",
        "no",
        "TRUE",
        '"',
        '""',
        "'",
        "a\nb",
        "a,b",
        "a;b",
        "=1+1",
        "\uff1d1",
        "\x1b[2J",
    ),
    *("\ufeff", "\u202e", "\0", "日本", "é", "\ud7ff", "%s", "{0}", "x" * 3000),
)
NAMES = ("a", "b", "label", "id", "label.1", "", " ", "1", "=a", "\x1b[31m", "surplus 0", "a" * 300)
# Columns of frames, by the formats that can hold them.
COLUMNS: dict[str, Callable[[np.random.Generator], Any]] = {
    "normal": lambda rng: rng.standard_normal(ROWS),
    "huge": lambda rng: rng.standard_normal(ROWS) * 10.0 ** rng.integers(-300, 300),
    "integer": lambda rng: rng.integers(-(2**62), 2**62, ROWS),
    "flag": lambda rng: rng.random(ROWS) < 0.5,
    "gaps": lambda rng: np.where(rng.random(ROWS) < 0.4, np.nan, rng.standard_normal(ROWS)),
    "infinite": lambda rng: np.where(rng.random(ROWS) < 0.2, np.inf, 1.0),
    "text": lambda rng: np.array([f"t{i}" for i in rng.integers(0, 4, ROWS)], dtype=object),
    "id": lambda rng: np.array([f"{i:016d}" for i in rng.integers(0, 10**15, ROWS)], dtype=object),
    "constant": lambda rng: np.ones(ROWS),
    "empty": lambda rng: np.full(ROWS, np.nan),
    "day": lambda rng: np.datetime64("2020-01-01") + rng.integers(0, 9999, ROWS).astype("m8[D]"),
}
ODD: dict[str, Callable[[np.random.Generator], Any]] = {  # what Parquet alone can hold
    "half": lambda rng: rng.standard_normal(ROWS).astype(np.float16),
    "list": lambda rng: [[1, 2]] * ROWS,
    "record": lambda rng: [{"x": 1}] * ROWS,
    "bytes": lambda rng: [b"\xff\x00"] * ROWS,
    "unsigned": lambda rng: rng.integers(0, 2**63, ROWS).astype(np.uint64) * np.uint64(2),
    "far day": lambda rng: np.full(ROWS, np.datetime64("9999-01-01", "ms")),
    "span": lambda rng: rng.integers(0, 10**9, ROWS).astype("m8[s]"),
}


@st.composite
def frames(draw: Any, odd: bool = False) -> Any:
    """Frames with a label of sorts and a few columns."""
    import pandas as pd

    makers = COLUMNS | (ODD if odd else {})
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    kinds = draw(st.lists(st.sampled_from(sorted(makers)), min_size=1, max_size=4))
    frame = pd.DataFrame({f"c{i}": pd.Series(makers[k](rng)) for i, k in enumerate(kinds)})
    frame["label"] = draw(
        st.sampled_from(
            [
                *([1, 0] * (ROWS // 2), [1.0, 0.0] * (ROWS // 2), ["yes", "no"] * (ROWS // 2)),
                *(["x", None] * (ROWS // 2), [1] * ROWS, list(range(ROWS))),
            ]
        )
    )
    return frame


@st.composite
def csv_texts(draw: Any) -> bytes:
    """Rows of cells that may be anything, in a dialect and an encoding of some kind."""
    width = draw(st.integers(1, 4))
    delimiter = draw(st.sampled_from([",", ";", "\t", "|", ", "]))
    end = draw(st.sampled_from(["\n", "\r\n", "\r", ",\n", "\n\n"]))
    names = [*draw(st.lists(st.sampled_from(NAMES), min_size=width, max_size=width)), "label"]
    plain = st.floats(-5, 5).map(lambda x: f"{x:.3f}")
    cell = st.one_of(plain, plain, plain, st.sampled_from(CELLS), st.text(max_size=6))
    lines = [delimiter.join(names)]
    for i in range(ROWS):
        row = draw(st.lists(cell, min_size=width, max_size=width)) if i < 6 else ["0.1"] * width
        lines.append(delimiter.join([*row, str(i % 2)]))
    encoding = draw(st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "cp1252"]))
    return end.join(lines).encode(encoding, "replace")


def _excel(frame: Any, path: Path) -> None:
    frame.to_excel(path, index=False)


def _spss(frame: Any, path: Path) -> None:
    import pyreadstat

    pyreadstat.write_sav(frame, path)


WRITERS: dict[str, Callable[[Any, Path], None]] = {
    ".csv": lambda frame, path: frame.to_csv(path, index=False),
    ".parquet": lambda frame, path: frame.to_parquet(path, index=False),
    ".xlsx": _excel,
    ".dta": lambda frame, path: frame.to_stata(path, write_index=False, version=118),
    ".sav": _spss,
}


def written(frame: Any, ending: str) -> bytes:
    """A frame as a file of some kind; what the format cannot hold is left out."""
    import pandas as pd

    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = Path(folder) / f"table{ending}"
        for name in frame.columns:
            try:
                WRITERS[ending](frame[[name]], path)
            except Exception:  # the writers of other libraries say no in many ways
                frame = frame.drop(columns=name)
        WRITERS[ending](frame if len(frame.columns) else pd.DataFrame({"a": [1.0]}), path)
        return path.read_bytes()


@st.composite
def cases(draw: Any) -> Case:
    """A third of the files are texts made up, a third frames as written, a third are damaged."""
    which = draw(st.integers(0, 2))
    if which == 0:
        text = csv_texts()
        return ".csv", draw(st.one_of(text, spoiled(text)))
    ending = draw(st.sampled_from(sorted(WRITERS)))
    content = written(draw(frames(odd=ending == ".parquet")), ending)
    return ending, content if which == 1 else draw(spoiled(st.just(content)))


def check(path: Path) -> str:
    """Read the table as the command does, fit it the cheapest way and predict its rows."""
    import doublelogit as dl
    from doublelogit.tables import Table, read_table

    roles = dl.Roles("label")
    frame = read_table(path, text=roles.text_columns, verbatim=roles.verbatim_columns)
    rows = Table.from_frame(frame, roles)
    rows.check_enough()
    model = dl.TableClassifier(roles, "naive").fit(rows)
    proper(model.predict(rows)["positive"])
    return "answered"


TARGET = Target("tables", cases, check)
