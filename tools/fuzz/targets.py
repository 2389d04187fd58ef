"""A target of the fuzzers: where its inputs come from, and how one is checked."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from hypothesis import strategies as st

Case = tuple[str, bytes]  # the ending of a file, and what is in it


@dataclass(frozen=True)
class Target:
    """Inputs as files, and a check that reads one; a new target needs no more than this.

    ``check`` returns a word for what was answered, "answered" if it returns None.
    """

    name: str
    cases: Callable[[], st.SearchStrategy[Case]]
    check: Callable[[Path], str | None]


EDITS = st.sampled_from(["flip", "cut", "drop", "repeat", "insert", "zero"])
PLACES = st.floats(0, 1, exclude_max=True)


def spoiled(content: st.SearchStrategy[bytes]) -> st.SearchStrategy[bytes]:
    """Contents with bytes flipped, cut out, cut off, repeated or put in."""
    edits = st.lists(st.tuples(EDITS, PLACES, st.binary(min_size=1, max_size=6)), min_size=1)
    return st.builds(_spoil, content, edits)


def _spoil(content: bytes, edits: list[tuple[str, float, bytes]]) -> bytes:
    for edit, place, some in edits[:4]:
        i = int(place * len(content))
        end = i + 1 + some[0]
        if edit == "flip" and content:
            content = content[:i] + bytes([content[i] ^ (some[0] or 1)]) + content[i + 1 :]
        elif edit == "cut":
            content = content[:i]
        elif edit == "drop":
            content = content[:i] + content[end:]
        elif edit == "repeat":
            content = content[:end] + content[i:]
        elif edit == "insert":
            content = content[:i] + some + content[i:]
        else:
            content = content[:i] + b"\0" * len(content[i:end]) + content[end:]
    return content
