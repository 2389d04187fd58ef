"""TIcE: the label frequency by tree induction (Bekker, Davis 2018).

In any part of the feature space the share of labelled rows is at most c, and it is c where all
are positive. So c is bounded from below by each part's share, less what chance may add to it. A
tree, grown on one fold, looks for parts of large shares; the other folds bound c by them.
"""

from heapq import heappop, heappush
from typing import Any

import numpy as np
from numpy.typing import NDArray

from doublelogit._types import Floats, Ints
from doublelogit.studies.rivals.base import PrevalenceRival
from doublelogit.studies.rivals.sample import FOLDS, Sample

ROUNDS = 2  # the first with c = 1/2 in the bound, the second with what the first found
SPLITS = 500  # at most, per tree
FEWEST = 10  # rows in a part that is split, or bounds c
PARTS = 4  # equal parts of a feature's range, the children of a split
PRIOR = 5  # unlabelled rows added to a part when splits are compared


class TIcEClassifier(PrevalenceRival):
    """TIcE: labels at random, c the largest lower bound found by a tree, mean over folds.

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
    >>> from doublelogit.studies.rivals import TIcEClassifier
    >>> X = np.repeat([[0.0], [1.0]], 5000, axis=0)
    >>> s = np.arange(10_000) % 2 * (X[:, 0] == 1)  # every second positive
    >>> round(TIcEClassifier().fit(X, s).label_frequency_, 2)
    0.46
    """

    def __init__(self, *, C: float = 1.0, random_state: Any = 0, pos_label: Any = None) -> None:
        self.C = C
        self.random_state = random_state
        self.pos_label = pos_label

    def _estimate(self, sample: Sample) -> float:
        return sample.mean_s / label_frequency(sample.Z, sample.s == 1, self._stream())


def label_frequency(
    X: Floats, labelled: NDArray[np.bool_], random_state: np.random.RandomState
) -> float:
    """The estimate of c."""
    low, width = X.min(axis=0), np.ptp(X, axis=0)
    bins = np.minimum((X - low) / np.where(width > 0, width, 1.0) * PARTS, PARTS - 1).astype(int)
    fold = random_state.permutation(len(X)) % FOLDS
    c = 0.5
    for _ in range(ROUNDS):
        bounds = [largest_bound(bins, labelled, fold == f, c) for f in range(FOLDS)]
        c = float(np.mean(bounds))
    return max(c, float(labelled.mean()))


def allowance(size: int) -> float:
    """The probability delta that a bound is wrong, given the rows that bounds are made of."""
    return max(0.025, 1 / (1 + 0.004 * size))


def lower_bound(n_labelled: float, size: float, c: float, delta: float) -> float:
    """Bound of c by a part: its labelled share, less Cantelli's deviation at probability delta."""
    return float(n_labelled / size - np.sqrt(c * (1 - c) * (1 - delta) / (delta * size)))


def largest_bound(
    bins: NDArray[np.int_], labelled: NDArray[np.bool_], tree: NDArray[np.bool_], c: float
) -> float:
    """Largest bound by the other rows' parts of a tree that is grown, best part first."""
    grow, judge = np.flatnonzero(tree), np.flatnonzero(~tree)
    delta = allowance(len(judge))
    best = float(labelled[judge].mean())
    queue: list[tuple[float, int, Ints, Ints, frozenset[int]]] = []
    heappush(queue, (0.0, 0, grow, judge, frozenset(range(bins.shape[1]))))
    for n_split in range(SPLITS):
        if not queue or best >= 1:
            break
        *_, grow, judge, features = heappop(queue)
        feature = best_split(bins[grow], labelled[grow], sorted(features))
        for value in range(PARTS if feature >= 0 else 0):
            inside = grow[bins[grow, feature] == value]
            others = judge[bins[judge, feature] == value]
            if len(others) >= FEWEST:
                bound = lower_bound(labelled[others].sum(), len(others), c, delta)
                best = max(best, bound)
            if _worth_splitting(labelled, inside, others, c, delta, best):
                promise = lower_bound(labelled[inside].sum(), len(inside), c, delta)
                key = (-promise, PARTS * n_split + value + 1)
                heappush(queue, (*key, inside, others, features - {feature}))
    return best


def best_split(bins: NDArray[np.int_], labelled: NDArray[np.bool_], features: list[int]) -> int:
    """The feature one of whose parts has the largest labelled share; -1 if none divides the rows.

    The share is that of the part with a few unlabelled rows added, so that size counts as well.
    """
    best, score = -1, 0.0
    for feature in features:
        size = np.bincount(bins[:, feature], minlength=PARTS)
        if size.max(initial=0) < len(bins):
            count = np.bincount(bins[:, feature], weights=labelled, minlength=PARTS)
            share = float((count / (size + PRIOR)).max())
            best, score = (feature, share) if share > score else (best, score)
    return best


def _worth_splitting(
    labelled: NDArray[np.bool_], inside: Ints, others: Ints, c: float, delta: float, best: float
) -> bool:
    """Whether a part is large and mixed, and has labels enough to improve on the best bound."""
    if len(inside) <= FEWEST or best >= 1:
        return False
    n_labelled = int(labelled[inside].sum())
    needed = c * (1 - c) * (1 - delta) / (delta * (1 - best) ** 2)
    return 0 < n_labelled < len(inside) and bool(labelled[others].sum() > needed)
