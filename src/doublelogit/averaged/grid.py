"""Exploring a posterior along its prevalence: cells, refined where the mass is.

A cell is a range of v = mean S / sigma(g_0), g_0 being the propensity's intercept. Under labels at
random v is the prevalence and at most 1; where labelling depends on the features a label may be
rarer at their means than overall, and v larger. The mass of a cell is

    evidence^zeta * prior(pi) * prior(c) * |d(pi, c) / d(b_0, tau)| * (change of tau in the cell)

with tau = sigma(g_0), pi = mean y(x) and c = mean y(x)e(x) / pi expected at its middle, and

    |d(pi, c) / d(b_0, tau)| = mean y(1-y) * mean ye(1-e) / (pi tau (1-tau)).

All scales of slopes share the cells: where one of them has its mass the others have theirs near.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.special import expit, logit

from doublelogit._types import Floats
from doublelogit.averaged.gaussian import Normal, SlicedPosterior
from doublelogit.averaged.prior import log_frequency, log_known, log_prevalence
from doublelogit.averaged.scales import HOPELESS, Start, height, laws_of_slice
from doublelogit.methods.orientation import swapped_theta

CELLS = 6  # of v up to 1, to begin with
BEYOND = 2.0 ** np.arange(20)  # edges of cells beyond 1, where labelling depends on the features
HEAVY = 0.4  # share of a posterior's mass that one cell may hold
FIRST = 4.0  # as often as others is the first cell cut, beyond which there is nothing to see
EDGE = 0.07  # share that a cell may hold beside a wider one
LIGHT = 1e-3  # share of all mass below which a cell is worth neither a law nor a component
NARROW = 1e-4  # width of a cell that is cut no further
TINY = np.finfo(float).tiny


class Piece(NamedTuple):
    """The normal law of a cell under one scale of slopes, and its mass.

    ``strengths`` are the variances of both predictors over the rows.
    """

    law: Normal
    log_mass: float
    strengths: tuple[float, float]


@dataclass(frozen=True)
class Cell:
    """Values of v from low to high under one mechanism.

    ``pieces`` are those of the slice at their middle, none in a cell that was not worth it; ``u``
    is where to start.
    """

    low: float
    high: float
    u: Floats
    pieces: tuple[Piece, ...] = ()
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

    @property
    def by_mass(self) -> list[Piece]:
        """The pieces, that of the likeliest scale first."""
        return sorted(self.pieces, key=lambda piece: -piece.log_mass)

    @property
    def best(self) -> Piece:
        """That of the likeliest scale."""
        return self.by_mass[0]

    @property
    def found(self) -> tuple[Piece, ...]:
        """The pieces whose law was found; all of a cell in which none was."""
        return tuple(p for p in self.pieces if p.log_mass > -np.inf) or self.pieces

    def shrunk(self, low: float, high: float) -> "Cell":
        """The cell about the same middle, with as much less mass."""
        cell = replace(self, low=low, high=high)
        less = cell.log_measure - self.log_measure
        pieces = tuple(p._replace(log_mass=p.log_mass + less) for p in self.pieces)
        return replace(cell, pieces=pieces, log_mass=self.log_mass + less)


class Component(NamedTuple):
    """A piece of an evaluated cell, with the posterior that it is a part of."""

    posterior: SlicedPosterior
    law: Normal
    log_mass: float
    strengths: tuple[float, float]
    low: float
    high: float

    @property
    def curve(self) -> tuple[int, float]:
        """What the components have in common that lie along one curve."""
        return id(self.posterior), self.law.slice.prior.kappa


def explore(
    mean_s: float, posteriors: list[SlicedPosterior], start: Floats | None = None
) -> list[Component]:
    """Components of all posteriors, found from a point (u, v_0) on."""
    exploration = Exploration(mean_s)
    guide = exploration.equal_cells()
    if start is not None:
        guide = exploration.begin(beyond_one(guide), start)
    for posterior in posteriors:
        begun = exploration.merged(guide)
        found = exploration.explore(posterior, begun if posterior.at_random else beyond_one(begun))
        guide = found if posterior.at_random else guide
    return [
        Component(posterior, *piece, cell.low, cell.high)
        for posterior, cells in exploration.found
        for cell in cells
        for piece in cell.found
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

    def equal_cells(self) -> list[Cell]:
        """All prevalences, cut into cells of which nothing is known."""
        edges = np.linspace(self.mean_s, 1.0, CELLS + 1)
        return [Cell(low, high, np.zeros(0), log_mass=0.0) for low, high in pairwise(edges)]

    def begin(self, guide: list[Cell], start: Floats) -> list[Cell]:
        """The guide with most of its mass in the cell of a point (u, v_0)."""
        v = self.mean_s / expit(start[-1])
        nearest = min(guide, key=lambda cell: abs(np.log(cell.middle / v)))
        begun = replace(nearest, u=start[:-1], log_mass=1.0)
        return [begun if cell is nearest else cell for cell in guide]

    def merged(self, guide: list[Cell]) -> list[Cell]:
        """The cells of a guide, as few as its mass allows for."""
        widest = 1.001 * (1 - self.mean_s) / CELLS
        found = guide[:1]
        for cell in guide[1:]:
            last = found[-1]
            both = replace(
                max(cell, last, key=lambda one: one.log_mass),
                low=last.low,
                high=cell.high,
                log_mass=float(np.logaddexp(last.log_mass, cell.log_mass)),
            )
            share = both.log_mass - log_sum(guide)
            if both.high <= 1 and both.width <= widest and share <= np.log(HEAVY / 2):
                found[-1] = both
            else:
                found.append(cell)
        return found

    @property
    def log_total(self) -> float:
        """Logarithm of all mass."""
        return log_sum(cell for _, cells in self.found for cell in cells)

    @property
    def _likeliest_scale(self) -> int:
        """Number of the scale of slopes of most mass so far; all mechanisms have the same ones."""
        pieces = [(p, piece) for p, cells in self.found for cell in cells for piece in cell.pieces]
        if not pieces:
            return len(self.found[-1][0].priors) // 2
        posterior, best = max(pieces, key=lambda one: one[1].log_mass)
        return posterior.priors.index(best.law.slice.prior)

    def explore(
        self, posterior: SlicedPosterior, guide: list[Cell], *, swap: bool = True
    ) -> list[Cell]:
        """Evaluate cells, first where the guide is heaviest, while there is mass.

        The guide is a similar posterior, or what is known before any; the answer guides the next.
        Where most of the mass turns out to be that of the swapped pair, it begins anew from there.
        """
        guess = np.array([cell.log_mass for cell in guide]) - log_sum(guide)
        cells = [replace(cell, pieces=(), log_mass=-np.inf) for cell in guide]
        self.found.append((posterior, cells))
        first, *others = np.argsort(-guess, kind="stable")
        self._evaluate(cells, first)
        if self._share(cells[first]) < HOPELESS:
            return guide
        for i in others:
            if guess[i] > np.log(LIGHT) and not self._beyond_hope(cells, i):
                self._evaluate(cells, i)
        self._refine(cells)
        if swap and posterior.symmetric and _mostly_swapped(cells):
            self.found.pop()
            best = max((cell for cell in cells if cell.pieces), key=lambda cell: cell.log_mass).best
            theta = swapped_theta(posterior.problem, best.law.theta)
            begun = self.begin(guide, posterior.coordinates(theta))
            return self.explore(posterior, begun, swap=False)
        return cells

    def _refine(self, cells: list[Cell]) -> None:
        """Evaluate cells beside those with mass, and cut those that are too wide."""
        while True:
            if (i := self._unseen(cells)) is not None:
                self._evaluate(cells, i)
            elif (i := self._too_wide(cells)) is not None:
                self._cut(cells, i)
            else:
                return

    def _unseen(self, cells: list[Cell]) -> int | None:
        """Index of a cell that was not looked at, beside one that holds something."""
        shares = np.exp(np.array([cell.log_mass for cell in cells]) - self.log_total)
        for i, cell in enumerate(cells):
            if not cell.pieces and max(shares[max(i - 1, 0) : i + 2]) > LIGHT:
                return i
        return None

    def _beyond_hope(self, cells: list[Cell], i: int) -> bool:
        """Whether a cell lies beyond one that holds next to nothing, less than the one before."""
        evaluated = [k for k, cell in enumerate(cells) if cell.pieces]
        nearest = min(evaluated, key=lambda k: abs(k - i))
        before = nearest + np.sign(nearest - i)
        known = before in evaluated and cells[before].log_mass > cells[nearest].log_mass
        return bool(known and self._share(cells[nearest]) < HOPELESS)

    def _too_wide(self, cells: list[Cell]) -> int | None:
        """Index of a cell that holds too much, or lies beside a narrower one that holds something.

        The middle of a wide cell says nothing of the mass near its edge, where it may begin.
        """
        total = log_sum(cells)
        if total < self.log_total + np.log(LIGHT):
            return None
        share = np.exp(np.array([cell.log_mass for cell in cells]) - total)
        for i in np.flatnonzero(share > EDGE):
            for j in (i - 1, i + 1):
                if 0 <= j < len(cells) and cells[j].size > 2 * cells[i].size:
                    return int(j)
        # what a cell holds is known only when those beside it are; nothing is beside the first one
        share[0] *= FIRST
        heaviest = int(np.argmax(share))
        if share[heaviest] > HEAVY and cells[heaviest].width > 3 * NARROW:
            return heaviest
        return None

    def _cut(self, cells: list[Cell], i: int) -> None:
        """Cut a cell into three, all evaluated."""
        cell = cells[i]
        a, b = cell.low + cell.width / 3, cell.high - cell.width / 3
        sides = Cell(cell.low, a, cell.u), Cell(b, cell.high, cell.u)
        cells[i : i + 1] = [sides[0], cell.shrunk(a, b), sides[1]]
        for k in (i, i + 1, i + 2):
            if not cells[k].pieces:
                self._evaluate(cells, k)

    def _evaluate(self, cells: list[Cell], i: int) -> None:
        """Laws and masses of the slice at the middle of a cell."""
        posterior, cell = self.found[-1][0], cells[i]
        tau = self.mean_s / cell.middle

        def lag(law: Normal) -> float:
            """How far the mass of a law is behind all mass, in logarithms."""
            return self.log_total - self._weighed([law], tau, cell.log_measure)[0].log_mass

        near = [[piece.law for piece in other.by_mass] for other in _nearest(cells, i)]
        start = Start(cell.u, self._likeliest_scale)
        laws = laws_of_slice(posterior, float(logit(tau)), near, start, lag)
        pieces = self._weighed([law.lean for law in laws], tau, cell.log_measure)
        cell = replace(cell, pieces=tuple(pieces), log_mass=log_sum(pieces))
        cells[i] = replace(cell, u=cell.best.law.u)

    def _weighed(self, laws: list[Normal], tau: float, log_measure: float) -> list[Piece]:
        """The laws of a cell with their masses."""
        posterior = laws[0].slice.posterior
        y, labelled, y_free, e_free, a, aa, b, bb = np.array(
            [law.expansion.shares for law in laws]
        ).T
        jacobian = np.log(np.maximum(y_free * e_free, TINY)) - np.log(y * tau * (1 - tau))
        pi, c = y, np.maximum(labelled / y, TINY)
        prior = log_prevalence(pi) + log_frequency(c, posterior.follows)
        prior += log_known(posterior.problem.beliefs, pi, c)
        log_mass = np.array([height(law) for law in laws]) + prior + jacobian + log_measure
        strengths = zip(aa - a**2, bb - b**2, strict=True)
        return [Piece(*piece) for piece in zip(laws, log_mass.tolist(), strengths, strict=True)]

    def _share(self, cell: Cell) -> float:
        return float(np.exp(cell.log_mass - self.log_total))


def log_sum(parts: Iterable[Piece | Cell | Component]) -> float:
    """Logarithm of their masses together; asked so often that SciPy's checks would take longer."""
    return float(np.logaddexp.reduce([part.log_mass for part in parts], initial=-np.inf))


def _mostly_swapped(cells: list[Cell]) -> bool:
    """Whether labelling depends on the features more than the class does, by most of the mass."""
    pieces = [piece for cell in cells for piece in cell.pieces]
    stronger = [piece for piece in pieces if piece.strengths[1] > piece.strengths[0]]
    return log_sum(stronger) > log_sum(pieces) + np.log(0.5)


def _nearest(cells: list[Cell], i: int) -> list[Cell]:
    """The evaluated cells, the nearest first."""
    evaluated = [cell for cell in cells if cell.pieces]
    return sorted(evaluated, key=lambda cell: abs(np.log(cell.middle / cells[i].middle)))
