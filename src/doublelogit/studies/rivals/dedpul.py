"""DEDPUL: the prevalence by the ratio of two densities of scores (Ivanov 2020).

With r(z) = f_labelled(z) / f_unlabelled(z) an unlabelled row is positive with probability
alpha r(z), at most 1. If alpha is their share, it is the mean of these; so it is for every smaller
alpha too, and the largest such alpha is the estimate.
"""

from typing import Any

import numpy as np
from scipy.ndimage import median_filter
from scipy.stats import norm

from doublelogit._types import Floats
from doublelogit.studies.rivals.base import PrevalenceRival
from doublelogit.studies.rivals.sample import Sample

# Widths of the kernels, in standard deviations of the scores.
UNLABELLED_WIDTH, LABELLED_WIDTH = 0.05, 0.1
GRID = 2000  # points at which densities are computed
LARGEST_RATIO = 50.0
STEP = 0.001  # between the values of alpha that are compared
LARGEST_ERROR = 0.05  # of the mean posterior, where EM does not settle
TOL, ROUNDS = 1e-5, 1000


class DEDPULClassifier(PrevalenceRival):
    """DEDPUL: labels at random, the prevalence by densities of NAIVE's scores on rows set aside.

    Parameters
    ----------
    C : float, default=1.0
        Inverse strength of the L2 penalty on NAIVE's slopes of standardised features.
    random_state : int, RandomState instance or None, default=0
        Of the folds.
    pos_label : object, default=None
        The value of y that means labelled. Not needed for 0/1, -1/1 and booleans.

    Attributes
    ----------
    prevalence_, label_frequency_ : float
        The estimates.
    classes_ : ndarray of shape (2,)
        The values of y: unlabelled first, labelled second.

    Examples
    --------
    >>> import numpy as np
    >>> from doublelogit.studies.rivals import DEDPULClassifier
    >>> X = np.r_[0:40, 100:140][:, None]
    >>> s = (np.arange(80) >= 40) & (np.arange(80) % 2 == 0)  # every second positive
    >>> round(DEDPULClassifier().fit(X, s).prevalence_, 1)
    0.5
    """

    def __init__(self, *, C: float = 1.0, random_state: Any = 0, pos_label: Any = None) -> None:
        self.C = C
        self.random_state = random_state
        self.pos_label = pos_label

    def _estimate(self, sample: Sample) -> float:
        scores = sample.held_out_scores(self._stream())
        ratio = density_ratio(scores[sample.labelled], scores[sample.unlabelled])
        return sample.mean_s + (1 - sample.mean_s) * mixture_share(ratio)


def density_ratio(labelled: Floats, unlabelled: Floats) -> Floats:
    """r(z) at the unlabelled scores, smoothed by medians and made to rise with z."""
    scores = np.sort(unlabelled)
    upper = _density(scores, labelled, LABELLED_WIDTH)
    lower = _density(scores, unlabelled, UNLABELLED_WIDTH)
    ratio = np.minimum(upper / np.maximum(lower, np.finfo(float).tiny), LARGEST_RATIO)
    ratio = median_filter(ratio, size=11, mode="nearest")
    rising = scores >= (labelled.mean() + unlabelled.mean()) / 2
    ratio[rising] = np.maximum.accumulate(ratio[rising])
    return np.sort(median_filter(ratio, size=2 * (len(ratio) // 20) + 1, mode="nearest"))


def _density(at: Floats, values: Floats, width: float) -> Floats:
    """Kernel density of values, on a grid between the points that are asked for."""
    spread = width * (float(values.std()) or 1.0)
    grid = np.linspace(at[0], at[-1], GRID)
    densities = [
        norm.pdf(grid[i : i + 100, None], values, spread).mean(axis=1) for i in range(0, GRID, 100)
    ]
    return np.asarray(np.interp(at, grid, np.concatenate(densities)))


def mixture_share(ratio: Floats) -> float:
    """The share alpha of positives among unlabelled rows, given r(z) of each.

    EM goes down from alpha = 1 to the largest alpha that is the mean of its posteriors. Where
    the estimated ratios leave none, it is the alpha at which the difference bends most.
    """
    settled = _by_em(ratio)
    values = np.arange(1, round(1 / STEP) + 1) * STEP
    errors = values - np.array([_mean_posterior(ratio, alpha) for alpha in values])
    allowed = np.flatnonzero(errors[1:-1] < LARGEST_ERROR)
    if len(allowed) == 0:
        return settled
    bend = values[1:-1][allowed[np.argmax(np.diff(errors, 2)[allowed])]]
    crossed = np.count_nonzero(errors < 0) > 1
    return settled if bend <= settled or (crossed and settled > STEP) else float(bend)


def _mean_posterior(ratio: Floats, alpha: float) -> float:
    return float(np.minimum(alpha * ratio, 1.0).mean())


def _by_em(ratio: Floats) -> float:
    """Where EM comes to rest, or has no posterior of one left.

    From there on it would multiply alpha by the mean ratio, which is one but for its error.
    """
    alpha = 1.0
    for _ in range(ROUNDS):
        before, alpha = alpha, _mean_posterior(ratio, alpha)
        if abs(before - alpha) < TOL or before * ratio.max() < 1:
            break
    return alpha
