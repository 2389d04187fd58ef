"""EM with one Newton step for each M-step (Lange, 1995): rounds for the price of a gradient.

By Fisher's identity the gradient of -Q_n is that of the two M-step fits at their start, so that a
round needs no fit::

    repeat
        beta  <- beta  - B^-1 dQ_n/dbeta       B: information of the outcome fit to soft targets t
        gamma <- gamma - G^-1 dQ_n/dgamma      G: of the propensity fit with weights t
        renew B and G if -Q_n fell by less than promised; shorten the step if it did not fall

The information of the fits is that of -Q_n and more, so that steps seldom go too far. Under a firm
belief about the prevalence they do, and the guard holds them.
"""

import numpy as np

from doublelogit._types import Floats
from doublelogit.core.likelihood import positive_given_label
from doublelogit.core.solvers import Factor
from doublelogit.core.solvers.trust_region import Abandon
from doublelogit.methods.logistic import logistic_models
from doublelogit.methods.problem import Problem

SHORTEST = 1 / 64  # of a step: what is worse even there is no way down
LONGEST = 2.0  # of a step, on the scale of predictors


def em_steps(
    problem: Problem, theta: Floats, rounds: int, abandon: Abandon | None = None
) -> Floats:
    """Where so many rounds lead from theta; fewer, if a point on the way is not to go on from."""
    likelihood = problem.likelihood
    here, halves, length = likelihood.value_grad(theta), _information(problem, theta), 1.0
    for _ in range(rounds):
        if abandon is not None and abandon(theta, here):
            break
        step = -length * np.concatenate(
            [half.solve(g) for half, g in zip(halves, likelihood.split(here.grad), strict=True)]
        )
        step *= min(1.0, LONGEST / max(float(np.linalg.norm(step * likelihood.scale)), LONGEST))
        trial = likelihood.value_grad(theta + step)
        promised = -0.5 * float(here.grad @ step)
        gain = here.value - trial.value
        if gain > 0:
            theta, here = theta + step, trial
        if gain < 0.5 * promised:  # the information is of another point, or of another function
            halves = _information(problem, theta)
            length = max(length / 2, SHORTEST) if gain <= 0 else length
        else:
            length = min(2 * length, 1.0)
    return theta


def _information(problem: Problem, theta: Floats) -> list[Factor]:
    """Information of the two fits of an M-step, factorised."""
    rows, (outcome, propensity) = problem.rows, logistic_models(problem)
    outcome.theta, propensity.theta = problem.likelihood.split(theta)
    a, b = outcome.predictor(), propensity.predictor()
    t = rows.map_columns(positive_given_label, rows.labels.known, a, b)
    weight = rows.map_columns(np.multiply, rows.weight, t)
    return [outcome.information(t, rows.weight), propensity.information(rows.labels.any, weight)]
