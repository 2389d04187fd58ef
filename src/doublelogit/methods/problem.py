"""What is to be fitted: rows, the terms of the two models, their penalties."""

from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, ClassVar

import numpy as np

from doublelogit._types import Floats, Ints, Matrix
from doublelogit.core.design import Terms, column_extremes, pull_back, sandwich, squares_about
from doublelogit.core.link import DoubleResponse, Link, Response, link_name
from doublelogit.core.objective import DoubleLogisticObjective, column_units
from doublelogit.core.rows import Extremes, Rows
from doublelogit.fitted import FittedModel, LinearPair
from doublelogit.methods.belief import Belief, InformedObjective
from doublelogit.methods.models import LogisticModel

Combinations = tuple[tuple[int, int], tuple[int, int]]


@dataclass(frozen=True)
class Problem:
    """Rows and the double logistic model to be fitted to them.

    ``outcome`` and ``propensity`` default to all columns; penalties are ``l2/2 |w|^2`` on the
    sum of the losses; ``beliefs`` are what is known of the prevalence from elsewhere,
    ``link`` the response function of both models, ``false_label_rate`` the probability
    that a negative is labelled, ``shift`` what was subtracted from the features. ``smooth`` are
    columns of the outcome that bend others: they are nothing that was named. With a
    ``scaled_penalty`` slopes are penalised as if every column had the standard deviation one.
    """

    rows: Rows
    l2: float = 0.0
    propensity_l2: float = 0.0
    outcome: Terms = field(default=None)  # type: ignore[assignment]
    propensity: Terms = field(default=None)  # type: ignore[assignment]
    beliefs: tuple[Belief, ...] = ()
    link: Link = None
    false_label_rate: float = 0.0
    shift: Floats | None = None
    smooth: Ints | None = None
    scaled_penalty: bool = False

    ASSUMED: ClassVar[str] = "norm"  # the rule by which class and labelling are told apart at last
    # Class and labelling, whose strengths tell them apart, as combinations of (beta, gamma); and
    # (beta, gamma) of the pair in which they are swapped.
    STRENGTHS: ClassVar[Combinations] = ((1, 0), (0, 1))
    SWAPPED: ClassVar[Combinations] = ((0, 1), (1, 0))

    def __post_init__(self) -> None:
        everything = Terms(self.rows.n_features)
        for name in ("outcome", "propensity"):
            if getattr(self, name) is None:
                object.__setattr__(self, name, everything)
        if self.outcome.same(self.propensity):  # one object: what both need is computed once
            object.__setattr__(self, "propensity", self.outcome)

    @cached_property
    def n(self) -> float:
        """Total weight of the rows."""
        return float(self.rows.sum_columns(np.sum, self.rows.weight))

    @cached_property
    def n_labelled(self) -> float:
        """Total weight of the labelled rows."""
        return float(self.rows.sum_columns(np.dot, self.rows.s, self.rows.weight))

    @property
    def label(self) -> Terms:
        """Terms of the naive model of S: whatever either model may use."""
        if self.outcome.columns is None or self.propensity.columns is None:
            return replace(self.outcome, columns=None)
        columns = np.union1d(self.outcome.columns, self.propensity.columns)
        return replace(self.outcome, columns=columns)

    def label_model(self, **options: Any) -> LogisticModel:
        return self._model(self.label, self.l2, **options)

    def outcome_model(self, **options: Any) -> LogisticModel:
        return self._model(self.outcome, self.l2, **options)

    def propensity_model(self, **options: Any) -> LogisticModel:
        return self._model(self.propensity, self.propensity_l2, **options)

    def _model(self, terms: Terms, l2: float, **options: Any) -> LogisticModel:
        given = (self.rows, terms, self.n, l2, self.link, self.units, partial(self.gram, terms))
        return LogisticModel(*given, **options)

    def gram(self, terms: Terms) -> Floats:
        """Mean of xx' over the rows, of some terms; computed once for all models that have them."""
        key = None if terms.columns is None else tuple(terms.columns)
        if key not in self._grams:
            total = self.rows.sum_rows(partial(_sandwich, terms), self.rows.weight)
            self._grams[key] = total / self.n
        return self._grams[key]

    @cached_property
    def _grams(self) -> dict[Any, Floats]:
        return {}

    @cached_property
    def units(self) -> Floats:
        """Root mean square of every column, one for the intercept."""
        return column_units(self.rows, self.n)

    @property
    def response(self) -> Response:
        """What the two predictors mean."""
        return DoubleResponse(self.link, self.false_label_rate)

    @cached_property
    def likelihood(self) -> DoubleLogisticObjective:
        """The penalised -Q_n of (beta, gamma)."""
        penalties = (self.l2, self.propensity_l2)
        models = (self.rows, self.outcome, self.propensity)
        asked = (*models, self.n, *penalties, self.response, self.units)
        if not self.beliefs:
            return DoubleLogisticObjective(*asked)
        return InformedObjective(*asked, beliefs=self.beliefs)

    def fitted(self, theta: Floats, rival: Floats | None = None) -> FittedModel:
        """The fitted model at a short theta, and the swapped one at another."""
        return replace(self._pair(theta), rival=None if rival is None else self._pair(rival))

    def _pair(self, theta: Floats) -> LinearPair:
        pair = LinearPair.from_coefficients(*full(self, theta), link_name(self.link))
        return replace(pair, false_label_rate=self.false_label_rate)

    def theta(self, model: FittedModel) -> Floats:
        """The short theta of a fitted model with two linear predictors."""
        beta, gamma = model.coefficients()
        if beta is None or gamma is None:
            raise TypeError("theta holds the coefficients of two linear models; one is not linear")
        return np.concatenate([self.outcome.take(beta), self.propensity.take(gamma)])

    @property
    def double_logistic(self) -> "Problem":
        """The double logistic model of the same rows, whose fits are where a search starts."""
        return self

    def approximated(self, theta: Floats) -> Floats:
        """Where this model comes near the double logistic one at theta."""
        return theta

    @property
    def distinct_features(self) -> bool:
        """Whether the features of the two models tell them apart."""
        if self.smooth is None:
            return self.outcome is not self.propensity
        return not self.outcome.without(self.smooth).same(self.propensity.without(self.smooth))

    @property
    def swaps_exactly(self) -> bool:
        """Whether in a symmetric problem the swapped pair is as good to the last digit."""
        return self.outcome is self.propensity

    @property
    def symmetric(self) -> bool:
        """Whether beta and gamma could swap places unnoticed.

        They cannot if their terms or penalties differ, an audited row tells them apart,
        something is known of the prevalence, or negatives are labelled too.
        """
        same = not self.distinct_features and self.l2 == self.propensity_l2
        known = self.audited or self.beliefs or self.false_label_rate > 0
        return bool(same and not known)

    @cached_property
    def centre(self) -> Floats:
        """Mean of each column."""
        return self.rows.sum_rows(pull_back, self.rows.weight)[:-1] / self.n

    @cached_property
    def spread(self) -> Floats:
        """Standard deviation of each column."""
        fn = partial(squares_about, centre=self.centre)
        return np.sqrt(self.rows.sum_rows(fn, self.rows.weight) / self.n)

    def relabelled(self, s: Floats) -> "Problem":
        """The problem with other labels of its rows; what is known of the features stays known."""
        rows: Any = self.rows  # labels are drawn of rows in memory
        other = replace(self, rows=replace(rows, s=s, known=np.where(s == 1, 1.0, np.nan)))
        vars(other).update({"n": self.n, "units": self.units, "_grams": self._grams})
        return other

    @cached_property
    def audited(self) -> bool:
        """Whether the class of some row is known other than by its label."""
        return bool(self.rows.sum_columns(_audited, self.rows.s, self.rows.known, self.rows.weight))


