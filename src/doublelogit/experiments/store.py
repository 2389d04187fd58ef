"""A store of result rows that survives being killed at any moment.

Rows are appended to a segment, a text file of one JSON object per line, and forced to disk; now
and then the segments are compacted into one Parquet file, written whole under another name and
then renamed. A line cut short by a kill is dropped when read, and its cells are run again.
"""

import json
import os
import uuid
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pandas as pd

KEY = ["mode", "dataset", "scenario", "value", "repetition", "method"]


class Store:
    """Result rows in a directory: one per cell, the last one written counts."""

    def __init__(self, directory: str | Path) -> None:
        self.directory = Path(directory)
        self.table = self.directory / "results.parquet"
        self.directory.mkdir(parents=True, exist_ok=True)
        self._segment = self.directory / f"segment-{uuid.uuid4().hex}.jsonl"

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

    def done(self) -> set[tuple[Any, ...]]:
        """Keys of the cells that have a row."""
        return set(self.frame()[KEY].itertuples(index=False, name=None))

    def compact(self) -> None:
        """Gather all segments into the Parquet file."""
        segments = self._segments()
        if not segments:
            return
        partial = self.table.with_suffix(".partial")
        self.frame().to_parquet(partial, index=False)
        partial.replace(self.table)
        for path in segments:  # only now: a kill in between leaves duplicates, not holes
            path.unlink()

    def _segments(self) -> list[Path]:
        return sorted(self.directory.glob("segment-*.jsonl"))


def _whole_lines(path: Path) -> list[dict[str, Any]]:
    lines = path.read_bytes().split(b"\n")
    return [json.loads(line) for line in lines[:-1]]  # after the last newline: nothing, or a cut
