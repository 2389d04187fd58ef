"""An audit as a table: which rows were drawn, with what chance, and what was found.

Columns: ``id``, ``round``, ``stratum``, ``of`` (rows, or clusters, in the stratum when it was drawn
from), ``chance`` (that a row of the stratum is drawn), ``cluster`` where clusters were drawn,
``list`` (1 for rows of the list) where a list is audited, and ``class``: 1/0 or yes/no, empty where
nobody has looked, "don't know" where looking did not help.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from doublelogit._types import Floats, Ints
from doublelogit.audit.chances import DESIGN, with_design
from doublelogit.common.extras import needs
from doublelogit.common.files import sheet_path
from doublelogit.exceptions import SheetError, TableError, UsageError
from doublelogit.tables import read_table
from doublelogit.tables.labels import NO, YES, label_words
from doublelogit.tables.words import as_words
from doublelogit.tables.write import as_it_was

# How rows came to be looked at: with known chances; by scores or features; in any other way.
KINDS = ("drawn", "features", "convenience")
UNSURE = {"?", "don't know", "dont know", "don\u2019t know", "dk", "unsure", "unclear", "unknown"}
COLUMNS = ("id", *DESIGN, "cluster", "list", "class")


@dataclass(frozen=True)
class Audit:
    """Rows of an audit, of one round or of several.

    Parameters
    ----------
    frame : pandas.DataFrame
        With the columns that the module describes; ``id`` and ``class`` are texts.
    kind : {"drawn", "features", "convenience"}, default="drawn"
        How the rows came to be looked at.
    reviewer_error : (float, float), default=(0, 0)
        Probability that a reviewer takes a negative for a positive, and a positive for a negative.
    """

    frame: Any
    kind: str = "drawn"
    reviewer_error: tuple[float, float] = (0.0, 0.0)

    def __len__(self) -> int:
        return len(self.frame)

    @property
    def ids(self) -> Any:
        """Id of every row, as text."""
        return self.frame["id"].to_numpy(dtype=object)

    @cached_property
    def y(self) -> Floats:
        """The class found: 1, 0, or NaN where nobody looked or looking did not help."""
        return _coded(self.frame["class"])

    @cached_property
    def unsure(self) -> Any:
        """Rows that somebody looked at in vain."""
        return np.array([word.lower() in UNSURE for word in self.frame["class"]], dtype=bool)

    @property
    def answered(self) -> Any:
        """Rows that somebody looked at, in vain or not."""
        return self.unsure | ~np.isnan(self.y)

    @property
    def looked_at(self) -> set[str]:
        """Ids of rows that need not be looked at again."""
        return set(self.ids[self.answered].tolist())

    @property
    def in_likelihood(self) -> bool:
        """Whether a model may learn from the classes: not if more than features chose the rows."""
        return self.kind != "convenience"

    @property
    def round(self) -> Ints:
        """Round of every row."""
        return self.frame["round"].to_numpy(dtype=np.intp)

    @property
    def last_round(self) -> int:
        """Number of the latest round."""
        return int(self.round.max()) if len(self) else 0

    @cached_property
    def stratum_number(self) -> Ints:
        """Stratum of every row within its round, counted from 0 over all rounds."""
        import pandas as pd

        pairs = pd.MultiIndex.from_arrays([self.round, self.frame["stratum"]])
        return np.asarray(pd.factorize(pairs, sort=True)[0], dtype=np.intp)

    @property
    def cluster(self) -> Any:
        """Cluster of every row; None where rows were drawn one by one."""
        return self.frame["cluster"].to_numpy(dtype=object) if "cluster" in self.frame else None

    @property
    def on_list(self) -> Any:
        """Rows of the list that the latest round with such a goal has audited; None if none has."""
        if "list" not in self.frame:
            return None
        on_list = self.frame["list"].to_numpy(dtype=float) == 1
        return on_list & (self.round == self.round[on_list].max()) if on_list.any() else None

    @property
    def lost(self) -> int:
        """Rows that were drawn, by the chances, but are not in the file."""
        if self.kind != "drawn" or self.cluster is not None:
            return 0
        each = self.frame.groupby(["round", "stratum"], observed=True)
        drawn = (each["of"].first() * each["chance"].first()).round()
        return int(np.maximum(drawn - each.size(), 0).sum())

    def sheet(self, h: Floats | None = None) -> Any:
        """Id and empty class for a reviewer; h as well if it is given."""
        sheet = self.frame[["id", "class"]].assign(note="")
        return sheet if h is None else sheet.assign(score=np.round(h, 4))


def as_audit(
    source: Any, kind: str = "drawn", reviewer_error: float | Sequence[float] = 0.0
) -> Audit:
    """An audit from a file, a frame, or several of them.

    Beside a file ``audit.csv`` the reviewer's sheet, ``audit-sheet.csv``, is read too if it is
    there: its classes take the place of empty ones.
    """
    import pandas as pd

    needs("pandas", "An audit", "tables")
    if isinstance(source, Audit):
        return source
    if kind not in KINDS:
        raise ValueError(f"`audit_kind` must be one of {', '.join(KINDS)}; got {kind!r}.")
    sources = source if isinstance(source, list | tuple) else [source]
    frame = pd.concat([_read(sheet, kind) for sheet in sources], ignore_index=True)
    audit = Audit(frame, kind, _errors(reviewer_error))
    _check_once(audit)
    return audit


def _check_once(audit: Audit) -> None:
    frame = audit.frame
    repeated = frame["id"][audit.answered & frame["id"].duplicated(keep=False).to_numpy()]
    twice = repeated[repeated.duplicated()]
    if len(twice):
        raise SheetError(
            f"an audit must look at a row once; {twice.iloc[0]!r} has a class more than once. "
            "Keep one line of it."
        )


def _errors(rates: float | Sequence[float]) -> tuple[float, float]:
    wrong = tuple(rates) if isinstance(rates, Sequence) else (rates, rates)
    if len(wrong) != 2 or not (min(wrong) >= 0 and sum(wrong) < 1):  # nan is neither
        raise UsageError(
            "`reviewer_error` must be a probability below 0.5, or two whose sum is below 1; got "
            f"{rates}."
        )
    return float(wrong[0]), float(wrong[1])


def _read(source: Any, kind: str) -> Any:
    """The rows of a sheet, with the classes of the reviewer's sheet beside it."""
    named = Path(source).name if isinstance(source, str | Path) else ""
    try:
        frame = _sheet(source)
        if named:
            frame = _with_sheet(frame, Path(source))
        return with_design(frame, kind)
    except TableError as error:
        raise SheetError(f"{named}: {error}" if named else str(error)) from None


