"""A shim between the library and the file system, which lets one call fail or kills at it.

Every call that creates, writes, forces to disk, renames or removes a file passes through it and is
counted, so that a study can let each of them fail in turn: `benchmarks/faults.py` does all,
`tests/test_faults.py` a part.
"""

import errno
import fcntl
import io
import os
import signal
from contextlib import ExitStack
from unittest import mock

# "interrupted" is Ctrl-C; a write that goes wrong has written a part
KINDS = ("EIO", "ENOSPC", "EINTR", "short write", "interrupted")
KILLS = ("killed before", "killed in it")
CALLS = {
    os: ("open", "fsync", "replace", "rename", "unlink", "fchmod"),
    fcntl: ("flock",),
}


class Shim:
    """While it is entered, the k-th call goes wrong in a given way; k = 0 only counts."""

    def __init__(self, kind="EIO", k=0):
        self.kind, self.k = kind, k
        self.calls = []  # their names, in order
        self._full = False

    def __enter__(self):
        self._stack = ExitStack()
        self._open = io.open
        for module, names in CALLS.items():
            for name in names:
                call = self._counted(name, getattr(module, name))
                self._stack.enter_context(mock.patch.object(module, name, call))
        self._stack.enter_context(mock.patch.object(io, "open", self._opened))
        return self

    def __exit__(self, *error):
        self._stack.close()

    @property
    def failed(self):
        """The name of the call that went wrong."""
        return self.calls[self.k - 1] if 0 < self.k <= len(self.calls) else None

    def _counted(self, name, call):
        def counted(*args, **options):
            self._before(name)
            try:
                return call(*args, **options)
            finally:
                if self._now("killed in it"):
                    _die()

        return counted

    def _before(self, name):
        self.calls.append(name)
        if self._now("killed before"):
            _die()
        if self._now("interrupted"):
            raise KeyboardInterrupt
        for kind in ("EIO", "ENOSPC", "EINTR"):
            if self._now(kind):
                self._full = kind == "ENOSPC"
                number = getattr(errno, kind)
                raise OSError(number, os.strerror(number))

    def _now(self, kind):
        return len(self.calls) == self.k and self.kind == kind

    def write(self, raw, data):
        """What a write to the disk does: all of it, a part of it, or not."""
        if self._full:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        part = memoryview(data).cast("B")[: max(memoryview(data).nbytes // 2, 1)]
        if len(self.calls) + 1 == self.k and self.kind not in ("EINTR", "killed before"):
            written = raw.write_really(part)
            if self.kind == "killed in it":
                _die()
            self._before("write")
            return written
        self._before("write")
        return raw.write_really(data)

    def _opened(self, file, mode="r", buffering=-1, *args, **options):
        if not set(mode) & set("wax+"):
            return self._open(file, mode, buffering, *args, **options)
        counted = not isinstance(file, int) and "opener" not in options  # which is os.open
        if counted:
            self._before("open")
        own = {name: options.pop(name) for name in ("closefd", "opener") if name in options}
        raw = _Raw(self, file, mode.replace("b", ""), **own)
        if counted and self._now("killed in it"):
            _die()
        if buffering == 0:
            return raw
        buffered = io.BufferedRandom(raw) if "+" in mode else io.BufferedWriter(raw)
        return buffered if "b" in mode else io.TextIOWrapper(buffered, *args, **options)


def _die():
    os.kill(os.getpid(), signal.SIGKILL)


class _Raw(io.FileIO):
    """A file whose writes pass through the shim."""

    def __init__(self, shim, file, mode, **options):
        super().__init__(file, mode, **options)
        self._shim = shim

    def write(self, data):
        return self._shim.write(self, data)

    def write_really(self, data):
        return super().write(data)
