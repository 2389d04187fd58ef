"""Trust-region Newton for objectives whose Hessian may be indefinite, frugal with Hessians.

Algorithm::

    repeat until |g|_max <= tol and the next step is small
        d <- minimiser of g'd + d'Hd/2 over |d|_scale <= radius    (exact: Newton's step where it
                                                                    is inside, else by eigenvectors)
        accept d if the objective falls by a tenth of what the model promised
        keep H, corrected by what d revealed, if d was Newton's and shrank g well; else renew it
        widen the radius after a good step on its border, narrow it after a bad one

A Hessian costs five to ten gradients. SciPy's ``trust-exact`` computes one per step, in unscaled
variables, and judges steps by the value alone, which stalls once a step changes the value by less
than rounding; here such steps are judged by the gradient, so that tolerances near machine precision
can be met.
"""

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs
from scipy.optimize import brentq

from doublelogit._types import Floats
from doublelogit.common.threads import limited_by
from doublelogit.core.solvers.objective import Objective, ValueGrad
from doublelogit.core.solvers.solution import Solution, largest

EPS = float(np.finfo(float).eps)
CONTRACTION = 0.5  # steps that shrink g less gain less per second than a renewed Hessian
TRUSTED = 6  # steps by rough Hessians; in the narrow valley that these lead to they are no use
# A gradient within tolerance may leave a flat direction far from its end: the last step, which
# costs no pass, must be this much shorter than the tolerance, or a few more are taken.
STILL = 0.01
POLISHED = 8
Abandon = Callable[[Floats, ValueGrad], bool]
Rough = Callable[[Floats], Floats]  # theta -> a Hessian that is nearly right


@limited_by(lambda *args, **_: len(args[1]))  # theta
def trust_region(
    objective: Objective,
    theta: Floats,
    *,
    tol: float,
    max_iter: int = 500,
    radius: float = 1.0,
    hess: Floats | None = None,
    rough: Rough | None = None,
    enough: float = 0.0,
    abandon: Abandon | None = None,
) -> Solution:
    """Minimise a smooth objective from theta; ends in a point with no downward curvature.

    ``hess`` of a nearby point saves the first Hessian, ``rough`` gives cheap ones, which are taken
    as long as they serve. With ``enough`` it ends as soon as the value
    can fall by no more than that, and asks for no Hessian there. ``abandon`` tells of a point
    whether to go on from it.
    """
    climb = _Climb(objective, theta, radius, hess, rough)
    trace = [climb.here.value]
    for _ in range(max_iter):
        if climb.radius < 1e-12 or (enough and climb.left <= enough):
            break
        if climb.arrived(tol):
            if climb.fresh:
                break
            climb.renew(exact=True)  # is there really no way down?
            continue
        if abandon is not None and abandon(climb.theta, climb.here):
            break
        if climb.step():
            trace.append(climb.here.value)
    size, n_iter = largest(climb.here.grad, objective.unit), len(trace) - 1
    converged = tol == 0 or size <= tol
    last = climb.seen if climb.fresh else None
    value = climb.here.value
    return Solution(climb.theta, value, size, n_iter, converged, trace=tuple(trace), last=last)


class _Climb:
    """Where a search is: the point, what is known there, and a model of what is around it."""

    def __init__(
        self,
        objective: Objective,
        theta: Floats,
        radius: float,
        hess: Floats | None,
        rough: Rough | None,
    ) -> None:
        self.objective, self.theta, self.radius = objective, theta, radius
        self.scale, self.unit, self._polish = objective.scale, objective.unit, POLISHED
        self._rough, self._trust = rough, TRUSTED
        if hess is None and rough is None:
            self.renew()
        else:
            self.here = objective.value_grad(theta)
            self._know(rough(theta) if hess is None and rough is not None else hess)

    def renew(self, exact: bool = False) -> None:
        """The Hessian of this very point."""
        if self._rough is None or exact:
            self.seen = self.objective.value_grad_hess(self.theta)
            self.here = ValueGrad(self.seen.value, self.seen.grad)
            self._know(self.seen.hess, fresh=True)
        else:
            self._know(self._rough(self.theta))

    def _know(self, hess: Any, fresh: bool = False) -> None:
        self.fresh, scale = fresh, self.scale
        self.model = _Quadratic(self.here.grad / scale, hess / np.outer(scale, scale))

    @property
    def left(self) -> float:
        """How far the value may still fall, as far as the model knows."""
        newton = self.model.newton
        return np.inf if newton is None else -0.5 * float(self.model.slopes @ newton)

    def arrived(self, tol: float) -> bool:
        """Whether the gradient vanishes, nothing goes down and no step would go far."""
        if largest(self.here.grad, self.unit) > tol or not self.model.convex:
            return False
        newton = self.model.newton
        if newton is None or self._polish == 0 or np.linalg.norm(newton) <= STILL * tol:
            return True
        self._polish -= 1
        return False

    def step(self) -> bool:
        """Take a step, or learn why not."""
        d, promised = self.model.minimiser(self.radius)
        if d is None:
            self.renew()
            return False
        trial = self.objective.value_grad(self.theta + d / self.scale)
        rate = largest(trial.grad, self.unit) / largest(self.here.grad, self.unit)
        if promised < 100 * EPS * max(abs(self.here.value), 1.0):
            good = 1.0 if rate < 1 else 0.0
        else:
            good = (self.here.value - trial.value) / promised
        if not good > 0.1 and self._outdated:
            self.renew()
            return False
        self._resize(good, float(np.linalg.norm(d)))
        if not good > 0.1:
            return False
        self.theta, self.here = self.theta + d / self.scale, trial
        inside = d is self.model.newton
        if inside and rate <= CONTRACTION:
            self.model, self.fresh = self.model.corrected(d, trial.grad / self.scale), False
            return True
        self._trust -= 1
        if self._trust == 0:
            self._rough = None
        self.renew()
        return True

    @property
    def _outdated(self) -> bool:
        """Whether the curvature may be to blame for a bad step: of another point, or of few rows.

        From few rows a first step may be too long by itself, but not two.
        """
        if self.fresh:
            return False
        if self.model.corrections or self._rough is None:
            return True
        if self._trust == TRUSTED:
            self._trust -= 1
            return False
        self._rough = None
        return True

    def _resize(self, good: float, length: float) -> None:
        if not good >= 0.25:
            self.radius = 0.25 * length
        elif good > 0.75 and length > 0.99 * self.radius:
            self.radius *= 2


