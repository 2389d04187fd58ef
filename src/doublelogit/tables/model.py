"""A classifier of tables: an encoder and a classifier of numbers, fitted together."""

import warnings
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

import doublelogit.estimators as estimators
from doublelogit import archive
from doublelogit._types import Floats
from doublelogit.estimators.serialization import of_state, state_of, versions
from doublelogit.exceptions import TableError, TableWarning
from doublelogit.registry import DEFAULT_METHOD, METHODS, SETTINGS
from doublelogit.tables.encoder import TableEncoder
from doublelogit.tables.read import read_table
from doublelogit.tables.roles import Roles, Table, prepare, row_ids

KIND = "table model"
PREDICTIONS = ("positive", "propensity", "label", "hidden")


@dataclass(frozen=True)
class TableModel:
    """A fitted classifier with the encoder of its table; made by :func:`fit_table`.

    Parameters
    ----------
    roles : Roles
        What the columns are for.
    method : str
        One of the names of ``doublelogit.registry.METHODS``.
    encoder : TableEncoder
        Fitted.
    classifier : classifier
        Fitted to the encoded features.
    warned : tuple of str
        What the fit warned of.
    """

    roles: Roles
    method: str
    encoder: TableEncoder
    classifier: Any
    warned: tuple[str, ...] = ()

    def encode(self, frame: Any) -> tuple[Any, list[str]]:
        """Encoded features of a table, and in words what differs from that of fit."""
        return self.encoder.encode(read_table(frame))

    def predict(self, frame: Any) -> Any:
        """Probabilities of every row of a table, with its id; a TableWarning says what differs.

        Parameters
        ----------
        frame : path or DataFrame
            With the columns of fit; neither label nor id is needed.

        Returns
        -------
        predictions : pandas.DataFrame
            id; ``positive`` P(Y=1 | x), ``propensity`` P(S=1 | Y=1, x), ``label`` P(S=1 | x),
            ``hidden`` P(Y=1 | x, S=0).
        """
        import pandas as pd

        frame = read_table(frame)
        X, issues = self.encoder.encode(frame)
        for issue in issues:
            warnings.warn(issue, TableWarning, stacklevel=2)
        columns = dict(zip(PREDICTIONS, probabilities(self.classifier, X), strict=True))
        id_column = self.roles.id
        name = id_column if id_column is not None and id_column in frame.columns else "row"
        return pd.DataFrame({name: row_ids(frame, self.roles.id), **columns})

    def save(self, path: str | Path) -> None:
        """Write the model to a file that :func:`doublelogit.load` reads."""
        state = {
            "roles": asdict(self.roles),
            "method": self.method,
            "columns": self.encoder.to_dict(),
            "classifier": state_of(self.classifier),
            "warned": self.warned,
        }
        archive.write(path, KIND, state, versions())

    @classmethod
    def of_state(cls, state: dict[str, Any]) -> "TableModel":
        """The model of what a file holds."""
        encoder = TableEncoder.from_dict(state["columns"])
        roles, warned = Roles(**state["roles"]), tuple(state["warned"])
        return cls(roles, state["method"], encoder, of_state(state["classifier"]), warned)

    @cached_property
    def sources(self) -> list[str]:
        """For every encoded column, the column of the table that it is of."""
        return self.encoder.sources


def probabilities(classifier: Any, X: Any) -> tuple[Floats, ...]:
    """y(x), e(x), s(x) and P(Y=1 | x, S=0) of encoded rows."""
    return (
        classifier.predict_positive(X),
        classifier.predict_propensity(X),
        classifier.predict_label_proba(X),
        classifier.predict_hidden(X),
    )


def fit_table(
    frame: Any, roles: Roles | str, *, method: str = DEFAULT_METHOD, **parameters: Any
) -> TableModel:
    """Fit a method to a table.

    Parameters
    ----------
    frame : path, DataFrame or Table
        Rows and columns, as they are.
    roles : Roles or str
        What the columns are for; a text is a formula,
        ``label ~ outcome features | labelling features``.
    method : str, default="joint"
        One of the names of ``doublelogit.registry.METHODS``.
    **parameters
        Of the classifier.

    Returns
    -------
    model : TableModel

    Examples
    --------
    >>> from doublelogit import Roles, fit_table
    >>> from doublelogit.datasets import load_census
    >>> census = load_census(n_rows=1000)
    >>> model = fit_table(census.frame, Roles(label="on_record", id="person"))
    >>> model.predict(census.frame).columns.tolist()
    ['person', 'positive', 'propensity', 'label', 'hidden']
    """
    if isinstance(roles, str):
        roles = Roles.of_formula(roles)
    table = frame if isinstance(frame, Table) else prepare(read_table(frame), roles)
    encoder = TableEncoder(table.roles.categorical).fit(table.features)
    X, _ = encoder.encode(table.features)
    classifier = make_classifier(table.roles, encoder, method, **parameters)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fit_classifier(classifier, X, table)
    said = tuple(dict.fromkeys(str(w.message) for w in caught if _tells(w)))
    return TableModel(table.roles, method, encoder, classifier, said)


def fit_classifier(classifier: Any, X: Any, table: Table, rows: Any = slice(None)) -> Any:
    """Fit a classifier to encoded rows of a table, or to some of them."""
    weight = None if table.weight is None else table.weight[rows]
    audited = None if table.audited is None else table.audited[rows]
    return classifier.fit(X.iloc[rows], table.s[rows], sample_weight=weight, audited_y=audited)


def make_classifier(roles: Roles, encoder: TableEncoder, method: str, **parameters: Any) -> Any:
    """The classifier of a method, told which encoded columns the named features are."""
    if method not in METHODS:
        raise TableError(f"method must be one of {', '.join(METHODS)}; got {method!r}.")
    classifier = getattr(estimators, METHODS[method])(**SETTINGS.get(method, {}))
    known = classifier.get_params()
    for option in ("outcome_features", "propensity_features"):
        features = getattr(roles, option)
        if features is None:
            continue
        if option not in known:
            raise TableError(
                f"the method {method} has one set of features for all; {option} needs one of "
                f"{', '.join(m for m in METHODS if _has(m, option))}."
            )
        parameters.setdefault(option, encoder.encoded(features, option))
    return classifier.set_params(**parameters)


def _has(method: str, parameter: str) -> bool:
    return parameter in getattr(estimators, METHODS[method])().get_params()


def _tells(warning: Any) -> bool:
    """Whether a warning is for users: numpy's of overflow and the like are not."""
    return not issubclass(warning.category, RuntimeWarning | DeprecationWarning | FutureWarning)


def contributions(model: TableModel, X: Any, rows: Any = slice(None)) -> Any:
    """How much each column of the table moves the logit of being a hidden positive, for some rows.

    logit P(Y=1 | x, S=0) = x'beta + log(1 - e(x)): the first part is linear, the second has the
    slope -e(x) in x'gamma. Each is compared with the average row. None if the models are not
    linear.
    """
    import pandas as pd

    beta = getattr(model.classifier, "coef_", None)
    gamma = getattr(model.classifier, "propensity_coef_", None)
    if beta is None:
        return None
    chosen = X.iloc[rows]
    Z = chosen.to_numpy() - X.to_numpy().mean(axis=0)
    moved = Z * beta[0]
    if gamma is not None:
        e_x = model.classifier.predict_propensity(chosen)
        moved = moved - e_x[:, None] * Z * gamma[0]
    names = list(dict.fromkeys(model.sources))
    owner = np.array(model.sources)
    return pd.DataFrame({n: moved[:, owner == n].sum(axis=1) for n in names}, index=chosen.index)
