"""Tests of SCAR: are positives labelled at random, or does labelling depend on the features.

    lr, wald           a constant propensity against a free gamma, in the double logistic model
    ks, kl, klcov, nb  do labelled rows look like a random part of the likely positives?

Near flat directions the first two do not follow their chi-square law, so their p-values come from
samples drawn under the null fit (a parametric bootstrap); ``asymptotic=True`` takes the law anyway,
for samples too large to draw again. The others are those of Teisseyre et al.
(2024): the positives are taken to be the labelled rows and the unlabelled ones that NAIVE ranks
first, as many as the label frequency c asks for; labels are then drawn among them at random, again
and again, and the statistic of the real labels is compared with those. Where the classes overlap
the rows ranked first are no random part of the positives, and these tests reject too often.

All take the class to be logistic in the columns. Where lr or wald reject, the test is repeated with
a class that bends (bending.py), and the verdict is one of both.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import betaincinv, chdtrc
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import check_X_y

from doublelogit._types import Floats
from doublelogit.engines.memory import memory_rows
from doublelogit.estimators.out_of_core import is_distant
from doublelogit.estimators.validation import encode_labels
from doublelogit.inference.bending import BentTest, bent_test
from doublelogit.inference.scar_likelihood import (
    STATISTIC,
    Hypotheses,
    by_law,
    counted_range,
    null_draws,
    null_fit,
)
from doublelogit.inference.scar_statistics import STATISTICS
from doublelogit.methods import Problem, naive
from doublelogit.thresholds import BENT_LEVEL, SCAR_LEVEL
from doublelogit.wording import p_values

LIKELIHOOD = ("lr", "wald")
BIAS, UNDECIDED, NO_EVIDENCE = "bias", "undecided", "no evidence"
WEAK = 100.0  # C of the class
FEWEST = 10  # unlabelled rows of the stratum, as in the paper


@dataclass(frozen=True)
class ScarTest:
    """The result of a test of SCAR.

    Parameters
    ----------
    method : str
        Which statistic.
    statistic, p_value : float
        Large statistics and small p-values speak against SCAR.
    null : ndarray
        Statistics of samples whose labels were drawn at random.
    label_frequency : float
        c under SCAR, given or estimated.
    freedom : int
        Degrees of freedom of the chi-square law that gave the p-value; 0 if samples were counted.
        With samples the law is stretched to their mean.
    most : int
        Samples that would have been drawn if fewer had not settled the verdict, for lr and wald.
    merit : float
        Gain in twice the log-likelihood by biased labelling, less twice the number of its slopes;
        for lr and wald.
    bent : BentTest or None
        The test with a class that bends, where lr or wald reject.
    """

    method: str
    statistic: float
    p_value: float
    null: Floats
    label_frequency: float
    freedom: int = 0
    most: int = 0
    merit: float = 0.0
    bent: BentTest | None = None

    @property
    def rejects(self) -> bool:
        """Whether the labels speak against SCAR, at 5%, if the class is as the test takes it."""
        return self.p_value <= SCAR_LEVEL

    @property
    def draws(self) -> int:
        """Number of samples that were drawn."""
        return len(self.null)

    @property
    def asymptotic(self) -> bool:
        """Whether the chi-square law alone gave the p-value, without samples."""
        return self.freedom > 0 and self.draws == 0

    @property
    def p_interval(self) -> tuple[float, float]:
        """The p-value within the error of the samples that it was counted in (90%)."""
        n = len(self.null)
        if n == 0:
            return self.p_value, self.p_value
        if self.freedom:
            return by_law(self.freedom, self.statistic, self.null)[1:]
        if self.method in LIKELIHOOD:
            return counted_range(round(self.p_value * (n + 1)) - 1, n)
        k = self.p_value * n
        low, high = betaincinv(k + 0.5, n - k + 0.5, [0.05, 0.95])
        return float(min(low, self.p_value)), float(max(high, self.p_value))

    @property
    def verdict(self) -> str:
        """What follows: bias, undecided, or no evidence.

        Bias, if the test rejects beyond the error of its samples, and a class that bends does not
        explain it away: the test rejects with it too, or biased labelling explains the labels
        better than bends do, for the number of its slopes.
        """
        low, high = self.p_interval
        if low > SCAR_LEVEL:
            return NO_EVIDENCE
        if high > SCAR_LEVEL:
            return UNDECIDED
        if self.bent is None or self.bent.p_value <= BENT_LEVEL or self.merit > self.bent.merit:
            return BIAS
        return UNDECIDED

    @property
    def sentence(self) -> str:
        """The result in words."""
        against = "speaks against" if self.rejects else "does not speak against"
        how = f"by the chi-square law of large samples with {self.freedom} degrees of freedom"
        if self.draws:
            enough = f" of at most {self.most}" if self.draws < self.most else ""
            how = f"{self.draws}{enough} samples drawn under the hypothesis"
            if self.freedom:
                how += ", far beyond which it lies, and a chi-square law of their mean"
        assumed = ", given that the class is logistic in these columns"
        text = (
            f"The {self.method} test {against} labelling at random"
            f"{assumed if self.method in LIKELIHOOD else ''} (statistic {self.statistic:.3g}, "
            f"{p_values(self.p_interval)}, {how}; the label frequency would be "
            f"{self.label_frequency:.2f})."
        )
        return text if self.bent is None else f"{text} {self._bent_sentence}"

    @property
    def _bent_sentence(self) -> str:
        assert self.bent is not None
        said = {
            BIAS: "bias explains the labels better than bends",
            UNDECIDED: "bends explain the labels as well as bias",
        }[BIAS if self.merit > self.bent.merit else UNDECIDED]
        if self.bent.p_value <= BENT_LEVEL:
            said = "labelling depends on the columns even so"
        return f"With a class that bends: {p_values((self.bent.p_value,) * 2)}; {said}."

    def __str__(self) -> str:
        return self.sentence


def scar_test(
    X: Any,
    s: Any,
    *,
    method: str = "lr",
    label_frequency: float | None = None,
    n_resamples: int | None = None,
    C: float = WEAK,
    pos_label: Any = None,
    random_state: int = 0,
    n_jobs: int | None = None,
    asymptotic: bool = False,
    stop_early: bool = True,
    progress: Callable[[float], None] | None = None,
) -> ScarTest:
    """Test whether positives are labelled completely at random.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Features; they are standardised.
    s : array-like of shape (n_samples,)
        Observed labels.
    method : {"lr", "wald", "ks", "kl", "klcov", "nb"}, default="lr"
        lr, wald: likelihood ratio and Wald test of a constant propensity. ks: sum over the
        features of Kolmogorov-Smirnov distances. kl, klcov: Kullback-Leibler divergence of
        Gaussians with independent features, or with covariances. nb: how well a naive Bayes
        classifier separates, AUC - 1/2. The last four suit classes that hardly overlap.
    label_frequency : float, default=None
        P(S=1 | Y=1) for the last four, if known; estimated under SCAR otherwise.
    n_resamples : int, default=None
        Samples under the hypothesis: 199 for lr and wald, 500 for the others if not given. Of lr
        and wald the most: see ``stop_early``.
    C : float, default=100.0
        Penalty of the class, as everywhere, but weak: a stronger one bends the fit under SCAR away
        from steep classes, and what it misses would be taken for bias.
    pos_label : object, default=None
        The value of s that means labelled. Not needed for 0/1, -1/1 and booleans.
    random_state : int, default=0
        The same seed gives the same p-value whatever n_jobs is.
    n_jobs : int, default=None
        Threads for lr and wald; None: one, or for tables above 50,000 cells one per core.
    asymptotic : bool, default=False
        For lr and wald in large samples: the p-value from the chi-square law instead of samples.
        The penalty makes it a little too large.
    stop_early : bool, default=True
        Whether lr and wald stop drawing once it is settled on which side of 5% p lies, but for one
        chance in a hundred, or once the samples to come could not make them reject beyond error.
        ``p_interval`` of the result tells how well p is known.
    progress : callable, default=None
        Called with the share that is done, for lr and wald.

    Returns
    -------
    test : ScarTest

    Examples
    --------
    >>> import numpy as np
    >>> from doublelogit import scar_test
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(1000, 2))
    >>> y = rng.random(1000) < 1 / (1 + np.exp(-2 * X[:, 0]))
    >>> s = y & (rng.random(1000) < 1 / (1 + np.exp(-2 * X[:, 1])))
    >>> scar_test(X, s, n_resamples=39).p_value
    0.025
    """
    if method not in (*LIKELIHOOD, *STATISTICS):
        known = ", ".join((*LIKELIHOOD, *STATISTICS))
        raise ValueError(f"method must be one of {known}; got {method!r}.")
    if label_frequency is not None and not 0 < label_frequency <= 1:
        raise ValueError(f"label_frequency must be in (0, 1]; got {label_frequency}.")
    if is_distant(X):
        raise ValueError(
            f"tests of SCAR redraw labels of rows that are in memory; got {type(X).__name__}."
        )
    X, s = check_X_y(X, s, dtype=np.float64)
    labels, _ = encode_labels(s, pos_label)
    Z = StandardScaler().fit_transform(X)
    if asymptotic and method not in LIKELIHOOD:
        raise ValueError(f"asymptotic is for {' and '.join(LIKELIHOOD)}; got method={method!r}.")
    if asymptotic:
        return _by_chi_square(Z, labels, method, C)
    if method in LIKELIHOOD:
        return _by_likelihood(
            Z,
            labels,
            method,
            C,
            most=n_resamples or 199,
            stop_early=stop_early,
            seed=random_state,
            n_jobs=n_jobs,
            report=progress or (lambda _: None),
        )
    c = label_frequency or null_fit(Z, labels, C).c
    return _by_resampling(Z, labels, method, c, n_resamples or 500, C, random_state)


def _by_chi_square(X: Floats, s: Floats, method: str, C: float) -> ScarTest:
    hypotheses = Hypotheses.about(X, s, C)
    contrast, freedom = hypotheses.contrast(s), hypotheses.freedom
    statistic = STATISTIC[method](contrast)
    p = float(chdtrc(freedom, statistic))
    found = ScarTest(method, statistic, p, np.array([]), hypotheses.null.c, freedom)
    return _with_bends(found, X, s, C, contrast.lr - 2 * freedom)


def _by_likelihood(X: Floats, s: Floats, method: str, C: float, **drawing: Any) -> ScarTest:
    hypotheses = Hypotheses.about(X, s, C)
    contrast = hypotheses.contrast(s)
    statistic = STATISTIC[method](contrast)
    draws = null_draws(hypotheses, method, statistic, **drawing)
    p, freedom = float((1 + np.count_nonzero(draws >= statistic)) / (len(draws) + 1)), 0
    if len(draws) < drawing["most"] and hypotheses.far(statistic, draws):
        freedom = hypotheses.freedom
        p = by_law(freedom, statistic, draws)[0]
    found = ScarTest(method, statistic, p, draws, hypotheses.null.c, freedom, drawing["most"])
    return _with_bends(found, X, s, C, contrast.lr - 2 * hypotheses.freedom)


def _with_bends(found: ScarTest, X: Floats, s: Floats, C: float, merit: float) -> ScarTest:
    """The result with that of a class that bends, if it is not clear without."""
    found = replace(found, merit=merit)
    if found.p_interval[0] > SCAR_LEVEL:
        return found
    return replace(found, bent=bent_test(X, s, C))


def _by_resampling(
    X: Floats, s: Floats, method: str, c: float, n: int, C: float, seed: int
) -> ScarTest:
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
    return ScarTest(method, observed, float((draws > observed).mean()), draws, c)
