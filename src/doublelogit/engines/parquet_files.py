"""Parquet files as a stream of Arrow batches, every file checked when it is opened and read.

Row groups that a filter rules out by their statistics are not read, and only the columns
asked for are decoded, a batch at a time: a large row group takes no more memory than a small one.
Checksums of pages are verified where a file has them, and a file must stay the same from pass to
pass: several passes over different rows would add up to numbers of nothing.

Workers on other machines may have copies of the files, of which sizes are compared.
"""

import socket
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from glob import glob, has_magic
from pathlib import Path
from typing import Any, NamedTuple

from doublelogit.common.extras import needs
from doublelogit.common.wording import listed
from doublelogit.exceptions import FileChangedError, TableError

BUFFER_BYTES = 2**18  # read at once of a column of a file: bounds memory for any row group
PIECE_ROWS = 2**18  # row groups are put together to so many rows for a worker


class Stamp(NamedTuple):
    """What tells a file from one that took its place, and the machine that says so."""

    size: int
    mtime_ns: int | None
    inode: int | None
    host: str

    def differs(self, other: "Stamp") -> bool:
        """Whether these are two files; of copies on two machines only the sizes are compared."""
        return self.size != other.size or (self.host == other.host and self != other)


@dataclass(frozen=True)
class Files:
    """Parquet files with one schema, and the filter that rows must pass."""

    paths: tuple[str, ...]
    filter: tuple[tuple[str, str, Any], ...] = ()
    _stamps: dict[str, Stamp] = field(default_factory=dict, compare=False, repr=False)

    @cached_property
    def _dataset(self) -> Any:
        import pyarrow.dataset as ds

        # one directory may be partitioned, and a URI names its file system
        source = self.paths[0] if len(self.paths) == 1 else list(self.paths)
        return ds.dataset(source, format="parquet", partitioning="hive")

    def __getstate__(self) -> dict[str, Any]:
        # a worker opens files itself, and they must be those that were seen here
        return {"paths": self.paths, "filter": self.filter, "_stamps": dict(self._stamps)}

    @property
    def schema(self) -> Any:
        """Names and types of the columns, as in the first file."""
        return self._dataset.schema

    def check(self, used: Callable[[Sequence[str]], Sequence[str]] = list) -> None:
        """Open every file once and compare its columns with the first one's.

        ``used`` says which columns are read, of those that there are: what only a later file has
        would be left out without a word.
        """
        wanted = list(used(self.schema.names))
        for fragment in self._dataset.get_fragments():
            self._watch(fragment)
            schema = fragment.physical_schema
            for name in used(schema.names):
                if name not in wanted:
                    raise self._missing(name, self._first(), self.schema.names)
            self._compare(schema, fragment, self._needed(fragment, wanted))

    def pieces(self) -> list[Any]:
        """Parts of the files of a good size for a worker."""
        pieces = []
        for fragment in self._fragments():
            self._watch(fragment)
            groups: list[int] = []
            n_rows = 0
            for group in fragment.row_groups:
                groups.append(group.id)
                n_rows += group.num_rows
                if n_rows >= PIECE_ROWS:
                    pieces.append(fragment.subset(row_group_ids=groups))
                    groups, n_rows = [], 0
            if groups:
                pieces.append(fragment.subset(row_group_ids=groups))
        return pieces

    def batches(
        self, columns: Sequence[str], batch_rows: int, piece: Any = None
    ) -> Iterator[tuple[str, Any]]:
        """Path and record batch, in order, of all files or of a piece of them."""
        for fragment in self._fragments() if piece is None else (piece,):
            self._watch(fragment)
            try:
                for batch in self._read(fragment, columns, batch_rows):
                    if batch.num_rows:
                        yield fragment.path, batch
                self._watch(fragment)
            except FileChangedError:
                raise
            except OSError as error:  # Arrow's own errors of damaged files are of this kind
                raise OSError(f"{fragment.path} cannot be read: {error}") from error

    def _fragments(self) -> Iterator[Any]:
        for fragment in self._dataset.get_fragments(filter=self._expression):
            if self._expression is None:
                yield fragment
            else:
                yield fragment.subset(filter=self._expression, schema=self._dataset.schema)

    def _read(self, fragment: Any, columns: Sequence[str], batch_rows: int) -> Iterator[Any]:
        import pyarrow.parquet as pq

        needed = self._needed(fragment, columns)
        groups = [group.id for group in fragment.row_groups]
        with fragment.open() as handle:
            file = pq.ParquetFile(handle, buffer_size=BUFFER_BYTES, page_checksum_verification=True)
            self._compare(file.schema_arrow, fragment, needed)
            for batch in file.iter_batches(batch_rows, row_groups=groups, columns=needed):
                yield from self._chosen(self._with_keys(batch, fragment), columns)

    def _watch(self, fragment: Any) -> None:
        """Refuse a file that is not the one which was seen before."""
        stamp = _stamp(fragment)
        if self._stamps.setdefault(fragment.path, stamp).differs(stamp):
            raise FileChangedError(
                f"files must stay as they are while they are read; {fragment.path} was changed or "
                "replaced since it was first opened. Call scan_parquet and fit again."
            )

    def _chosen(self, batch: Any, columns: Sequence[str]) -> Iterator[Any]:
        """The rows that pass the filter, the columns asked for."""
        import pyarrow as pa

        if self._expression is None:
            yield batch.select(list(columns))
        else:
            table = pa.Table.from_batches([batch]).filter(self._expression)
            yield from table.select(list(columns)).combine_chunks().to_batches()

    @cached_property
    def _expression(self) -> Any:
        import pyarrow.parquet as pq

        return pq.filters_to_expression(list(self.filter)) if self.filter else None

    def _needed(self, fragment: Any, columns: Sequence[str]) -> list[str]:
        """Columns to be read of a file: not those that its path tells."""
        wanted = dict.fromkeys([*columns, *(name for name, _, _ in self.filter)])
        return [name for name in wanted if name not in self._keys(fragment)]

    def _with_keys(self, batch: Any, fragment: Any) -> Any:
        import pyarrow as pa

        for name, value in self._keys(fragment).items():
            kind = self.schema.field(name).type
            column = pa.repeat(pa.scalar(value, kind), batch.num_rows)
            batch = batch.append_column(name, column)
        return batch

    def _keys(self, fragment: Any) -> dict[str, Any]:
        import pyarrow.dataset as ds

        return ds.get_partition_keys(fragment.partition_expression)

    def _compare(self, schema: Any, fragment: Any, columns: Sequence[str]) -> None:
        for name in columns:
            for path, names in ((fragment.path, schema.names), (self._first(), self.schema.names)):
                if name not in names:
                    raise self._missing(name, path, names)
            kind, first = (plain(s.field(name).type) for s in (schema, self.schema))
            if kind != first:
                raise TableError(
                    f"a column must have one type in all files; {name!r} is {kind} in "
                    f"{fragment.path} and {first} in {self._first()}."
                )

    def _missing(self, name: str, path: str, names: Sequence[str]) -> TableError:
        return TableError(
            f"every file must have the same columns; {name!r} is missing in {path}, whose columns "
            f"are {listed(names)}."
        )

    def _first(self) -> str:
        return next(iter(self._dataset.get_fragments())).path


