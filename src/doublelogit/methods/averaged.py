"""AVERAGED: the double logistic model averaged over all that the labels leave open.

The likelihood is nearly flat along the label frequency, so that its maximum is far from the truth
as often as not. This method does not choose a point of the ridge: it weighs all of it.

Prior, of standardised features: beta_j ~ N(0, 1), which is C = 1, and gamma_j ~ N(0, rho^2), with
rho either 0, which is SCAR, or not; the prevalence is uniform on (mean S, 1) and tells the
intercept of the propensity, that of c = mean S / prevalence.

Algorithm::

    for each rho
        cut (mean S, 1) into cells, as they were left by the rho before; at the middle of each, the
        heaviest first, and no further than there is evidence:
            u    <- maximum of the posterior with that intercept, from what was found there before
            mass <- Laplace's evidence * width of the cell
        while a cell holds too much of the mass, or lies beside a narrower one that holds some, cut
        it into three and look into the new ones
    y(x) <- mean of sigma(x'beta) over all cells, weighted by mass * odds of rho
    intervals <- quantiles over all cells, weighted half so, half by mass alone

The odds lean towards SCAR, the more the larger the sample: a class that is not quite logistic looks
like biased labelling to this model, and gains so much evidence per row. Where the sample is large
few cells hold all the evidence, and only those are looked into.

Beta and gamma may change places unnoticed, as everywhere. Where nothing tells them apart the class
is taken to depend on the features more than the labelling does; where something does (named
features, audited rows) the walk is repeated from the exchanged pair and the evidence decides.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.special import log_softmax, logit, logsumexp, softmax

from doublelogit._types import Floats, Matrix
from doublelogit.design import Terms, predictor, pull_back
from doublelogit.fit import Orientation, PUFit
from doublelogit.link import Link
from doublelogit.methods.orientation import exchanged, variation, what_tells
from doublelogit.methods.posterior import Ridge, Top, standardising
from doublelogit.methods.prevalence import response
from doublelogit.methods.problem import Problem, full
from doublelogit.mixture import Mixture, Side
from doublelogit.rows import weighted_mean

CELLS = 6  # of the prevalence, to begin with
HEAVY = 0.4  # share of a ridge's mass that one cell may hold
EDGE = 0.02  # share that a cell may hold beside a wider one
LIGHT = 1e-3  # share of all mass below which a cell is not worth a look, or a place in the mixture
HOPELESS = 1e-7  # share of all mass of a ridge's likeliest cell that makes the others not worth one
NARROW = 1e-4  # width of a cell that is cut no further

# Scales of the labelling's slopes, SCAR first, and the odds of each: labels at random unless they
# say otherwise. Scales between these were worse on most data sets (docs/averaged.md).
RHOS = {0.0: 10.0, 0.7: 1.0}
# Log-evidence per row that biased labelling may gain though labels are given at random: no class is
# quite logistic, and where nothing tells it from the labelling its curvature looks like bias.
MISFIT = 0.007
STRONG = {1.5: 1.0, 3.0: 1.0}  # more, where something tells the class from the labelling
# Before any data the labelling varies with the features about so much as a share of the class,
# within a factor e: what speaks against the exchanged pair where nothing else does.
RATIO = 0.3
CLEAR = 2.0  # of log-evidence


@dataclass(frozen=True)
class Cell:
    """Prevalences from low to high under one prior.

    ``top`` is the posterior's at their middle, None in a cell that was not worth a look; ``u`` its
    coordinates, or those to start from.
    """

    low: float
    high: float
    u: Floats
    top: Top | None = None
    log_mass: float = -np.inf

    @property
    def middle(self) -> float:
        return (self.low + self.high) / 2

    @property
    def width(self) -> float:
        return self.high - self.low


class Piece(NamedTuple):
    """A cell that was looked into, with the ridge of its walk."""

    ridge: Ridge
    top: Top
    log_mass: float
    low: float
    high: float


Look = Callable[[Cell], Cell]


def averaged(
    problem: Problem, rhos: dict[float, float] | None = None, misfit: float = MISFIT
) -> PUFit:
    """Weigh the whole posterior, ridge by ridge; ``rhos`` are prior scales with their odds."""
    free = replace(problem, l2=0.0, propensity_l2=0.0)
    if rhos is None:
        rhos = RHOS if problem.symmetric else RHOS | STRONG
    if problem.propensity.size == 1:  # labelling at random is all that was asked for
        rhos = {0.0: 1.0}
    mean_s = weighted_mean(problem.rows, problem.rows.s)
    ridges = _ridges(free, rhos, misfit if problem.symmetric else 0.0)
    pieces = _walk(mean_s, ridges, np.zeros(problem.outcome.size))
    if problem.symmetric:
        pieces, decided = _by_strength(free, pieces)
    else:
        pieces, decided = _by_evidence(free, pieces, mean_s, ridges)
    return replace(_mixed(pieces, mean_s), orientation=decided)


def _ridges(problem: Problem, rhos: dict[float, float], misfit: float) -> list[Ridge]:
    none = Terms(problem.rows.n_features, np.array([], dtype=np.intp))
    ridges = []
    for rho, odds in rhos.items():
        model = problem if rho > 0 else replace(problem, propensity=none)
        log_odds = np.log(odds) + (misfit * problem.n if rho == 0 else 0.0)
        ridges.append(Ridge(model, standardising(model), rho, log_odds))
    return ridges


def _walk(mean_s: float, ridges: list[Ridge], u: Floats) -> list[Piece]:
    """The pieces of all ridges, found from u on."""
    search = Search(mean_s)
    guide = search.equal_cells(u)
    for ridge in ridges:
        guide = search.walk(ridge, guide)
    return [
        Piece(ridge, cell.top, cell.log_mass + ridge.log_odds, cell.low, cell.high)
        for ridge, cells in search.found
        for cell in cells
        if cell.top is not None
    ]


@dataclass
class Search:
    """The cells of all ridges walked so far."""

    mean_s: float
    found: list[tuple[Ridge, list[Cell]]] = field(default_factory=list)

    def equal_cells(self, u: Floats) -> list[Cell]:
        """All prevalences, cut into cells of which nothing is known."""
        edges = np.linspace(self.mean_s, 1.0, CELLS + 1)
        return [Cell(low, high, u, log_mass=0.0) for low, high in pairwise(edges)]

    @property
    def log_total(self) -> float:
        """Logarithm of all mass."""
        return float(logsumexp([cell.log_mass for _, cells in self.found for cell in cells]))

    def walk(self, ridge: Ridge, guide: list[Cell]) -> list[Cell]:
        """Look along a ridge, first where its guide is heaviest, while there is mass.

        The guide is a ridge alike, or what is known before any; the answer is one for the next.
        """
        look = partial(self._look, ridge)
        guess = log_softmax([cell.log_mass for cell in guide])
        cells = [replace(cell, top=None, log_mass=-np.inf) for cell in guide]
        self.found.append((ridge, cells))
        first, *others = np.argsort(-guess, kind="stable")
        cells[first] = look(cells[first])
        if self._share(cells[first]) < HOPELESS:
            return guide
        for i in others:
            beside = cells[max(i - 1, 0) : i + 2]
            if guess[i] > np.log(LIGHT) or any(self._share(cell) > LIGHT for cell in beside):
                cells[i] = look(cells[i])
        self._refine(look, cells)
        return cells

    def _refine(self, look: Look, cells: list[Cell]) -> None:
        """Cut cells into three until they follow the mass of a ridge that matters."""
        while (i := self._too_wide(cells)) is not None:
            cells[i : i + 1] = self._thirds(look, cells[i])

    def _too_wide(self, cells: list[Cell]) -> int | None:
        """The cell that holds too much, or lies beside a narrower one that holds something.

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

    def _thirds(self, look: Look, cell: Cell) -> list[Cell]:
        """The cell cut into three, where they are worth a look."""
        third = cell.width / 3
        a, b = cell.low + third, cell.high - third
        middle = replace(cell, low=a, high=b, log_mass=cell.log_mass - np.log(3))
        middle = look(middle) if cell.top is None else middle
        return [look(replace(cell, high=a)), middle, look(replace(cell, low=b))]

    def _look(self, ridge: Ridge, cell: Cell) -> Cell:
        """The posterior's top at the middle of a cell."""
        intercept = float(logit(self.mean_s / cell.middle))
        top = ridge.slice(intercept).climb(_start(ridge, cell))
        log_mass = top.log_evidence + np.log(cell.width)
        return replace(cell, u=top.u, top=top, log_mass=log_mass)

    def _share(self, cell: Cell) -> float:
        return float(np.exp(cell.log_mass - self.log_total))


