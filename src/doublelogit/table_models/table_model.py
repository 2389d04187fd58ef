"""A table fitted: the encoding of its columns and a classifier of the numbers they become."""

import warnings
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from importlib import import_module
from typing import Any

import numpy as np
from scipy.special import logit

from doublelogit._types import Floats
from doublelogit.common.thresholds import LARGE_SAMPLE
from doublelogit.engines.scan import ParquetScan
from doublelogit.estimators.serialization import from_state, state_of
from doublelogit.exceptions import TableError
from doublelogit.findings import Finding
from doublelogit.fitted import FittedModel, Probabilities
from doublelogit.inference import Inference, infer
from doublelogit.registry import AUTO, LINES, METHODS, Method, method_of, with_capability
from doublelogit.table_models.table_doubts import TableDoubts
from doublelogit.tables import Roles, Table, TableEncoding

KIND = "table model"
KNOWLEDGE = ("prevalence", "label_frequency", "false_label_rate")


@dataclass(frozen=True)
class FittedTable:
    """A classifier fitted to a table, with the encoding of its columns.

    ``roles`` say what the columns are for; ``method`` is a name of the registry; ``doubts`` are
    findings about the table before the fit, None if the model comes from a file.
    """

    roles: Roles
    method: str
    encoding: TableEncoding
    classifier: Any
    doubts: TableDoubts | None = None

    @property
    def model(self) -> FittedModel:
        """The two fitted models."""
        return self.classifier.model_

    @property
    def known(self) -> dict[str, Any]:
        """What was given as known from elsewhere, as parameters of a classifier."""
        parameters = self.classifier.get_params(deep=False)
        return {name: parameters[name] for name in KNOWLEDGE if parameters.get(name)}

    @property
    def label_model(self) -> Any:
        """What the label is modelled by, as :class:`TableClassifier` is told."""
        parameters = self.classifier.get_params(deep=False)
        return LINES if parameters.get("shape") == "line" else parameters.get("label_model", AUTO)

    @property
    def bends(self) -> bool:
        """Whether the class may have any shape, not a line only."""
        return METHODS[self.method].label_model and self.label_model != LINES

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What was found of the table, and what the fit found."""
        doubts = () if self.doubts is None else self.doubts.serious
        return (*doubts, *self.classifier.findings_)

    def probabilities(self, table: Table) -> Probabilities:
        """Probabilities of every row of a table."""
        return self.classifier.probabilities(table.encoded(self.encoding))

    def infer(self, table: Table) -> Inference:
        """Inference from the rows of fit."""
        return infer(
            self.classifier,
            table.encoded(self.encoding),
            table.labels,
            sample_weight=table.weight,
            audited_y=table.audited,
        )

    def to_state(self) -> dict[str, Any]:
        """What of the model a file keeps."""
        return {
            "roles": asdict(self.roles),
            "method": self.method,
            "columns": self.encoding.to_dict(),
            "classifier": state_of(self.classifier),
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> "FittedTable":
        """The model that a file has kept."""
        encoding = TableEncoding.from_dict(state["columns"])
        classifier = from_state(state["classifier"])
        if len(encoding.names) != classifier.n_features_in_:
            raise ValueError("columns and coefficients are not of one model")
        return cls(Roles(**state["roles"]), state["method"], encoding, classifier)


def fit_table(
    rows: Table | ParquetScan, method: Method, parameters: Mapping[str, Any] | None = None
) -> FittedTable:
    """Fit a method to the rows of a table, or to those of a scan."""
    _check_sources(rows.roles, method)
    if isinstance(rows, ParquetScan):
        return _fit_scan(rows, method, parameters)
    rows = rows.counted
    method = method.at_width(len(rows.encoding.names))
    large = len(rows) > LARGE_SAMPLE
    classifier = make_classifier(method, rows.roles, rows.encoding, parameters, large=large)
    fit_rows(classifier, rows.encoded(rows.encoding), rows)
    return FittedTable(rows.roles, method.name, rows.encoding, classifier)


def _check_sources(roles: Roles | None, method: Method) -> None:
    """Refuse several label columns for a method that learns from one."""
    if roles is not None and roles.several and not method.sources:
        raise TableError(
            f"`label` names {len(roles.labels)} columns, and the method {method.name} learns from "
            f"one. Choose one of {', '.join(with_capability('sources'))}."
        )


def _fit_scan(
    scan: ParquetScan, method: Method, parameters: Mapping[str, Any] | None
) -> FittedTable:
    assert scan.roles is not None
    roles = replace(scan.roles, positive=scan.coding.positive)
    encoding = scan.learned_encoding(scaled=True)
    method = method.at_width(len(encoding.names))
    large = scan.n_rows > LARGE_SAMPLE
    classifier = make_classifier(method, roles, encoding, parameters, large=large)
    classifier.fit(scan.encoded_by(encoding))
    return FittedTable(roles, method.name, encoding, classifier)


def label_model_settings(method: Method, label_model: Any) -> dict[str, Any]:
    """A label model as parameters of a method's classifier, none for what it does by default."""
    named = label_model if isinstance(label_model, str) else None
    if named == AUTO:
        return {}
    if not method.label_model:
        raise TableError(
            f"the method {method.name} has no model of the label; `label_model` needs one of "
            f"{', '.join(with_capability('label_model'))}."
        )
    return {"shape": "line"} if named == LINES else {"label_model": label_model}