class _Quadratic:
    """``slopes'd + d'Hd/2`` in scaled variables, factorised as far as is needed.

    ``pairs`` of steps and changes of the slopes, seen since H was computed, correct its inverse
    (BFGS, by the two loops of Nocedal, 1980).
    """

    def __init__(
        self,
        slopes: Floats,
        hess: Floats,
        factor: Floats | None = None,
        pairs: tuple[tuple[Floats, Floats], ...] = (),
    ) -> None:
        self.slopes, self.hess, self._pairs = slopes, hess, pairs
        if factor is None:
            factor, failed = dpotrf(hess, lower=True)
            factor = None if failed else factor
        self._factor = factor

    @property
    def corrections(self) -> int:
        """Number of steps since H was computed."""
        return len(self._pairs)

    @cached_property
    def newton(self) -> Floats | None:
        """The step to the bottom, if the model has one."""
        if self._factor is None:
            return None
        q, shares = self.slopes, []
        for step, change in reversed(self._pairs):
            shares.append(float(step @ q) / float(step @ change))
            q = q - shares[-1] * change
        d = dpotrs(self._factor, q, lower=True)[0]
        for (step, change), share in zip(self._pairs, reversed(shares), strict=True):
            d = d + (share - float(change @ d) / float(step @ change)) * step
        return np.asarray(-d)

    def corrected(self, step: Floats, slopes: Floats) -> "_Quadratic":
        """The model after a step, where the slopes are others."""
        pair = (step, slopes - self.slopes)
        convex = float(step @ pair[1]) > 0
        return _Quadratic(
            slopes, self.hess, self._factor, (*self._pairs, pair) if convex else self._pairs
        )

    @cached_property
    def axes(self) -> tuple[Floats, Floats]:
        """Curvatures, smallest first, and the axes along which they are met."""
        curvatures, vectors = np.linalg.eigh(self.hess)
        return curvatures, vectors

    @property
    def convex(self) -> bool:
        """Whether no direction goes down; a step below rounding of a flat one is none."""
        return self._factor is not None or self.axes[0][0] >= -np.sqrt(EPS) * self.axes[0][-1]

    def minimiser(self, radius: float) -> tuple[Floats | None, float]:
        """The lowest point within the radius and how much lower it is; none if H is too old."""
        if self.newton is not None and np.linalg.norm(self.newton) <= radius:
            return self.newton, -0.5 * float(self.slopes @ self.newton)
        if self._pairs:
            return None, 0.0
        curvatures, vectors = self.axes
        d = np.asarray(vectors @ _subproblem(curvatures, vectors.T @ self.slopes, radius))
        return d, -float(self.slopes @ d + 0.5 * d @ self.hess @ d)


def _subproblem(curvatures: Floats, slopes: Floats, radius: float) -> Floats:
    """Minimiser of ``slopes'd + sum curvatures d^2 / 2`` over ``|d| <= radius``.

    On the border ``d = -slopes / (curvatures + shift)`` with the shift at which |d| = radius
    (More & Sorensen, 1983).
    """
    lowest = curvatures[0]
    if lowest > 0:
        d = -slopes / curvatures
        if np.linalg.norm(d) <= radius:
            return d
    floor = max(0.0, -lowest)
    width = float(np.linalg.norm(slopes)) / radius

    def excess(shift: float) -> float:
        return float(1 / radius - 1 / np.linalg.norm(slopes / (curvatures + shift)))

    tiny = EPS * max(abs(lowest), abs(curvatures[-1]), width)
    if np.linalg.norm(slopes / (curvatures + floor + tiny)) <= radius:
        # the hard case: no slope along the downward axis, so go along it as far as allowed
        flat = curvatures + floor <= tiny
        d = np.where(flat, 0.0, -slopes / np.where(flat, 1.0, curvatures + floor + tiny))
        d[0] = np.sqrt(max(radius**2 - float(d @ d), 0.0)) * (-1.0 if slopes[0] > 0 else 1.0)
        return d
    shift = brentq(excess, floor + tiny, floor + tiny + width, rtol=1e-6)
    return np.asarray(-slopes / (curvatures + shift))
