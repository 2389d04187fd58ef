"""JOINT: maximum likelihood of the double logistic model.

Maximise ``Q_n(beta, gamma) = mean_i s_i log s(x_i) + (1 - s_i) log(1 - s(x_i))`` subject to
|beta|_1 > |gamma|_1. Q_n is not concave; the paper alternates minorise-maximise steps::

    repeat
        beta  <- beta  + (X'X/4)^-1 dQ_n/dbeta        X'X/4 bounds the curvature from above
        gamma <- gamma + (X'X/4)^-1 dQ_n/dgamma

which creep. The default is a trust-region Newton on (beta, gamma) at once, from several starts,
keeping the best. Q_n does not change when beta and gamma change places; the constraint
picks one of the two, so it is enough to order them after the fit (see orientation.py).

From the same start Newton and EM end in the same optimum in 23 of 36 problems of bundled tables;
else Newton's is the better one eight times, the worse one five times (``benchmarks optima``). So
JOINT starts from what EM makes of the first start, too.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import NamedTuple

import numpy as np

from doublelogit._types import Floats
from doublelogit.core.solvers import (
    Factor,
    FirstOrder,
    Solution,
    ValueGrad,
    largest,
    settled,
    stationary,
)
from doublelogit.fitted.fit import PUFit
from doublelogit.methods.em import em
from doublelogit.methods.em_steps import em_steps
from doublelogit.methods.logistic import DENSE_LIMIT
from doublelogit.methods.maximum import maximum, worth_hessians
from doublelogit.methods.orientation import orient
from doublelogit.methods.problem import Problem
from doublelogit.methods.start import start

# After these rounds JOINT was never worse than EM run to its end (make -C benchmarks optima).
EM_ROUNDS = 50
FEWER_ROUNDS = 10  # of fits without a Hessian, each of which makes hundreds of passes
# A climb ends in an optimum that is known already if the curvature there explains the gradient
# here: the step it proposes leads there, but for this share of the way.
EXPLAINED = 0.1
# Or if it has come so near in value, as a share of a whole climb, and the straight way leads down.
NEARLY = 0.01


def joint(
    problem: Problem,
    *,
    solver: str = "newton",
    init: str | Floats = "naive",
    n_starts: int = 4,
    mm_steps: int = 1,
    stopping: str = "gradient",
    orientation: str = "auto",
    tol: float = 1e-6,
    max_iter: int = 1000,
    rng: np.random.Generator | None = None,
) -> PUFit:
    """Maximise Q_n from several starts (a named or given one first) and order the pair."""
    rng = np.random.default_rng(0) if rng is None else rng
    known: list[Optimum] = []

    def solve(theta: Floats) -> Solution:
        if solver == "mm":
            return mm(problem, theta, mm_steps, stopping, tol, max_iter)
        return climb(problem, theta, known, tol=tol, max_iter=max_iter)

    return best_of(problem, starts(problem, init, n_starts, rng, known), solve, orientation)


def best_of(
    problem: Problem,
    begins: Iterable[Floats],
    solve: Callable[[Floats], Solution],
    orientation: str = "auto",
) -> PUFit:
    """The best of the solutions that starts lead to, its two models in order."""
    best = min(map(solve, begins), key=_rank)
    best, rival, decided = orient(problem, best, solve, orientation)
    pair = problem.fitted(best.theta, None if np.isinf(decided.gap) else rival)
    return PUFit(pair, best.n_iter, best.converged, best.trace, decided)


class Optimum(NamedTuple):
    """A solution, and the curvature there, factorised."""

    solution: Solution
    factor: Factor

    def explains(self, likelihood: FirstOrder, theta: Floats, here: ValueGrad) -> bool:
        """Whether a climb would end here from where it is."""
        if here.value < self.solution.value:
            return False
        away = (theta - self.solution.theta) * likelihood.scale
        left = away - self.factor.solve(here.grad) * likelihood.scale
        if np.linalg.norm(left) <= EXPLAINED * np.linalg.norm(away):
            return True
        climbed = self.solution.trace[0] - self.solution.value
        near = here.value - self.solution.value <= NEARLY * climbed
        return near and self._straight_down(likelihood, theta, here)

    def _straight_down(self, likelihood: FirstOrder, theta: Floats, here: ValueGrad) -> bool:
        """Whether the straight way here leads down all along, as far as a few points tell."""
        way, last = self.solution.theta - theta, here
        if float(here.grad @ way) >= 0:
            return False
        for share in (0.25, 0.5, 0.75):
            value, grad = likelihood.value_grad(theta + share * way)
            if value >= last.value or float(grad @ way) >= 0:
                return False
            last = ValueGrad(value, grad)
        return True


def climb(
    problem: Problem, theta: Floats, known: list[Optimum], *, tol: float, max_iter: int
) -> Solution:
    """The optimum that a start leads to: one of those known, or a new one, which is known then."""
    found: Optimum | None = None

    def abandon(theta: Floats, here: ValueGrad) -> bool:
        nonlocal found
        found = recognised(problem, known, theta, here)
        return found is not None

    solution = maximum(problem, theta, tol=tol, max_iter=max_iter, abandon=abandon)
    if found is not None:
        return found.solution
    if solution.converged and solution.last is not None:
        known.append(Optimum(solution, Factor.from_matrix(solution.last.hess)))
    return solution


def recognised(
    problem: Problem, known: list[Optimum], theta: Floats, here: ValueGrad
) -> Optimum | None:
    """The known optimum that a climb is about to end in, if there is one."""
    fits = (optimum for optimum in known if optimum.explains(problem.likelihood, theta, here))
    return next(fits, None)


def starts(
    problem: Problem,
    init: str | Floats,
    n: int,
    rng: np.random.Generator,
    known: list[Optimum] | None = None,
) -> Iterator[Floats]:
    """The first start, what EM makes of it in a few rounds, the other named one, then shakes.

    EM keeps to the basin that the first start lies in, where a Newton step may leave it; the
    shakes change predictors by about one. Rounds end where they lead to a known optimum.
    """
    first = start(problem, init)
    yield first
    if n > 1 and problem.false_label_rate == 0:  # EM takes labelled rows for positive
        if worth_hessians(problem):
            abandon = partial(_leads_to_known, problem, known) if known else None
            yield em_steps(problem, first, EM_ROUNDS, abandon)
        else:
            fitted = em(problem, init=first, tol=0, max_iter=FEWER_ROUNDS)
            yield problem.theta(fitted.model)
    if n > 2:
        balanced = isinstance(init, str) and init == "balanced"
        yield start(problem, "naive" if balanced else "balanced")
    for _ in range(n - 3):
        yield shaken(problem, first, rng)


def shaken(problem: Problem, theta: Floats, rng: np.random.Generator) -> Floats:
    """A point near theta, where predictors differ by about one."""
    noise = rng.standard_normal(len(theta)) / problem.likelihood.scale
    return theta + noise / np.sqrt(len(theta))


def _leads_to_known(problem: Problem, known: list[Optimum], theta: Floats, here: ValueGrad) -> bool:
    return recognised(problem, known, theta, here) is not None


def mm(
    problem: Problem, theta: Floats, steps: int, stopping: str, tol: float, max_iter: int
) -> Solution:
    """Alternate ``steps`` minorise-maximise steps in beta and in gamma."""
    if len(theta) > 2 * DENSE_LIMIT:
        raise ValueError(
            f"solver='mm' holds a matrix of all pairs of features, so it takes at most "
            f"{DENSE_LIMIT} of them; got {len(theta) // 2}. Choose solver='newton'."
        )
    likelihood = problem.likelihood
    halves = (slice(None, problem.outcome.size), slice(problem.outcome.size, None))
    bounds = [_bound(problem, half) for half in halves]
    value, grad = likelihood.value_grad(theta)
    trace, converged = [value], tol == 0
    for n_iter in range(1, max_iter + 1):
        for half, bound in zip(halves, bounds, strict=True):
            for _ in range(steps):
                theta = theta.copy()
                theta[half] -= bound.solve(grad[half])
                value, grad = likelihood.value_grad(theta)
        trace.append(value)
        if (
            stationary(grad, tol, likelihood.unit)
            if stopping == "gradient"
            else settled(trace, tol)
        ):
            converged = True
            break
    size = largest(grad, likelihood.unit)
    return Solution(theta, value, size, n_iter, converged, None, tuple(trace))


def _bound(problem: Problem, half: slice) -> Factor:
    """``X'WX/4`` and the penalty, factorised: the curvature of the minoriser."""
    terms = problem.outcome if half.start is None else problem.propensity
    return Factor.from_matrix(
        problem.moments.gram(terms) / 4 + np.diag(problem.likelihood.ridge[half])
    )


def _rank(solution: Solution) -> float:
    # starts that end in one optimum differ by rounding: let the first of them win
    return round(solution.value, 9)
