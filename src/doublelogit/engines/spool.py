"""One value per row, in memory while that is little, in a temporary file where it is much.

A file is mapped block by block and unmapped again, so that it never counts for more memory than
a block; it has no name, and is gone with the last use of it, however the process ends.
"""

import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import DTypeLike, NDArray

LARGE = 2**25  # bytes beyond which values are put into a file


class Stored:
    """Rows of numbers in a temporary file; slices of it are maps of the file."""

    def __init__(self, file: BinaryIO, dtype: np.dtype[Any], shape: tuple[int, ...]) -> None:
        self._file, self.dtype, self.shape = file, dtype, shape

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: slice) -> NDArray[Any]:
        start, stop, _ = rows.indices(len(self))
        shape = (stop - start, *self.shape[1:])
        if 0 in shape:
            return np.empty(shape, self.dtype)
        offset = start * self.dtype.itemsize * int(np.prod(self.shape[1:]))
        return np.memmap(self._file, self.dtype, "r", offset, shape)


class Spool:
    """Rows of numbers being written, one part after the other."""

    def __init__(self, dtype: DTypeLike = np.float64, folder: Path | None = None) -> None:
        self._dtype, self._folder = np.dtype(dtype), folder
        self._parts: list[NDArray[Any]] = []
        self._bytes = 0
        self._file: BinaryIO | None = None
        self._shape: tuple[int, ...] = (0,)

    def append(self, part: NDArray[Any]) -> None:
        """Add some rows."""
        part = np.ascontiguousarray(part, dtype=self._dtype)
        self._shape = (self._shape[0] + len(part), *part.shape[1:])
        self._bytes += part.nbytes
        self._parts.append(part)
        if self._bytes > LARGE:
            self._write()

    def finish(self) -> Any:
        """All rows: an array, or a file that is sliced like one."""
        if self._file is None:
            empty = np.empty((0, *self._shape[1:]), self._dtype)
            return np.concatenate(self._parts) if self._parts else empty
        self._write()
        self._file.flush()
        return Stored(self._file, self._dtype, self._shape)

    def _write(self) -> None:
        # written, not mapped: a full disk is then an error that can be reported
        if self._file is None:
            self._file = tempfile.TemporaryFile(dir=self._folder)  # noqa: SIM115
        for part in self._parts:
            self._file.write(part.data)
        self._parts.clear()


def spooled(parts: Iterable[NDArray[Any]]) -> Any:
    """A column from its parts."""
    spool = Spool()
    for part in parts:
        spool.append(part)
    return spool.finish()
