"""Standard output, whose reader may leave and whose disk may be full."""

import os
import sys
from collections.abc import Callable
from typing import Any, TextIO, TypeVar

T = TypeVar("T")


def replace_closed() -> None:
    """Let what is said go nowhere where a caller has closed standard output or error."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115


class Watched:
    """Standard output, and the first error that writing to it has ended with."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self.failure: OSError | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """Write a text."""
        return self._tried(self._stream.write, text)

    def flush(self) -> None:
        """Write what was held back."""
        self._tried(self._stream.flush)

    def silence(self) -> None:
        """Let what is left go nowhere; Python would complain of it when it ends."""
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self._stream.fileno())
        os.close(nowhere)

    def _tried(self, write: Callable[..., T], *text: str) -> T:
        try:
            return write(*text)
        except OSError as error:
            self.failure = self.failure or error
            raise
