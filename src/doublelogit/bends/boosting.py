"""Boosted trees that bend the two logistic models, a few more in every round.

Guards are those of ``guarded.py``. A tree sees the rows once: soft targets are no copies, because
its leaves are steps of a regression. ::

    M   a(x) <- a(x) + a few trees fitted to (t - y(x)) / (1/4), an MM step of W_n
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.ensemble import HistGradientBoostingRegressor

from doublelogit._types import Floats, Ints
from doublelogit.averaged.settings import Settings
from doublelogit.bends.bent_posterior import bent_posterior
from doublelogit.bends.guarded import Guarded, Guards, Kept, Maker, guarded
from doublelogit.bends.trees import Bins, forest, joined
from doublelogit.methods.problem import Problem

BOUND = 0.25  # largest curvature of the log-loss: steps by it cannot overshoot, as in JOINT's MM


@dataclass(frozen=True)
class Growth:
    """How trees are grown."""

    n_trees: int = 10
    learning_rate: float = 0.1
    max_leaf_nodes: int = 4
    min_samples_leaf: int = 20
    l2: float = 1.0


@dataclass
class Trees:
    """The line of a half and the trees that bend it."""

    X: Floats
    bins: Bins
    coef: Floats
    line: Floats
    train: Ints
    growth: Growth
    random_state: int
    boosters: list[Any] = field(default_factory=list)
    bend: Floats = field(init=False)

    def __post_init__(self) -> None:
        self.bend = np.zeros(len(self.line))

    def predictor(self) -> Floats:
        """Logit of every row."""
        return self.line + self.bend

    def grow(self, target: Floats, weight: Floats) -> None:
        """Add trees by a minorise-maximise step of the log-loss of soft targets.

        Several trees fit one step; a Newton step, near-flat where y(x) is 0 or 1, would overshoot.
        They are a booster of their own: one that is grown further would predict every row by all
        of its trees again, whenever a few are added.
        """
        train = self.train
        p = expit(self.predictor()[train])
        booster = _booster(self.growth, self.bins.categorical, self.random_state)
        booster.before = self.boosters[-1] if self.boosters else None
        step, curvature = (target[train] - p) / BOUND, BOUND * weight[train]
        rows = np.asfortranarray(self.X[train])  # a booster goes column by column
        self.boosters.append(booster.fit(rows, step, sample_weight=curvature))
        self.bend = self.bend + booster.predict(self.X)

    def moment(self) -> int:
        """The number of rounds."""
        return len(self.boosters)

    def kept(self, moment: int) -> Kept:
        """Coefficients of the line, and the trees of the first rounds."""
        forests = [forest(booster, self.bins) for booster in self.boosters[:moment]]
        return self.coef, joined(forests) if forests else None


def boosted(
    problem: Problem,
    X: Floats,
    trees: tuple[Bins | None, Bins | None],
    growth: Growth,
    guards: Guards,
) -> Guarded:
    """Bend the outcome, the propensity or both by trees of bins of X; rows in memory."""
    one, other = (None if bins is None else _maker(X, bins, growth, guards) for bins in trees)
    return guarded(problem, (one, other), guards)


def boosted_posterior(
    problem: Problem,
    X: Floats,
    bins: Bins | None,
    growth: Growth,
    guards: Guards,
    settings: Settings,
) -> Guarded:
    """Bend the class of AVERAGED by trees of bins of X; rows in memory."""
    make = None if bins is None else _maker(X, bins, growth, guards)
    return bent_posterior(problem, make, guards, settings)


def _maker(X: Floats, bins: Bins, growth: Growth, guards: Guards) -> Maker:
    """What begins to bend the line of a half."""
    cut = np.asfortranarray(bins.cut(X))

    def make(train: Ints, coef: Floats, line: Floats) -> Trees:
        return Trees(cut, bins, coef, line, train, growth, guards.random_state)

    return make


class Booster(HistGradientBoostingRegressor):  # type: ignore[misc]
    """Boosted trees of rows that the booster ``before`` has seen: what it cut is not cut again.

    Bins of bins are the same whatever the weights, and cutting would take three quarters of the
    time of a few trees. The method is scikit-learn's own; in a release that does not ask for it
    every booster cuts for itself.
    """

    before: "Booster | None" = None
    _bin_mapper: Any
    _rows_cut: Any

    def _bin_data(self, X: Any, *about: Any, **named: Any) -> Any:
        if self.before is None:
            self._rows_cut = super()._bin_data(X, *about, **named)
        else:
            self._bin_mapper, self._rows_cut = self.before._bin_mapper, self.before._rows_cut
        return self._rows_cut


def _booster(growth: Growth, categorical: Any, random_state: int) -> Booster:
    return Booster(
        max_iter=growth.n_trees,
        learning_rate=growth.learning_rate,
        max_leaf_nodes=growth.max_leaf_nodes,
        min_samples_leaf=growth.min_samples_leaf,
        l2_regularization=growth.l2,
        categorical_features=categorical if categorical.any() else None,
        early_stopping=False,
        random_state=random_state,
    )
