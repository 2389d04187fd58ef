"""What all classifiers share when they are fitted: validation, rows, findings.

A failed fit leaves the classifier as it was: files may turn out bad in the middle, and half of a
fit must not look like one.
"""

import warnings
from abc import ABC, abstractmethod
from copy import copy
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from doublelogit.common.threads import with_paying_threads
from doublelogit.common.wording import as_parameters
from doublelogit.core.design import Terms
from doublelogit.core.link import LINKS, Link
from doublelogit.core.rows import Rows, Source
from doublelogit.engines.memory import MemoryRows
from doublelogit.estimators.label_sources import (
    check_each_source,
    is_several,
    present,
    source_columns,
    source_names,
)
from doublelogit.estimators.out_of_core import (
    as_source,
    check_parameters,
    expanded,
)
from doublelogit.estimators.predictions import ModelPredictions
from doublelogit.estimators.serialization import save
from doublelogit.estimators.validation import (
    check_magnitudes,
    check_weighted,
    feature_index,
    label_classes,
    listed,
    one_column,
    row_columns,
    separated,
    with_unlabelled,
)
from doublelogit.exceptions import (
    OrientationWarning,
    SeparationWarning,
    WeakIdentificationWarning,
)
from doublelogit.findings import FINE, Finding
from doublelogit.findings import fit as findings
from doublelogit.fitted.fit import PUFit
from doublelogit.methods import Problem
from doublelogit.methods.moments import column_extremes_of, everywhere, varying_columns
from doublelogit.methods.problem import nearer_zero
from doublelogit.registry import method_of, with_capability
from doublelogit.tables.encoding import TableEncoding

POSITIVE = [Interval(Real, 0, None, closed="right")]
NON_NEGATIVE = [Interval(Real, 0, None, closed="left")]
COUNT = [Interval(Integral, 1, None, closed="left")]
FEATURES = ["array-like", None]

# How a finding of a fit is announced.
WARNINGS: dict[str, type[Warning]] = {
    "convergence": ConvergenceWarning,
    "separation": SeparationWarning,
    "orientation": OrientationWarning,
    "identification": WeakIdentificationWarning,
}


