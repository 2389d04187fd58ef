"""Cells of a CSV as columns, some thousand rows at a time.

A parser that is given all rows holds every cell as text beside the columns, several times the
memory of the file. Given some rows after the other it decides on the type of a column for each
part; where the parts do not agree as all rows together would, the column is read again whole.
"""

import io
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

CELLS = 2**19  # read at once
FEWEST_ROWS = 2**10  # read at once, however many columns there are

NUMBERS = {"int64", "float64"}  # together these are float64
SAME = {"bool", "uint64"}  # types of all parts or of none


def parsed(data: bytes, names: Sequence[str], *, usecols: Iterable[int], **dialect: Any) -> Any:
    """Columns of a CSV in UTF-8 as a pandas DataFrame, by their places among the names.

    ``dialect`` are options of :func:`pandas.read_csv`.
    """
    import pandas as pd

    used = list(usecols)
    parts: dict[str, list[Any]] = {names[i]: [] for i in used}
    rows = max(CELLS // max(len(names), 1), FEWEST_ROWS)
    for frame in _reader(data, names, used, dialect, chunksize=rows):
        for name, column in frame.items():
            parts[name].append(column.array.copy())  # a block of its own, or all would stay
    columns, again = {}, []
    for i in used:
        columns[names[i]] = one = _joined(parts.pop(names[i]))
        again += [i] if one is None else []
    if again:
        whole = _reader(data, names, again, dialect)
        columns |= dict(whole.items())
    return pd.DataFrame(columns, copy=False)


def _reader(
    data: bytes, names: Sequence[str], used: list[int], dialect: dict[str, Any], **more: Any
) -> Any:
    import pandas as pd

    return pd.read_csv(
        io.BytesIO(data),
        encoding="utf-8",
        header=0,
        names=list(names),
        usecols=used,
        index_col=False,
        keep_default_na=False,
        skipinitialspace=True,
        low_memory=False,
        **dialect,
        **more,
    )


def _joined(pieces: list[Any]) -> Any:
    """The column that some parts make; None where its type is not that of its parts."""
    import pandas as pd

    if len(pieces) < 2:
        return pd.Series(pieces[0]) if pieces else None
    kinds = [_kind(piece) for piece in pieces]
    present = set(kinds) - {"empty"}
    if present == {"text"}:
        dtype = pieces[kinds.index("text")].dtype
        pieces = [piece.astype(dtype) for piece in pieces]
    elif not present <= NUMBERS and (len(set(kinds)) > 1 or kinds[0] not in SAME):
        return None
    return pd.concat([pd.Series(piece) for piece in pieces], ignore_index=True)


def _kind(piece: Any) -> str:
    """What part of a column holds."""
    import pandas as pd

    dtype = piece.dtype
    if dtype == np.float64:
        return "empty" if np.isnan(piece).all() else "float64"
    if dtype.kind in "iub":
        return str(dtype)
    kind = str(pd.api.types.infer_dtype(piece, skipna=True))
    return "text" if kind == "string" else kind