def _start(ridge: Ridge, cell: Cell) -> Floats:
    """What was found there under another prior; a model that had no slopes starts without."""
    u = np.zeros(ridge.to_theta.shape[1] - 1)
    known = min(len(u), len(cell.u))
    u[:known] = cell.u[:known]
    return u


def _by_strength(problem: Problem, pieces: list[Piece]) -> tuple[list[Piece], Orientation]:
    """The pieces whose class varies more than their labelling does, and how much more."""
    models = [full(piece.ridge.problem, piece.top.theta) for piece in pieces]
    ratios = np.array([_ratio(problem, beta, gamma) for beta, gamma in models])
    kept = [i for i in range(len(pieces)) if ratios[i] <= 1]
    weight = softmax([pieces[i].log_mass for i in kept])
    ratio = float(np.exp(weight @ np.log(np.maximum(ratios[kept], 1e-9))))
    # of a normal log-ratio: density at log(ratio) against that at -log(ratio)
    gap = 2 * np.log(RATIO) * np.log(ratio)
    beta, gamma = (weight @ np.array([models[i][side] for i in kept]) for side in (0, 1))
    decided = Orientation("norm", gap, "log-evidence", bool(gap >= CLEAR), gamma, beta)
    return [pieces[i] for i in kept], decided


def _ratio(problem: Problem, beta: Floats, gamma: Floats) -> float:
    """Strength of the labelling as a share of that of the class."""
    return float(np.sqrt(variation(problem, gamma) / variation(problem, beta)))


