"""What bends the class of AVERAGED: trees give the shape, the posterior all the rest.

Algorithm::

    posterior <- AVERAGED of all rows, and of the rows outside each fold, by straight lines; by
                 curves if held-out labels are likelier by more than a standard error
    repeat until the likelihood of held-out labels has not grown for some rounds
        r_ik <- share of component k in what was observed of row i, the bend f included
        t_ik <- P(Y=1 | x_i, s_i) by component k
        f    <- f bent a little further along sum_k r_ik (t_ik - y_ik), outside the fold
    back to the round of the largest held-out likelihood
    posterior <- AVERAGED of all rows with one more smooth term of the class: f of a row by the
                 fold that has not seen it; in predictions, the mean of f over the folds

Labels show the product of class and labelling, so that a flexible class that is fitted by maximum
likelihood may take the place of the labelling, or any level. Here components keep their labelling
e_k(x) and their weights while the class is bent: f is a shape and nothing else. Level, labelling
and how much of the bend is believed are then found by AVERAGED, as if f were a column of the table,
and in doubt the answer is that without it. Nor can y(x) become s(x), because e(x) cannot become
one: halves of the folds, as in ``guarded.py``, are not needed.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import expit, logit, softmax

from doublelogit._types import Floats, Ints
from doublelogit.averaged import averaged
from doublelogit.averaged.level import SHARE_GUARD
from doublelogit.averaged.mixture import levelled
from doublelogit.averaged.settings import Settings
from doublelogit.bends.guarded import (
    Bent,
    Guarded,
    Guards,
    Kept,
    Maker,
    Rounds,
    all_losses,
    grown,
    split_rows,
)
from doublelogit.common.thresholds import LARGE_SAMPLE
from doublelogit.core.design import Terms
from doublelogit.core.folds import Split
from doublelogit.core.held_out import simplest
from doublelogit.core.likelihood import double_logistic_slopes
from doublelogit.core.rows import each_column
from doublelogit.engines.memory import MemoryRows
from doublelogit.fitted import BentPosteriorSide, PosteriorMixture, PosteriorSide
from doublelogit.fitted.fit import PUFit
from doublelogit.methods.problem import Problem

LINES, CURVES = "lines", "curves"
PARTS = 12  # components that stand for all while a class is bent; more make no difference
NO_COEF = np.zeros(0)  # lines of a posterior have coefficients in every component


@dataclass(frozen=True)
class BentComponents:
    """Some components of a posterior at every row: weights, and logits of y and e."""

    weight: Floats
    a: Floats  # (rows, components)
    b: Floats

    @classmethod
    def of(cls, model: PosteriorMixture, X: Floats) -> "BentComponents":
        """A systematic sample of the components in the order of their prevalences."""
        order = np.argsort(model.outcome_model.share, kind="stable")
        total = np.cumsum(model.weight[order])
        points = (np.arange(PARTS) + 0.5) / PARTS * total[-1]
        places, times = np.unique(np.searchsorted(total, points), return_counts=True)
        sample = order[places]
        sides = (model.outcome_model, model.propensity_model)
        a, b = (side.predictor(X)[:, sample] for side in sides)
        return cls(times / PARTS, a, b)

    def observed(self, rows: MemoryRows, at: Ints, bend: Floats) -> tuple[Floats, Floats]:
        """Loss of what was observed of some rows, and the way in which a bend makes it smaller."""
        n = len(self.weight)
        a, b = (self.a[at] + bend[:, None]).ravel(), self.b[at].ravel()
        labels = each_column(lambda column: np.repeat(column[at], n), rows.labels)
        loss_slopes = double_logistic_slopes(labels, a, b)
        log_p = np.log(self.weight) - loss_slopes.value.reshape(-1, n)
        top = log_p.max(axis=1)
        loss = -top - np.log(np.exp(log_p - top[:, None]).sum(axis=1))
        along = -(softmax(log_p, axis=1) * loss_slopes.d_a.reshape(-1, n)).sum(axis=1)
        return loss, along


@dataclass
class Unbent:
    """A line that nothing bends."""

    line: Floats

    def predictor(self) -> Floats:
        """Logit of every row."""
        return self.line

    def grow(self, target: Floats, weight: Floats) -> None:
        """Stay as it is."""

    def moment(self) -> None:
        """All moments are one."""

    def kept(self, moment: None) -> Kept:
        """Nothing was added."""
        return NO_COEF, None


@dataclass
class PosteriorFold:
    """The rows in a fold, the posterior of those outside it, and what bends its class."""

    inside: Ints
    train: Ints
    components: BentComponents
    outcome: Bent
    line: Floats

    @property
    def halves(self) -> tuple["PosteriorFold"]:
        """Itself: there is one model of the rows outside a fold."""
        return (self,)

    @property
    def bend(self) -> Floats:
        """What was added to the line of every row."""
        return self.outcome.predictor() - self.line

    def grow(self, rows: MemoryRows) -> None:
        """A step of EM over class and component; targets are relative to the line that is bent."""
        train = self.train
        along = self.components.observed(rows, train, self.bend[train])[1]
        target = np.zeros(len(rows))
        target[train] = np.clip(expit(self.outcome.predictor()[train]) + along, 0, 1)
        self.outcome.grow(target, rows.weight)

    def losses(self, rows: MemoryRows) -> Floats:
        """Negative log-likelihood of the rows in the fold."""
        return self.components.observed(rows, self.inside, self.bend[self.inside])[0]

    def moment(self) -> Any:
        """What tells the bend of now from later ones."""
        return self.outcome.moment()

    def kept(self, moment: Any) -> Kept:
        """The bend as it was at a moment."""
        return self.outcome.kept(moment)


def bent_posterior(
    problem: Problem, make: Maker | None, guards: Guards, settings: Settings
) -> Guarded:
    """Bend the class of AVERAGED, unless there is nothing to bend it by; rows in memory."""
    rows = problem.rows
    assert isinstance(rows, MemoryRows)
    splits = split_rows(rows, guards)
    problems = dict(_starts(problem))
    starts = {name: _start(one, make, splits, settings) for name, one in problems.items()}
    straight = {name: -all_losses(rows, folds) for name, (_, folds) in starts.items()}
    best = simplest(straight, rows.weight)
    fit, folds = starts[best]
    rounds = grown(rows, folds, guards)
    if rounds.best and make:
        fit = _with_bend(problems[best], rounds, splits, settings)
    fit = replace(fit, n_iter=len(rounds.trace) - 1, trace=rounds.trace)
    return Guarded(fit, -rounds.losses, straight)


def _starts(problem: Problem) -> Iterator[tuple[str, Problem]]:
    """The problem without smooth terms, and with them if there are any.

    In a large sample trees find smooth bends as well, and curves would cost more than all else:
    a Hessian grows with the square of the terms.
    """
    rows, lines = problem.rows, problem
    assert isinstance(rows, MemoryRows)
    if problem.smooth is not None and len(problem.smooth):
        lines = replace(problem, outcome=problem.outcome.without(problem.smooth))
    yield LINES, lines
    if not lines.outcome.same(problem.outcome) and len(rows) <= LARGE_SAMPLE:
        yield CURVES, problem


def _start(
    problem: Problem, make: Maker | None, splits: list[Split], settings: Settings
) -> tuple[PUFit, list[PosteriorFold]]:
    """AVERAGED of all rows and of those outside each fold, before its class is bent."""
    rows, whole = problem.rows, averaged(problem, settings)
    assert isinstance(rows, MemoryRows)
    folds = []
    for train, inside in splits:
        model = _outside(problem, train, whole, settings)
        components, line = BentComponents.of(model, rows.X), model.outcome_logit(rows.X)
        bent = Unbent(line) if make is None else make(train, NO_COEF, line)
        folds.append(PosteriorFold(inside, train, components, bent, line))
    return whole, folds


def _outside(problem: Problem, train: Ints, whole: PUFit, settings: Settings) -> PosteriorMixture:
    """The posterior of the rows outside a fold.

    In a large sample lines and levels hardly depend on a third of the rows, and that of all rows
    serves: what is bent has not seen a fold even so.
    """
    rows, fit = problem.rows, whole
    assert isinstance(rows, MemoryRows)
    if len(train) < len(rows) <= LARGE_SAMPLE:
        fit = averaged(replace(problem, rows=rows.some(train)), settings)
    assert isinstance(fit.model, PosteriorMixture)
    return fit.model


def _with_bend(problem: Problem, rounds: Rounds, splits: list[Split], settings: Settings) -> PUFit:
    """AVERAGED again, with the bend as one more smooth term of the class.

    In fit the bend of a row is that by models which have not seen it, so that its slope is no
    larger than new rows ask for.
    """
    rows = problem.rows
    assert isinstance(rows, MemoryRows)
    additions = tuple(added for _, added in rounds.kept)
    raw = rows.X if problem.shift is None else rows.X + problem.shift
    bend = np.empty(len(rows))
    for (_, inside), addition in zip(splits, additions, strict=True):
        bend[inside] = addition.predict(raw[inside])
    wider = _wider(problem, bend)
    fit = averaged(wider, settings)
    model = fit.model
    assert isinstance(model, PosteriorMixture)

    def bent(side: PosteriorSide) -> BentPosteriorSide:
        return BentPosteriorSide(**vars(side), additions=additions, origin=problem.shift)

    def outcome(side: PosteriorSide) -> BentPosteriorSide:
        moved = _logit_shares(problem, bent(side)) - _logit_shares(wider, side)
        return _moved(bent(side), moved)

    # labelling has no slope in the last column
    labelling = model.propensity_model.changed(lambda side: bent(side).lines)
    outcomes = levelled(problem, model.weight, model.outcome_model.changed(outcome))
    return replace(fit, model=replace(model, outcome_model=outcomes, propensity_model=labelling))


def _wider(problem: Problem, bend: Floats) -> Problem:
    """The problem with one more column, a smooth term of the class alone."""
    rows, n = problem.rows, problem.rows.n_features
    assert isinstance(rows, MemoryRows)
    models = (problem.outcome, problem.propensity)
    mine = [np.arange(n) if terms.columns is None else terms.columns for terms in models]
    smooth = np.empty(0, np.intp) if problem.smooth is None else problem.smooth
    return replace(
        problem,
        rows=replace(rows, X=np.column_stack([rows.X, bend])),
        outcome=Terms(n + 1, np.append(mine[0], n)),
        propensity=Terms(n + 1, mine[1]),
        smooth=np.append(smooth, n),
    )


def _logit_shares(problem: Problem, side: PosteriorSide) -> Floats:
    """Logit of the mean of y(x) over the rows, by component."""
    rows = problem.rows
    assert isinstance(rows, MemoryRows)
    share = rows.weight @ expit(side.predictor(rows.X)) / rows.weight.sum()
    return np.asarray(logit(np.clip(share, SHARE_GUARD, 1 - SHARE_GUARD)))


def _moved(side: BentPosteriorSide, by: Floats) -> BentPosteriorSide:
    """The side with shares moved on the logit scale, so that what is known of them stays known."""
    before = np.clip(side.share, SHARE_GUARD, 1 - SHARE_GUARD)
    share = expit(logit(before) + by)
    spread = side.share_sd * share * (1 - share) / (before * (1 - before))
    return replace(side, share=share, share_sd=spread)
