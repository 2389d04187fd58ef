"""Anderson acceleration of a fixed-point map, kept on the rails by a merit value.

The next point is the combination of the last few images whose residuals cancel best in
the least-squares sense (Walker & Ni, 2011). A point that turns out worse than the one
before is dropped for the plain image it replaced, and the memory is cleared.
"""

from dataclasses import dataclass, field

import numpy as np

from doublelogit._types import Floats

# A jump beyond the plain image of more than this (on the scale of predictors) is
# extrapolation along a direction where the map has no fixed point at a finite distance.
LONGEST = 2.0


@dataclass
class Anderson:
    """Proposes the next point of ``theta <- G(theta)``; ``memory=0`` is the plain iteration."""

    memory: int = 8
    scale: Floats | float = 1.0
    _points: list[Floats] = field(default_factory=list, init=False)
    _images: list[Floats] = field(default_factory=list, init=False)
    _merit: float = field(default=np.inf, init=False)

    def next(self, theta: Floats, image: Floats, merit: float = -np.inf) -> Floats:
        """The point after theta, given G(theta) and the merit of theta (smaller is better)."""
        if self.memory == 0:
            return image
        if merit > self._merit and self._images:
            fallback = self._images[-1]
            self._forget()
            return fallback
        self._merit = merit
        self._points.append(theta)
        self._images.append(image)
        del self._points[: -self.memory - 1], self._images[: -self.memory - 1]
        if len(self._points) == 1:
            return image
        points, images = np.array(self._points), np.array(self._images)
        residuals = (images - points) * self.scale
        steps, turns = np.diff(images, axis=0).T, np.diff(residuals, axis=0).T
        weights, *_ = np.linalg.lstsq(turns, residuals[-1], rcond=1e-8)
        jump = -steps @ weights
        length = float(np.linalg.norm(jump * self.scale))
        shrunk: Floats = images[-1] + jump * min(1.0, LONGEST / max(length, LONGEST))
        return shrunk

    def _forget(self) -> None:
        self._points.clear()
        self._images.clear()
        self._merit = np.inf
