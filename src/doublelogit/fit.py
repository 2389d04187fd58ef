"""What every method returns."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from doublelogit._types import Floats
from doublelogit.mixture import Mixture


@dataclass(frozen=True)
class Orientation:
    """What told the outcome from the propensity, how clearly, and the pair exchanged.

    Parameters
    ----------
    rule : {"features", "audit", "prevalence", "false labels", "penalty", "norm"}
        What decided.
    gap : float
        How clearly: how far the exchanged solution lies below in log-likelihood (inf if it is
        no optimum of its own), or by how many standard errors the outcome is the stronger.
    unit : {"log-likelihood", "standard errors"}
        That of the gap.
    clear : bool
        Whether the gap is wide enough to rely on.
    beta, gamma : ndarray
        The exchanged solution, full-length, intercept last.
    """

    rule: str
    gap: float
    unit: str
    clear: bool
    beta: Floats
    gamma: Floats


@dataclass(frozen=True)
class PUFit:
    """Fitted models, full length, intercept last.

    ``beta`` and ``gamma`` are None where the model is another classifier than a linear one,
    ``gamma`` also where the method has no propensity model. ``alpha``, the naive model of the
    label, is kept where the propensity derives from it: e(x) = (s_naive(x) + 1) / 2.
    ``trace`` holds the (minimised) objective after each round. Of a method that averages,
    ``beta`` and ``gamma`` are means over ``mixture``.
    """

    beta: Floats | None
    gamma: Floats | None
    n_iter: int
    converged: bool
    trace: tuple[float, ...] = ()
    alpha: Floats | None = None
    orientation: Orientation | None = None
    mixture: Mixture | None = None


def shifted(fit: PUFit, shift: Floats | None) -> PUFit:
    """The fit of features x, given the fit of x - shift: the intercepts move, no slope does."""
    if shift is None:
        return fit
    names = ("beta", "gamma", "alpha")
    found = {name: getattr(fit, name) for name in names}
    coefs: dict[str, Any] = {n: moved(c, shift) for n, c in found.items() if c is not None}
    other = fit.orientation
    if other is not None:
        other = replace(other, beta=moved(other.beta, shift), gamma=moved(other.gamma, shift))
    mixture = None if fit.mixture is None else fit.mixture.moved(shift)
    return replace(fit, orientation=other, mixture=mixture, **coefs)


def moved(coef: Floats, shift: Floats | None) -> Floats:
    """Coefficients of features x, given those of x - shift."""
    return coef if shift is None else np.append(coef[:-1], coef[-1] - shift @ coef[:-1])