def _by_evidence(
    problem: Problem, pieces: list[Piece], mean_s: float, ridges: list[Ridge]
) -> tuple[list[Piece], Orientation]:
    """The pieces, and those found from the exchanged pair if that has a basin of its own."""
    rule = what_tells(problem)
    biased = [piece for piece in pieces if piece.ridge.problem is problem]
    best = max(biased or pieces, key=_mass)
    theta = exchanged(best.ridge.problem, best.top.theta)
    alone = Orientation(rule, np.inf, "log-evidence", True, *full(best.ridge.problem, theta))
    if not biased:
        return pieces, alone
    start = np.asarray(np.linalg.solve(best.ridge.to_theta, theta)[:-1])
    again = [replace(ridge) for ridge in ridges if ridge.problem is problem]
    others = _walk(mean_s, again, start)
    # cells of either walk may have slipped into the basin of the other
    others = [piece for piece in others if _nearer(piece, start, best.top.u)]
    if not others:
        return pieces, alone
    rival = max(others, key=_mass)
    others = [piece for piece in others if _nearer(piece, rival.top.u, best.top.u)]
    pieces = [
        piece
        for piece in pieces
        if piece.ridge.problem is not problem or _nearer(piece, best.top.u, rival.top.u)
    ]
    gap = logsumexp([p.log_mass for p in pieces]) - logsumexp([p.log_mass for p in others])
    lighter = full(problem, (rival if gap > 0 else best).top.theta)
    clear = bool(abs(gap) >= CLEAR)
    decided = Orientation(rule, abs(float(gap)), "log-evidence", clear, *lighter)
    return pieces + others, decided


