"""Exploring a posterior along its prevalence: cells, refined where the mass is.

A cell is a range of v = mean S / sigma(g_0), g_0 being the propensity's intercept. Under labels at
random v is the prevalence and at most 1; where labelling depends on the features a label may be
rarer at their means than overall, and v larger. The mass of a cell is

    evidence^zeta * prior(pi) * prior(c) * |d(pi, c) / d(b_0, tau)| * (change of tau in the cell)

with tau = sigma(g_0), c uniform, pi = mean y(x) at the mode of its middle, and

    |d(pi, c) / d(b_0, tau)| = mean y(1-y) * mean ye(1-e) / (pi tau (1-tau)).
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.special import expit, log_softmax, logit, logsumexp, softmax

from doublelogit._types import Floats, Matrix
from doublelogit.design import predictor
from doublelogit.methods.posterior import Mode, SlicedPosterior
from doublelogit.methods.prior import coarsening, log_prevalence
from doublelogit.methods.problem import full

CELLS = 6  # of v up to 1, to begin with
BEYOND = 1.3 ** np.arange(12)  # edges of cells beyond 1, where labelling depends on the features
HEAVY = 0.4  # share of a posterior's mass that one cell may hold
EDGE = 0.02  # share that a cell may hold beside a wider one
LIGHT = 1e-3  # share of all mass below which a cell is worth neither a mode nor a component
HOPELESS = 1e-7  # share of all mass in its likeliest cell that ends the search of a posterior
NARROW = 1e-4  # width of a cell that is cut no further
TINY = np.finfo(float).tiny


@dataclass(frozen=True)
class Cell:
    """Values of v from low to high under one prior.

    ``mode`` is that of the slice at their middle, None in a cell that was not worth it; ``u`` its
    coordinates, or those to start from.
    """

    low: float
    high: float
    u: Floats
    mode: Mode | None = None
    log_mass: float = -np.inf

    @property
    def middle(self) -> float:
        return (self.low + self.high) / 2

    @property
    def width(self) -> float:
        return self.high - self.low

    @property
    def size(self) -> float:
        """About how much the prevalence changes in the cell, which beyond 1 it does ever less."""
        return self.width if self.high <= 1 else float(np.log(self.high / self.low))

    @property
    def log_measure(self) -> float:
        """Logarithm of the change of 1/v."""
        return float(np.log(1 / self.low - 1 / self.high))


class Component(NamedTuple):
    """An evaluated cell, with the posterior that it is a part of."""

    posterior: SlicedPosterior
    mode: Mode
    log_mass: float
    low: float
    high: float


Evaluate = Callable[[Cell], Cell]


def explore(mean_s: float, posteriors: list[SlicedPosterior], u: Floats) -> list[Component]:
    """Components of all posteriors, found from u on."""
    exploration = Exploration(mean_s)
    guide = exploration.equal_cells(u)
    for posterior in posteriors:
        guide = exploration.explore(posterior, beyond_one(guide) if posterior.rho else guide)
    return [
        Component(posterior, cell.mode, cell.log_mass, cell.low, cell.high)
        for posterior, cells in exploration.found
        for cell in cells
        if cell.mode is not None
    ]


def beyond_one(guide: list[Cell]) -> list[Cell]:
    """The cells of a guide and, if it has none, more beyond 1: looked at where mass leads."""
    if guide[-1].high > 1.0:
        return guide
    edges = pairwise(BEYOND.tolist())
    return guide + [Cell(low, high, guide[-1].u, log_mass=-np.inf) for low, high in edges]


@dataclass
class Exploration:
    """The cells of all posteriors explored so far."""

    mean_s: float
    found: list[tuple[SlicedPosterior, list[Cell]]] = field(default_factory=list)

    def equal_cells(self, u: Floats) -> list[Cell]:
        """All prevalences, cut into cells of which nothing is known."""
        edges = np.linspace(self.mean_s, 1.0, CELLS + 1)
        return [Cell(low, high, u, log_mass=0.0) for low, high in pairwise(edges)]

    @property
    def log_total(self) -> float:
        """Logarithm of all mass."""
        return float(logsumexp([cell.log_mass for _, cells in self.found for cell in cells]))

    def explore(self, posterior: SlicedPosterior, guide: list[Cell]) -> list[Cell]:
        """Evaluate cells, first where the guide is heaviest, while there is mass.

        The guide is a similar posterior, or what is known before any; the answer guides the next.
        """
        evaluate = partial(self._evaluate, posterior)
        guess = log_softmax([cell.log_mass for cell in guide])
        cells = [replace(cell, mode=None, log_mass=-np.inf) for cell in guide]
        self.found.append((posterior, cells))
        first, *others = np.argsort(-guess, kind="stable")
        cells[first] = evaluate(cells[first])
        if self._share(cells[first]) < HOPELESS:
            return guide
        for i in others:
            beside = cells[max(i - 1, 0) : i + 2]
            if guess[i] > np.log(LIGHT) or any(self._share(cell) > LIGHT for cell in beside):
                cells[i] = evaluate(cells[i])
        while (i := self._too_wide(cells)) is not None:
            cells[i : i + 1] = self._thirds(evaluate, cells[i])
        return cells

    def _too_wide(self, cells: list[Cell]) -> int | None:
        """Index of a cell that holds too much, or lies beside a narrower one that holds something.

        The middle of a wide cell says nothing of the mass near its edge, where it may begin.
        """
        masses = np.array([cell.log_mass for cell in cells])
        if logsumexp(masses) < self.log_total + np.log(LIGHT):
            return None
        share = softmax(masses)
        heaviest = int(np.argmax(share))
        if share[heaviest] > HEAVY and cells[heaviest].width > 3 * NARROW:
            return heaviest
        for i in np.flatnonzero(share > EDGE):
            for j in (i - 1, i + 1):
                if 0 <= j < len(cells) and cells[j].size > 2 * cells[i].size:
                    return int(j)
        return None

    def _thirds(self, evaluate: Evaluate, cell: Cell) -> list[Cell]:
        """The cell cut into three, all evaluated."""
        third = cell.width / 3
        a, b = cell.low + third, cell.high - third
        middle = replace(cell, low=a, high=b)
        log_mass = cell.log_mass + middle.log_measure - cell.log_measure
        middle = evaluate(middle) if cell.mode is None else replace(middle, log_mass=log_mass)
        return [evaluate(replace(cell, high=a)), middle, evaluate(replace(cell, low=b))]

    def _evaluate(self, posterior: SlicedPosterior, cell: Cell) -> Cell:
        """Mode and mass of the slice at the middle of a cell."""
        tau = self.mean_s / cell.middle
        mode = posterior.at(float(logit(tau))).mode(_start(posterior, cell))
        pi, y_free, e_free = _shares(posterior, mode.theta)
        jacobian = np.log(max(y_free * e_free, TINY)) - np.log(pi * tau * (1 - tau))
        evidence = coarsening(posterior.problem.n) * mode.log_evidence + posterior.log_odds
        log_mass = evidence + log_prevalence(pi) + jacobian + cell.log_measure
        return replace(cell, u=mode.u, mode=mode, log_mass=float(log_mass))

    def _share(self, cell: Cell) -> float:
        return float(np.exp(cell.log_mass - self.log_total))


def _shares(posterior: SlicedPosterior, theta: Floats) -> Floats:
    """Means over the rows of y(x), y(1-y) and ye(1-e)."""
    problem = posterior.problem
    fn = partial(_sums, *full(problem, theta))
    return np.array(problem.rows.sum_rows(fn, problem.rows.weight)) / problem.n


def _sums(beta: Floats, gamma: Floats, X: Matrix, weight: Floats) -> tuple[float, float, float]:
    a, b = predictor(X, beta), predictor(X, gamma)
    y, e = expit(a), expit(b)
    return weight @ y, weight @ (y * expit(-a)), weight @ (y * e * expit(-b))


def _start(posterior: SlicedPosterior, cell: Cell) -> Floats:
    """What was found there under another prior; a model that had no slopes starts without."""
    u = np.zeros(posterior.to_theta.shape[1] - 1)
    known = min(len(u), len(cell.u))
    u[:known] = cell.u[:known]
    return u
