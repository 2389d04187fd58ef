"""One value per row, in memory while that is little, in a temporary file where it is much.

A file is mapped block by block and unmapped again, so that it never counts for more memory than
a block; it has no name, and is gone with the last use of it, however the process ends.

Files are written by calls and mapped to be read: a full disk is an error then, not a signal.
"""

import tempfile
import weakref
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

LARGE_BUFFER = 2**25  # bytes beyond which values are put into a file


class StoredRows:
    """Rows of numbers in a temporary file; slices of it are maps of the file."""

    def __init__(self, dtype: np.dtype[Any], row_shape: tuple[int, ...], folder: Path | None):
        self.dtype, self.shape, self._folder = dtype, (0, *row_shape), folder
        self._file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115
        weakref.finalize(self, self._file.close)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: slice) -> NDArray[Any]:
        start, stop, _ = rows.indices(len(self))
        shape = (stop - start, *self.shape[1:])
        if 0 in shape:
            return np.empty(shape, self.dtype)
        offset = start * self.dtype.itemsize * int(np.prod(self.shape[1:]))
        return np.memmap(self._file, self.dtype, "r", offset, shape)

    def append(self, part: NDArray[Any]) -> None:
        """Add some rows: written, not mapped, so that a full disk is an error to be reported."""
        try:
            self._file.seek(0, 2)
            self._file.write(part.data)
            self._file.flush()
        except OSError as error:
            where = self._folder or tempfile.gettempdir()
            raise OSError(
                error.errno,
                f"columns of streamed rows are kept in temporary files; {where} takes no more "
                f"({error.strerror}). Make room there, or name another directory: "
                "scan_parquet(..., cache=directory) for features, TMPDIR for the rest",
            ) from error
        self.shape = (self.shape[0] + len(part), *self.shape[1:])


class ColumnBuffer:
    """Rows of numbers being written, one part after the other."""

    def __init__(self, dtype: DTypeLike = np.float64, folder: Path | None = None) -> None:
        self._dtype, self._folder = np.dtype(dtype), folder
        self._parts: list[NDArray[Any]] = []
        self._stored: StoredRows | None = None

    def append(self, part: NDArray[Any]) -> None:
        """Add some rows."""
        part = np.ascontiguousarray(part, dtype=self._dtype)
        if self._stored is not None:
            self._stored.append(part)
            return
        self._parts.append(part)
        if sum(part.nbytes for part in self._parts) > LARGE_BUFFER:
            self._stored = StoredRows(self._dtype, part.shape[1:], self._folder)
            for part in self._parts:
                self._stored.append(part)
            self._parts.clear()

    def finish(self) -> Any:
        """All rows: an array, or a file that is sliced like one."""
        if self._stored is not None:
            return self._stored
        return np.concatenate(self._parts) if self._parts else np.empty(0, self._dtype)


def buffered(parts: Iterable[NDArray[Any]]) -> Any:
    """A column from its parts."""
    buffer = ColumnBuffer()
    for part in parts:
        buffer.append(part)
    return buffer.finish()