def _sandwich(terms: Terms, X: Matrix, weight: Floats) -> Floats:
    return sandwich(terms.select(X), weight)


def _audited(s: Floats, known: Floats, weight: Floats) -> int:
    return int(np.count_nonzero(~np.isnan(known) & (s == 0) & (weight > 0)))


def full(problem: Problem, theta: Floats) -> tuple[Floats, Floats]:
    """Full-length (beta, gamma) of a short theta."""
    beta, gamma = problem.likelihood.split(theta)
    return problem.outcome.embed(beta), problem.propensity.embed(gamma)


# A column so many standard deviations from zero makes slope and intercept nearly one direction,
# in which every solver creeps.
FAR = 3.0


def nearer_zero(problem: Problem) -> Problem:
    """The problem with columns centred if some are far from zero, and its penalty in their units.

    The intercepts are free, so centring changes no fit, but how well it can be computed.
    """
    centre, spread = problem.centre, problem.spread
    if problem.scaled_penalty:
        models = (problem.outcome, problem.propensity)
        outcome, propensity = (replace(terms, unit=spread) for terms in models)
        problem = replace(problem, outcome=outcome, propensity=propensity)
    far = (np.abs(centre) > FAR * spread) & (spread > 0)
    if not far.any():
        return problem
    rows = problem.rows.centred(centre)
    return problem if rows is None else replace(problem, rows=rows, shift=centre)


def column_extremes_of(rows: Rows) -> Extremes:
    """Smallest and largest value of every column among rows with weight."""
    return rows.sum_rows(_extremes, rows.weight)


def everywhere(rows: Rows, extremes: Extremes) -> Extremes:
    """Smallest and largest value of every column, with rows that do not count.

    Nothing times a number that has overflowed is not nothing.
    """
    if rows.sum_columns(_without_weight, rows.weight) == 0:
        return extremes
    return rows.sum_rows(_all_extremes)


def _without_weight(weight: Floats) -> int:
    return int(np.count_nonzero(weight == 0))


def _all_extremes(X: Matrix) -> Extremes:
    return _extremes(X, np.ones(X.shape[0]))


def varying_columns(extremes: Extremes) -> Terms:
    """The columns that vary; a constant one is an intercept in disguise."""
    columns = np.flatnonzero(extremes.low < extremes.high)
    n_features = len(extremes.low)
    return Terms(n_features, None if len(columns) == n_features else columns)


def _extremes(X: Matrix, weight: Floats) -> Extremes:
    if not weight.all():
        X = X[np.flatnonzero(weight)]
    if X.shape[0] == 0:
        return Extremes(np.full(X.shape[1], np.inf), np.full(X.shape[1], -np.inf))
    return Extremes(*column_extremes(X))
