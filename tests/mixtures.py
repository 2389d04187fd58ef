"""Two classes that lie apart, labelled at random: where every rival should be right."""

import numpy as np


def mixture(n=2000, c=0.5, apart=6.0, seed=0, p=3):
    """Two normal classes, half of the rows each, labelled at random."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    X = rng.standard_normal((n, p))
    X[:, 0] += apart * y
    return X, y, (y * (rng.random(n) < c)).astype(int)
