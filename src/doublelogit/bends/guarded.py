"""Guards of a flexible class: what bends the two models where held-out labels ask for it.

Algorithm::

    beta, gamma <- JOINT                                       the line that is bent,
                   or a constant class: what held-out labels prefer
    the rows outside each fold k are cut into two halves h, with models of their own:
        beta_h, gamma_h <- maximum of Q_n on the half, from (beta, gamma)
    repeat until the likelihood of held-out labels has not grown for some rounds
        E   t_i     <- P(Y=1 | x_i, s_i) by the models of the other half of the same fold
        M   a_h(x)  <- a_h(x) bent a little further towards t, on the half
            gamma_h <- logistic regression of s_i with weights t_i on the half
        a fold is judged by the mean of its two halves, which have not seen it
    back to the round of the largest held-out likelihood
    a(x), b(x) <- means over all halves, or the line if held-out labels are as likely by it

A flexible class that is fitted to all rows memorises which of them are labelled: y(x) then becomes
s(x), e(x) one. Here no row has a say in its own t, a model is bent further and never fitted anew,
and what does not help to foretell labels of others is not kept, so that in doubt the answer is the
line's. One level of folds would not do: the t of other rows carry the labels of a fold into its own
model, and its likelihood then grows without end.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import itemgetter
from typing import Any, Protocol

import numpy as np
from scipy.special import logit

from doublelogit._types import Floats, Ints
from doublelogit.core.design import predictor
from doublelogit.core.folds import Keys, Split, held_out_splits
from doublelogit.core.held_out import simplest
from doublelogit.core.likelihood import double_logistic, positive_given_label
from doublelogit.core.rows import each_column, labelled_share
from doublelogit.core.solvers import trust_region
from doublelogit.engines.memory import MemoryRows
from doublelogit.fitted import BentSide, Forest, LinearPair, LinearSide, Side
from doublelogit.fitted.fit import PUFit
from doublelogit.methods.joint import joint
from doublelogit.methods.logistic import LogisticModel, logistic_models
from doublelogit.methods.problem import Problem

Kept = tuple[Floats, Forest | None]

NO_GAIN = 1e-4  # log-likelihood per row that is no gain
LOOSE = 1e-4  # gradient of fits that start from the optimum of nearly the same rows


@dataclass(frozen=True)
class Guards:
    """How a model is kept from memorising labels.

    ``keys`` of the rows say which are held out together; ``n_folds`` 1 judges models by the rows
    they were fitted to; ``cross_fit`` False takes t from the model that is fitted to it;
    ``patience`` 0 makes all rounds.
    """

    keys: Keys
    n_folds: int = 3
    cross_fit: bool = True
    max_rounds: int = 30
    patience: int = 3
    starts: tuple[str, ...] = ("line", "constant")
    random_state: int = 0


class Bent(Protocol):
    """A model of a half of the rows that is fitted a little further in every round."""

    def predictor(self) -> Floats:
        """Logit of every row."""

    def grow(self, target: Floats, weight: Floats) -> None:
        """Go further towards soft targets of the rows of the half."""

    def moment(self) -> Any:
        """What tells the model of now from later ones."""

    def kept(self, moment: Any) -> Kept:
        """Coefficients of the line, and what was added to it, as they were at a moment."""


# From the rows of a half, the coefficients of its line and the line's predictor of every row.
Maker = Callable[[Ints, Floats, Floats], Bent]


@dataclass
class StraightHalf:
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

    def moment(self) -> Floats:
        """Coefficients."""
        return self.model.coef

    def kept(self, moment: Floats) -> Kept:
        """Coefficients, to which nothing was added."""
        return moment, None


@dataclass
class Half:
    """Both models of half of the rows outside a fold."""

    train: Ints
    outcome: Bent
    propensity: Bent

    def expected(self, rows: MemoryRows, at: Ints) -> Floats:
        """P(Y=1 | x, s) of some rows."""
        a, b = self.outcome.predictor()[at], self.propensity.predictor()[at]
        return positive_given_label(rows.labels.known[at], a, b)

    def moment(self) -> tuple[Any, Any]:
        """What tells both models of now from later ones."""
        return self.outcome.moment(), self.propensity.moment()

    def kept(self, moment: tuple[Any, Any]) -> tuple[Kept, Kept]:
        """Both models as they were at a moment."""
        return self.outcome.kept(moment[0]), self.propensity.kept(moment[1])


class Judge(Protocol):
    """The rows in a fold, and models that have not seen them."""

    @property
    def inside(self) -> Ints:
        """The rows in the fold."""

    @property
    def halves(self) -> Sequence[Any]:
        """Models of the rows outside it, with ``moment`` and ``kept`` as those of Bent."""

    def grow(self, rows: MemoryRows) -> None:
        """Bend the models a little further."""

    def losses(self, rows: MemoryRows) -> Floats:
        """Negative log-likelihood of label and audited class of each row in the fold."""


@dataclass
class Fold:
    """The rows in a fold, and the halves of those outside it."""

    inside: Ints
    halves: list[Half]

    def grow(self, rows: MemoryRows) -> None:
        """An E-step of each half by the other one, then both M-steps."""
        t = np.zeros(len(rows))
        for half, other in zip(self.halves, reversed(self.halves), strict=True):
            t[half.train] = other.expected(rows, half.train)
        for half in self.halves:
            half.outcome.grow(t, rows.weight)
            half.propensity.grow(rows.labels.any, rows.weight * t)

    def losses(self, rows: MemoryRows) -> Floats:
        """Negative log-likelihood of the rows in the fold, by the means of the halves."""
        models, at = [(half.outcome, half.propensity) for half in self.halves], self.inside
        predictors = [[side.predictor()[at] for side in pair] for pair in models]
        a, b = np.mean(predictors, axis=0)
        return double_logistic(each_column(itemgetter(at), rows.labels), a, b).value


@dataclass(frozen=True)
class Guarded:
    """What was found: the fit, and the log-likelihood of each row by models without it.

    ``straight`` has that of the starts, before anything was bent.
    """

    fit: PUFit
    held_out: Floats
    straight: Mapping[str, Floats] = field(default_factory=dict)


def guarded(problem: Problem, bent: tuple[Maker | None, Maker | None], guards: Guards) -> Guarded:
    """Bend the outcome, the propensity or both; rows in memory."""
    rows = problem.rows
    assert isinstance(rows, MemoryRows)
    line = joint(problem)
    splits = split_rows(rows, guards)
    rounds = {
        start: grown(rows, [_fold(problem, bent, split, theta, guards) for split in splits], guards)
        for start, theta in _starts(problem, line, guards)
    }
    best = simplest({start: -grown.losses for start, grown in rounds.items()}, rows.weight)
    chosen, straight = rounds[best], _straight(problem, line, splits, guards)
    if _mean(rows, straight) <= min(chosen.trace):
        return Guarded(replace(line, trace=chosen.trace), -straight)
    outcome, propensity = (_side([half[i] for half in chosen.kept]) for i in (0, 1))
    n_iter = len(chosen.trace) - 1
    fit = PUFit(LinearPair(outcome, propensity), n_iter, True, chosen.trace, line.orientation)
    return Guarded(fit, -chosen.losses)


def _straight(
    problem: Problem, line: PUFit, splits: list[tuple[Ints, Ints]], guards: Guards
) -> Floats:
    """Losses of the line that all rows outside a fold tell, where halves of them tell less."""
    whole, rows = replace(guards, cross_fit=False), problem.rows
    theta = problem.theta(line.model)
    assert isinstance(rows, MemoryRows)
    return all_losses(rows, [_fold(problem, (None, None), split, theta, whole) for split in splits])


@dataclass(frozen=True)
class Rounds:
    """What rounds from one start have led to: the best of them, its models and losses."""

    best: int
    kept: list[Any]
    losses: Floats
    trace: tuple[float, ...]


def grown(rows: MemoryRows, folds: Sequence[Judge], guards: Guards) -> Rounds:
    """Rounds of E- and M-steps, until held-out labels do not gain."""
    losses = all_losses(rows, folds)
    halves = [half for fold in folds for half in fold.halves]
    trace, best, moments = [_mean(rows, losses)], 0, [half.moment() for half in halves]
    for n_iter in range(1, guards.max_rounds + 1):
        for fold in folds:
            fold.grow(rows)
        now = all_losses(rows, folds)
        trace.append(_mean(rows, now))
        if not guards.patience or trace[-1] < trace[best] - NO_GAIN:
            best, losses, moments = n_iter, now, [half.moment() for half in halves]
        elif n_iter - best >= guards.patience:
            break
    kept = [half.kept(moment) for half, moment in zip(halves, moments, strict=True)]
    return Rounds(best, kept, losses, tuple(trace))


def _starts(problem: Problem, line: PUFit, guards: Guards) -> Iterator[tuple[str, Floats]]:
    """Where bending begins.

    A line that has gone astray, as one does where the class is none, would hold it back: the
    constant is then the better start, and held-out labels say so.
    """
    for start in guards.starts:
        yield start, problem.theta(line.model) if start == "line" else _constant(problem)


def split_rows(rows: MemoryRows, guards: Guards) -> list[Split]:
    """Rows outside and in each fold."""
    every = np.arange(len(rows))
    if guards.n_folds == 1:
        return [(every, every)]
    return held_out_splits(guards.keys, rows.labels.any, guards.n_folds, rows.weight)


def _fold(
    problem: Problem,
    bent: tuple[Maker | None, Maker | None],
    split: tuple[Ints, Ints],
    theta: Floats,
    guards: Guards,
) -> Fold:
    """The halves of the rows outside a fold, before the first round."""
    (train, inside), rows = split, problem.rows
    assert isinstance(rows, MemoryRows)
    pieces = [train]
    if guards.cross_fit:
        columns = (guards.keys[train], rows.labels.any[train], 2, rows.weight[train])
        pieces = [train[half] for half, _ in held_out_splits(*columns, level=1)]
    return Fold(inside, [_half(problem, bent, half, theta) for half in pieces])


def _half(
    problem: Problem,
    bent: tuple[Maker | None, Maker | None],
    train: Ints,
    theta: Floats,
) -> Half:
    rows = problem.rows
    assert isinstance(rows, MemoryRows)
    some = rows.some(train)
    problem = replace(problem, rows=some)
    constant = not np.delete(theta, problem.outcome.size - 1).any()
    if not constant and len(train) < len(rows):
        theta = trust_region(problem.likelihood, theta, tol=LOOSE, max_iter=50).theta
    models, sides = logistic_models(problem), list[Bent]()
    for model, short, make in zip(models, problem.likelihood.split(theta), bent, strict=True):
        model.theta = short
        if make is None:
            sides.append(StraightHalf(rows, model, train))
        else:
            sides.append(make(train, model.coef, predictor(rows.X, model.coef)))
    return Half(train, *sides)


def _constant(problem: Problem) -> Floats:
    """A class and a labelling that depend on nothing: half of the positives have labels."""
    rows = problem.rows
    mean_s = labelled_share(rows)
    beta, gamma = np.zeros(problem.outcome.size), np.zeros(problem.propensity.size)
    beta[-1] = logit(min(2 * mean_s, 0.9))
    return np.concatenate([beta, gamma])


def all_losses(rows: MemoryRows, folds: Sequence[Judge]) -> Floats:
    """Negative log-likelihood of label and audited class of each row, by models without it."""
    losses = np.empty(len(rows))
    for fold in folds:
        losses[fold.inside] = fold.losses(rows)
    return losses


def _mean(rows: MemoryRows, losses: Floats) -> float:
    return float(rows.weight @ losses / rows.weight.sum())


def _side(halves: list[Kept]) -> Side:
    """The mean over halves, of lines and of what was added to them."""
    coef = np.mean([line for line, _ in halves], axis=0)
    added = tuple(addition for _, addition in halves if addition is not None)
    return BentSide(coef, added) if added else LinearSide(coef)