def _stamp(fragment: Any) -> Stamp:
    """The stamp of a file as it is now."""
    from pyarrow import fs

    host = socket.gethostname()
    if isinstance(fragment.filesystem, fs.LocalFileSystem):
        status = Path(fragment.path).stat()
        return Stamp(status.st_size, status.st_mtime_ns, status.st_ino, host)
    info = fragment.filesystem.get_file_info(fragment.path)
    return Stamp(info.size, info.mtime_ns, None, host)


def plain(kind: Any) -> Any:
    """A type, or that of the values of a dictionary."""
    import pyarrow as pa

    return kind.value_type if pa.types.is_dictionary(kind) else kind


def found_files(path: Any) -> tuple[str, ...]:
    """The files, directories or addresses that a user's path stands for, in order."""
    needs("pyarrow", "Parquet", "parquet")
    places = [path] if isinstance(path, str | Path) else list(path)
    paths: list[str] = []
    for one in map(str, places):
        # Path.glob takes no absolute pattern
        matches = sorted(glob(one, recursive=True)) if has_magic(one) else [one]  # noqa: PTH207
        if not matches or ("://" not in one and not Path(matches[0]).exists()):
            raise FileNotFoundError(f"path must name Parquet files; there is none at {one!r}.")
        paths += matches if len(places) == len(matches) == 1 else _files_in(matches)
    if not paths:
        raise FileNotFoundError("path must name Parquet files; got an empty list.")
    return tuple(paths)


def _files_in(paths: list[str]) -> Iterator[str]:
    for path in paths:
        folder = Path(path)
        yield from sorted(map(str, folder.rglob("*.parquet"))) if folder.is_dir() else [path]
