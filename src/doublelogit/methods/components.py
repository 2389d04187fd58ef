"""From explored cells to a mixture of normals: coefficients, covariances and shares."""

from functools import partial

import numpy as np
from scipy.special import softmax

from doublelogit._types import Floats, Matrix
from doublelogit.design import Terms, predictor, pull_back
from doublelogit.fitted import PosteriorMixture, PosteriorSide
from doublelogit.link import Link, probability
from doublelogit.methods.exploration import LIGHT, Component
from doublelogit.methods.problem import Problem


def mixture(components: list[Component], mean_s: float, symmetric: bool) -> PosteriorMixture:
    """The components that matter, as a mixture of normals."""
    log_mass, rho, kappa = np.array(
        [(c.log_mass, c.posterior.rho, c.posterior.kappa) for c in components]
    ).T
    share = softmax(log_mass)
    kept = np.flatnonzero(share >= LIGHT * share.max())
    weight = share[kept] / share[kept].sum()
    sides = _sides([components[i] for i in kept])
    about = (weight, weight, rho[kept], log_mass[kept])
    return PosteriorMixture(mean_s, *about, *sides, symmetric, kappa=kappa[kept])


def _sides(components: list[Component]) -> tuple[PosteriorSide, PosteriorSide]:
    """Both models of every component."""
    problems = [component.posterior.problem for component in components]
    cuts = [problem.outcome.size for problem in problems]
    outcome = [(p.outcome, slice(None, k)) for p, k in zip(problems, cuts, strict=True)]
    propensity = [(p.propensity, slice(k, None)) for p, k in zip(problems, cuts, strict=True)]
    return _side(components, outcome), _side(components, propensity)


def _side(components: list[Component], parts: list[tuple[Terms, slice]]) -> PosteriorSide:
    """Full-length coefficients and covariances of one model, and its share."""
    coefs, covariances, shares = [], [], []
    for component, (terms, part) in zip(components, parts, strict=True):
        mode = component.mode
        embedding = np.column_stack([terms.embed(unit) for unit in np.eye(terms.size)])
        coefs.append(embedding @ mode.theta[part])
        covariances.append(embedding @ mode.theta_covariance[part, part] @ embedding.T)
        shares.append(_share(component.posterior.problem, coefs[-1], covariances[-1]))
    share, share_sd = np.array(shares).T
    spread = np.hypot(share_sd, _within(components, share))
    return PosteriorSide(np.array(coefs), np.array(covariances), share, spread)


def _within(components: list[Component], share: Floats) -> Floats:
    """Standard deviation of a share inside each cell, by how it changes from cell to cell."""
    low, high = np.array([(component.low, component.high) for component in components]).T
    deviation = np.zeros(len(components))
    for explored in {id(component.posterior) for component in components}:
        here = np.flatnonzero([id(component.posterior) == explored for component in components])
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
    of_coefficients = max(float(slope @ covariance @ slope), 0.0)  # likewise
    return mean, float(np.sqrt(of_coefficients + among_rows / n))


def _moments(link: Link, coef: Floats, X: Matrix, weight: Floats) -> tuple[float, float, Floats]:
    y = probability(link, predictor(X, coef))
    sums = float(weight @ y.value), float(weight @ y.value**2)
    return *sums, pull_back(X, weight * y.slope)
