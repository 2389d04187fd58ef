"""The prior of AVERAGED: how real tables look, learned from the learn half of the corpus.

    class_scale      the signal, sd of x'beta: its logarithm ~ N(SIGNAL + GROWTH log p, SPREAD^2)
    labelling_scale  sd of x'gamma: the scale of the class times the strength of the mechanism
    beta_j           N(0, class_scale^2 / p) for standardised features
    pi               prevalence: half Beta(PREVALENCE), half uniform, for tables unlike those
    mechanism        how labels are given, with its odds and the prior of the label frequency c:
                     ``mechanisms/``

The numbers are those of ``tools/learn_prior.py``; a test holds them to the corpus. The scale of the
slopes is averaged by its evidence. Slopes of a fixed scale would reward saturated classes: labels
show (1 - y) beta only, so weak features fit best where nearly all rows are positive. The intercepts
have no prior of their own; the prevalence and the label frequency have, and the Jacobian of one
pair by the other is part of the mass of a cell.

No class is quite logistic, so the evidence of many rows is not taken at its word: it counts as that
of 3000 rows at most (a coarsened posterior; ``Settings.coarse``).
"""

import numpy as np
from scipy.special import betaln, xlog1py, xlogy

from doublelogit._types import Floats
from doublelogit.averaged.settings import Settings

# learned
SIGNAL, GROWTH, SPREAD = -0.75, 0.43, 0.76
PREVALENCE = (1.94, 3.47)
UNLIKE = 0.5  # share of the prior of the prevalence that is uniform


def log_prevalence(pi: Floats) -> Floats:
    """Logarithm of the prior density of the prevalence."""
    a, b = PREVALENCE
    learned = np.exp(xlogy(a - 1, pi) + xlog1py(b - 1, -pi) - betaln(a, b))
    return np.asarray(np.log(UNLIKE + (1 - UNLIKE) * learned))


def class_scales(p: int, settings: Settings) -> dict[float, float]:
    """Scales of the class for p features, with their prior weights."""
    if p == 0:
        return {1.0: 1.0}
    nodes = settings.node_values
    density = np.exp(-(nodes**2) / 2)
    weights = density / density.sum()
    scales = np.exp(SIGNAL + GROWTH * np.log(p) + SPREAD * nodes)
    return dict(zip(scales.tolist(), weights.tolist(), strict=True))
