"""What rivals share: the contract of our classifiers, on standardised rows in memory."""

from abc import abstractmethod
from dataclasses import replace
from importlib import import_module
from numbers import Real
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from doublelogit._types import Floats
from doublelogit.core.rows import Rows
from doublelogit.estimators.base import AbstractPUClassifier
from doublelogit.estimators.out_of_core import is_distant
from doublelogit.fitted import FittedModel, ImpliedPropensity, LinearPair, ScaledLabel, Side
from doublelogit.fitted.fit import PUFit
from doublelogit.methods import Problem
from doublelogit.studies.registry import RIVALS
from doublelogit.studies.rivals.sample import Sample

ESTIMATORS = {method.name for method in RIVALS.values() if method.estimates_prevalence}


class RivalFit(NamedTuple):
    """What a rival fits: a model of the features as they were before ``Sample``, a prevalence."""

    model: FittedModel
    prevalence: float
    n_iter: int = 1
    converged: bool = True
    trace: tuple[float, ...] = ()


class AbstractRival(AbstractPUClassifier):
    """A method of others: its rows are in memory, and it takes neither weights nor audits."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **AbstractPUClassifier._parameter_constraints,
        "prevalence": [Interval(Real, 0, 1, closed="neither"), StrOptions(ESTIMATORS)],
        "random_state": ["random_state"],
    }

    tol = 1e-7  # largest entry of a gradient
    max_iter = 2000
    random_state: Any = 0
    prevalence: Any = None

    prevalence_: float
    label_frequency_: float

    def fit(self, X: Any, y: Any = None) -> Self:  # type: ignore[override]  # takes less
        """Fit the model.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
            Features; sparse ones are made dense.
        y : array-like of shape (n_samples,)
            Observed label: labelled (surely positive) or unlabelled (either).

        Returns
        -------
        self : object
            The fitted classifier.
        """
        return super().fit(X, y)

    def _rows(self, X: Any, y: Any, sample_weight: Any, audited_y: Any, groups: Any = None) -> Rows:
        if is_distant(X):
            raise TypeError(
                f"{type(self).__name__} needs its rows in memory; got {type(X).__name__}. Load "
                "them, or a sample of them."
            )
        return super()._rows(X, y, sample_weight, audited_y, groups)

    def _fit(self, problem: Problem, X: Any) -> PUFit:
        sample = Sample.of(problem)
        result = self._fit_sample(sample)
        self.prevalence_ = result.prevalence
        self.label_frequency_ = min(sample.mean_s / self.prevalence_, 1.0)
        return PUFit(result.model, result.n_iter, result.converged, result.trace)

    @abstractmethod
    def _fit_sample(self, sample: Sample) -> RivalFit:
        """Fit the rival."""

    def _stream(self) -> np.random.RandomState:
        return check_random_state(self.random_state)

    def _known_prevalence(self, sample: Sample) -> float:
        """The prevalence as given, or as the rival named in its place estimates it."""
        if isinstance(self.prevalence, str):
            method = RIVALS[self.prevalence]
            kind = vars(import_module(method.module))[method.class_name]
            rival = kind(random_state=self.random_state)
            estimate = rival._estimate(replace(sample, l2=1 / rival.C))
            return possible_prevalence(estimate, sample)
        if not self.prevalence >= sample.mean_s:
            raise ValueError(
                f"prevalence must not be below the share of labelled rows, {sample.mean_s:.3g}; "
                f"got {self.prevalence!r}."
            )
        return float(self.prevalence)


def possible_prevalence(value: float, sample: Sample) -> float:
    """An estimate brought between what labels prove and one negative in the sample."""
    return float(np.clip(value, sample.mean_s, 1 - 1 / (sample.n + 1)))


def implied_pair(alpha: Floats, outcome: Side) -> LinearPair:
    """A model of the class, and the propensity that the fit alpha of the label implies."""
    return LinearPair(outcome, ImpliedPropensity(alpha, outcome))


class PrevalenceRival(AbstractRival):
    """A rival that estimates the prevalence, made a classifier by y(x) = s(x) / c, at most 1.

    s(x) is NAIVE's, c the label frequency that follows from the prevalence; e(x) = s(x) / y(x),
    which is c wherever s(x) does not exceed it.
    """

    @abstractmethod
    def _estimate(self, sample: Sample) -> float:
        """The prevalence P(Y=1) of the sample."""

    def _fit_sample(self, sample: Sample) -> RivalFit:
        prevalence = possible_prevalence(self._estimate(sample), sample)
        alpha = sample.coef(sample.naive)
        outcome = ScaledLabel(alpha, sample.mean_s / prevalence)
        return RivalFit(implied_pair(alpha, outcome), prevalence)
