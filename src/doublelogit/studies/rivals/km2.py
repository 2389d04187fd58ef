"""KM2: the prevalence by kernel mean embeddings (Ramaswamy, Scott, Tewari 2016).

Let F be the distribution of unlabelled rows, H that of positives, and F = alpha H + (1-alpha) G.
Then lambda F + (1-lambda) H is a distribution up to lambda = 1/(1-alpha), where it is G, and none
beyond. d(lambda) is the distance of its embedding from the convex hull of the embeddings of the
rows: nearly flat up to there, then rising.
"""

import warnings
from typing import Any

import numpy as np
from scipy.spatial.distance import pdist, squareform
from sklearn.exceptions import ConvergenceWarning

from doublelogit._types import Floats
from doublelogit.studies.rivals.base import PrevalenceRival
from doublelogit.studies.rivals.sample import Sample

ROWS = 2000  # at most; beyond, a sample of them
LARGEST, WIDTH = 8.0, 0.04  # of lambda: where the search ends, and how finely it ends
FIRST = 1.05  # lambda up to which the slope that d has by chance is measured
WEIGHT = 0.2  # of the slope at infinity, in the threshold between the two
TOL = 5e-6  # of the projection: how much its gradient may differ between rows in use
STEPS = 50_000  # at most


class KM2Classifier(PrevalenceRival):
    """KM2: labels at random, the prevalence by kernel mean embeddings with a gradient threshold.

    Gaussian kernel of the median distance, on standardised features of at most 2,000 rows.

    Parameters
    ----------
    C : float, default=1.0
        Inverse strength of the L2 penalty on NAIVE's slopes of standardised features.
    random_state : int, RandomState instance or None, default=0
        Of the sample of rows, where there are more.
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
    >>> from doublelogit.studies.rivals import KM2Classifier
    >>> X = np.r_[0:40, 100:140][:, None]
    >>> s = (np.arange(80) >= 40) & (np.arange(80) % 2 == 0)  # every second positive
    >>> round(KM2Classifier().fit(X, s).prevalence_, 1)
    0.5
    """

    def __init__(self, *, C: float = 1.0, random_state: Any = 0, pos_label: Any = None) -> None:
        self.C = C
        self.random_state = random_state
        self.pos_label = pos_label

    def _estimate(self, sample: Sample) -> float:
        rows = np.arange(sample.n)
        if sample.n > ROWS:
            rows = _some_rows(sample, self._stream())
        alpha = mixture_share(sample.Z[rows], sample.s[rows] == 1)
        return sample.mean_s + (1 - sample.mean_s) * alpha


def _some_rows(sample: Sample, random_state: np.random.RandomState) -> Any:
    """Rows of both kinds, as many of each as their share asks for, and some at least."""
    n_labelled = int(np.clip(round(ROWS * sample.mean_s), 1, ROWS - 1))
    kinds = ((sample.labelled, n_labelled), (sample.unlabelled, ROWS - n_labelled))
    chosen = [random_state.permutation(rows)[:count] for rows, count in kinds]
    return np.concatenate(chosen)


def mixture_share(X: Floats, labelled: Any) -> float:
    """The share alpha of positives among unlabelled rows."""
    K = gaussian_kernel(X)
    mixture = np.where(labelled, 0.0, 1 / np.count_nonzero(~labelled))
    component = np.where(labelled, 1 / np.count_nonzero(labelled), 0.0)
    between = mixture - component
    apart = _distance(K, between)
    if apart < TOL:
        return 1.0  # unlabelled rows are as labelled ones
    weight = project(K, mixture + (FIRST - 1) * between, mixture)
    first = _distance(K, mixture + (FIRST - 1) * between - weight) / (FIRST - 1)
    threshold = (1 - WEIGHT) * first + WEIGHT * apart
    low, high = 1.0, LARGEST
    while high - low > WIDTH:
        middle = (low + high) / 2
        point = mixture + (middle - 1) * between
        weight = project(K, point, weight)
        gap = point - weight
        slope = gap @ K @ between / max(_distance(K, gap), TOL)  # of d, by the envelope theorem
        low, high = (low, middle) if slope > threshold else (middle, high)
    return 1 - 2 / (low + high)


def gaussian_kernel(X: Floats) -> Floats:
    """exp(-d^2 / (2 m^2)) of all pairs of rows, m the median of their distances d."""
    distances: Floats = pdist(X)
    median = float(np.median(distances)) or float(np.mean(distances)) or 1.0
    K = squareform(np.exp(-0.5 * (distances / median) ** 2))
    np.fill_diagonal(K, 1.0)
    return np.asarray(K)


def project(K: Floats, point: Floats, start: Floats) -> Floats:
    """Weights, not negative and of sum one, of the embedding nearest to that of a point.

    Weight moves from one row to another, the pair that gains most, until no pair gains.
    """
    weight, slope = start.copy(), K @ (start - point)
    for _ in range(STEPS):
        to = int(np.argmin(slope))
        excess = np.where(weight > 0, slope - slope[to], 0.0)
        if excess.max() < TOL:
            break
        curvature = np.maximum(2 - 2 * K[to], TOL)  # a Gaussian kernel has ones on its diagonal
        away = int(np.argmax(excess**2 / curvature))
        step = min(weight[away], excess[away] / curvature[away])
        weight[to] += step
        weight[away] -= step
        slope += step * (K[to] - K[away])
    else:
        warnings.warn(
            f"KM2 projects onto the hull in at most {STEPS} steps, and needed more: slopes of rows "
            f"in use differ by {excess.max():.2g}, not {TOL:g}. Its estimate may be off.",
            ConvergenceWarning,
            stacklevel=2,
        )
    return weight


def _distance(K: Floats, gap: Floats) -> float:
    return float(np.sqrt(np.maximum(gap @ K @ gap, 0.0)))
