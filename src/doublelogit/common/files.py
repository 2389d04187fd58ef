"""Files that are written whole or not at all, and never onto what was read.

A temporary file is locked while its writer lives, so that the next process can tell a leftover of a
killed one from the work of another without clocks or process ids. Its name is random, so that
nobody can plant a link there.
"""

import errno
import os
import re
import secrets
import stat
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import BinaryIO

from doublelogit.exceptions import UsageError

STALE = 3600.0  # seconds after which a temporary file is left over, where locks cannot tell
PARTIAL = re.compile(r"\.doublelogit-[0-9a-f]{16}\.partial")
NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
BINARY = getattr(os, "O_BINARY", 0)
TABLES = (".csv", ".parquet")  # how tables are written
_READ: ContextVar[tuple[str | Path, ...]] = ContextVar("read", default=())
NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP)


@contextmanager
def written_whole(path: str | Path) -> Iterator[BinaryIO]:
    """Open a temporary file beside ``path``; it takes its place if nothing went wrong.

    The file and the directory are forced to the disk, the mode of a file that is replaced is kept,
    and a symbolic link is replaced, not followed. Two that write one path at the same time each
    write a whole file, and the last one stays. What a killed process has left behind is removed
    by the next one that writes to the directory.
    """
    with written_together(path) as (file,):
        yield file


@contextmanager
def written_together(*paths: str | Path) -> Iterator[tuple[BinaryIO, ...]]:
    """Files that belong together: none takes its place before all of them are on the disk."""
    check_apart(paths)
    with ExitStack() as stack:
        files = [stack.enter_context(_partial(Path(path))) for path in paths]
        yield tuple(file for _, file in files)
        for _, file in files:
            file.flush()
            os.fsync(file.fileno())
        for (partial, file), path in zip(files, paths, strict=True):
            if os.name == "nt":  # pragma: no cover - an open file cannot be renamed there
                file.close()
            # still locked, so that nobody takes it for a leftover; a link is replaced itself
            os.replace(partial, path)  # noqa: PTH105
    for folder in {Path(path).parent for path in paths}:
        _flush_directory(folder)


@contextmanager
def _partial(path: Path) -> Iterator[tuple[Path, BinaryIO]]:
    """A temporary file beside a path, removed if something goes wrong."""
    check_target(path)
    _sweep(path.parent)
    partial, handle = _created(path)
    try:
        with os.fdopen(handle, "w+b") as file:
            yield partial, file
    except BaseException:
        partial.unlink(missing_ok=True)
        raise


def write_text(path: str | Path, text: str) -> None:
    """Write a text in UTF-8, whole or not at all."""
    with written_whole(path) as file:
        file.write(text.encode())


def append(path: str | Path, content: bytes) -> None:
    """Add to the end of a file, and wait until it is on the disk.

    An error or a kill may leave a part of the content: readers must know a whole line from a cut.
    """
    path = Path(path)
    new = not path.exists()
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | NOFOLLOW | BINARY
    # without a buffer, which would be written once more when the file is closed after an error
    with os.fdopen(os.open(path, flags, 0o666), "ab", buffering=0) as file:
        while content:
            content = content[file.write(content) :]
        os.fsync(file.fileno())
    if new:
        _flush_directory(path.parent)


@contextmanager
def reading(inputs: Sequence[str | Path]) -> Iterator[None]:
    """Meanwhile nothing is written onto one of these files."""
    token = _READ.set(tuple(inputs))
    try:
        yield
    finally:
        _READ.reset(token)


@contextmanager
def held(path: str | Path) -> Iterator[None]:
    """Hold a lock file; an OSError says that another process does."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT | NOFOLLOW | BINARY, 0o666)
    try:
        if not lock(handle):
            raise BlockingIOError(errno.EWOULDBLOCK, "another process holds it", str(path))
        yield
    finally:
        os.close(handle)


def check_apart(outputs: Sequence[str | Path], inputs: Sequence[str | Path] = ()) -> None:
    """Refuse an output that would be written onto an input, or onto another output."""
    for i, output in enumerate(outputs):
        for other in (*inputs, *_READ.get()):
            if same_file(output, other):
                raise UsageError(
                    f"a result is never written onto what was read; got {str(output)!r} for both. "
                    "Name another file."
                )
        for other in outputs[:i]:
            if same_file(output, other):
                raise UsageError(
                    f"two results would be written onto each other, as {str(output)!r}. Name "
                    "another file."
                )


def sheet_path(path: Path) -> Path:
    """Where the reviewer's sheet of an audit is."""
    return path.with_name(f"{path.stem}-sheet{path.suffix}")


