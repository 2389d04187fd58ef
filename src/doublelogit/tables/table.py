"""A table taken apart by the roles of its columns, one entry per row."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from doublelogit._types import Floats
from doublelogit.common.thresholds import FEWEST_LABELS
from doublelogit.exceptions import TableError
from doublelogit.tables.columns import MISSING, OTHER
from doublelogit.tables.encoder import TableEncoder
from doublelogit.tables.encoding import TableEncoding
from doublelogit.tables.label_columns import code_sources
from doublelogit.tables.labels import code_audited, code_labels, code_weights
from doublelogit.tables.read import read_table
from doublelogit.tables.roles import Roles
from doublelogit.tables.words import as_words

ROWS_AT_ONCE = 2**14  # that are encoded, where not all are needed at once
MOST_GROUPS = 12  # more are no table that anyone reads


@dataclass(frozen=True)
class Table:
    """Features, labels and whatever else was named, one entry per row.

    ``notes`` say how the label column was read. A table remembers its encoded features, so that
    fit, report and list encode it once.
    """

    features: Any
    s: Floats
    ids: Any
    weight: Floats | None
    audited: Floats | None
    cluster: Any
    group: Any
    roles: Roles
    notes: tuple[str, ...]
    sources: Floats | None = None  # labels of each of several sources
    audit: Any = None  # the audit that audited classes come from, if not from a column
    _encoded: dict[TableEncoding, Any] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def from_frame(cls, frame: Any, roles: Roles | str) -> "Table":
        """A file or frame by the roles of its columns; an error names the first that is wrong."""
        if isinstance(frame, Table):
            return frame
        roles = Roles.from_any(roles)
        frame = read_table(frame, text=roles.text_columns, verbatim=roles.verbatim_columns)
        columns = list(frame.columns)
        roles.check(columns)
        features = frame[roles.feature_columns(columns)]
        weight = None if roles.weight is None else code_weights(frame[roles.weight])
        if weight is not None and not weight.any():
            raise TableError(f"some row must count; every weight in {roles.weight!r} is 0.")
        s, sources, positive, notes = _labels(frame, roles, weight)
        return cls(
            features=features,
            s=s,
            sources=sources,
            ids=row_ids(frame, roles.id),
            weight=weight,
            audited=None if roles.audited is None else code_audited(frame[roles.audited]),
            cluster=None if roles.cluster is None else as_words(frame[roles.cluster]),
            group=None if roles.by is None else row_groups(frame[roles.by]),
            roles=replace(roles, positive=positive),
            notes=(*frame.attrs["notes"], *notes, *_id_notes(frame, roles.id)),
        )

    def __len__(self) -> int:
        return len(self.s)

    @cached_property
    def encoding(self) -> TableEncoding:
        """How the columns become features, learned from the rows that count."""
        return TableEncoder(self.roles.categorical).fit(self.counted.features).encoding_

    @cached_property
    def counted(self) -> "Table":
        """The rows that count: those of weight zero tell nothing."""
        return self if self.weight is None else self.some(np.flatnonzero(self.weight))

    def encoded(self, encoding: TableEncoding) -> Any:
        """The features as numbers, computed once for each encoding."""
        if encoding not in self._encoded:
            self._encoded[encoding] = encoding.encode(self.features)[0]
        return self._encoded[encoding]

    def map(self, encoding: TableEncoding, fn: Callable[[Any], Floats]) -> Floats:
        """Values of ``fn`` for features of every row, encoded some rows at a time and not kept."""
        if encoding in self._encoded:
            return fn(self._encoded[encoding])
        starts = range(0, len(self), ROWS_AT_ONCE)
        parts = (self.features.iloc[i : i + ROWS_AT_ONCE] for i in starts)
        return np.concatenate([fn(encoding.encode(part)[0]) for part in parts])

    def some(self, rows: Any) -> "Table":
        """The table of some rows, by their numbers; itself if these are all."""
        if len(rows) == len(self):
            return self
        taken = ("s", "sources", "ids", "weight", "audited", "cluster", "group")
        columns = {name: vars(self)[name] for name in taken}
        columns = {name: None if value is None else value[rows] for name, value in columns.items()}
        return replace(self, features=self.features.iloc[rows], **columns, _encoded={})

    @property
    def labels(self) -> Any:
        """What a classifier learns from: a column, or a frame with one for each source."""
        if self.sources is None:
            return self.s
        import pandas as pd

        return pd.DataFrame(self.sources, columns=list(self.roles.labels))

    @property
    def row_weight(self) -> Floats:
        """Number of times each row counts."""
        return np.ones(len(self)) if self.weight is None else self.weight

    @property
    def unlabelled(self) -> Any:
        """Rows that may be hidden positives: without a label, and not audited."""
        unknown = self.s == 0
        return unknown if self.audited is None else unknown & np.isnan(self.audited)

    def check_enough(self) -> None:
        """Refuse what no method can learn from."""
        labelled = int(self.counted.s.sum())
        if labelled < FEWEST_LABELS:
            raise TableError(
                f"at least {FEWEST_LABELS} rows must be labelled to fit anything; got {labelled}. "
                "Collect more labels."
            )


def _labels(
    frame: Any, roles: Roles, weight: Floats | None
) -> tuple[Floats, Floats | None, str | None, tuple[str, ...]]:
    """Any label, the labels of each of several sources, what means labelled, and notes."""
    counted = slice(None) if weight is None else weight > 0
    if roles.several:
        coded = code_sources(frame, roles, counted)
        return coded.any, coded.labels, roles.positive, coded.notes
    labels = frame[roles.label]
    coding = code_labels(labels[counted], roles.positive)[1]
    return coding.encode(labels), None, coding.positive, coding.notes


def row_ids(frame: Any, name: str | None) -> Any:
    """The ids, or the numbers of the rows from 1."""
    if name is None or name not in frame.columns:
        return np.array([str(i + 1) for i in range(len(frame))], dtype=object)
    return as_words(frame[name])


def row_groups(column: Any) -> Any:
    """The group of each row as text; many numbers are cut at their quartiles."""
    import pandas as pd

    if pd.api.types.is_numeric_dtype(column.dtype) and column.nunique() > MOST_GROUPS:
        column = pd.qcut(column, 4, duplicates="drop").astype(str).where(column.notna())
    words = as_words(column)
    words[words == ""] = MISSING
    values, times = np.unique(words, return_counts=True)
    if len(values) > MOST_GROUPS:
        keep = values[np.argsort(-times, kind="stable")[: MOST_GROUPS - 1]]
        words[~np.isin(words, keep)] = OTHER
    return words


def _id_notes(frame: Any, name: str | None) -> list[str]:
    if name is None:
        return []
    repeated = int(frame[name].duplicated().sum())
    if not repeated:
        return []
    return [f"{repeated} rows repeat an id of another row of {name!r}; rows count as independent."]
