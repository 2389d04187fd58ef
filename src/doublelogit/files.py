"""Files that are written whole or not at all, and never onto what was read."""

import errno
import os
import re
import secrets
import stat
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

STALE = 3600.0  # seconds after which a temporary file belongs to a process that was killed
PARTIAL = re.compile(r"\.doublelogit-[0-9a-f]{16}\.partial")


@contextmanager
def written_whole(path: str | Path) -> Iterator[BinaryIO]:
    """Open a temporary file beside ``path``; it takes its place if nothing went wrong.

    The file and the directory are forced to the disk, the mode of a file that is replaced is kept,
    and a symbolic link is replaced, not followed. Two that write one path at the same time each
    write a whole file, and the last one stays.
    """
    path = Path(path)
    _check_target(path)
    _sweep(path.parent)
    partial = path.with_name(f".doublelogit-{secrets.token_hex(8)}.partial")
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    try:
        with os.fdopen(os.open(partial, flags, 0o666), "w+b") as file:
            yield file
            file.flush()
            _keep_mode(file, path)
            os.fsync(file.fileno())
        os.replace(partial, path)  # noqa: PTH105 - the link itself, where path is one
        _flush_directory(path.parent)
    finally:
        partial.unlink(missing_ok=True)


def write_text(path: str | Path, text: str) -> None:
    """Write a text in UTF-8, whole or not at all."""
    with written_whole(path) as file:
        file.write(text.encode())


def check_apart(outputs: Sequence[str | Path], inputs: Sequence[str | Path] = ()) -> None:
    """Refuse an output that would be written onto an input, or onto another output."""
    for i, output in enumerate(outputs):
        for other in inputs:
            if same_file(output, other):
                raise ValueError(
                    f"a result is never written onto what was read; got {str(output)!r} for both. "
                    "Name another file."
                )
        for other in outputs[:i]:
            if same_file(output, other):
                raise ValueError(
                    f"two results would be written onto each other, as {str(output)!r}. Name "
                    "another file."
                )


def same_file(one: str | Path, other: str | Path) -> bool:
    """Whether two paths lead to one file, by any link."""
    try:
        return Path(one).samefile(other)
    except OSError:  # one of them does not exist yet
        return Path(one).resolve() == Path(other).resolve()


def _check_target(path: Path) -> None:
    """A directory, a device or a pipe must not be replaced by a file."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return  # nothing is there, or a link to nothing
    if not stat.S_ISREG(mode):
        kind = "a directory" if stat.S_ISDIR(mode) else "no regular file"
        raise OSError(f"results are written to files; {str(path)!r} is {kind}.")


def _keep_mode(file: BinaryIO, path: Path) -> None:
    try:
        os.fchmod(file.fileno(), stat.S_IMODE(path.stat().st_mode))
    except (OSError, AttributeError):  # a new file, whose mode the umask has decided; or Windows
        return


def _flush_directory(folder: Path) -> None:
    """Force the name of a file to the disk, where the system can."""
    if os.name == "nt":  # pragma: no cover
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # some file systems cannot
            raise
    finally:
        os.close(handle)


def _sweep(folder: Path) -> None:
    """Remove what killed processes have left behind."""
    limit = time.time() - STALE
    for path in folder.glob(".doublelogit-*.partial"):
        try:
            if PARTIAL.fullmatch(path.name) and path.lstat().st_mtime < limit:
                path.unlink()
        except OSError:  # another process was faster, or owns it
            continue