def _sheet(source: Any) -> Any:
    """Ids and classes as texts, and whatever else stands on a sheet."""
    frame = read_table(source, text=["class", "stratum", "cluster"], verbatim=["id"])
    for name in frame.columns:
        if name not in COLUMNS and name.lower() in COLUMNS:
            raise SheetError(
                f"the columns of an audit have names in small letters; got {name!r}. Write "
                f"{name.lower()!r}."
            )
    for name in ("id", "class"):
        if name not in frame.columns:
            raise SheetError(
                f"an audit has the columns 'id' and 'class'; this one has {list(frame.columns)}."
            )
    return frame.assign(id=_ids(frame["id"]), **{"class": label_words(frame["class"])})


def _ids(column: Any) -> Any:
    """Ids as they are in the table: quotes before what looks like a formula were put by us."""
    return np.array([as_it_was(word) for word in as_words(column)], dtype=object)


def _with_sheet(frame: Any, path: Path) -> Any:
    other = sheet_path(path)
    if not other.exists():
        return frame
    sheet = _sheet(other)
    twice = sheet["id"][sheet["id"].duplicated()]
    if len(twice):
        raise SheetError(f"{other.name} has {twice.iloc[0]!r} more than once. Keep one line of it.")
    classes = dict(zip(sheet["id"], sheet["class"], strict=True))
    theirs = np.array([classes.get(name, "") for name in frame["id"]], dtype=object)
    mine = frame["class"].to_numpy(dtype=object)
    differ = (mine != "") & (theirs != "") & (mine != theirs)
    if differ.any():
        name = frame["id"].to_numpy()[differ][0]
        raise SheetError(f"{path.name} and {other.name} have different classes of {name!r}.")
    return frame.assign(**{"class": np.where(mine == "", theirs, mine)})


def _coded(words: Any) -> Floats:
    coded = np.full(len(words), np.nan)
    for i, word in enumerate(words):
        lower = word.lower()
        if lower in UNSURE or not word:
            continue
        if lower not in YES | NO:
            raise SheetError(
                f'the class of an audited row is 1/0, yes/no, "don\'t know" or empty; got {word!r}.'
            )
        coded[i] = float(lower in YES)
    return coded
