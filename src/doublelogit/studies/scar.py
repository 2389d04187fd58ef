"""Tests of SCAR by resampling labels among the likely positives.

The tests of Teisseyre et al. (2024): the positives are taken to be the labelled rows and the
unlabelled ones that NAIVE ranks first, as many as the label frequency c asks for; labels are then
drawn among them at random, again and again, and the statistic of the real labels is compared with
those. Where the classes overlap the rows ranked first are no random part of the positives, and
these tests reject too often: ``doublelogit.scar_test`` does not.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.special import betaincinv
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import check_X_y

from doublelogit._types import Floats
from doublelogit.engines.memory import memory_rows
from doublelogit.estimators.validation import encode_labels
from doublelogit.inference.scar import WEAK, ScarTest
from doublelogit.inference.scar_likelihood import null_fit
from doublelogit.methods import Problem, naive
from doublelogit.studies.scar_statistics import STATISTICS

FEWEST = 10  # unlabelled rows of the stratum, as in the paper


@dataclass(frozen=True)
class ResampledTest(ScarTest):
    """The result of a test of SCAR by resampling."""

    ASSUMED: ClassVar[str] = ""

    @property
    def p_interval(self) -> tuple[float, float]:
        n, k = self.draws, self.p_value * self.draws
        low, high = betaincinv(k + 0.5, n - k + 0.5, [0.05, 0.95])
        return float(min(low, self.p_value)), float(max(high, self.p_value))


def resampled_scar_test(
    X: Any,
    s: Any,
    *,
    method: str = "ks",
    label_frequency: float | None = None,
    n_resamples: int = 500,
    C: float = WEAK,
    pos_label: Any = None,
    random_state: int = 0,
) -> ResampledTest:
    """Test whether labelled rows are a random part of the likely positives.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Features; they are standardised.
    s : array-like of shape (n_samples,)
        Observed labels.
    method : {"ks", "kl", "klcov", "nb"}, default="ks"
        ks: sum over the features of Kolmogorov-Smirnov distances. kl, klcov: Kullback-Leibler
        divergence of Gaussians with independent features, or with covariances. nb: how well a naive
        Bayes classifier separates, AUC - 1/2.
    label_frequency : float, default=None
        P(S=1 | Y=1), if known; estimated under SCAR otherwise.
    n_resamples : int, default=500
        Samples under the hypothesis.
    C : float, default=100.0
        Penalty of the class.
    pos_label : object, default=None
        The value of s that means labelled. Not needed for 0/1, -1/1 and booleans.
    random_state : int, default=0
        Seed of the samples.

    Returns
    -------
    test : ResampledTest
    """
    if method not in STATISTICS:
        raise ValueError(f"method must be one of {', '.join(STATISTICS)}; got {method!r}.")
    if label_frequency is not None and not 0 < label_frequency <= 1:
        raise ValueError(f"label_frequency must be in (0, 1]; got {label_frequency}.")
    X, s = check_X_y(X, s, dtype=np.float64)
    labels, _ = encode_labels(s, pos_label)
    Z = StandardScaler().fit_transform(X)
    c = label_frequency or null_fit(Z, labels, C).c
    return _by_resampling(Z, labels, method, c, n_resamples, C, random_state)


def _by_resampling(
    X: Floats, s: Floats, method: str, c: float, n: int, C: float, seed: int
) -> ResampledTest:
    alpha = naive(Problem(memory_rows(X, s), 1 / C, 1 / C)).beta
    assert alpha is not None
    ranked = np.flatnonzero(s == 0)[np.argsort(-(X[s == 0] @ alpha[:-1]), kind="stable")]
    unlabelled = max(FEWEST, round(len(s) * (s.mean() / c - s.mean())))
    stratum = np.concatenate([np.flatnonzero(s == 1), ranked[:unlabelled]])
    inside, rng = X[stratum], np.random.default_rng(seed)
    statistic = STATISTICS[method](inside)
    observed = statistic(s[stratum] == 1)
    draws = np.empty(n)
    for i in range(n):
        drawn = rng.random(len(stratum)) < c
        while drawn.sum() < 2:
            drawn = rng.random(len(stratum)) < c
        draws[i] = statistic(drawn)
    return ResampledTest(method, observed, float((draws > observed).mean()), draws, c)
