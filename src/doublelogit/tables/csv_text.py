"""The careful door for CSV files: encoding decided once and said, every row as wide as the header.

A reader that guesses on can turn smokers into patients: a delimiter at the end of every row shifts
the columns, a quote that is never closed swallows rows, one byte of another encoding changes every
name. What cannot be read for certain is refused with the row where it happens; what was decided is
noted.
"""

import codecs
import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from doublelogit.exceptions import TableError, UsageError
from doublelogit.tables.csv_cells import parsed

SAMPLE = 200_000  # characters of a CSV by which its dialect is judged
DELIMITERS = ",;\t|"
# "NA" and the like are missing, but so is no word a survey may use as an answer: "None"
MISSING_WORDS = ["", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "#N/A", "?", "."]
INFINITE = {"inf", "+inf", "-inf", "infinity", "+infinity", "-infinity"}
PIECE = 2**20  # bytes decoded at once
LONGEST_CELL = 2**20  # characters; beyond, a quote was not closed
# Marks at the beginning of a file that say how it is written; the longer ones first.
BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


@dataclass(frozen=True)
class CsvText:
    """The text of a CSV in UTF-8, its header, and what was decided on the way."""

    data: bytes
    delimiter: str
    names: tuple[str, ...]
    surplus: int  # empty cells at the end of every row, beyond the header
    notes: tuple[str, ...]


def read_csv(
    path: Path,
    *,
    delimiter: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    text: Sequence[str] = (),
    verbatim: Sequence[str] = (),
) -> Any:
    """A CSV as a pandas DataFrame; ``verbatim`` columns keep every cell as it stands.

    ``text`` columns are texts as well, but "NA" and the like are missing in them.
    """
    checked = checked_text(path, delimiter, encoding)
    frame = parsed(
        checked.data,
        [*checked.names, *(f"surplus {i}" for i in range(checked.surplus))],
        usecols=range(len(checked.names)),
        sep=checked.delimiter,
        decimal=decimal or sniff_decimal(_sample(checked.data), checked.delimiter),
        dtype={name: str for name in (*text, *verbatim) if name in checked.names},
        na_values={name: MISSING_WORDS for name in checked.names if name not in verbatim},
    )
    for _, column in frame.items():
        if column.dtype.kind == "f":
            _check_overflow(column, checked)
    frame.attrs["notes"] = list(checked.notes)
    return frame


def checked_text(path: Path, delimiter: str | None, encoding: str | None) -> CsvText:
    """The text of a file, decoded, every row compared with the header."""
    data, notes = in_utf8(_content(path), encoding, path.name)
    end = len(data)
    while end and data[end - 1] in b" \t\r\n\f\v":
        end -= 1
    if not end:
        raise TableError(f"{path.name!r} is empty. Check the file.")
    # in what is left alone: the whole text would be searched from every end of a line
    tail = re.sub(rb"(\r?\n[ \t]*)*\Z", b"\n", data[end:], count=1)
    data = data if data[end:] == tail else data[:end] + tail
    delimiter = delimiter or sniff_delimiter(_sample(data))
    names, surplus = _checked_rows(data, delimiter)
    if surplus:
        notes.append(
            f"Every row ends with {surplus} empty cell{'s' if surplus > 1 else ''} beyond the "
            "header; they were left out."
        )
    return CsvText(data, delimiter, names, surplus, tuple(notes))


def _content(path: Path) -> bytes:
    """The bytes of a file, decompressed as its ending says."""
    from pandas.io.common import get_handle

    options: Any = {"compression": "infer", "is_text": False}
    with get_handle(path, "rb", **options) as opened:
        return bytes(opened.handle.read())


def _sample(data: bytes) -> str:
    """The first characters of a text in UTF-8."""
    return data[: 4 * SAMPLE].decode("utf-8", "ignore")[:SAMPLE]


def in_utf8(content: bytes, encoding: str | None, name: str) -> tuple[bytes, list[str]]:
    """Some bytes as text in UTF-8, and what had to be decided to read them."""
    if encoding is not None:
        try:
            return content.decode(encoding).encode(), []
        except LookupError:
            raise UsageError(
                f"`encoding` must be one that Python knows; got {encoding!r}."
            ) from None
        except UnicodeDecodeError as error:
            raise TableError(
                f"{name!r} is not text in the encoding {encoding}: {_where(content, error)}. Leave "
                "`encoding` out, or name another."
            ) from None
    for mark, marked in BYTE_ORDER_MARKS:
        if content.startswith(mark):
            return _strictly(content, marked, name).encode(), []
    if b"\0" in content:
        text, notes = _without_mark(content, name)
        return text.encode(), notes
    if _is_utf8(content):
        return content, []
    try:
        content.decode("utf-8")
    except UnicodeDecodeError as error:
        text, notes = _not_utf8(content, error, name)
    return text.encode(), notes


def _is_utf8(content: bytes) -> bool:
    """Whether bytes are text in UTF-8, looked at in pieces: as one text they take more memory."""
    decoder, view = codecs.getincrementaldecoder("utf-8")(), memoryview(content)
    try:
        for start in range(0, len(view), PIECE):
            decoder.decode(view[start : start + PIECE])
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def _strictly(content: bytes, encoding: str, name: str) -> str:
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        raise TableError(
            f"{name!r} begins as {encoding} but is not: {_where(content, error)}. Save it as UTF-8."
        ) from None


