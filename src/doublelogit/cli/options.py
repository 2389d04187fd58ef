"""Options that commands share, given once: each command lists only its own."""

import inspect
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import wraps
from pathlib import Path
from typing import Annotated, Any

import typer

from doublelogit.cli.config import CONFIG
from doublelogit.registry import AUTO, CHECKING_METHOD, DEFAULT_METHOD, LABEL_MODELS, METHODS


def _method(value: str) -> str:
    if value not in METHODS:
        raise typer.BadParameter(f"{value!r} is not one of {', '.join(METHODS)}.")
    return value


def _label_model(value: str) -> str:
    if value not in LABEL_MODELS:
        raise typer.BadParameter(f"{value!r} is not one of {', '.join(LABEL_MODELS)}.")
    return value


def _with_intervals(value: str) -> str:
    able = [name for name, method in METHODS.items() if method.intervals is not None]
    if _method(value) not in able:
        raise typer.BadParameter(
            f"{value!r} has neither a likelihood nor a posterior; choose one of {', '.join(able)}."
        )
    return value


TablePath = Annotated[
    Path,
    typer.Argument(help="CSV, Parquet, Excel, Stata or SPSS file.", exists=True, dir_okay=False),
]
SavedModel = Annotated[
    Path, typer.Argument(help="A model that fit has saved.", exists=True, dir_okay=False)
]
Out = Annotated[Path | None, typer.Option("--out", "-o", help="Where to write the result.")]
Top = Annotated[int, typer.Option("--top", min=1, help="Rows of the ranked list.")]
ShowIds = Annotated[
    bool, typer.Option("--show-ids", help="Show ids in the report; they may be patients.")
]
Method = Annotated[
    str, typer.Option("--method", callback=_method, help=f"One of {', '.join(METHODS)}.")
]
LabelModel = Annotated[
    str,
    typer.Option(
        "--label-model",
        callback=_label_model,
        help=f"What a class of any shape follows: {', '.join(LABEL_MODELS)}.",
    ),
]
InferredMethod = Annotated[
    str,
    typer.Option(
        "--method",
        callback=_with_intervals,
        help=f"One of {', '.join(n for n, m in METHODS.items() if m.intervals is not None)}.",
    ),
]
Resamples = Annotated[
    int | None,
    typer.Option("--resamples", min=19, help="Samples of the SCAR test; by size if not given."),
]
LARGEST_COST = 1e15  # money beyond which sums lose their cents
Seed = Annotated[int, typer.Option("--seed", min=0, help="The same seed gives the same result.")]


def _share(value: str | None) -> str | None:
    """A share as it was typed, if it is one."""
    if value is not None:
        share_with_error(value)
    return value


# Help of the options that every command on a table has, by the panel that shows them.
COLUMNS, AUDIT = "What the columns are", "Rows that were looked at"
KNOWN, CSV = "What is known from elsewhere", "How a CSV is written"
HELP = {
    COLUMNS: {
        "label": "Column that tells labelled rows; of several sources a,b,c.",
        "positive": "Its value that means labelled.",
        "unseen": "Of several sources: the value of rows that one did not look at.",
        "id": "Column that names the rows.",
        "formula": "'label ~ age + bmi | age + visits' instead of --label.",
        "propensity_features": "Columns labelling may depend on: a,b,c.",
        "outcome_features": "Columns the class may depend on.",
        "audited": "Column with classes found out: 1, 0 or empty.",
        "weight": "Column with the number of times a row counts.",
        "cluster": "Column of rows that belong together; an audit looks at whole clusters.",
        "by": "Column of groups to give the prevalence for.",
        "features": "Columns that are features; all others if not given.",
        "categorical": "Columns whose numbers are codes.",
        "ignore": "Columns that are not features.",
    },
    AUDIT: {
        "audit": "Files of an audit: id, chance, class.",
        "audit_kind": "How its rows were chosen: drawn, features (scores too) or convenience.",
        "reviewer_error": "Probability of a wrong class, or of a false 1 and a false 0: 0.02,0.1.",
    },
    KNOWN: {
        "prevalence": "Share of positives: 0.2, or 0.2±0.05 (or 0.2+-0.05).",
        "label_frequency": "Share of the positives that are labelled, likewise.",
        "false_label_rate": "Probability that a negative is labelled.",
    },
    CSV: {
        "delimiter": "Detected if not given.",
        "decimal": "Point or comma; detected.",
        "encoding": "Detected if not given.",
    },
    None: {"json": "Print JSON for machines."},
}


def _options() -> dict[str, Any]:
    """The options of :class:`Common` by the names of its fields."""
    return {
        name: typer.Option(
            f"--{name.replace('_', '-')}",
            help=text,
            rich_help_panel=panel,
            callback=_share if panel == KNOWN else None,
        )
        for panel, texts in HELP.items()
        for name, text in texts.items()
    }


