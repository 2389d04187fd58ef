"""NTC-tMI: NAIVE with a threshold by mutual information (Teisseyre et al., AISTATS 2025)."""

from typing import Any, ClassVar

import numpy as np
from scipy.optimize import brentq
from scipy.special import digamma, expit

from doublelogit._types import Floats
from doublelogit.core.design import predictor
from doublelogit.estimators.base import COUNT
from doublelogit.studies.rivals.base import AbstractRival, RivalFit, implied_pair
from doublelogit.studies.rivals.sample import Sample

THRESHOLDS = 100


class NTCtMIClassifier(AbstractRival):
    """NTC-tMI: NAIVE's score z, cut where it tells most of the side that a row is on.

    The cut t maximises an estimate, by k nearest neighbours, of the mutual information between z
    of unlabelled rows and z > t. y(x) = sigma(z - t); e(x) = s(x) / y(x), at most 1, with
    s(x) = sigma(z).

    Parameters
    ----------
    n_neighbors : int, default=3
        The k of the estimate.
    C : float, default=1.0
        Inverse strength of the L2 penalty on NAIVE's slopes of standardised features.
    pos_label : object, default=None
        The value of y that means labelled. Not needed for 0/1, -1/1 and booleans.

    Attributes
    ----------
    prevalence_, label_frequency_ : float
        Mean of y(x) over the sample, and the label frequency that follows from it.
    coef_ : ndarray of shape (1, n_features)
        Slopes of the score.
    intercept_ : ndarray of shape (1,)
        Its intercept.
    classes_ : ndarray of shape (2,)
        The values of y: unlabelled first, labelled second.

    Examples
    --------
    >>> import numpy as np
    >>> from doublelogit.studies.rivals import NTCtMIClassifier
    >>> X = np.r_[0:10, 20:30][:, None]
    >>> s = (X[:, 0] > 25).astype(int)
    >>> NTCtMIClassifier().fit(X, s).predict(X)
    array([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **AbstractRival._parameter_constraints,
        "n_neighbors": COUNT,
    }

    def __init__(self, *, n_neighbors: int = 3, C: float = 1.0, pos_label: Any = None) -> None:
        self.n_neighbors = n_neighbors
        self.C = C
        self.pos_label = pos_label

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # unlabelled rows are cut in two halves, nearly, even if they are all negative
        tags.classifier_tags.poor_score = True
        return tags

    def _fit_sample(self, sample: Sample) -> RivalFit:
        theta = sample.naive
        scores = predictor(sample.Z[sample.unlabelled], theta)
        shifted = np.append(theta[:-1], theta[-1] - best_threshold(scores, self.n_neighbors))
        prevalence = float(expit(predictor(sample.Z, shifted)).mean())
        return RivalFit(implied_pair(sample.coef(theta), sample.side(shifted)), prevalence)


def best_threshold(scores: Floats, k: int) -> float:
    """The cut of largest mutual information between scores and their side of it."""
    z = np.sort(scores)
    T = len(z)
    if 2 * (k + 1) > T:
        raise ValueError(
            f"n_neighbors={k} needs at least {2 * (k + 1)} unlabelled rows, k + 1 on each side of "
            f"a cut; got {T}."
        )
    i = max(int(smallest_share(T, k) * T), k + 1)
    if z[i - 1] == z[T - i]:
        return float(z[i - 1])  # no score to cut between
    cuts = np.linspace(z[i - 1], z[T - i], THRESHOLDS, endpoint=False)
    return float(cuts[np.argmax([mutual_information(z, t, k) for t in cuts])])


def smallest_share(T: int, k: int) -> float:
    """The share of rows below a cut from which it can have more than a half-way cut must have.

    A cut has at most H(r) = psi(T) - r psi(rT) - (1-r) psi((1-r)T), if no neighbourhood reaches
    across it. The half-way one has at least what is left if 2k of them hold half of the rows.
    """
    half = T / 2
    least = digamma(T) - digamma(half) + 2 * k / T * (digamma(k) - digamma(half + k))

    def excess(r: float) -> float:
        return digamma(T) - r * digamma(r * T) - (1 - r) * digamma((1 - r) * T) - least

    return float(brentq(excess, 1 / T, 0.5)) if excess(1 / T) < 0 else 1 / T


def mutual_information(z: Floats, t: float, k: int) -> float:
    """I(t) = psi(T) + psi(k) - mean psi(m_i) - (n0 psi(n0) + n1 psi(n1)) / T of sorted scores.

    m_i counts the rows, of either side, as near to row i as its k-th neighbour on its own side.
    A row with k others between it and the cut has m_i = k.
    """
    T, n0 = len(z), int(np.searchsorted(z, t, side="right"))
    n1 = T - n0
    near = np.arange(max(n0 - k, 0), min(n0 + k, T))
    distance = np.abs(z[near, None] - z)
    same_class = np.where((np.arange(T) < n0) == (near[:, None] < n0), distance, np.inf)
    radius = np.partition(same_class, k, axis=1)[:, k, None]  # the row itself is the first
    m = np.count_nonzero(distance <= radius, axis=1) - 1
    mean_psi = (digamma(m).sum() + (T - len(near)) * digamma(k)) / T
    return float(digamma(T) + digamma(k) - mean_psi - (n0 * digamma(n0) + n1 * digamma(n1)) / T)
