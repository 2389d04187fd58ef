"""What the columns of a table are for."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from doublelogit.common.wording import listed
from doublelogit.exceptions import TableError
from doublelogit.tables.formula import parse_formula


@dataclass(frozen=True)
class Roles:
    """Which column is what; every other column is a feature.

    Parameters
    ----------
    label : str or tuple of str
        Column whose values tell labelled rows; several, if several sources label the class.
    positive : str, default=None
        The value of it that means labelled. Of several sources also counts above 0 and dates do.
    unseen : str, default=None
        Of several sources, the value that means that one did not look at the row.
    id : str, default=None
        Column that names the rows; not a feature.
    weight : str, default=None
        Column with the number of times each row counts.
    audited : str, default=None
        Column with the class of rows where it was found out.
    cluster : str, default=None
        Column of rows that belong together (a household, a clinic): they are held out, and looked
        at in an audit, together; not a feature.
    by : str, default=None
        Column of groups for which the prevalence is wanted as well; stays a feature.
    features : tuple of str, default=None
        Columns that are features; None is every column without another role.
    outcome_features, propensity_features : tuple of str, default=None
        Columns that each model may use; None is all.
    categorical : tuple of str, default=()
        Columns whose numbers are codes.
    ignore : tuple of str, default=()
        Columns that are not features.
    """

    label: str | tuple[str, ...]
    positive: str | None = None
    unseen: str | None = None
    id: str | None = None
    weight: str | None = None
    audited: str | None = None
    cluster: str | None = None
    by: str | None = None
    features: tuple[str, ...] | None = None
    outcome_features: tuple[str, ...] | None = None
    propensity_features: tuple[str, ...] | None = None
    categorical: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("features", "outcome_features", "propensity_features"):
            given = vars(self)[name]
            if given is not None:
                object.__setattr__(self, name, _names(name, given))
        if not isinstance(self.label, str):
            object.__setattr__(self, "label", _sources(self.label))
        if self.unseen is not None and not self.several:
            raise TableError(
                "`unseen` is a value of label columns of several sources; got one `label`. Leave "
                "it out: rows without a label are unlabelled."
            )
        for name in ("categorical", "ignore"):
            object.__setattr__(self, name, _names(name, vars(self)[name]))

    @classmethod
    def from_formula(cls, formula: str, **others: Any) -> "Roles":
        """Roles of ``label ~ outcome features | labelling features``."""
        label, outcome, propensity = parse_formula(formula)
        return cls(label, outcome_features=outcome, propensity_features=propensity, **others)

    @classmethod
    def from_any(cls, roles: "Roles | str") -> "Roles":
        """Roles as they are, or from a formula, or with nothing but the name of the label."""
        if isinstance(roles, Roles):
            return roles
        if not isinstance(roles, str):
            raise TypeError(
                "roles must be Roles, a formula or the name of the label column; got "
                f"{type(roles).__name__}."
            )
        return cls.from_formula(roles) if "~" in roles else cls(roles)

    @property
    def labels(self) -> tuple[str, ...]:
        """The label columns: one, or one for each source."""
        return (self.label,) if isinstance(self.label, str) else self.label

    @property
    def several(self) -> bool:
        """Whether several sources label the class."""
        return len(self.labels) > 1

    @property
    def label_words(self) -> str:
        """The label columns for a sentence."""
        return ", ".join(self.labels)

    @property
    def reserved(self) -> set[str]:
        """Columns that are not features."""
        roles = (*self.labels, self.id, self.weight, self.audited, self.cluster, *self.ignore)
        return {name for name in roles if name is not None}

    @property
    def text_columns(self) -> list[str]:
        """Columns that a file must give as texts: labels and audited classes."""
        return [name for name in (*self.labels, self.audited) if name is not None]

    @property
    def verbatim_columns(self) -> list[str]:
        """Columns whose cells are kept as they stand: the ids."""
        return [] if self.id is None else [self.id]

    def check(self, columns: Sequence[str]) -> None:
        """Refuse roles that name a column which is not there, or has another role."""
        named: dict[str, Sequence[str | None]] = {
            "label": self.labels,
            "id": [self.id],
            "weight": [self.weight],
            "audited": [self.audited],
            "cluster": [self.cluster],
            "by": [self.by],
            "ignore": self.ignore,
            "categorical": self.categorical,
            "features": self.features or (),
            "outcome_features": self.outcome_features or (),
            "propensity_features": self.propensity_features or (),
        }
        for role, names in named.items():
            for name in names:
                if name is not None and name not in columns:
                    raise TableError(
                        f"`{role}` names {name!r}, which is no column of the table. The columns "
                        f"are {listed([repr(column) for column in columns])}."
                    )
                if role.endswith("features") and name in self.reserved:
                    raise TableError(
                        f"`{role}` names {name!r}, which is no feature: it has another role."
                    )

    def used(self, columns: Sequence[str]) -> list[str]:
        """The columns that are read for anything, of those that there are."""
        read = (self.reserved - {*self.ignore}) | self._features_among(columns) | {self.by}
        return [name for name in columns if name in read]

    def _features_among(self, columns: Sequence[str]) -> set[str]:
        if self.features is not None:
            return set(self.features)
        if self.outcome_features is None or self.propensity_features is None:
            return set(columns) - self.reserved
        # both models say what they use, so nothing else is read
        return {*self.outcome_features, *self.propensity_features}

    def feature_columns(self, columns: Sequence[str]) -> list[str]:
        """The columns that a model may use, in the order of the table."""
        wanted = self._features_among(columns)
        features = [name for name in columns if name in wanted]
        if not features:
            others = ", ".join(sorted(self.reserved))
            raise TableError(f"the table must have a column besides {others}: there is no feature.")
        return features


def _sources(label: Any) -> str | tuple[str, ...]:
    """Label columns as a tuple; one alone is a text."""
    columns = tuple(label)
    if not columns or len(set(columns)) < len(columns):
        raise TableError(f"`label` must name different columns, one at least; got {columns!r}.")
    return columns if len(columns) > 1 else str(columns[0])


def _names(role: str, given: Any) -> tuple[str, ...]:
    if isinstance(given, str):
        raise TableError(f"`{role}` must be a list of column names; got the text {given!r}.")
    return tuple(given)
