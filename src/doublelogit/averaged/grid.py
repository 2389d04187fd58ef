"""A grid along the prevalence: cells, refined where the mass is.

A cell is a range of v = mean S / sigma(g_0), g_0 being the propensity's intercept. Under labels at
random v is the prevalence and at most 1; where labelling depends on the features a label may be
rarer at their means than overall, and v larger. The mass of a cell is that of the slice at its
middle (``weights.py``).

All scales of slopes share the cells: where one of them has its mass the others have theirs near.
The cells of labels at random are the grid with which other mechanisms begin.
"""

from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise

import numpy as np
from scipy.special import expit, logit

from doublelogit._types import Floats
from doublelogit.averaged.gaussian import GaussianFit, SlicedPosterior
from doublelogit.averaged.scales import Start, gaussians_of_slice
from doublelogit.averaged.settings import Settings
from doublelogit.averaged.swap import may_swap, mostly_swapped, swapped_point
from doublelogit.averaged.weights import Component, log_measure, log_sum, weighed

BEYOND = 2.0 ** np.arange(20)  # edges of cells beyond 1, where labelling depends on the features


@dataclass(frozen=True)
class Cell:
    """Values of v from low to high under one mechanism.

    ``components`` are those of the slice at their middle, none in a cell that was not worth it;
    ``u`` is where to start.
    """

    low: float
    high: float
    u: Floats
    components: tuple[Component, ...] = ()
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
    def by_mass(self) -> list[Component]:
        """The components, the likeliest scale first."""
        return sorted(self.components, key=lambda component: -component.log_mass)

    @property
    def finite(self) -> tuple[Component, ...]:
        """The components whose gaussian was found; all of a cell in which none was."""
        return tuple(c for c in self.components if c.log_mass > -np.inf) or self.components

    def evaluated(self, components: list[Component]) -> "Cell":
        """The cell with the components of its middle."""
        cell = replace(self, components=tuple(components), log_mass=log_sum(components))
        return replace(cell, u=cell.by_mass[0].gaussian.u)

    def shrunk(self, low: float, high: float) -> "Cell":
        """The cell about the same middle, with as much less mass."""
        less = log_measure(low, high) - log_measure(self.low, self.high)
        components = tuple(
            c._replace(low=low, high=high, log_mass=c.log_mass + less) for c in self.components
        )
        return replace(
            self, low=low, high=high, components=components, log_mass=self.log_mass + less
        )


Cells = list[Cell]


def explore(
    mean_s: float,
    settings: Settings,
    posteriors: list[SlicedPosterior],
    start: Floats | None = None,
) -> list[Component]:
    """Components of all posteriors, found from a point (u, v_0) on."""
    cells = equal_cells(mean_s, settings)
    search = 0
    if start is not None:
        cells, search = begun_at(mean_s, beyond_one(cells), start), 1
    components: list[Component] = []
    masses: Cells = []
    for posterior in posteriors:
        grid = merged(mean_s, cells, settings)
        varies = posterior.mechanism.varies
        one = Exploration(mean_s, posterior, search, log_sum(masses), _likeliest(components))
        one = one.explored(beyond_one(grid) if varies else grid)
        cells = cells if varies else one.grid
        masses += one.cells
        components += [component for cell in one.cells for component in cell.finite]
    return components


def _likeliest(components: list[Component]) -> Component | None:
    return max(components, key=lambda component: component.log_mass, default=None)


def equal_cells(mean_s: float, settings: Settings) -> Cells:
    """All prevalences, cut into cells of which nothing is known."""
    edges = np.linspace(mean_s, 1.0, settings.cells + 1)
    return [Cell(low, high, np.zeros(0), log_mass=0.0) for low, high in pairwise(edges)]


def beyond_one(grid: Cells) -> Cells:
    """The cells of a grid and, if it has none, more beyond 1: evaluated where mass leads."""
    if grid[-1].high > 1.0:
        return grid
    edges = pairwise(BEYOND.tolist())
    return grid + [Cell(low, high, grid[-1].u, log_mass=-np.inf) for low, high in edges]


def begun_at(mean_s: float, grid: Cells, start: Floats) -> Cells:
    """The grid with most of its mass in the cell of a point (u, v_0)."""
    v = mean_s / expit(start[-1])
    nearest = min(grid, key=lambda cell: abs(np.log(cell.middle / v)))
    begun = replace(nearest, u=start[:-1], log_mass=1.0)
    return [begun if cell is nearest else cell for cell in grid]


def merged(mean_s: float, grid: Cells, settings: Settings) -> Cells:
    """The cells of a grid, as few as its mass allows for."""
    widest = 1.001 * (1 - mean_s) / settings.cells
    cells, total = grid[:1], log_sum(grid)
    for cell in grid[1:]:
        last = cells[-1]
        both = replace(
            max(cell, last, key=lambda one: one.log_mass),
            low=last.low,
            high=cell.high,
            log_mass=float(np.logaddexp(last.log_mass, cell.log_mass)),
        )
        share = both.log_mass - total
        if both.high <= 1 and both.width <= widest and share <= np.log(settings.heavy / 2):
            cells[-1] = both
        else:
            cells.append(cell)
    return cells


