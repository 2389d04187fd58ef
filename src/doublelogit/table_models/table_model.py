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
from doublelogit.registry import CHECKING_METHOD, METHODS, Method, with_capability
from doublelogit.table_models.learners import STRAIGHT, LearnerChoice, Learners
from doublelogit.table_models.smoothing import chosen_size
from doublelogit.table_models.table_doubts import TableDoubts
from doublelogit.tables import Roles, Table, TableEncoding
from doublelogit.tables.expansion import frame_parts

KIND = "table model"
KNOWLEDGE = ("prevalence", "label_frequency", "false_label_rate")


@dataclass(frozen=True)
class FittedTable:
    """A classifier fitted to a table, with the encoding of its columns.

    ``roles`` say what the columns are for; ``method`` and ``learner`` are names of the registry;
    ``doubts`` are findings about the table before the fit, None if the model comes from a file.
    """

    roles: Roles
    method: str
    encoding: TableEncoding
    classifier: Any
    learners: Learners = STRAIGHT
    doubts: TableDoubts | None = None
    choice: LearnerChoice | None = None

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
    def findings(self) -> tuple[Finding, ...]:
        """What was found of the table, and what the fit found."""
        chosen = () if self.choice is None else (self.choice.finding,)
        doubts = () if self.doubts is None else self.doubts.serious
        return (*doubts, *self.classifier.findings_, *chosen)

    def probabilities(self, table: Table) -> Probabilities:
        """Probabilities of every row of a table."""
        return self.classifier.probabilities(table.encoded(self.encoding))

    def infer(self, table: Table) -> Inference:
        """Inference from the rows of fit."""
        return infer(
            self.classifier,
            table.encoded(self.encoding),
            table.s,
            sample_weight=table.weight,
            audited_y=table.audited,
        )

    def to_state(self) -> dict[str, Any]:
        """What of the model a file keeps."""
        return {
            "roles": asdict(self.roles),
            "method": self.method,
            "learners": asdict(self.learners),
            "choice": None if self.choice is None else asdict(self.choice),
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
        learners = Learners(**state["learners"])
        choice = LearnerChoice.from_state(state.get("choice"))
        roles = Roles(**state["roles"])
        return cls(roles, state["method"], encoding, classifier, learners, choice=choice)


def fit_table(
    rows: Table | ParquetScan,
    method: Method,
    parameters: Mapping[str, Any] | None = None,
    learners: Learners = STRAIGHT,
) -> FittedTable:
    """Fit a method to the rows of a table, or to those of a scan."""
    method = learners.asked(method)
    if isinstance(rows, ParquetScan):
        return _fit_scan(rows, method, parameters or {}, learners)
    rows = rows.counted
    encoding = encode_columns(rows, learners)
    if encoding.curves:
        encoding = _resized(rows, encoding, learners)
    method = learners.at_width(method, encoding)
    large = len(rows) > LARGE_SAMPLE
    classifier = make_classifier(method, rows.roles, encoding, parameters, learners, large=large)
    fit_rows(classifier, rows.encoded(encoding), rows)
    return FittedTable(rows.roles, method.name, encoding, classifier, learners)


def _fit_scan(
    scan: ParquetScan, method: Method, parameters: Mapping[str, Any], learners: Learners
) -> FittedTable:
    assert scan.roles is not None
    roles = replace(scan.roles, positive=scan.coding.positive)
    encoding = learners.expanded(scan.learned_encoding(scaled=True), scan.parts, roles)
    if encoding.curves:
        taken = scan.counted(spread_rows(scan.n_rows))
        some = Table.from_frame(scan.take(taken, scan.files.schema.names), roles)
        encoding = _resized(some, encoding, learners)
    method = learners.at_width(method, encoding)
    large = scan.n_rows > LARGE_SAMPLE
    classifier = make_classifier(method, roles, encoding, parameters, learners, large=large)
    classifier.fit(scan.encoded_by(encoding))
    return FittedTable(roles, method.name, encoding, classifier, learners)


def _resized(table: Table, encoding: TableEncoding, learners: Learners) -> TableEncoding:
    """The encoding with curves as large as held-out labels ask for, by maximum likelihood."""
    some = spread_rows(len(table))
    method = METHODS[CHECKING_METHOD]
    settings = {"n_starts": 1}
    curved = learners.smooth
    classifier = make_classifier(method, table.roles, encoding, settings, curved, large=True)
    X = encoding.encode(table.features.iloc[some])[0]
    weight = None if table.weight is None else table.weight[some]
    audited = None if table.audited is None else table.audited[some]
    rows = {"s": table.s[some], "sample_weight": weight, "audited_y": audited}
    return encoding.resized(quietly(chosen_size, classifier, X, encoding, rows))


def spread_rows(n: int) -> Any:
    """Numbers of rows, evenly spread, no more than a choice of a learner needs."""
    return np.arange(n)[:: max(1, -(-n // LARGE_SAMPLE))]


def encode_columns(table: Table, learners: Learners = STRAIGHT) -> TableEncoding:
    """Learn how the columns of a table become the features that learners need."""
    return learners.expanded(table.encoding, frame_parts(table.features), table.roles)


def fit_rows(classifier: Any, X: Any, table: Table, rows: Any = slice(None)) -> Any:
    """Fit a classifier to encoded rows of a table, or to some of them."""
    weight = None if table.weight is None else table.weight[rows]
    audited = None if table.audited is None else table.audited[rows]
    groups = None if table.cluster is None else table.cluster[rows]
    named = {"sample_weight": weight, "audited_y": audited, "groups": groups}
    return classifier.fit(X.iloc[rows], table.s[rows], **named)


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
    learners: Learners = STRAIGHT,
    *,
    large: bool = False,
) -> Any:
    """The classifier of a method, which may use the features that the named columns became."""
    method = learners.method(method)
    settings = dict(method.settings) | (dict(method.large_settings) if large else {})
    for name, features in learners.features(encoding).items():
        columns = vars(roles)[name]
        if columns is None and features.names != encoding.names and method.has_propensity:
            settings.setdefault(name, list(features.names))
        if columns is None or name in settings:
            continue
        if not method.has_propensity:
            raise TableError(
                f"the method {method.name} has one set of features for all; `{name}` needs one of "
                f"{', '.join(with_capability('has_propensity'))}."
            )
        settings[name] = features.features_of(columns, name)
    classifier = _class_of(method)
    of_learners = learners.settings(encoding, roles)
    settings |= {name: of_learners[name] for name in of_learners if takes(method, name)}
    _check_parameters(method, parameters or {})
    return classifier(**(settings | dict(parameters or {})))


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
    if beta is None or gamma is None:
        return _without_each(model, X, mean)
    Z = X.to_numpy() - mean
    moved = Z * beta[:-1]
    if gamma is not None:
        moved = moved + model.model.hidden_slope(X.to_numpy())[:, None] * Z * gamma[:-1]
    sources = model.encoding.sources
    owner = np.array(sources)
    return pd.DataFrame(
        {name: moved[:, owner == name].sum(axis=1) for name in dict.fromkeys(sources)},
        index=X.index,
    )


def _without_each(model: FittedTable, X: Any, mean: Floats) -> Any:
    """How much the logit of a hidden positive changes with each column at its average."""
    import pandas as pd

    Z, owner = X.to_numpy(), np.array(model.encoding.sources)
    average = np.where(np.isin(model.encoding.names, model.encoding.codes), 0.0, mean)
    before, moved = logit(_inner(model.model.hidden_proba(Z))), {}
    for name in dict.fromkeys(model.encoding.sources):
        without = np.where(owner == name, average, Z)
        moved[name] = before - logit(_inner(model.model.hidden_proba(without)))
    return pd.DataFrame(moved, index=X.index)


def _inner(p: Floats) -> Floats:
    """Probabilities that have a logit."""
    return np.clip(p, 1e-12, 1 - 1e-12)