def same_file(one: str | Path, other: str | Path) -> bool:
    """Whether two paths lead to one file, by any link."""
    try:
        return Path(one).samefile(other)
    except OSError:  # one of them does not exist yet
        return Path(one).resolve() == Path(other).resolve()


def lock(handle: int) -> bool:
    """Lock an open file until it is closed, by the process or its death; False if it is taken."""
    if os.name == "nt":  # pragma: no cover
        import msvcrt

        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
        except OSError:
            return False
        return True
    import fcntl

    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def check_table(path: Path) -> None:
    """Tables have one of two endings."""
    if path.suffix.lower() not in TABLES:
        raise UsageError(f"a table is written as {' or '.join(TABLES)}; got {path.name!r}.")


def check_target(path: Path) -> None:
    """A file has a directory, and replaces neither another one nor a device or a pipe."""
    if not path.parent.is_dir():
        raise FileNotFoundError(
            f"there is no directory {str(path.parent)!r} to write {path.name!r} to. Make it, or "
            "name another."
        )
    try:
        mode = path.stat().st_mode
    except OSError:
        return  # nothing is there, or a link to nothing
    if not stat.S_ISREG(mode):
        kind = "a directory" if stat.S_ISDIR(mode) else "no regular file"
        raise OSError(f"results are written to files; {str(path)!r} is {kind}.")


def _created(path: Path) -> tuple[Path, int]:
    """A new temporary file of the right mode, locked while this process lives."""
    mode = _mode_of(path)
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | NOFOLLOW | BINARY
    while True:
        partial = path.with_name(f".doublelogit-{secrets.token_hex(8)}.partial")
        try:
            handle = os.open(partial, flags, 0o666 if mode is None else mode)
        except OSError as error:  # of which the temporary name would tell nobody anything
            reason = f"{str(path)!r} cannot be written: {error.strerror}. Name another file."
            raise type(error)(reason) from error
        try:
            mine = _claimed(handle)
            if mine and mode is not None and stat.S_IMODE(os.fstat(handle).st_mode) != mode:
                os.fchmod(handle, mode)
        except BaseException:
            os.close(handle)
            partial.unlink(missing_ok=True)
            raise
        if mine:
            return partial, handle
        os.close(handle)  # another process took it for a leftover before it was locked


def _mode_of(path: Path) -> int | None:
    """Permissions of a file that is replaced; None for a new one, or in place of a link."""
    try:
        status = path.lstat()
    except FileNotFoundError:
        return None
    return stat.S_IMODE(status.st_mode) & 0o777 if stat.S_ISREG(status.st_mode) else None


def _claimed(handle: int) -> bool:
    """Lock a new temporary file; False if it was removed before."""
    if os.name == "nt":  # pragma: no cover - nobody can remove an open file there
        return True
    try:
        locked = lock(handle)
    except OSError as error:
        if error.errno not in NO_LOCKS:
            raise
        return True  # its age protects it
    return locked and os.fstat(handle).st_nlink > 0


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
    for path in folder.glob(".doublelogit-*.partial"):
        if PARTIAL.fullmatch(path.name):
            try:
                _remove_leftover(path)
            except OSError:  # another process was faster, or owns it
                continue


def _remove_leftover(path: Path) -> None:
    """Remove a temporary file that no living process has locked."""
    status = path.lstat()
    if not stat.S_ISREG(status.st_mode):
        return  # nothing that was written here
    if os.name == "nt":  # pragma: no cover
        if status.st_mtime < time.time() - STALE:
            path.unlink()
        return
    handle = os.open(path, os.O_RDONLY | NOFOLLOW | os.O_NONBLOCK)
    try:
        try:
            left = lock(handle)
        except OSError:  # no locks on this file system
            left = status.st_mtime < time.time() - STALE
        if left:
            path.unlink()
    finally:
        os.close(handle)
