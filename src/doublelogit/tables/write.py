"""Tables out: files that a spreadsheet can open without running anything."""

from pathlib import Path
from typing import Any

from doublelogit.common.files import check_table, write_text, written_whole

# A spreadsheet takes a cell that begins so for a formula; full-width signs too, in some languages.
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")


def write_table(frame: Any, path: str | Path) -> None:
    """Write a frame as CSV or Parquet, by the ending, whole or not at all.

    In a CSV, texts that begin like a formula get a quote before them.
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
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA) else value