class AbstractPUClassifier(ModelPredictions, ClassifierMixin, BaseEstimator, ABC):
    """A classifier of the true class, learned from labels that only positives may carry."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "C": POSITIVE,
        "propensity_C": POSITIVE,
        "outcome_features": FEATURES,
        "propensity_features": FEATURES,
        "tol": NON_NEGATIVE,
        "max_iter": COUNT,
        "pos_label": "no_validation",
    }

    # Parameters that some methods do not have, as what their absence means.
    C: float = np.inf
    propensity_C: float | None = None  # noqa: N815
    outcome_features: Any = None
    propensity_features: Any = None
    smooth_features: Any = None
    link: str = "logit"
    false_label_rate: float = 0.0
    tol: float = 0.0
    max_iter: int = 1
    pos_label: Any = None

    _model: ClassVar[type[Problem]] = Problem  # what is fitted to the rows
    findings_: tuple[Finding, ...]

    @with_paying_threads
    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        audited_y: Any = None,
        groups: Any = None,
    ) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
            Features. Or a Dask array or data frame, then y too; or Parquet files, named by
            :func:`doublelogit.scan_parquet` together with labels, weights and audited classes.
        y : array-like of shape (n_samples,), or (n_samples, n_sources) of several sources
            Observed label: labelled (surely positive) or unlabelled (either). 1, True and "yes"
            mean labelled; for other values see ``pos_label``. NaN and None mean unlabelled; of
            several sources, that a source did not look at the row. Methods that tell sources
            apart take up to six.
        sample_weight : array-like of shape (n_samples,), default=None
            Number of times each row counts. (TM's quantile counts rows: weights that sum to one
            would make the sample a single row.)
        audited_y : array-like of shape (n_samples,), default=None
            The class of rows where it was found out: 1 positive, 0 negative, NaN elsewhere. They
            are taken to be missing at random: given features and label, rows were looked at
            whatever their class.
        groups : array-like of shape (n_samples,), default=None
            Cluster of each row: a household, a clinic. Rows of one cluster are held out together
            where a method holds rows out.

        Returns
        -------
        self : object
            The fitted classifier.
        """
        self._validate_params()
        before = dict(vars(self))
        try:
            rows = self._rows(X, y, sample_weight, audited_y, groups)
            problem = nearer_zero(self._problem(rows))
            result = self._fit(problem, X)
            self.findings_ = tuple(self._findings(problem, result))
            self._store(result.uncentred(problem.shift))
        except BaseException:  # a file may end in the middle: leave nothing half-fitted
            self.__dict__.clear()
            self.__dict__.update(before)
            raise
        for finding in self.findings_:
            if finding.level != FINE:
                text = as_parameters(finding.text)
                # two frames up: this one, and the limit of threads around it
                warnings.warn(text, WARNINGS[finding.topic], stacklevel=3)
        return self

    def bind(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        audited_y: Any = None,
        groups: Any = None,
    ) -> Problem:
        """Make the problem that this classifier solves on some rows, without solving it.

        Parameters
        ----------
        X, y, sample_weight, audited_y, groups : array-like
            Rows as in ``fit``. A fitted classifier refuses other features than those of its fit.

        Returns
        -------
        problem : Problem
            Rows, terms and penalties of the two models, and their likelihood. That of the rows of
            ``fit`` is the problem that ``fit`` has solved. The classifier itself does not change.
        """
        self._validate_params()
        twin = copy(self)  # validation stores what it learns of X
        rows = twin._rows(X, y, sample_weight, audited_y, groups)
        self._take_features(twin)
        return nearer_zero(twin._problem(rows))

    def _take_features(self, twin: Self) -> None:
        """Give a twin of other rows the names of the features of this fit, if they are the same."""
        if "n_features_in_" not in vars(self):
            return
        names, others = self._feature_names, twin._feature_names
        same = names is None or others is None or np.array_equal(names, others)
        if not same or twin.n_features_in_ != self.n_features_in_:
            raise ValueError(
                "a fitted classifier is bound to the features of its fit, in their order: "
                f"{_described(self)}; got {_described(twin)}."
            )
        if names is not None:
            twin.feature_names_in_ = names

    @abstractmethod
    def _fit(self, problem: Problem, X: Any) -> PUFit:
        """Call the method. X is as the user passed it, for models that want it so."""

    def save(self, path: Any) -> None:
        """Write the fitted classifier to a file that :func:`doublelogit.load` reads.

        The file holds JSON and raw arrays, no pickle. Classifiers of other libraries that were
        plugged in are kept by skops, and load with the same version of scikit-learn only.

        Parameters
        ----------
        path : path
            Of the file; it is written whole or not at all.
        """
        check_is_fitted(self)
        save(self, path)

    @property
    def _link(self) -> Link:
        """Response function of both models."""
        return LINKS[self.link]

    def _rows(self, X: Any, y: Any, sample_weight: Any, audited_y: Any, groups: Any = None) -> Rows:
        self.__dict__.pop("encoding_", None)
        self.__dict__.pop("sources_in_", None)
        check_parameters(X, self.pos_label)
        source = as_source(X, y, sample_weight, audited_y, groups)
        if source is not None:
            self._check_out_of_core(X)
            return self._distant_rows(source)
        if is_several(y) and method_of(self).sources:
            self.sources_in_ = source_names(y)
            return self._rows_by_sources(X, source_columns(y), sample_weight, audited_y, groups)
        y = None if y is None else with_unlabelled(one_column(y), self.pos_label)
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=(np.float64, np.float32))
        return self._labelled_rows(X, y, sample_weight, audited_y, groups)

    def _check_out_of_core(self, X: Any) -> None:
        method = method_of(self)
        if not method.out_of_core:
            raise ValueError(
                f"{method.class_name} needs rows in memory; got {type(X).__name__}. Read the rows "
                f"first, or use one of {', '.join(with_capability('out_of_core'))}."
            )

    def _distant_rows(self, source: Source) -> Rows:
        """Rows that are not in memory, and what is to be known of them."""
        labels = source.labels()
        if len(labels) == 0:
            raise ValueError("a fit needs rows; got none, or none that pass the filter.")
        self.classes_ = label_classes(with_unlabelled(labels, self.pos_label), self.pos_label)
        self.n_features_in_ = source.n_features
        self.__dict__.pop("feature_names_in_", None)
        if source.names is not None:
            self.feature_names_in_ = np.array(source.names, dtype=object)
        if source.encoding is not None:
            self.encoding_: TableEncoding = source.encoding
        rows = source.rows(partial(row_columns, self.classes_, self._certain))
        check_weighted(rows, self.classes_)
        return rows

    @property
    def _certain(self) -> bool:
        """Whether a label is certain to mean a positive."""
        return self.false_label_rate == 0

    def _rows_by_sources(self, X: Any, y: Any, *others: Any) -> MemoryRows:
        """Rows in memory whose labels have a column for each source."""
        first = np.zeros(len(y))  # scikit-learn compares numbers of rows by it
        X, _ = validate_data(self, X, first, accept_sparse="csr", dtype=(np.float64, np.float32))
        rows = self._labelled_rows(X, y, *others)
        check_each_source(rows.labels)
        return rows

    def _labelled_rows(
        self, X: Any, y: Any, sample_weight: Any, audited_y: Any, groups: Any
    ) -> MemoryRows:
        self.classes_ = label_classes(present(y), self.pos_label)
        if sample_weight is not None:
            sample_weight = _check_sample_weight(
                sample_weight, X, dtype=np.float64, ensure_non_negative=True
            )
        rows = MemoryRows(
            X, *row_columns(self.classes_, self._certain, y, sample_weight, audited_y, groups)
        )
        check_weighted(rows, self.classes_)
        return rows

    def _problem(self, rows: Rows) -> Problem:
        outcome, propensity = self._terms(rows)
        C, propensity_C = self._penalties
        names = self._feature_names
        smooth = feature_index(self.smooth_features, "smooth_features", rows.n_features, names)
        models = (1 / C, 1 / propensity_C, outcome, propensity)
        return self._model(rows, *models, link=self._link, smooth=smooth)

    @property
    def _penalties(self) -> tuple[float, float]:
        """C of the outcome and of the propensity model."""
        return self.C, self.C if self.propensity_C is None else self.propensity_C

    def _terms(self, rows: Rows) -> tuple[Terms, Terms]:
        """Terms of both models: the features asked for, but no constant columns."""
        extremes, names = column_extremes_of(rows), self._feature_names
        check_magnitudes(extremes, everywhere(rows, extremes), names)
        varying = varying_columns(extremes)

        def chosen(parameter: str, features: Any) -> Terms:
            features = expanded(features, vars(self).get("encoding_"))
            index = feature_index(features, parameter, rows.n_features, names)
            if index is None:
                return varying
            if varying.columns is not None:
                index = np.intersect1d(index, varying.columns)
            return Terms(rows.n_features, index)

        return (
            chosen("outcome_features", self.outcome_features),
            chosen("propensity_features", self.propensity_features),
        )

    def _store(self, result: PUFit) -> None:
        self.model_, self.orientation_ = result.model, result.orientation
        self.n_iter_, self.converged_ = max(result.n_iter, 1), result.converged
        self.trace_ = np.array(result.trace)

    def _findings(self, problem: Problem, result: PUFit) -> list[Finding]:
        """What a user must know of the fit; what is not fine is also a warning."""
        found, name = [], type(self).__name__
        if not result.converged:
            found.append(findings.not_converged(name, self.tol, self.max_iter))
        models = [coef for coef in result.model.coefficients() if coef is not None]
        unbounded = np.isinf(self._penalties).any() and result.beta is not None
        if unbounded and separated(problem.rows, self._link, models):
            found.append(findings.separable(name))
        if result.orientation is not None and not result.orientation.clear:
            found.append(findings.orientation(result.orientation))
        return found

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.sparse = True
        return tags


def _described(classifier: AbstractPUClassifier) -> str:
    """Features of a classifier for a message: their names, or how many they are."""
    names = classifier._feature_names
    return f"{classifier.n_features_in_} columns" if names is None else listed(names)