def fit_rows(classifier: Any, X: Any, table: Table, rows: Any = slice(None)) -> Any:
    """Fit a classifier to encoded rows of a table, or to some of them."""
    weight = None if table.weight is None else table.weight[rows]
    audited = None if table.audited is None else table.audited[rows]
    groups = None if table.cluster is None else table.cluster[rows]
    named = {"sample_weight": weight, "audited_y": audited, "groups": groups}
    if table.sources is None or not method_of(classifier).sources:
        return classifier.fit(X.iloc[rows], table.s[rows], **named)
    return classifier.fit(X.iloc[rows], table.labels.iloc[rows], **named)


def quietly(fit: Any, *arguments: Any) -> Any:
    """What a fit returns, without the warnings of a fit that nobody asked for."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return fit(*arguments)


def known_method(name: str) -> Method:
    """A method of the registry by its name."""
    if name not in METHODS:
        raise TableError(f"`method` must be one of {', '.join(METHODS)}; got {name!r}.")
    return METHODS[name]


def make_classifier(
    method: Method,
    roles: Roles,
    encoding: TableEncoding,
    parameters: Mapping[str, Any] | None = None,
    *,
    large: bool = False,
) -> Any:
    """The classifier of a method, which may use the features that the named columns became."""
    settings = dict(method.settings) | (dict(method.large_settings) if large else {})
    for name in ("outcome_features", "propensity_features"):
        columns = vars(roles)[name]
        if columns is None or name in settings:
            continue
        if not method.has_propensity:
            raise TableError(
                f"the method {method.name} has one set of features for all; `{name}` needs one of "
                f"{', '.join(with_capability('has_propensity'))}."
            )
        settings[name] = encoding.features_of(columns, name)
    _check_parameters(method, parameters or {})
    return _class_of(method)(**(settings | dict(parameters or {})))


def _check_parameters(method: Method, parameters: Mapping[str, Any]) -> None:
    for name in parameters:
        if not takes(method, name):
            able = [other.name for other in METHODS.values() if takes(other, name)]
            remedy = f"choose one of {', '.join(able)}" if able else "nor has any other"
            raise TableError(f"the method {method.name} has no parameter `{name}`; {remedy}.")


def takes(method: Method, parameter: str) -> bool:
    """Whether the classifier of a method has a parameter."""
    return parameter in _class_of(method)._get_param_names()


def classifier_for(
    method: Method,
    roles: Roles,
    encoding: TableEncoding,
    known: Mapping[str, Any] | None = None,
) -> Any:
    """The classifier of any method, as far as it can be told what is known.

    One without a propensity has one set of features for all.
    """
    if not method.has_propensity:
        roles = replace(roles, outcome_features=None, propensity_features=None)
    taken = {name: value for name, value in (known or {}).items() if takes(method, name)}
    return make_classifier(method, roles, encoding, taken)


def _class_of(method: Method) -> Any:
    return vars(import_module(method.module))[method.class_name]


def contributions(model: FittedTable, X: Any, mean: Floats) -> Any:
    """How much each column of the table moves the logit of being a hidden positive, row by row.

    logit P(Y=1 | x, S=0) has the slope one in x'beta, and in x'gamma one that depends on the model:
    -e(x) where logit y(x) is linear. Each is compared with the average row, whose features are
    ``mean``. Where a model is not linear, the logit is compared with that of the row with the
    average in the place of one column.
    """
    import pandas as pd

    beta, gamma = model.model.coefficients()
    slope = model.model.hidden_slope(X.to_numpy()) if beta is not None else None
    if beta is None or gamma is None or slope is None:
        return _without_each(model, X, mean)
    Z = X.to_numpy() - mean
    moved = Z * beta[:-1] + slope[:, None] * Z * gamma[:-1]
    owner = np.array(model.encoding.sources)
    return pd.DataFrame(
        {name: moved[:, owner == name].sum(axis=1) for name in dict.fromkeys(owner)}, index=X.index
    )


def _without_each(model: FittedTable, X: Any, mean: Floats) -> Any:
    """How much the logit of a hidden positive changes with each column at its average."""
    import pandas as pd

    Z, owner = X.to_numpy(), np.array(model.encoding.sources)
    # a row with another value is a new one, so the row itself is predicted as such too
    hidden, moved = model.model.for_new_rows().hidden_proba, {}
    before = logit(_inner(hidden(Z)))
    for name in dict.fromkeys(model.encoding.sources):
        without = np.where(owner == name, mean, Z)
        moved[name] = before - logit(_inner(hidden(without)))
    return pd.DataFrame(moved, index=X.index)


def _inner(p: Floats) -> Floats:
    """Probabilities that have a logit."""
    return np.clip(p, 1e-12, 1 - 1e-12)
