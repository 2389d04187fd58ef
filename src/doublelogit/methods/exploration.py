"""Exploring a posterior along the prevalence: cells, refined where the evidence is."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.special import log_softmax, logit, logsumexp, softmax

from doublelogit._types import Floats
from doublelogit.methods.posterior import Mode, SlicedPosterior

CELLS = 6  # of the prevalence, to begin with
HEAVY = 0.4  # share of a posterior's mass that one cell may hold
EDGE = 0.02  # share that a cell may hold beside a wider one
LIGHT = 1e-3  # share of all mass below which a cell is worth neither a mode nor a component
HOPELESS = 1e-7  # share of all mass in its likeliest cell that ends the search of a posterior
NARROW = 1e-4  # width of a cell that is cut no further


@dataclass(frozen=True)
class Cell:
    """Prevalences from low to high under one prior.

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
        guide = exploration.explore(posterior, guide)
    return [
        Component(posterior, cell.mode, cell.log_mass + posterior.log_odds, cell.low, cell.high)
        for posterior, cells in exploration.found
        for cell in cells
        if cell.mode is not None
    ]


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
                if 0 <= j < len(cells) and cells[j].width > 2 * cells[i].width:
                    return int(j)
        return None

    def _thirds(self, evaluate: Evaluate, cell: Cell) -> list[Cell]:
        """The cell cut into three, all evaluated."""
        third = cell.width / 3
        a, b = cell.low + third, cell.high - third
        middle = replace(cell, low=a, high=b, log_mass=cell.log_mass - np.log(3))
        middle = evaluate(middle) if cell.mode is None else middle
        return [evaluate(replace(cell, high=a)), middle, evaluate(replace(cell, low=b))]

    def _evaluate(self, posterior: SlicedPosterior, cell: Cell) -> Cell:
        """Mode and mass of the slice at the middle of a cell."""
        intercept = float(logit(self.mean_s / cell.middle))
        mode = posterior.at(intercept).mode(_start(posterior, cell))
        log_mass = mode.log_evidence + np.log(cell.width)
        return replace(cell, u=mode.u, mode=mode, log_mass=log_mass)

    def _share(self, cell: Cell) -> float:
        return float(np.exp(cell.log_mass - self.log_total))


def _start(posterior: SlicedPosterior, cell: Cell) -> Floats:
    """What was found there under another prior; a model that had no slopes starts without."""
    u = np.zeros(posterior.to_theta.shape[1] - 1)
    known = min(len(u), len(cell.u))
    u[:known] = cell.u[:known]
    return u
