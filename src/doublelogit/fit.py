"""What every method returns."""

from dataclasses import dataclass, replace

import numpy as np

from doublelogit._types import Floats


@dataclass(frozen=True)
class PUFit:
    """Fitted models, full length, intercept last.

    ``beta`` and ``gamma`` are None where the model is another classifier than a linear one,
    ``gamma`` also where the method has no propensity model. ``alpha``, the naive model of the
    label, is kept where the propensity derives from it: e(x) = (s_naive(x) + 1) / 2.
    ``trace`` holds the (minimised) objective after each round.
    """

    beta: Floats | None
    gamma: Floats | None
    n_iter: int
    converged: bool
    trace: tuple[float, ...] = ()
    alpha: Floats | None = None


def shifted(fit: PUFit, shift: Floats | None) -> PUFit:
    """The fit of features x, given the fit of x - shift: the intercepts move, no slope does."""
    if shift is None:
        return fit

    def moved(coef: Floats | None) -> Floats | None:
        return None if coef is None else np.append(coef[:-1], coef[-1] - shift @ coef[:-1])

    return replace(fit, beta=moved(fit.beta), gamma=moved(fit.gamma), alpha=moved(fit.alpha))