@dataclass(frozen=True)
class Common:
    """Options that every command on a table shares."""

    label: str | None = None
    positive: str | None = None
    unseen: str | None = None
    id: str | None = None
    formula: str | None = None
    propensity_features: str | None = None
    outcome_features: str | None = None
    audited: str | None = None
    audit: str | None = None
    audit_kind: str = "drawn"
    reviewer_error: str | None = None
    weight: str | None = None
    cluster: str | None = None
    by: str | None = None
    features: str | None = None
    categorical: str | None = None
    ignore: str | None = None
    prevalence: str | None = None
    label_frequency: str | None = None
    false_label_rate: str | None = None
    delimiter: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    json: bool = False

    def roles(self) -> Any:
        """The roles of the columns."""
        from doublelogit.tables import Roles

        others: dict[str, Any] = {
            "positive": self.positive,
            "unseen": self.unseen,
            "id": self.id,
            "audited": self.audited,
            "weight": self.weight,
            "cluster": self.cluster,
            "by": self.by,
            "features": names(self.features),
            "categorical": names(self.categorical) or (),
            "ignore": names(self.ignore) or (),
        }
        if self.formula is not None:
            return Roles.from_formula(self.formula, **others)
        return Roles(
            label=names(self.label) or (),
            outcome_features=names(self.outcome_features),
            propensity_features=names(self.propensity_features),
            **others,
        )

    def known(self) -> dict[str, Any]:
        """What is known from elsewhere, as parameters of a classifier."""
        named = ("prevalence", "label_frequency", "false_label_rate")
        given = {name: vars(self)[name] for name in named if vars(self)[name] is not None}
        found: dict[str, Any] = {name: share_with_error(text) for name, text in given.items()}
        if isinstance(found.get("false_label_rate"), tuple):
            raise typer.BadParameter("--false-label-rate is one number, without ±.")
        return found

    def frame(self, path: Path, roles: Any) -> Any:
        """The table of a file, ids and labels as texts."""
        from doublelogit.tables import read_table

        return read_table(
            path,
            delimiter=self.delimiter,
            decimal=self.decimal,
            encoding=self.encoding,
            text=roles.text_columns,
            verbatim=roles.verbatim_columns,
        )

    def table(self, path: Path) -> Any:
        """The table of a file by the roles of its columns, if it has enough labels."""
        from doublelogit.tables import Table

        roles = self.roles()
        table = Table.from_frame(self.frame(path, roles), roles)
        table.check_enough()
        return table if self.audit is None else self._audited(table)

    def _audited(self, table: Any) -> Any:
        """The table with the audit that was given."""
        from doublelogit.audit import as_audit, joined

        rates = ("0",) if self.reviewer_error is None else self.reviewer_error.split(",")
        try:
            wrong = [float(number) for number in rates]
        except ValueError:
            raise typer.BadParameter(
                f"--reviewer-error is one probability or two; got {self.reviewer_error!r}."
            ) from None
        error = wrong[0] if len(wrong) == 1 else tuple(wrong)
        return joined(table, as_audit(names(self.audit), self.audit_kind, error))

    def check(self, needs_label: bool) -> None:
        """What can be said of the options before anything is imported."""
        named = self.label is not None or self.formula is not None
        if needs_label and not named:
            raise typer.BadParameter("name the label column by --label, or give a --formula.")
        features = self.outcome_features or self.propensity_features
        if self.formula is not None and (self.label is not None or features is not None):
            raise typer.BadParameter("--formula says what --label and --*-features say; give one.")


SHARE = r"\s*(\d*\.?\d+(?:e-?\d+)?)\s*(%?)\s*"


def share_with_error(text: str) -> float | tuple[float, float]:
    """0.2 or 20% as a number; 0.2±0.05, also written +-, as a number with its deviation."""
    matches = [re.fullmatch(SHARE, word) for word in re.split(r"±|\+/?-", text)]
    shares = [float(p[1]) / (100 if p[2] else 1) for p in matches if p is not None]
    if len(shares) < len(matches) or len(matches) > 2 or not 0 <= shares[0] <= 1:
        raise typer.BadParameter(
            f"{text!r} is no share; write a number from 0 to 1, with ± and its standard deviation "
            "if that is known: 0.2 or 0.2±0.05."
        )
    return shares[0] if len(shares) == 1 else (shares[0], shares[1])


def names(text: str | None) -> tuple[str, ...] | None:
    """Names separated by commas; an empty text is no name, None is all."""
    if text is None:
        return None
    return tuple(name.strip() for name in text.split(",") if name.strip())


def fitted(
    rows: Any, common: Common, step: Any, method: str = DEFAULT_METHOD, label_model: str = AUTO
) -> Any:
    """A classifier fitted to a table; what is doubtful about the table is said before."""
    from doublelogit import TableClassifier

    step("fitting", 0.0)
    model = TableClassifier(rows.roles, method, common.known(), label_model)
    return model.fit(rows, announce=lambda finding: step.say(finding.level, finding.text))


def on_table(needs_label: bool = True) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """A command on a table: its own options, those of :class:`Common` as ``common``, --config."""

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        command_options = [
            p.replace(kind=inspect.Parameter.KEYWORD_ONLY)
            for p in inspect.signature(command).parameters.values()
            if p.name != "common"
        ]
        options = _options()
        shared = [
            inspect.Parameter(
                f.name,
                inspect.Parameter.KEYWORD_ONLY,
                default=f.default,
                annotation=Annotated[f.type, options[f.name]],
            )
            for f in fields(Common)
        ]

        @wraps(command)
        def run(**values: Any) -> None:
            del values["config"]  # its callback has done the work
            common = Common(**{f.name: values.pop(f.name) for f in fields(Common)})
            common.check(needs_label)
            command(common=common, **values)

        parameters = [*command_options, *shared, CONFIG]
        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {p.name: p.annotation for p in parameters}
        return run

    return decorate


def audit_estimate(model: Any, rows: Any) -> Any:
    """What the audit of a table says of it and of a model, by group too; None without one."""
    from doublelogit.audit import estimate, model_error

    if rows.audit is None:
        return None
    error = model_error(model, rows)
    return estimate(model, rows, rows.audit, by=rows.roles.by, model_error=error)


def asked() -> str:
    """The command line as it was typed."""
    import shlex

    return shlex.join(["doublelogit", *sys.argv[1:]])


DEFAULT, CHECKING = DEFAULT_METHOD, CHECKING_METHOD
ANY_SHAPE = AUTO
