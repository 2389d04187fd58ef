"""Tables out: files that a spreadsheet can open without running anything."""

import re
from pathlib import Path
from typing import Any

from doublelogit.common.files import check_table, write_text, written_whole

# With one of these a spreadsheet begins a formula; the full-width ones too, in some languages.
SIGNS = r"=+\-@\uff1d\uff0b\uff0d\uff20"
# What ends a cell where spreadsheets have another separator; quotes and spaces are lost about it.
SEPARATORS = ",;|\t\r\n"
# All that stands between a cell and a sign: from where it begins, so that a text is read once.
RUN = re.compile(rf"""(?:^|(?<![\s"',;|])(?=[\s"',;|]))[\s"',;|]*(?=[{SIGNS}])""")
INVISIBLE = re.compile(r"^(?='*[\t\r\n])")


def write_table(frame: Any, path: str | Path) -> None:
    """Write a frame as CSV or Parquet, by the ending, whole or not at all.

    In a CSV, what looks like a formula, also behind a separator, gets a quote before it.
    """
    path = Path(path)
    check_table(path)
    if path.suffix.lower() == ".parquet":
        with written_whole(path) as file:
            frame.to_parquet(file, index=False, write_page_checksum=True)
    else:
        write_text(path, neutral(frame).to_csv(index=False))


def neutral(frame: Any) -> Any:
    """The frame with no text, name or value, that a spreadsheet would take for a formula."""
    safe = frame.rename(columns=_neutral)
    for name in safe.columns:
        if safe[name].dtype.kind not in "biufmM":
            safe[name] = safe[name].map(_neutral)
    return safe


def _neutral(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    return INVISIBLE.sub("'", RUN.sub(lambda run: run[0] + "'" * _begins(run), value))


def as_it_was(text: str) -> str:
    """A text before it was made safe: without the quotes before what looks like a formula."""
    text = text[1:] if text.startswith("'") and INVISIBLE.match(text[1:]) else text
    return RUN.sub(lambda run: run[0].removesuffix("'") if _begins(run) else run[0], text)


def _begins(run: re.Match[str]) -> bool:
    """Whether the sign after a run of separators, quotes and spaces may begin a cell."""
    return run.start() == 0 or any(mark in run[0] for mark in SEPARATORS)
