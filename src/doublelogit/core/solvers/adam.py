"""Adam (Kingma & Ba, 2015): gradient steps of a size set per coordinate."""

from dataclasses import dataclass, field

import numpy as np

from doublelogit._types import Floats


@dataclass
class Adam:
    """Remembers the running moments of the gradient between steps."""

    learning_rate: float = 1e-3
    decay: float = 0.9
    square_decay: float = 0.999
    epsilon: float = 1e-8
    _steps: int = field(default=0, init=False)
    _mean: Floats | float = field(default=0.0, init=False)
    _root: Floats | float = field(default=0.0, init=False)  # of squares, which may overflow

    def step(self, theta: Floats, grad: Floats) -> Floats:
        """Theta after one step against the gradient."""
        self._steps += 1
        self._mean = self.decay * self._mean + (1 - self.decay) * grad
        kept, new = np.sqrt([self.square_decay, 1 - self.square_decay])
        self._root = np.hypot(kept * self._root, new * grad)
        mean = self._mean / (1 - self.decay**self._steps)
        root = self._root / np.sqrt(1 - self.square_decay**self._steps)
        return np.asarray(theta - self.learning_rate * mean / (root + self.epsilon))
