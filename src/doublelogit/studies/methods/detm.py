"""DETM: maximum likelihood of a softmax of three classes, two of which are seen as one.

Labelled positives, unlabelled positives and negatives have log-odds (a + b, a, 0), a = x'beta and
b = x'gamma; the last two are merged::

    s(x) = e^(a+b) / (1 + e^a + e^(a+b)),  e(x) = sigma(b),  P(Y=1 | x, S=0) = sigma(a)

Algorithm::

    for every start: those of JOINT, seen from this model, and shakes of the first
        (beta, gamma) <- trust-region Newton on the penalised likelihood of what was observed
    keep the best
    exchange unlabelled positives and negatives, (beta, gamma) -> (-beta, beta + gamma), unless
        features or audited rows tell them apart, if that brings the unlabelled positives
        nearer to the labelled: the variance of x'gamma over the rows below that of x'(beta + gamma)

With gamma a constant this is labelling at random and a logistic class, as in JOINT. Otherwise no
y(x) of JOINT is one of DETM: logit y(x) = a + log(1 + e^b) bends.
"""

from collections.abc import Iterator

import numpy as np

from doublelogit._types import Floats
from doublelogit.core.solvers import Solution
from doublelogit.fitted.fit import PUFit
from doublelogit.methods.joint import Optimum, best_of, climb, shaken, starts
from doublelogit.studies.methods.softmax import SoftmaxProblem


def detm(
    problem: SoftmaxProblem,
    *,
    n_starts: int = 10,
    tol: float = 1e-6,
    max_iter: int = 1000,
    rng: np.random.Generator | None = None,
) -> PUFit:
    """Maximise the likelihood of the softmax from several starts; the search is that of JOINT."""
    rng = np.random.default_rng(0) if rng is None else rng
    optima: list[Optimum] = []

    def solve(theta: Floats) -> Solution:
        return climb(problem, theta, optima, tol=tol, max_iter=max_iter)

    return best_of(problem, softmax_starts(problem, n_starts, rng), solve)


def softmax_starts(problem: SoftmaxProblem, n: int, rng: np.random.Generator) -> Iterator[Floats]:
    """The starts of JOINT that are no shakes, seen from this model, then shakes of the first."""
    begins = starts(problem.double_logistic, "naive", min(n, 3), rng)
    first = problem.approximated(next(begins))
    yield first
    yield from map(problem.approximated, begins)
    for _ in range(n - 3):
        yield shaken(problem, first, rng)
