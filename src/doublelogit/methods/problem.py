"""What is to be fitted: rows, the terms of the two models, their penalties."""

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from doublelogit._types import Floats, Ints
from doublelogit.core.design import Terms
from doublelogit.core.labels import Labels, labels_of
from doublelogit.core.link import DoubleResponse, Link, Response, link_name
from doublelogit.core.objective import DoubleLogisticObjective
from doublelogit.core.rows import Rows
from doublelogit.fitted import FittedModel, LinearPair
from doublelogit.methods.belief import Belief, informed
from doublelogit.methods.moments import Moments

Combinations = tuple[tuple[int, int], tuple[int, int]]


@dataclass(frozen=True)
class Symmetry:
    """The swap that a likelihood of labels does not see (Lemma 1).

    The two models are told apart by several label sources, different features or penalties, rows of
    known class, what is believed of the prevalence, or negatives that are labelled too.

    ``strengths`` are class and labelling, whose strengths tell them apart by assumption, as
    combinations of (beta, gamma); ``swap`` is (beta, gamma) of the swapped pair; ``assumption``
    names the rule that decides where nothing else does.
    """

    strengths: Combinations = ((1, 0), (0, 1))
    swap: Combinations = ((0, 1), (1, 0))
    assumption: str = "norm"

    def broken_by(self, problem: "Problem") -> str | None:
        """The first thing that tells the two models apart, None if they may swap unnoticed."""
        if problem.by_sources:
            return "sources"
        if self.features_differ(problem):
            return "features"
        if problem.audited:
            return "audit"
        if problem.beliefs:
            return "prevalence"
        if problem.false_label_rate > 0:
            return "false labels"
        return None if problem.l2 == problem.propensity_l2 else "penalty"

    def features_differ(self, problem: "Problem") -> bool:
        """Whether the features of the two models tell them apart; smooth terms do not."""
        if problem.smooth is None:
            return problem.outcome is not problem.propensity
        straight = [
            terms.without(problem.smooth) for terms in (problem.outcome, problem.propensity)
        ]
        return not straight[0].same(straight[1])

    def exact(self, problem: "Problem") -> bool:
        """Whether in a symmetric problem the swapped pair is as good to the last digit."""
        return problem.outcome is problem.propensity


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

    symmetry: ClassVar[Symmetry] = Symmetry()
    moments: Moments = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        everything = Terms(self.rows.n_features)
        for name in ("outcome", "propensity"):
            if getattr(self, name) is None:
                object.__setattr__(self, name, everything)
        if self.outcome.same(self.propensity):  # one object: what both need is computed once
            object.__setattr__(self, "propensity", self.outcome)
        object.__setattr__(self, "moments", Moments(self.rows))

    @property
    def n(self) -> float:
        """Total weight of the rows."""
        return self.moments.n

    @property
    def centre(self) -> Floats:
        """Mean of each column."""
        return self.moments.centre

    @property
    def spread(self) -> Floats:
        """Standard deviation of each column."""
        return self.moments.spread

    @cached_property
    def n_labelled(self) -> float:
        """Total weight of the labelled rows."""
        return float(self.rows.sum_columns(np.dot, self.rows.labels.any, self.rows.weight))

    @cached_property
    def audited(self) -> bool:
        """Whether the class of some row is known other than by its label."""
        return bool(self.rows.sum_columns(_audited, self.rows.labels, self.rows.weight))

    @property
    def by_sources(self) -> bool:
        """Whether labels are told apart by who gave them."""
        return self.rows.labels.by_source is not None

    @property
    def label(self) -> Terms:
        """Terms of the naive model of S: whatever either model may use."""
        if self.outcome.columns is None or self.propensity.columns is None:
            return replace(self.outcome, columns=None)
        columns = np.union1d(self.outcome.columns, self.propensity.columns)
        return replace(self.outcome, columns=columns)

    @property
    def distinct_features(self) -> bool:
        """Whether the features of the two models tell them apart."""
        return self.symmetry.features_differ(self)

    @property
    def symmetric(self) -> bool:
        """Whether class and labelling could swap places unnoticed."""
        return self.symmetry.broken_by(self) is None

    @property
    def response(self) -> Response:
        """What the two predictors mean."""
        return DoubleResponse(self.link, self.false_label_rate)

    @cached_property
    def likelihood(self) -> DoubleLogisticObjective:
        """The penalised -Q_n of (beta, gamma), with what is believed of the prevalence."""
        models = (self.rows, self.outcome, self.propensity)
        numbers = (self.n, self.l2, self.propensity_l2)
        objective = DoubleLogisticObjective(*models, *numbers, self.response, self.moments.units)
        return informed(objective, self.beliefs)

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

    def relabelled(self, s: Floats) -> "Problem":
        """The problem with other labels of its rows, whose moments are shared."""
        rows: Any = self.rows  # labels are drawn of rows in memory
        other = replace(self, rows=replace(rows, labels=labels_of(s)))
        object.__setattr__(other, "moments", self.moments)
        return other


def _audited(labels: Labels, weight: Floats) -> int:
    return int(np.count_nonzero(~np.isnan(labels.known) & (labels.any == 0) & (weight > 0)))


def full(problem: Problem, theta: Floats) -> tuple[Floats, Floats]:
    """Full-length (beta, gamma) of a short theta."""
    beta, gamma = problem.likelihood.split(theta)
    return problem.outcome.embed(beta), problem.propensity.embed(gamma)


def combined(weights: Combinations, beta: Floats, gamma: Floats) -> tuple[Floats, Floats]:
    """Two combinations of full-length coefficients."""
    one, other = (i * beta + j * gamma for i, j in weights)
    return one, other


# A column so many standard deviations from zero makes slope and intercept nearly one direction,
# in which every solver creeps.
DISTANT_CENTRE = 3.0


def nearer_zero(problem: Problem) -> Problem:
    """The problem with columns centred if some are far from zero, and its penalty in their units.

    The intercepts are free, so centring changes no fit, but how well it can be computed.
    """
    centre, spread = problem.centre, problem.spread
    if problem.scaled_penalty:
        models = (problem.outcome, problem.propensity)
        outcome, propensity = (replace(terms, unit=spread) for terms in models)
        problem = replace(problem, outcome=outcome, propensity=propensity)
    far = (np.abs(centre) > DISTANT_CENTRE * spread) & (spread > 0)
    if not far.any():
        return problem
    rows = problem.rows.centred(centre)
    return problem if rows is None else replace(problem, rows=rows, shift=centre)
