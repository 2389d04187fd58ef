"""``plan``: which rows to look at, with what chance each, and what to expect of it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import repeat
from typing import Any

import numpy as np

from doublelogit._types import Floats, Ints
from doublelogit.audit.blocks import Blocks, Request, blocks_of, first_rows, fitted_table
from doublelogit.audit.clusters import draft_clusters
from doublelogit.audit.draw import row_keys
from doublelogit.audit.estimate import AuditEstimate, estimate
from doublelogit.audit.expectation import (
    Earlier,
    Expected,
    ExpectedOfList,
    budget_for,
    expect,
    expect_list,
)
from doublelogit.audit.sheet import Audit, as_audit
from doublelogit.audit.strata import UNIFORM, UNIFORM_LATER, Strata, Sums, make_strata
from doublelogit.audit.tally import Chosen, Question, add_up, choose, listed_rows, tally
from doublelogit.registry import AUDIT_GOALS

FIRST_GUESS = 100.0  # rows for which strata are made before a width is turned into a budget
FEWEST_MORE = 15  # rows of a later round: smaller ones tell too little of their own variance
CURVE_BUDGETS = (20, 30, 40, 60, 80, 100, 150, 200, 300, 500, 800, 1200, 2000)


@dataclass(frozen=True)
class Plan:
    """Rows to look at, each with its chance, and what they are expected to tell.

    Parameters
    ----------
    audit : Audit
        The rows drawn, in random order, their classes empty.
    strata : Strata
        What they were drawn from.
    population : float
        Number of all rows.
    goals : tuple of str
        What the plan is for.
    rows : ndarray of int
        Numbers of the rows drawn, counted from 0, in the order of the audit.
    h : ndarray of float
        P(Y=1 | x, S=0) of each, by the model.
    before : AuditEstimate or None
        What earlier rounds say; None in the first.
    """

    audit: Audit
    strata: Strata
    population: float
    goals: tuple[str, ...]
    rows: Ints
    h: Floats
    before: AuditEstimate | None = None

    @property
    def reached(self) -> bool:
        """Whether earlier rounds have reached the width asked for, so that nothing was drawn."""
        return len(self.audit) == 0

    @cached_property
    def expected(self) -> Expected:
        """Width of the interval of the prevalence that all rounds are expected to lead to."""
        return self._expect(self.spent)

    def _expect(self, budget: float) -> Expected:
        return expect(self.strata, budget, self.population, _earlier(self.before, self.strata))

    @property
    def expected_of_list(self) -> ExpectedOfList | None:
        """What the rows drawn from the list will tell of its precision, if that is a goal."""
        return expect_list(self.strata, self.spent)

    @property
    def spent(self) -> float:
        """What the rows drawn cost on average; their number, if no costs were given."""
        number = self.audit.frame["stratum"].astype(int) - 1
        return float(self.strata.cost[number].sum())

    def curve(self, budgets: Sequence[float] = CURVE_BUDGETS) -> list[Expected]:
        """Expected width against budget, as far as there are rows."""
        most = float(self.strata.rows @ self.strata.cost)
        sizes = sorted({*(b for b in budgets if b < most), self.spent})
        return [self._expect(budget) for budget in sizes]

    def budget_for(self, width: float, truth: str = "holds") -> float:
        """Budget with which the interval of the prevalence is expected to be at most so wide."""
        earlier = _earlier(self.before, self.strata)
        return budget_for(self.strata, width, self.population, truth, earlier)

    def sheet(self, *, show_scores: bool = False) -> Any:
        """The reviewer's sheet: id and empty class in random order; scores only if asked for."""
        return self.audit.sheet(self.h if show_scores else None)


def plan(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    budget: float | None = None,
    width: float | None = None,
    goal: str | Sequence[str] = "prevalence",
    by: Any = None,
    cost: Any = None,
    clusters: Any = None,
    audit: Any = None,
    top: int = 100,
    random_state: int = 0,
) -> Plan:
    """Draw unlabelled rows to be looked at, with known chances that are never zero.

    Parameters
    ----------
    model : TableClassifier or classifier
        Fitted.
    X : path, DataFrame, scan or Table; or features, also as a Dask array
        The rows of fit.
    y : array-like, default=None
        Labels, where X are features.
    budget : float, default=None
        Rows to draw; what they may cost together, if ``cost`` is given.
    width : float, default=None
        Of the 95% interval of the prevalence; the budget that is expected to reach it, if the
        model holds, is taken. One of ``budget`` and ``width`` is needed.
    goal : {"prevalence", "orientation", "list", "all"} or several, default="prevalence"
        What the rows are to tell: the share of positives, which model is the class, or the
        precision of the list of the ``top`` likeliest rows.
    by : str or array-like, default=None
        Groups whose prevalence is wanted: each has strata of its own.
    cost : str or array-like, default=None
        What it costs to look at each row.
    clusters : str or array-like, default=None
        Rows that are looked at together: whole clusters are drawn.
    audit : Audit or path, default=None
        Rows looked at before; none of them is drawn again.
    top : int, default=100
        Length of the list of the goal "list".
    random_state : int, default=0
        The same seed draws the same rows, whatever engine holds them.

    Returns
    -------
    plan : Plan
    """
    goals, earlier = _goals(goal), None if audit is None else as_audit(audit)
    _check_numbers(budget, width, clusters)
    _check_swap(model, goals)
    before = None if earlier is None else estimate(model, X, earlier, y)
    request = Request(
        by,
        cost,
        clusters,
        swapped="orientation" in goals,
        line=None if before is None else before.calibration,
    )
    question = Question(goals, set() if earlier is None else earlier.looked_at, top)
    number = 1 if earlier is None else earlier.last_round + 1
    task = _Task(question, budget, width, before, number, random_state + number - 1)
    blocks = blocks_of(model, X, y, request)
    draft = _of_rows(blocks, task) if clusters is None else _of_clusters(blocks, task)
    return replace(draft, before=before)