def _mass(piece: Piece) -> float:
    return piece.log_mass


def _nearer(piece: Piece, u: Floats, other: Floats) -> bool:
    """Whether a piece's top lies nearer to u than to the other, in standardised coordinates."""
    here, there = (np.linalg.norm(piece.top.u - point) for point in (u, other))
    return bool(here < there)


def _mixed(pieces: list[Piece], mean_s: float) -> PUFit:
    """The pieces that matter to predictions or to intervals, as a mixture of normals."""
    log_mass, lean, rho = np.array([(p.log_mass, p.ridge.log_odds, p.ridge.rho) for p in pieces]).T
    shares = softmax([log_mass, log_mass - lean], axis=1)
    kept = np.flatnonzero((shares >= LIGHT * shares.max(axis=1, keepdims=True)).any(axis=0))
    weight, even = shares[:, kept] / shares[:, kept].sum(axis=1, keepdims=True)
    rho, log_evidence = rho[kept], log_mass[kept]
    sides = (_side([pieces[i] for i in kept], part) for part in ("outcome", "propensity"))
    mixture = Mixture(mean_s, weight, even, rho, log_evidence, *sides)
    beta, gamma = (weight @ side.coef for side in (mixture.outcome, mixture.propensity))
    climbed = [np.isfinite(piece.log_mass) for piece in pieces]
    return PUFit(beta, gamma, len(climbed), all(climbed), mixture=mixture)


def _side(pieces: list[Piece], part: str) -> Side:
    """Full-length coefficients and covariances of one model, and its share."""
    coefs, covariances, shares = [], [], []
    for piece in pieces:
        problem = piece.ridge.problem
        terms: Terms = getattr(problem, part)
        k = problem.outcome.size
        half = slice(None, k) if part == "outcome" else slice(k, None)
        embedding = np.column_stack([terms.embed(unit) for unit in np.eye(terms.size)])
        coefs.append(embedding @ piece.top.theta[half])
        covariances.append(embedding @ piece.top.spread[half, half] @ embedding.T)
        shares.append(_share(problem, coefs[-1], covariances[-1]))
    share, share_sd = np.array(shares).T
    return Side(
        np.array(coefs), np.array(covariances), share, np.hypot(share_sd, _within(pieces, share))
    )


def _within(pieces: list[Piece], share: Floats) -> Floats:
    """Standard deviation of a share inside each cell, by how it changes from cell to cell."""
    low, high = np.array([(piece.low, piece.high) for piece in pieces]).T
    deviation = np.zeros(len(pieces))
    for walk in {id(piece.ridge) for piece in pieces}:
        here = np.flatnonzero([id(piece.ridge) == walk for piece in pieces])
        if len(here) > 1:  # a cell whose neighbours hold nothing is not filled by its own mass
            slope = np.gradient(share[here], (low + high)[here] / 2)
            deviation[here] = np.abs(slope) * (high - low)[here] / np.sqrt(12)
    return deviation


def _share(problem: Problem, coef: Floats, covariance: Floats) -> tuple[float, float]:
    """Mean probability over the rows and its standard deviation, that of drawing them included."""
    rows, n = problem.rows, problem.n
    total, squares, slope = rows.sum_rows(partial(_moments, problem.link, coef), rows.weight)
    mean, slope = total / n, slope / n
    among_rows = max(squares / n - mean**2, 0.0)  # a constant leaves a rounding error of zero
    return mean, float(np.sqrt(slope @ covariance @ slope + among_rows / n))


def _moments(link: Link, coef: Floats, X: Matrix, weight: Floats) -> tuple[float, float, Floats]:
    y = response(link, predictor(X, coef))
    sums = float(weight @ y.value), float(weight @ y.value**2)
    return *sums, pull_back(X, weight * y.slope)
