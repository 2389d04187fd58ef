"""Guarded boosting: trees that bend the two logistic models where held-out labels ask for it.

Algorithm::

    beta, gamma <- JOINT                                       the line that trees start from,
                   or a constant class: what held-out labels prefer
    the rows outside each fold k are cut into two halves h, with models of their own:
        beta_h, gamma_h <- maximum of Q_n on the half, from (beta, gamma)
    repeat until the likelihood of held-out labels has not grown for some rounds
        E   t_i     <- P(Y=1 | x_i, s_i) by the models of the other half of the same fold
        M   a_h(x)  <- a_h(x) + a few trees fitted to t - y(x), an MM step of W_n, on the half
            gamma_h <- logistic regression of s_i with weights t_i on the half
        a fold is judged by the mean of its two halves, which have not seen it
    back to the round of the largest held-out likelihood; round 0 is the line
    a(x), b(x) <- means over all halves

A flexible class that is fitted to all rows memorises which of them are labelled: y(x) then becomes
s(x), e(x) one. Here no row has a say in its own t, trees are added and never grown anew, and what
does not help to foretell labels of others is not kept, so that in doubt the answer is the line's.
One level of folds would not do: the t of other rows carry the labels of a fold into its own model,
and its likelihood then grows without end. A tree sees the rows once: soft targets are no copies,
because its leaves are steps of a regression.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.special import expit, logit
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.model_selection import StratifiedKFold

from doublelogit._types import Floats, Ints
from doublelogit.design import predictor
from doublelogit.engines.memory import MemoryRows
from doublelogit.fit import PUFit
from doublelogit.fitted import BentSide, Forest, LinearPair, LinearSide, Side
from doublelogit.held_out import simplest
from doublelogit.likelihood import double_logistic, positive_given_label
from doublelogit.methods.joint import joint
from doublelogit.methods.models import LogisticModel
from doublelogit.methods.problem import Problem
from doublelogit.methods.trees import Bins, forest
from doublelogit.rows import weighted_mean
from doublelogit.solvers import trust_region

Kept = tuple[Floats, Forest | None]

BOUND = 0.25  # largest curvature of the log-loss: steps by it cannot overshoot, as in JOINT's MM
NO_GAIN = 1e-4  # log-likelihood per row that is no gain
LOOSE = 1e-4  # gradient of fits that start from the optimum of nearly the same rows


@dataclass(frozen=True)
class Growth:
    """How trees are grown, and when they stop.

    ``n_folds`` 1 judges models by the rows they were fitted to; ``cross_fit`` False takes t from
    the model that is fitted to it; ``patience`` 0 makes all rounds.
    """

    n_folds: int = 3
    cross_fit: bool = True
    n_trees: int = 10
    max_rounds: int = 30
    patience: int = 3
    learning_rate: float = 0.1
    max_leaf_nodes: int = 4
    min_samples_leaf: int = 20
    l2: float = 1.0
    starts: tuple[str, ...] = ("line", "constant")
    random_state: int = 0


@dataclass
class Trees:
    """The line of a half and the trees that bend it."""

    X: Floats
    bins: Bins
    coef: Floats
    line: Floats
    train: Ints
    booster: Any
    n_trees: int
    bend: Floats = field(init=False)

    def __post_init__(self) -> None:
        self.bend = np.zeros(len(self.line))

    def predictor(self) -> Floats:
        """Logit of every row."""
        return self.line + self.bend

    def grow(self, target: Floats, weight: Floats) -> None:
        """Add trees by a minorise-maximise step of the log-loss of soft targets.

        Several trees fit one step; a Newton step, near-flat where y(x) is 0 or 1, would overshoot.
        """
        train = self.train
        p = expit(self.predictor()[train])
        wanted = self.bend[train] + (target[train] - p) / BOUND
        self.booster.max_iter += self.n_trees
        self.booster.fit(self.X[train], wanted, sample_weight=BOUND * weight[train])
        self.bend = self.booster.predict(self.X)

    def kept(self) -> Kept:
        """Coefficients of the line, and the trees as they are now."""
        return self.coef, forest(self.booster, self.bins) if self.booster.max_iter else None


@dataclass
class Line:
    """The logistic model of a half, fitted again in every round."""

    rows: MemoryRows
    model: LogisticModel
    train: Ints

    def predictor(self) -> Floats:
        """Logit of every row."""
        return predictor(self.rows.X, self.model.coef)

    def grow(self, target: Floats, weight: Floats) -> None:
        """Fit to soft targets, from the last fit."""
        self.model.fit(target[self.train], weight[self.train])

    def kept(self) -> Kept:
        """Coefficients, and no trees."""
        return self.model.coef, None


@dataclass
class Half:
    """Both models of half of the rows outside a fold."""

    train: Ints
    outcome: Trees | Line
    propensity: Trees | Line

    def expected(self, rows: MemoryRows, at: Ints) -> Floats:
        """P(Y=1 | x, s) of some rows."""
        a, b = self.outcome.predictor()[at], self.propensity.predictor()[at]
        return positive_given_label(rows.known[at], a, b)

    def kept(self) -> tuple[Kept, Kept]:
        """Both models as they are now."""
        return self.outcome.kept(), self.propensity.kept()


@dataclass
class Fold:
    """The rows in a fold, and the halves of those outside it."""

    inside: Ints
    halves: list[Half]

    def grow(self, rows: MemoryRows) -> None:
        """An E-step of each half by the other one, then both M-steps."""
        t = np.zeros(len(rows.s))
        for half, other in zip(self.halves, reversed(self.halves), strict=True):
            t[half.train] = other.expected(rows, half.train)
        for half in self.halves:
            half.outcome.grow(t, rows.weight)
            half.propensity.grow(rows.s, rows.weight * t)

    def judged(self) -> tuple[Floats, Floats]:
        """Logits of y and e of the rows in the fold, means of the halves."""
        models = [(half.outcome, half.propensity) for half in self.halves]
        found = [[side.predictor()[self.inside] for side in pair] for pair in models]
        a, b = np.mean(found, axis=0)
        return a, b


@dataclass(frozen=True)
class Boosted:
    """What boosting found: the fit, and the log-likelihood of each row by models without it."""

    fit: PUFit
    held_out: Floats


def boosted(
    problem: Problem, X: Floats, trees: tuple[Bins | None, Bins | None], growth: Growth
) -> Boosted:
    """Bend the outcome, the propensity or both by trees of bins of X; rows in memory."""
    rows = problem.rows
    assert isinstance(rows, MemoryRows)
    cut = [None if bins is None else (bins, bins.cut(X)) for bins in trees]
    line = joint(problem)
    parts = _split(rows, growth)
    found = {
        start: _grown(rows, [_fold(problem, cut, part, theta, growth) for part in parts], growth)
        for start, theta in _starts(problem, line, growth)
    }
    best = simplest({start: -grown.losses for start, grown in found.items()}, rows.weight)
    chosen = found[best]
    if best == "line" and not chosen.best:  # the line of all rows, not a mean of lines of parts
        return Boosted(replace(line, trace=chosen.trace), -chosen.losses)
    outcome, propensity = (_side([half[i] for half in chosen.kept]) for i in (0, 1))
    n_iter = len(chosen.trace) - 1
    fit = PUFit(LinearPair(outcome, propensity), n_iter, True, chosen.trace, line.orientation)
    return Boosted(fit, -chosen.losses)


@dataclass(frozen=True)
class Rounds:
    """What rounds from one start have led to: the best of them, its models and losses."""

    best: int
    kept: list[tuple[Kept, Kept]]
    losses: Floats
    trace: tuple[float, ...]


def _grown(rows: MemoryRows, folds: list[Fold], growth: Growth) -> Rounds:
    """Rounds of E- and M-steps, until held-out labels do not gain."""
    losses = _losses(rows, folds)
    trace, best, kept = [_mean(rows, losses)], 0, _kept(folds)
    for n_iter in range(1, growth.max_rounds + 1):
        for fold in folds:
            fold.grow(rows)
        now = _losses(rows, folds)
        trace.append(_mean(rows, now))
        if not growth.patience or trace[-1] < trace[best] - NO_GAIN:
            best, losses, kept = n_iter, now, _kept(folds)
        elif n_iter - best >= growth.patience:
            break
    return Rounds(best, kept, losses, tuple(trace))


def _starts(problem: Problem, line: PUFit, growth: Growth) -> Iterator[tuple[str, Floats]]:
    """Where trees begin.

    A line that has gone astray, as one does where the class is none, would hold them back: the
    constant is then the better start, and held-out labels say so.
    """
    for start in growth.starts:
        yield start, problem.theta(line.model) if start == "line" else _constant(problem)


def _split(rows: MemoryRows, growth: Growth) -> list[tuple[Ints, Ints]]:
    every = np.arange(len(rows.s))
    if growth.n_folds == 1:
        return [(every, every)]
    folds = StratifiedKFold(growth.n_folds, shuffle=True, random_state=growth.random_state)
    return list(folds.split(every, rows.s))


def _fold(
    problem: Problem,
    trees: list[tuple[Bins, Floats] | None],
    part: tuple[Ints, Ints],
    theta: Floats,
    growth: Growth,
) -> Fold:
    """The halves of the rows outside a fold, before the first round."""
    (train, inside), rows = part, problem.rows
    assert isinstance(rows, MemoryRows)
    parts = [train]
    if growth.cross_fit:
        halves = StratifiedKFold(2, shuffle=True, random_state=growth.random_state)
        parts = [train[half] for half, _ in halves.split(train, rows.s[train])]
    return Fold(inside, [_half(problem, trees, half, theta, growth) for half in parts])


def _half(
    problem: Problem,
    trees: list[tuple[Bins, Floats] | None],
    train: Ints,
    theta: Floats,
    growth: Growth,
) -> Half:
    rows = problem.rows
    assert isinstance(rows, MemoryRows)
    some = MemoryRows(rows.X[train], rows.s[train], rows.known[train], rows.weight[train])
    problem = replace(problem, rows=some)
    constant = not np.delete(theta, problem.outcome.size - 1).any()
    if not constant and len(train) < len(rows.s):
        theta = trust_region(problem.likelihood, theta, tol=LOOSE, max_iter=50).theta
    models = (problem.outcome_model(), problem.propensity_model())
    sides: list[Trees | Line] = []
    for model, short, grown in zip(models, problem.likelihood.split(theta), trees, strict=True):
        model.theta = short
        if grown is None:
            sides.append(Line(rows, model, train))
            continue
        bins, cut = grown
        line, new = predictor(rows.X, model.coef), _booster(growth, bins.categorical)
        sides.append(Trees(cut, bins, model.coef, line, train, new, growth.n_trees))
    return Half(train, *sides)


def _booster(growth: Growth, categorical: Any) -> Any:
    booster = HistGradientBoostingRegressor(
        learning_rate=growth.learning_rate,
        max_leaf_nodes=growth.max_leaf_nodes,
        min_samples_leaf=growth.min_samples_leaf,
        l2_regularization=growth.l2,
        categorical_features=categorical if categorical.any() else None,
        early_stopping=False,
        warm_start=True,
        random_state=growth.random_state,
    )
    booster.max_iter = 0  # of which every round asks for some more
    return booster


def _constant(problem: Problem) -> Floats:
    """A class and a labelling that depend on nothing: half of the positives have labels."""
    rows = problem.rows
    mean_s = weighted_mean(rows, rows.s)
    beta, gamma = np.zeros(problem.outcome.size), np.zeros(problem.propensity.size)
    beta[-1] = logit(min(2 * mean_s, 0.9))
    return np.concatenate([beta, gamma])


def _losses(rows: MemoryRows, folds: list[Fold]) -> Floats:
    """Negative log-likelihood of label and audited class of each row, by models without it."""
    a, b = np.empty(len(rows.s)), np.empty(len(rows.s))
    for fold in folds:
        a[fold.inside], b[fold.inside] = fold.judged()
    return double_logistic(rows.s, rows.known, a, b).value


def _mean(rows: MemoryRows, losses: Floats) -> float:
    return float(rows.weight @ losses / rows.weight.sum())


def _kept(folds: list[Fold]) -> list[tuple[Kept, Kept]]:
    return [half.kept() for fold in folds for half in fold.halves]


def _side(halves: list[Kept]) -> Side:
    """The mean over halves, of lines and of trees."""
    coef = np.mean([line for line, _ in halves], axis=0)
    forests = tuple(trees for _, trees in halves if trees is not None)
    return BentSide(coef, forests) if forests else LinearSide(coef)