@dataclass
class Exploration:
    """The cells of one posterior, evaluated while there is mass.

    ``log_before`` is the mass of the posteriors explored before, ``best_before`` their likeliest
    component; ``grid`` is where the next posterior begins.
    """

    mean_s: float
    posterior: SlicedPosterior
    search: int
    log_before: float
    best_before: Component | None

    def explored(self, grid: Cells) -> "Exploration":
        """The exploration from a grid on, which is a similar posterior or nothing yet.

        Where most of the mass turns out to be that of the swapped pair, it begins anew from there.
        """
        self._explore(grid)
        components = [component for cell in self.cells for component in cell.components]
        if self.worthwhile and may_swap(self.posterior) and mostly_swapped(components):
            heaviest = max((c for c in self.cells if c.components), key=lambda cell: cell.log_mass)
            point = swapped_point(heaviest.by_mass[0].gaussian, self.posterior)
            self._explore(begun_at(self.mean_s, grid, point))
        return self

    def _explore(self, grid: Cells) -> None:
        """Evaluate cells, first where the grid is heaviest, while there is mass."""
        settings = self.posterior.settings
        guess = np.array([cell.log_mass for cell in grid]) - log_sum(grid)
        self.cells = [replace(cell, components=(), log_mass=-np.inf) for cell in grid]
        first, *others = np.argsort(-guess, kind="stable")
        self._evaluate(first)
        self.worthwhile = self._share(self.cells[first]) >= settings.hopeless
        if not self.worthwhile:
            self.grid = grid
            return
        for i in others:
            if guess[i] > np.log(settings.light) and not self._beyond_hope(i):
                self._evaluate(i)
        self._refine()
        self.grid = self.cells

    @property
    def log_total(self) -> float:
        """Logarithm of all mass, of this posterior and of those before."""
        return float(np.logaddexp(self.log_before, log_sum(self.cells)))

    @property
    def _likeliest_node(self) -> int:
        """Number of the scale of slopes of most mass so far; all mechanisms have the same ones."""
        here = _likeliest([one for cell in self.cells for one in cell.components])
        best = _likeliest([one for one in (self.best_before, here) if one is not None])
        return len(self.posterior.priors) // 2 if best is None else best.gaussian.prior.node

    def _refine(self) -> None:
        """Evaluate cells beside those with mass, and cut those that are too wide."""
        while True:
            if (i := self._unseen()) is not None:
                self._evaluate(i)
            elif (i := self._too_wide()) is not None:
                self._cut(i)
            else:
                return

    def _unseen(self) -> int | None:
        """Index of a cell that was not evaluated, beside one that holds something."""
        shares = np.exp(np.array([cell.log_mass for cell in self.cells]) - self.log_total)
        light = self.posterior.settings.light
        for i, cell in enumerate(self.cells):
            if not cell.components and max(shares[max(i - 1, 0) : i + 2]) > light:
                return i
        return None

    def _beyond_hope(self, i: int) -> bool:
        """Whether a cell lies beyond one that holds next to nothing, less than the one before."""
        cells = self.cells
        evaluated = [k for k, cell in enumerate(cells) if cell.components]
        nearest = min(evaluated, key=lambda k: abs(k - i))
        before = nearest + np.sign(nearest - i)
        falls = before in evaluated and cells[before].log_mass > cells[nearest].log_mass
        return bool(falls and self._share(cells[nearest]) < self.posterior.settings.hopeless)

    def _too_wide(self) -> int | None:
        """Index of a cell that holds too much, or lies beside a narrower one that holds something.

        The middle of a wide cell says nothing of the mass near its edge, where it may begin.
        """
        cells, settings = self.cells, self.posterior.settings
        total = log_sum(cells)
        if total < self.log_total + np.log(settings.light):
            return None
        share = np.exp(np.array([cell.log_mass for cell in cells]) - total)
        for i in np.flatnonzero(share > settings.edge):
            for j in (i - 1, i + 1):
                if 0 <= j < len(cells) and cells[j].size > 2 * cells[i].size:
                    return int(j)
        # the mass of a cell is certain only beside evaluated ones; nothing is beside the first
        share[0] *= settings.first
        heaviest = int(np.argmax(share))
        if share[heaviest] > settings.heavy and cells[heaviest].width > 3 * settings.narrow:
            return heaviest
        return None

    def _cut(self, i: int) -> None:
        """Cut a cell into three, all evaluated."""
        cell = self.cells[i]
        a, b = cell.low + cell.width / 3, cell.high - cell.width / 3
        sides = Cell(cell.low, a, cell.u), Cell(b, cell.high, cell.u)
        self.cells[i : i + 1] = [sides[0], cell.shrunk(a, b), sides[1]]
        for k in (i, i + 1, i + 2):
            if not self.cells[k].components:
                self._evaluate(k)

    def _evaluate(self, i: int) -> None:
        """Gaussians and masses of the slice at the middle of a cell."""
        cell, tau = self.cells[i], self.mean_s / self.cells[i].middle
        near = [[one.gaussian for one in other.by_mass] for other in _nearest(self.cells, i)]
        start = Start(cell.u, self._likeliest_node)
        deficit = partial(self._deficit, cell, tau)
        intercept = float(logit(tau))
        gaussians = gaussians_of_slice(self.posterior, intercept, near, start, deficit)
        compact = [gaussian.compact for gaussian in gaussians]
        components = weighed(compact, tau, (cell.low, cell.high), self.search)
        self.cells[i] = cell.evaluated(components)

    def _deficit(self, cell: Cell, tau: float, gaussian: GaussianFit) -> float:
        """How far the mass of a gaussian is behind all mass, in logarithms."""
        component = weighed([gaussian], tau, (cell.low, cell.high), self.search)[0]
        return self.log_total - component.log_mass

    def _share(self, cell: Cell) -> float:
        return float(np.exp(cell.log_mass - self.log_total))


def _nearest(cells: Cells, i: int) -> Cells:
    """The evaluated cells, the nearest first."""
    evaluated = [cell for cell in cells if cell.components]
    return sorted(evaluated, key=lambda cell: abs(np.log(cell.middle / cells[i].middle)))
