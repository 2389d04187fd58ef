"""A store of result rows that survives being killed at any moment.

Rows are appended to a segment, a text file of one JSON object and its checksum per line, and forced
to disk; now and then the segments are compacted into one Parquet file, written whole under another
name and then renamed. A line cut short by a kill is dropped when read, and its cells are run again.
A file that is damaged otherwise is named in a warning and set aside, and its cells are run again.
"""

import json
import time
import uuid
import warnings
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pandas as pd

from doublelogit.common.files import append, held, written_whole

KEY = ["mode", "dataset", "scenario", "value", "repetition", "method"]


class StoreWarning(UserWarning):
    """A file of results was damaged; it was set aside and its cells will be run again."""


class Store:
    """Result rows in a directory: one per cell, the last one written counts."""

    def __init__(self, directory: str | Path) -> None:
        self.directory = Path(directory)
        self.table = self.directory / "results.parquet"
        self.directory.mkdir(parents=True, exist_ok=True)
        self._segment = self._new_segment()

    def __str__(self) -> str:
        return str(self.directory)

    @contextmanager
    def locked(self) -> Iterator["Store"]:
        """Hold the store for one run; another that wants it gets an error."""
        with ExitStack() as stack:
            try:
                stack.enter_context(held(self.directory / ".lock"))
            except BlockingIOError:
                raise OSError(f"another run is writing to {self}; wait for it.") from None
            yield self

    def append(self, rows: Iterable[dict[str, Any]]) -> None:
        """Write rows to the segment of this store and wait until they are on the disk."""
        try:
            append(self._segment, b"".join(map(_line, rows)))
        except BaseException:
            self._segment = self._new_segment()  # a line cut short must stay the last of its file
            raise

    def frame(self) -> pd.DataFrame:
        """All rows, sorted by their keys."""
        segments = [_sound(path, _read_segment) for path in self._segments()]
        # read last: what a run compacts in the meantime is in the table before its segment goes
        table = _sound(self.table, _read_table) if self.table.exists() else None
        filled = [rows for rows in (table, *segments) if rows is not None and len(rows)]
        if not filled:
            return pd.DataFrame(columns=KEY)
        rows = pd.concat(filled, ignore_index=True).drop_duplicates(KEY, keep="last")
        return rows.sort_values(KEY, ignore_index=True)

    def done(self, *columns: str) -> set[tuple[Any, ...]]:
        """Keys of the cells that have a row, each with what these other columns say of it."""
        rows = self.frame().reindex(columns=[*KEY, *columns])
        return set(rows.itertuples(index=False, name=None))

    def compact(self) -> None:
        """Gather all segments into the Parquet file."""
        segments = self._segments()
        if not segments:
            return
        with written_whole(self.table) as file:  # on the disk before the segments go
            self.frame().to_parquet(file, index=False, compression="zstd", write_page_checksum=True)
        for path in segments:  # only now: a kill in between leaves duplicates, not gaps
            path.unlink(missing_ok=True)  # one that was damaged is set aside

    def _segments(self) -> list[Path]:
        return sorted(self.directory.glob("segment-*.jsonl"))

    def _new_segment(self) -> Path:
        """A name that sorts by time, so that of two rows of a cell the later is known."""
        return self.directory / f"segment-{time.time_ns():020d}-{uuid.uuid4().hex}.jsonl"


def _sound(path: Path, read: Callable[[Path], pd.DataFrame]) -> pd.DataFrame | None:
    """The rows of a file; None, a warning and the file set aside, if it is damaged."""
    try:
        return read(path)
    except (ValueError, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise  # the system could not read it: that says nothing of what is in it
        reason = str(error).strip().splitlines()[0]
    aside = path.with_name(f"{path.name}.corrupt")
    path.replace(aside)
    warnings.warn(
        f"{path} is damaged ({reason.rstrip('.')}) and was set aside as {aside.name}; its cells "
        "will be run again.",
        StoreWarning,
        stacklevel=3,
    )
    return None


def _read_table(path: Path) -> pd.DataFrame:
    rows = pd.read_parquet(path, engine="pyarrow", page_checksum_verification=True)
    if not set(KEY) <= set(rows.columns):
        raise ValueError("it has no keys")
    return rows


def _read_segment(path: Path) -> pd.DataFrame:
    """Rows of a segment; none if it was compacted since it was listed: the table has them."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return pd.DataFrame()
    lines = content.split(b"\n")[:-1]  # after the last newline: nothing, or a cut
    return pd.DataFrame([_row(i, line) for i, line in enumerate(lines, start=1)])


def _line(row: dict[str, Any]) -> bytes:
    text = json.dumps(row).encode()
    return b"%s\t%08x\n" % (text, zlib.crc32(text))


def _row(number: int, line: bytes) -> dict[str, Any]:
    """A row from its line; lines of older releases have no checksum."""
    text, tab, checksum = line.partition(b"\t")  # JSON writes a tab as \\t
    if tab and checksum != b"%08x" % zlib.crc32(text):
        raise ValueError(f"the checksum of line {number} is wrong")
    try:
        row = json.loads(text)
    except ValueError:
        raise ValueError(f"line {number} is no JSON") from None
    if not isinstance(row, dict) or not set(KEY) <= row.keys():
        raise ValueError(f"line {number} is no result")
    return row