def _earlier(before: AuditEstimate | None, strata: Strata) -> Earlier | None:
    """What earlier rounds found, where they were drawn."""
    if before is None or before.total is None:
        return None
    return Earlier.from_total(before.total, float(strata.rows.sum()) + before.agreement.rows)


@dataclass(frozen=True)
class _Task:
    """A budget, or the width that all rounds are to reach, given what earlier ones say."""

    question: Question
    budget: float | None
    width: float | None
    before: AuditEstimate | None
    number: int  # of the round
    seed: int

    @property
    def reached(self) -> bool:
        """Whether nothing is left to do."""
        if self.width is None or self.before is None or self.before.prevalence is None:
            return False
        return self.before.prevalence.high - self.before.prevalence.low <= self.width

    def strata(self, sums: Sums, population: float, listed: Any) -> tuple[Strata, float]:
        """Strata for the budget, and the budget."""
        how = (UNIFORM if self.before is None else UNIFORM_LATER, listed)
        if self.budget is not None:
            return make_strata(sums, self.budget, *how), self.budget
        assert self.width is not None
        guess = make_strata(sums, FIRST_GUESS, *how)
        if self.reached:
            return guess, 0.0
        arguments = (self.width, population, "holds", _earlier(self.before, guess))
        strata = make_strata(sums, budget_for(guess, *arguments), *how)
        least = 0.0 if self.before is None else FEWEST_MORE * float(strata.cost.min())
        return strata, max(budget_for(strata, *arguments), least)


def _of_rows(blocks: Blocks, task: _Task) -> Plan:
    question = task.question
    tallies = blocks.map(
        partial(tally, question), first_rows(blocks) if question.done else repeat(0)
    )
    lengths = [each.rows for each in tallies]
    listed = listed_rows(question, tallies) if "list" in question.goals else None
    sums, keys = add_up(question, tallies, listed)
    if not keys:
        raise ValueError("an audit needs unlabelled rows that nobody has looked at; there is none.")
    on_list = None if listed is None else np.array([key[1] for key in keys])
    strata, budget = task.strata(sums, float(sum(lengths)), on_list)
    drawn = strata.allocation(budget) * (not task.reached)
    numbers = {key: i for i, key in enumerate(keys)}
    choice = partial(choose, question, strata, numbers, drawn, task.seed)
    starts = (np.cumsum(lengths) - lengths).tolist()
    nothing = [np.zeros(0, dtype=np.intp)] * len(lengths)
    choices = blocks.map(choice, starts, listed or nothing)
    chosen = Chosen.joined(choices).smallest(drawn)
    frame = _frame(chosen, strata.rows, drawn / strata.rows, task.number)
    if strata.listed is not None:
        frame.insert(len(frame.columns) - 1, "list", strata.listed[chosen.stratum].astype(int))
    return _shuffled(frame, chosen, strata, float(sum(lengths)), task)


def _of_clusters(blocks: Blocks, task: _Task) -> Plan:
    assert task.budget is not None
    chosen, strata, cluster, of, drawn, population = draft_clusters(
        blocks, task.question, task.budget, task.seed
    )
    frame = _frame(chosen, of, drawn / of, task.number)
    frame.insert(len(frame.columns) - 1, "cluster", cluster)
    return _shuffled(frame, chosen, strata, population, task)


def _frame(chosen: Chosen, of: Floats, chance: Floats, number: int) -> Any:
    import pandas as pd

    return pd.DataFrame(
        {
            "id": chosen.id,
            "round": number,
            "stratum": [str(k + 1) for k in chosen.stratum],
            "of": of[chosen.stratum].astype(int),
            "chance": chance[chosen.stratum],
            "class": "",
        }
    )


def _shuffled(frame: Any, chosen: Chosen, strata: Strata, population: float, task: _Task) -> Plan:
    """The plan in random order, so that whoever stops early has still drawn at random."""
    order = np.argsort(row_keys(chosen.row, task.seed + 2**32), kind="stable")
    if "cluster" in frame.columns:  # of which one is looked at after the other
        first = frame["cluster"].iloc[order].drop_duplicates().tolist()
        order = order[np.argsort(frame["cluster"].iloc[order].map(first.index), kind="stable")]
    audit = Audit(frame.iloc[order].reset_index(drop=True))
    return Plan(audit, strata, population, task.question.goals, chosen.row[order], chosen.h[order])


def _goals(goal: str | Sequence[str]) -> tuple[str, ...]:
    goals = (goal,) if isinstance(goal, str) else tuple(goal)
    goals = AUDIT_GOALS if goals == ("all",) else goals
    for name in goals:
        if name not in AUDIT_GOALS:
            raise ValueError(
                f"`goal` must be one of {', '.join(AUDIT_GOALS)} or all; got {name!r}."
            )
    return goals


def _check_numbers(budget: float | None, width: float | None, clusters: Any) -> None:
    if (budget is None) == (width is None):
        raise ValueError(f"one of `budget` and `width` is needed; got {budget} and {width}.")
    if clusters is not None and budget is None:
        raise ValueError("a plan of clusters needs a `budget`, in rows; got a width.")
    if budget is not None and not budget > 0:
        raise ValueError(f"`budget` must be above 0; got {budget}.")
    if width is not None and not 0 < width < 1:
        raise ValueError(f"`width` must be between 0 and 1, for example 0.05; got {width}.")


def _check_swap(model: Any, goals: tuple[str, ...]) -> None:
    if "orientation" in goals:
        fitted = fitted_table(model)
        (model if fitted is None else fitted.classifier).swapped()
