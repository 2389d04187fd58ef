"""``TableClassifier``: the front door for tables."""

import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from doublelogit.common import archive
from doublelogit.common.threads import with_paying_threads
from doublelogit.common.wording import as_parameters
from doublelogit.engines.scan import ParquetScan
from doublelogit.estimators.serialization import versions
from doublelogit.exceptions import TableWarning
from doublelogit.findings import PROBLEM, Finding
from doublelogit.inference import Inference
from doublelogit.registry import AUTO, DEFAULT_METHOD
from doublelogit.report.ranking import cut_list, rank_hidden
from doublelogit.table_models.table_doubts import TableDoubts
from doublelogit.table_models.table_model import (
    KIND,
    FittedTable,
    fit_table,
    known_method,
    label_model_settings,
)
from doublelogit.table_models.table_rows import AnyRows, rows_of
from doublelogit.tables import Roles, Table, TableEncoding

if TYPE_CHECKING:
    from doublelogit.report import Report


class TableClassifier(BaseEstimator):
    """A classifier of tables: columns as they are in, probabilities with ids out.

    Numeric, categorical, date and missing values need no preparation. One table gives one model,
    whether it comes as a file, a pandas or polars frame, or a scan of Parquet files.

    Parameters
    ----------
    roles : Roles or str
        What the columns are for; a text is the name of the label column, or a formula,
        ``label ~ outcome features | labelling features``.
    method : str, default="averaged"
        One of the names of ``doublelogit.registry.METHODS``.
    parameters : mapping, default=None
        Parameters of the method's classifier, such as ``{"C": 0.1}``.
    label_model : str, classifier, or list of them, default="auto"
        Model of the label that a class of any shape follows, by the default method: "logistic",
        "product", "splines", "trees", "forest", classifiers of scikit-learn's kind, or several,
        stacked. "auto" stacks all that are named here; by "lines" the class is a line.

    Attributes
    ----------
    classifier_ : classifier
        The fitted classifier of the encoded features.
    encoding_ : TableEncoding
        How the columns become features.
    roles_ : Roles
        The roles, with the value that means labelled.
    findings_ : tuple of Finding
        What a user must know of the fit.

    Examples
    --------
    >>> from doublelogit import Roles, TableClassifier
    >>> from doublelogit.datasets import load_census
    >>> census = load_census(n_rows=1000)
    >>> model = TableClassifier(Roles(label="on_record", id="person")).fit(census.frame)
    >>> model.predict(census.frame).columns.tolist()
    ['person', 'positive', 'propensity', 'label', 'hidden']
    """

    fitted_: FittedTable

    def __init__(
        self,
        roles: Roles | str,
        method: str = DEFAULT_METHOD,
        parameters: Mapping[str, Any] | None = None,
        label_model: Any = AUTO,
    ) -> None:
        self.roles = roles
        self.method = method
        self.parameters = parameters
        self.label_model = label_model

    @with_paying_threads
    def fit(
        self,
        table: Any,
        y: Any = None,
        *,
        audit: Any = None,
        announce: Callable[[Finding], None] | None = None,
    ) -> Self:
        """Fit the method to a table.

        Parameters
        ----------
        table : path, DataFrame, scan or Table
            Rows and columns, as they are. The roles of a scan must be those of the classifier, or
            absent.
        y : None
            Not used: the label is a column of the table.
        audit : Audit, path or DataFrame, default=None
            Classes that an audit found, joined by id; they enter the likelihood, which takes it
            that, given features and label, rows were looked at whatever their class.
        announce : callable, default=None
            Called with every finding about the table before the fit, which may take long; if not
            given, problems are warned of.

        Returns
        -------
        self : TableClassifier
        """
        method = known_method(self.method)
        settings = label_model_settings(method, self.label_model)
        rows = _described(_audited(self._rows(table), audit))
        doubts = TableDoubts.of(rows)
        for finding in doubts.serious:
            (announce or _warned)(finding)
        fitted = fit_table(rows, method, settings | dict(self.parameters or {}))
        self.fitted_ = replace(fitted, doubts=doubts)
        return self

    def _rows(self, table: Any) -> Table | ParquetScan:
        roles = Roles.from_any(self.roles)
        if not isinstance(table, ParquetScan):
            return Table.from_frame(table, roles)
        if table.roles is not None and table.roles != roles:
            raise ValueError(
                "the roles of a scan must be those of the classifier, or absent; got "
                f"{table.roles} and {roles}."
            )
        return table.with_roles(roles)

    def predict(self, table: Any) -> Any:
        """Probabilities of every row, with its id; a TableWarning says what differs from fit.

        Parameters
        ----------
        table : path, DataFrame or scan
            With the columns of fit; neither label nor id is needed.

        Returns
        -------
        predictions : pandas.DataFrame
            id; ``positive`` P(Y=1 | x), ``propensity`` P(S=1 | Y=1, x), ``label`` P(S=1 | x),
            ``hidden`` P(Y=1 | x, S=0).
        """
        import pandas as pd

        rows = self._new_rows(table)
        return pd.DataFrame({rows.id_name or "row": rows.ids, **rows.probabilities._asdict()})

    def rank(
        self,
        table: Any,
        top: int | None = None,
        *,
        budget: float | None = None,
        check_cost: float | None = None,
        miss_cost: float | None = None,
    ) -> Any:
        """List the unlabelled rows likeliest to be positive, with what speaks for each.

        Parameters
        ----------
        table : path, DataFrame or scan
            With the columns of fit. Rows with a label, or an audited class, are not listed.
        top : int, default=None
            Length of the list; 100 if nothing else is given.
        budget, check_cost, miss_cost : float, default=None
            Money for checks and the cost of one, or the costs of a check and of a positive that
            is missed: they decide the length of the list.

        Returns
        -------
        ranking : pandas.DataFrame
            rank, id, probability and reasons; ``ranking.attrs["sentence"]`` says what to expect.
        """
        import pandas as pd

        rows = self._new_rows(table)
        length, sentence = cut_list(
            rows.probabilities.hidden[rows.unlabelled],
            top=top,
            budget=budget,
            check_cost=check_cost,
            miss_cost=miss_cost,
        )
        ids = rows.ids
        lines = [
            {
                "rank": rank,
                "id": str(ids[row]),
                "probability": probability,
                "reasons": "; ".join(f"{r['feature']} = {r['value']}" for r in reasons),
            }
            for rank, (row, probability, reasons) in enumerate(rank_hidden(rows, length), 1)
        ]
        ranking = pd.DataFrame(lines, columns=["rank", "id", "probability", "reasons"])
        ranking.attrs["sentence"] = sentence
        return ranking

    def report(self, table: Any, *, audit: Any = None, **options: Any) -> "Report":
        """Report on the rows of fit, with its audit; see :class:`Report` for the options."""
        from doublelogit.report import Report  # neither fits nor lists need it

        check_is_fitted(self)
        if audit is not None:
            table = _audited(Table.from_frame(table, self.roles_), audit)
        return Report(self, table, **options)

    def infer(self, table: Any) -> Inference:
        """Inference from the rows of fit: intervals of the numbers people act on."""
        check_is_fitted(self)
        return self.fitted_.infer(Table.from_frame(table, self.roles_))

    def save(self, path: str | Path) -> None:
        """Write the model to a file that :func:`doublelogit.load` reads."""
        check_is_fitted(self)
        archive.write(path, KIND, self.fitted_.to_state(), versions())

    def _new_rows(self, table: Any) -> AnyRows:
        check_is_fitted(self)
        return rows_of(self.fitted_, table)

    @property
    def classifier_(self) -> Any:
        """The fitted classifier of the encoded features."""
        return self.fitted_.classifier

    @property
    def encoding_(self) -> TableEncoding:
        """How the columns become features."""
        return self.fitted_.encoding

    @property
    def roles_(self) -> Roles:
        """The roles, with the value that means labelled."""
        return self.fitted_.roles

    @property
    def findings_(self) -> tuple[Finding, ...]:
        """What a user must know of the fit."""
        return self.fitted_.findings

    @classmethod
    def from_fitted(cls, fitted: FittedTable) -> "TableClassifier":
        """The classifier of a table that was fitted before."""
        model = cls(fitted.roles, fitted.method, label_model=fitted.label_model)
        model.fitted_ = fitted
        return model


def _described(rows: Table | ParquetScan) -> Table | ParquetScan:
    """The rows; a scan with its columns described, which takes a pass over its files."""
    if isinstance(rows, Table):
        return rows
    return rows.encoded_by(rows.learned_encoding(scaled=True))


def _warned(finding: Finding) -> None:
    if finding.level == PROBLEM:
        warnings.warn(as_parameters(finding.text), TableWarning, stacklevel=4)


def _audited(rows: Table | ParquetScan, audit: Any) -> Any:
    """The rows with the classes that an audit found."""
    if audit is None:
        return rows
    if isinstance(rows, ParquetScan):
        raise TypeError(
            "the likelihood of a scan takes audited classes from a column, Roles(audited=...); got "
            "an audit beside it. doublelogit.audit.estimate takes both."
        )
    from doublelogit.audit import as_audit, joined  # most fits have none

    return joined(rows, as_audit(audit))
