"""Files of tables to pandas: CSV in its dialects, Parquet, Excel, Stata, SPSS, SAS; frames too."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from doublelogit.common.extras import needs
from doublelogit.exceptions import TableError, UsageError
from doublelogit.tables.csv_text import MISSING_WORDS, check_names, read_csv

QUOTES = "\"'.-+\r\n"  # what cells themselves may begin or end with
COMPRESSED = (".gz", ".bz2", ".xz", ".zst", ".zip")


def read_table(
    source: Any,
    *,
    delimiter: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    text: Sequence[str] = (),
    verbatim: Sequence[str] = (),
) -> Any:
    """A pandas DataFrame of a file, or of a pandas, polars or other frame.

    Parameters
    ----------
    source : path or DataFrame
        CSV (also compressed), Parquet, Excel, Stata, SPSS or SAS, by the file's ending; or
        a frame of any library that narwhals knows.
    delimiter, decimal, encoding : str, default=None
        How a CSV is written; detected if not given.
    text : sequence of str, default=()
        Columns of a file whose values are texts even if they look like numbers.
    verbatim : sequence of str, default=()
        Columns of a file whose cells are kept as they stand, such as ids.

    Returns
    -------
    frame : pandas.DataFrame
        With names of columns as text and rows numbered from 0; ``frame.attrs["notes"]`` says what
        was decided to read it.
    """
    needs("pandas", "a table", "tables")
    if isinstance(source, str | Path):
        dialect = {"delimiter": delimiter, "decimal": decimal, "encoding": encoding}
        _check_dialect(delimiter, decimal)
        frame = _read_file(Path(source), dialect, (*text, *verbatim), verbatim)
    else:
        frame = _from_frame(source)
    notes = frame.attrs.get("notes", [])
    frame.columns = [str(name).strip() for name in frame.columns]
    _check(frame)
    frame = normalised(frame.reset_index(drop=True))
    frame.attrs["notes"] = notes
    return frame


def _check_dialect(delimiter: str | None, decimal: str | None) -> None:
    if delimiter is not None and (
        len(delimiter) != 1 or delimiter.isalnum() or delimiter in QUOTES
    ):
        raise UsageError(
            f"`delimiter` must be one character between cells, such as , or ;; got {delimiter!r}."
        )
    if decimal is not None and (decimal not in (".", ",") or decimal == delimiter):
        raise UsageError(f"`decimal` must be . or , and not the delimiter; got {decimal!r}.")


def _read_file(
    path: Path, dialect: dict[str, str | None], text: Sequence[str], verbatim: Sequence[str]
) -> Any:
    if not path.is_file():
        raise TableError(f"there is no file {str(path)!r}. Check the name and the directory.")
    ending = _ending(path)
    if ending not in CSV and any(dialect.values()):
        raise TableError(
            f"`delimiter`, `decimal` and `encoding` are for CSV files; got {path.name!r}. "
            "Leave them out."
        )
    try:
        if ending in CSV:
            return read_csv(path, **dialect, text=text, verbatim=verbatim)
        with np.errstate(all="ignore"):  # what a damaged file says may overflow, and is checked
            return READERS[ending](path, text, verbatim)
    except (TableError, UsageError, ImportError):
        raise
    except Exception as error:  # readers raise what they like: to a user all say the same
        reason = str(error).strip().splitlines()[0] if str(error).strip() else repr(error)
        raise TableError(
            f"{path.name!r} cannot be read as its ending says: {reason.rstrip('.')}. "
            "Check the file, or save it as CSV."
        ) from error


def _ending(path: Path) -> str:
    endings = [ending.lower() for ending in path.suffixes]
    if endings and endings[-1] in COMPRESSED:
        endings.pop()
    ending = endings[-1] if endings else ""
    if ending not in (*CSV, *READERS):
        raise TableError(
            f"a table must be a file of the kind {', '.join((*CSV, *READERS))}; got "
            f"{path.name!r}. Save it as CSV or Parquet."
        )
    return ending


def _parquet(path: Path, *_: Sequence[str]) -> Any:
    needs("pyarrow", "Parquet", "parquet")
    import pyarrow.parquet as pq

    with pq.ParquetFile(path, page_checksum_verification=True) as file:
        check_names(file.schema_arrow.names)
        return from_arrow(file.read())


def from_arrow(table: Any) -> Any:
    """An Arrow table or batch as a pandas DataFrame in which no integer loses a digit."""
    import pandas as pd
    import pyarrow.types as t

    check_names(table.schema.names)
    gaps = [
        field.type
        for field, column in zip(table.schema, table.columns, strict=True)
        if t.is_integer(field.type) and column.null_count
    ]
    nullable = {k: pd.UInt64Dtype() if t.is_uint64(k) else pd.Int64Dtype() for k in gaps}
    return table.to_pandas(types_mapper=nullable.get)


def _excel(path: Path, text: Sequence[str], verbatim: Sequence[str]) -> Any:
    """A sheet, by the rules of a CSV: what is missing, and what is a text."""
    import pandas as pd

    try:
        header = pd.read_excel(path, header=None, nrows=1, dtype=str)
        check_names([str(name).strip() for name in header.iloc[0].dropna()])
        named = {name: str(name).strip() for name in pd.read_excel(path, nrows=0).columns}
        return pd.read_excel(
            path,
            dtype={name: str for name, stripped in named.items() if stripped in text},
            keep_default_na=False,
            na_values={name: MISSING_WORDS for name, word in named.items() if word not in verbatim},
        )
    except ImportError:
        package = "xlrd" if path.suffix.lower() == ".xls" else "openpyxl"
        raise ImportError(f"reading {path.suffix} needs: pip install {package}") from None


def _by_pandas(name: str, package: str = "") -> Callable[..., Any]:
    def read(path: Path, *_: Sequence[str]) -> Any:
        import pandas as pd

        try:
            return getattr(pd, name)(path)  # pandas is imported only now
        except ImportError:
            raise ImportError(f"reading {path.suffix} needs: pip install {package}") from None

    return read


CSV = (".csv", ".tsv", ".txt")
READERS: dict[str, Callable[..., Any]] = {
    ".parquet": _parquet,
    ".xlsx": _excel,
    ".xls": _excel,
    ".dta": _by_pandas("read_stata"),
    ".sav": _by_pandas("read_spss", "pyreadstat"),
    ".sas7bdat": _by_pandas("read_sas"),
}


def _from_frame(frame: Any) -> Any:
    import pandas as pd

    if isinstance(frame, pd.DataFrame):
        return frame.copy(deep=False)  # names and rows change; cells are shared
    needs("narwhals", "a frame of another library than pandas", "tables")
    import narwhals as nw

    try:
        return from_arrow(nw.from_native(frame, eager_only=True).to_arrow())
    except TypeError:
        raise TableError(
            "a table must be the path of a file or a DataFrame (pandas, polars, pyarrow); got "
            f"{type(frame).__name__}."
        ) from None


def _check(frame: Any) -> None:
    if len(frame.columns) == 0 or len(frame) == 0:
        raise TableError(
            f"the table must have rows and columns; got {len(frame)} rows and "
            f"{len(frame.columns)} columns."
        )
    check_names(list(frame.columns))


def normalised(frame: Any) -> Any:
    """Columns of kinds that nothing else here knows, as the nearest kind that it does."""
    import pandas as pd

    changed = {}
    for name, column in frame.items():
        dtype = column.dtype
        if isinstance(dtype, pd.PeriodDtype):
            changed[name] = column.dt.to_timestamp()
        elif isinstance(dtype, pd.SparseDtype):
            changed[name] = column.sparse.to_dense()
        elif isinstance(dtype, pd.IntervalDtype):
            changed[name] = column.astype(str).where(column.notna())
        elif dtype.kind == "f" and dtype.itemsize < 4:
            changed[name] = column.astype(float)
        elif dtype.kind == "c":
            raise TableError(f"{name!r} holds complex numbers. Split it into two columns.")
        elif isinstance(dtype, np.dtype) and dtype.kind == "O" and _nested(column):
            changed[name] = column.map(str, na_action="ignore")  # lists and records, as texts
    return frame.assign(**changed) if changed else frame


def _nested(column: Any) -> bool:
    kinds = {type(value) for value in column.to_numpy()}
    return any(issubclass(kind, list | dict | set | np.ndarray | bytearray) for kind in kinds)