def _without_mark(content: bytes, name: str) -> tuple[str, list[str]]:
    """UTF-16 that does not say so: every second byte of plain text is zero."""
    for encoding, zeros in (("utf-16-le", content[1::2]), ("utf-16-be", content[::2])):
        if len(content) % 2 == 0 and zeros.count(0) > 0.6 * len(zeros):
            try:
                text = content.decode(encoding)
            except UnicodeDecodeError:
                continue
            return text, [f"{name!r} is read as {encoding}: every second byte is zero."]
    raise TableError(f"{name!r} is no text: it holds zero bytes. Save it as CSV in UTF-8.")


def _not_utf8(content: bytes, error: UnicodeDecodeError, name: str) -> tuple[str, list[str]]:
    """Text of an older Windows, if all of it may be; a mixture of encodings is refused."""
    where = _where(content, error)
    valid = len(re.findall(rb"[\xc3-\xf4][\x80-\xbf]+", content))
    invalid = sum(byte >= 0x80 for byte in content) - 2 * valid
    if valid > invalid:
        raise TableError(
            f"{name!r} is UTF-8 but for some bytes: {where}. Mend that row, or name the `encoding`."
        )
    try:
        text = content.decode("cp1252")
    except UnicodeDecodeError:
        raise TableError(
            f"{name!r} is neither UTF-8 nor cp1252: {where}. Name its `encoding`."
        ) from None
    return text, [f"{name!r} is not UTF-8 ({where}); it is read as cp1252 (Windows)."]


def _where(content: bytes, error: UnicodeDecodeError) -> str:
    row = content.count(b"\n", 0, error.start) + 1
    return f"byte 0x{content[error.start]:02x} in line {row}"


def _checked_rows(data: bytes, delimiter: str) -> tuple[tuple[str, ...], int]:
    """Names of the columns, and how many empty cells every row has beyond them."""
    lines: list[str] = []  # of one row
    csv.field_size_limit(LONGEST_CELL)
    reader = csv.reader(
        _noted(io.TextIOWrapper(io.BytesIO(data), "utf-8", newline=""), lines),
        delimiter=delimiter,
        skipinitialspace=True,
        strict=True,
    )
    start, surplus = 0, None
    names: tuple[str, ...] = ()
    try:
        for row in reader:
            if start == 0:
                names = _header(row)
            elif row and row != [""]:
                extra = len(row) - len(names)
                surplus = extra if surplus is None else surplus
                if extra < 0 or extra != surplus or any(row[len(names) :]):
                    raise _wrong_width(start + 1, row, names, delimiter)
            if len(lines) > 1 and row:
                _check_swallowed(lines, start + 1, len(names), delimiter)
            start = reader.line_num
            lines.clear()
    except csv.Error as error:
        raise TableError(
            f"the quotes of line {start + 1} cannot be read ({error}): one is not closed, or "
            "stands inside a cell. Double it or remove it."
        ) from None
    return names, surplus or 0


def _noted(source: Iterable[str], lines: list[str]) -> Iterator[str]:
    """The lines of a text, each noted before it is read."""
    for line in source:
        lines.append(line)
        yield line


def _header(row: list[str]) -> tuple[str, ...]:
    names = tuple(name.strip() or f"Unnamed: {i}" for i, name in enumerate(row))
    check_names(names)
    return names


def check_names(names: Sequence[str]) -> None:
    """Two columns of one name would become one that nobody has named."""
    twice = [name for name, times in Counter(names).items() if times > 1]
    if twice:
        raise TableError(f"two columns have the name {twice[0]!r}. Rename one of them.")


def _wrong_width(line: int, row: list[str], names: Sequence[str], delimiter: str) -> TableError:
    hint = (
        " If the first column holds names of rows, give it a name in the header."
        if len(row) == len(names) + 1 and row[-1]
        else " Quote cells that hold the delimiter, or mend the row."
    )
    return TableError(
        f"line {line} has {len(row)} values, but the header has {len(names)} names "
        f"(delimiter {delimiter!r}).{hint}"
    )


def _check_swallowed(lines: list[str], first: int, width: int, delimiter: str) -> None:
    """Refuse a cell whose lines look like rows: a quote was opened and never meant to be."""
    inner = lines[1:]
    alike = sum(line.count(delimiter) == width - 1 for line in inner)
    if width > 1 and alike > len(inner) / 2 and (width > 2 or alike > 1):
        raise TableError(
            f"a quote in line {first} swallows the rows up to line {first + len(lines) - 1}. Close "
            "it where it ends, or remove it."
        )


def _check_overflow(column: Any, text: CsvText) -> None:
    """Refuse a number that is too large to be one; "inf" is said by the file itself."""
    import numpy as np

    rows = np.flatnonzero(np.isinf(column.to_numpy()))
    if len(rows) == 0:
        return
    cells = parsed(
        text.data,
        [*text.names, *(f"surplus {i}" for i in range(text.surplus))],
        usecols=[text.names.index(column.name)],
        sep=text.delimiter,
        decimal=".",
        dtype=str,
        na_values=None,
    )[column.name]
    for row in rows:
        cell = cells.iloc[row].strip()
        if cell.lower() not in INFINITE:
            raise TableError(
                f"{cell[:40]!r} in row {row + 1} of {column.name!r} is too large for a number. "
                "Mend it, or leave the cell empty."
            )


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
