"""JERM: a likelihood step for the class, a stratum for the labelling (Rejchel et al., 2024).

Algorithm::

    s(x) <- NAIVE;  beta <- its coefficients;  e(x) <- (s(x) + 1) / 2
    spies <- for every labelled row the nearest unlabelled one, by Euclidean distance
    repeat
        beta  <- maximiser of Q_n(beta, e) with e held, from the last beta
        h(x)  <- P(Y=1 | x, S=0) = y(1-e) / (1-ye)
        t     <- the smallest h over the spies (or another quantile)
        P     <- labelled rows, and unlabelled rows with h > t; if those are fewer than 10, the
                 10 with the largest y instead
        gamma <- logistic regression of S on P;  e(x) <- sigma(x'gamma)

``converged``: the maximiser is that of the penalised likelihood, by a trust region. Where P is that
of the last round nothing moves any more. Where it is that of an earlier round, rounds go in a
circle: the answer is then its round with the best penalised likelihood of the labels.

``released``: the steps of the authors' code. Their bound is damped but the likelihood has no
penalty, so beta runs away where labelled rows are separable::

    beta <- beta + (X'X/4 + .01 I)^-1 dQ_n/dbeta, at most 200 times, until no coefficient would move
            by .01; that last step is not made

with 9 rows of the largest y in the place of 10, and the last of ``max_iter`` rounds as the answer.

Where the classes overlap the smallest h is below that of nearly every row. P is then all rows,
e(x) = s(x), and the maximiser is y(x) = 1; the released steps end on the way there, which is why
they do better. A higher quantile keeps the converged ones away from it.

Audited rows are where they belong: positives in P, negatives neither in P nor spies.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

import numpy as np

from doublelogit._types import Floats, Ints
from doublelogit.core.design import predictor, sandwich
from doublelogit.core.likelihood import positive_given_unlabelled, sigmoid
from doublelogit.core.rows import quantile
from doublelogit.core.solvers import Factor, lbfgs, settled, trust_region
from doublelogit.engines.memory import MemoryRows
from doublelogit.fitted.fit import PUFit
from doublelogit.methods.held import HeldPropensityObjective
from doublelogit.methods.logistic import (
    ACCEPTABLE,
    DENSE_LIMIT,
    accurate,
    label_model,
    propensity_model,
)
from doublelogit.methods.problem import Problem

FEWEST = 10  # unlabelled rows of the stratum
FEWEST_RELEASED = 9
DAMPING = 0.01  # of the released bound
MOVED = 0.01  # change of a coefficient below which the released steps end
MOST_STEPS = 200  # of the released
INNER_TOL = 1e-9  # gradient of the converged step: rounds build on each other

# From the last beta to the next, and whether that is as good as it was meant to be.
OutcomeStep = Callable[[HeldPropensityObjective, Floats], tuple[Floats, bool]]


def jerm(
    problem: Problem,
    *,
    released: bool = False,
    spy_quantile: float = 0.0,
    tol: float = 1e-6,
    max_iter: int = 100,
) -> PUFit:
    """Alternate the two fits until a stratum comes back, or ``max_iter`` times as released."""
    rows = problem.rows
    assert isinstance(rows, MemoryRows)
    label, propensity = label_model(problem), propensity_model(problem)
    label.fit(rows.labels.any)
    theta = problem.outcome.take(label.coef)
    b = np.logaddexp(0, label.predictor() + np.log(2))  # logit of (1 + s) / 2
    fewest = FEWEST_RELEASED if released else FEWEST
    stratum = Stratum(rows, spies(problem), spy_quantile, fewest)
    step = _released_step(problem) if released else _converged_step
    rounds, accurate_steps = Rounds(), True
    by_number = released or tol == 0
    for n_iter in range(1, max_iter + 1):
        held = (rows, problem.outcome, b, problem.n, 0.0 if released else problem.l2)
        objective = HeldPropensityObjective(*held, problem.moments.units)
        beta, good = step(objective, theta[: problem.outcome.size])
        accurate_steps = accurate_steps and good
        a = rows.map_rows(partial(predictor, coef=problem.outcome.embed(beta)))
        inside = stratum.weight(a, b)
        propensity.fit(rows.labels.any, inside)
        b, theta = propensity.predictor(), np.concatenate([beta, propensity.theta])
        rounds.add(theta, problem.likelihood.value_grad(theta).value, inside)
        if not by_number and (rounds.circle or settled(rounds.values, tol)):
            break
    if rounds.circle and not by_number:
        theta = rounds.best_of_circle
    met = by_number or bool(rounds.circle) or settled(rounds.values, tol)
    converged = met and accurate_steps and accurate(label, propensity)
    return PUFit(problem.fitted(theta), n_iter, converged, tuple(rounds.values))


class Spies(NamedTuple):
    """Unlabelled rows by their index, and how often each counts."""

    at: Ints
    weight: Floats


def spies(problem: Problem) -> Spies:
    """For every labelled row the nearest unlabelled one whose class is not known."""
    rows = problem.rows
    assert isinstance(rows, MemoryRows)
    X = problem.label.select(rows.X)
    labelled = np.flatnonzero((rows.labels.any == 1) & (rows.weight > 0))
    unknown = np.flatnonzero(
        (rows.labels.any == 0) & np.isnan(rows.labels.known) & (rows.weight > 0)
    )
    if len(unknown) == 0 or X.shape[1] == 0:  # without features all rows are equally near
        return Spies(unknown, rows.weight[unknown])
    from sklearn.neighbors import NearestNeighbors  # takes long, and no other method wants it

    neighbours = NearestNeighbors(n_neighbors=1).fit(X[unknown])
    nearest = neighbours.kneighbors(X[labelled], return_distance=False)[:, 0]
    return Spies(unknown[nearest], rows.weight[labelled])


@dataclass(frozen=True)
class Stratum:
    """The rows that are taken for positive, by what is known of them and by the spies."""

    rows: MemoryRows
    spies: Spies
    spy_quantile: float
    fewest: int

    def weight(self, a: Floats, b: Floats) -> Floats:
        """Weight of each row in the stratum: its own inside, zero outside.

        A row that counts w times is w rows where the fewest are counted.
        """
        rows = self.rows
        open_rows = np.flatnonzero(np.isnan(rows.labels.known))
        h = positive_given_unlabelled(a, sigmoid(b).log_not_p)
        weight = rows.weight * (rows.labels.known == 1)
        above = open_rows[h[open_rows] > self._cut(h)]
        if rows.weight[above].sum() >= self.fewest:
            weight[above] = rows.weight[above]
            return weight
        likeliest = open_rows[np.argsort(-a[open_rows], kind="stable")]
        sampled = rows.weight[likeliest]
        before = np.cumsum(sampled) - sampled
        weight[likeliest] = np.clip(self.fewest - before, 0.0, sampled)
        return weight

    def _cut(self, h: Floats) -> float:
        if len(self.spies.at) == 0:
            return np.inf
        return quantile(h[self.spies.at], self.spies.weight, self.spy_quantile)


@dataclass
class Rounds:
    """What each round came to, and which of them go in a circle."""

    values: list[float] = field(default_factory=list)
    circle: range | None = None
    _thetas: list[Floats] = field(default_factory=list)
    _strata: dict[bytes, int] = field(default_factory=dict)

    def add(self, theta: Floats, value: float, stratum: Floats) -> None:
        """Note a round; its stratum may be that of an earlier one."""
        now, key = len(self.values), stratum.tobytes()
        if self.circle is None and key in self._strata:
            self.circle = range(self._strata[key] + 1, now + 1)
        self._strata[key] = now
        self.values.append(value)
        self._thetas.append(theta)

    @property
    def best_of_circle(self) -> Floats:
        """The round of the circle with the smallest penalised loss."""
        assert self.circle is not None
        return self._thetas[min(self.circle, key=self.values.__getitem__)]


def _converged_step(objective: HeldPropensityObjective, beta: Floats) -> tuple[Floats, bool]:
    """The minimiser that the last beta leads to."""
    if len(beta) > DENSE_LIMIT:
        solution = lbfgs(objective, beta, tol=ACCEPTABLE, max_iter=1000)
    else:
        solution = trust_region(objective, beta, tol=INNER_TOL)
    return solution.theta, solution.grad_norm <= ACCEPTABLE


def _released_step(problem: Problem) -> OutcomeStep:
    """Minorise-maximise steps with a damped bound."""
    rows, terms = problem.rows, problem.outcome
    if terms.size > DENSE_LIMIT:
        raise ValueError(
            f"variant='released' holds a matrix of all pairs of features, so it takes at most "
            f"{DENSE_LIMIT} of them; got {terms.size - 1}. Choose variant='converged'."
        )
    gram = rows.sum_rows(lambda X, weight: sandwich(terms.select(X), weight / 4), rows.weight)
    bound = Factor.from_matrix(gram + DAMPING * np.eye(terms.size))

    def step(objective: HeldPropensityObjective, beta: Floats) -> tuple[Floats, bool]:
        for _ in range(MOST_STEPS):
            move = -bound.solve(problem.n * objective.gradient(beta))
            if np.abs(move).max() < MOVED:
                break
            beta = beta + move
        return beta, True

    return step
