"""Files of tables to pandas: CSV in its dialects, Parquet, Excel, Stata, SPSS, SAS."""

import csv
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from doublelogit.exceptions import TableError

SAMPLE = 200_000  # bytes of a CSV by which its dialect is judged
DELIMITERS = ",;\t|"
ENCODINGS = ("utf-8-sig", "cp1252")  # the second reads any byte, so it comes last


def read_table(
    source: Any,
    *,
    delimiter: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
) -> Any:
    """A pandas DataFrame of a file, or of a pandas, polars or other frame.

    Parameters
    ----------
    source : path or DataFrame
        CSV (also compressed), Parquet, Excel, Stata, SPSS or SAS, by the file's ending; or
        a frame of any library that narwhals knows.
    delimiter, decimal, encoding : str, default=None
        Of a CSV; detected if not given.

    Returns
    -------
    frame : pandas.DataFrame
        With names of columns as text and rows numbered from 0.
    """
    if not isinstance(source, str | Path):
        frame = _of_frame(source)
    else:
        path = Path(source)
        if not path.is_file():
            raise TableError(f"there is no file {str(path)!r}. Check the name and the directory.")
        reader = _reader(path)
        dialect = {"delimiter": delimiter, "decimal": decimal, "encoding": encoding}
        options = dialect if reader is _csv else {}
        if reader is not _csv and any(dialect.values()):
            raise TableError(
                f"delimiter, decimal and encoding are for CSV files; got {path.name!r}. "
                "Leave them out."
            )
        try:
            frame = reader(path, **options)
        except (TableError, ImportError):
            raise
        except Exception as error:  # readers raise what they like: to a user all say the same
            reason = str(error).strip().splitlines()[0] if str(error).strip() else repr(error)
            raise TableError(
                f"{path.name!r} cannot be read as its ending says: {reason}. "
                "Check the file, or save it as CSV."
            ) from error
    frame.columns = [str(name).strip() for name in frame.columns]
    _check(frame)
    return frame.reset_index(drop=True)


def _reader(path: Path) -> Callable[..., Any]:
    endings = [ending.lower() for ending in path.suffixes]
    if endings and endings[-1] in (".gz", ".bz2", ".xz", ".zst", ".zip"):
        endings.pop()
    ending = endings[-1] if endings else ""
    if ending not in READERS:
        raise TableError(
            f"a table must be a file of the kind {', '.join(READERS)}; got {path.name!r}. "
            "Save it as CSV or Parquet."
        )
    return READERS[ending]


def _of_frame(frame: Any) -> Any:
    import narwhals as nw

    try:
        return nw.from_native(frame, eager_only=True).to_pandas().copy()
    except TypeError:
        raise TableError(
            "a table must be the path of a file or a DataFrame (pandas, polars, pyarrow); got "
            f"{type(frame).__name__}."
        ) from None


def _csv(path: Path, delimiter: str | None, decimal: str | None, encoding: str | None) -> Any:
    import pandas as pd

    text, encoding = _opening(path, encoding)
    delimiter = delimiter or sniff_delimiter(text)
    decimal = decimal or sniff_decimal(text, delimiter)
    # "NA" and the like are missing, but so is no word a survey may use as an answer: "None"
    missing = ["", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "#N/A", "?", "."]
    return pd.read_csv(
        path,
        sep=delimiter,
        decimal=decimal,
        encoding=encoding,
        keep_default_na=False,
        na_values=missing,
        skipinitialspace=True,
        low_memory=False,
    )


def _opening(path: Path, encoding: str | None) -> tuple[str, str]:
    """The beginning of a text file, and the encoding by which all of it can be read."""
    from pandas.io.common import get_handle

    for candidate in [encoding] if encoding else ENCODINGS:
        try:
            options: Any = {"encoding": candidate, "compression": "infer"}
            with get_handle(path, "r", **options) as opened:
                start = opened.handle.read(SAMPLE)
                if candidate != ENCODINGS[-1] and not encoding:
                    while opened.handle.read(1 << 24):  # is the rest of it in this encoding?
                        pass
            return start, candidate
        except UnicodeDecodeError:
            continue
        except LookupError:
            raise TableError(f"encoding must be one that Python knows; got {encoding!r}.") from None
    raise TableError(f"{path.name!r} is not text in the encoding {encoding}. Leave it out.")


def sniff_delimiter(text: str) -> str:
    """The delimiter that cuts the first lines into the same number of pieces, the most of them."""
    lines = [line for line in text.splitlines()[:50] if line.strip()][:-1] or text.splitlines()[:1]

    def fitness(delimiter: str) -> tuple[float, int]:
        widths = Counter(len(row) for row in csv.reader(lines, delimiter=delimiter))
        width, times = widths.most_common(1)[0] if widths else (1, 0)
        return (times / max(len(lines), 1), width) if width > 1 else (0.0, 0)

    return max(DELIMITERS, key=fitness)


def sniff_decimal(text: str, delimiter: str) -> str:
    """A comma if cells look like 1,5 and none like 1.5."""
    if delimiter == ",":
        return "."
    rows = csv.reader(text.splitlines()[1:200], delimiter=delimiter)
    cells = [cell.strip() for row in rows for cell in row]
    commas = sum(bool(re.fullmatch(r"-?\d+,\d+", cell)) for cell in cells)
    points = sum(bool(re.fullmatch(r"-?\d+\.\d+", cell)) for cell in cells)
    return "," if commas > points else "."


def _by_pandas(name: str, needs: str = "") -> Callable[[Path], Any]:
    def read(path: Path) -> Any:
        import pandas as pd

        try:
            return getattr(pd, name)(path)  # pandas is imported only now
        except ImportError:
            raise ImportError(f"reading {path.suffix} needs: pip install {needs}") from None

    return read


READERS: dict[str, Callable[..., Any]] = {
    ".csv": _csv,
    ".tsv": _csv,
    ".txt": _csv,
    ".parquet": _by_pandas("read_parquet", "pyarrow"),
    ".xlsx": _by_pandas("read_excel", "openpyxl"),
    ".xls": _by_pandas("read_excel", "xlrd"),
    ".dta": _by_pandas("read_stata"),
    ".sav": _by_pandas("read_spss", "pyreadstat"),
    ".sas7bdat": _by_pandas("read_sas"),
}


def _check(frame: Any) -> None:
    if len(frame.columns) == 0 or len(frame) == 0:
        raise TableError(
            f"the table must have rows and columns; got {len(frame)} rows and "
            f"{len(frame.columns)} columns."
        )
    twice = frame.columns[frame.columns.duplicated()]
    if len(twice):
        raise TableError(f"two columns have the name {twice[0]!r}. Rename one of them.")
