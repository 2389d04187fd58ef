"""A store of result rows that survives being killed at any moment.

Rows are appended to a segment, a text file of one JSON object per line, and forced to disk; now
and then the segments are compacted into one Parquet file, written whole under another name and
then renamed. A line cut short by a kill is dropped when read, and its cells are run again.
"""

import json
import os
import time
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

import pandas as pd

from doublelogit.files import written_whole

KEY = ["mode", "dataset", "scenario", "value", "repetition", "method"]


class Store:
    """Result rows in a directory: one per cell, the last one written counts."""

    def __init__(self, directory: str | Path) -> None:
        self.directory = Path(directory)
        self.table = self.directory / "results.parquet"
        self.directory.mkdir(parents=True, exist_ok=True)
        # names sort by time, so that of two rows of a cell the later is known
        self._segment = self.directory / f"segment-{time.time_ns():020d}-{uuid.uuid4().hex}.jsonl"

    def __str__(self) -> str:
        return str(self.directory)

    @contextmanager
    def locked(self) -> Iterator["Store"]:
        """Hold the store for one run; another that wants it gets an error."""
        with (self.directory / ".lock").open("w") as file:
            try:
                _lock(file)
            except OSError:
                raise OSError(f"another run is writing to {self}; wait for it.") from None
            yield self

    def append(self, rows: Iterable[dict[str, Any]]) -> None:
        """Write rows to the segment of this store and wait until they are on the disk."""
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        with self._segment.open("a") as file:
            file.write(lines)
            file.flush()
            os.fsync(file.fileno())

    def frame(self) -> pd.DataFrame:
        """All rows, sorted by their keys."""
        parts = [pd.read_parquet(self.table)] if self.table.exists() else []
        parts += [pd.DataFrame(_whole_lines(path)) for path in self._segments()]
        parts = [part for part in parts if len(part)]
        if not parts:
            return pd.DataFrame(columns=KEY)
        rows = pd.concat(parts, ignore_index=True).drop_duplicates(KEY, keep="last")
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
            self.frame().to_parquet(file, index=False, compression="zstd")
        for path in segments:  # only now: a kill in between leaves duplicates, not gaps
            path.unlink()

    def _segments(self) -> list[Path]:
        return sorted(self.directory.glob("segment-*.jsonl"))


def _lock(file: TextIO) -> None:
    """Lock a file until it is closed, by the process or by its death."""
    if os.name == "nt":  # pragma: no cover
        import msvcrt

        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
    else:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _whole_lines(path: Path) -> list[dict[str, Any]]:
    lines = path.read_bytes().split(b"\n")
    return [json.loads(line) for line in lines[:-1]]  # after the last newline: nothing, or a cut
