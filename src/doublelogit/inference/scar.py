"""Tests of SCAR: are positives labelled at random, or does labelling depend on the features.

    lr, wald    a constant propensity against a free gamma, in the double logistic model

Near flat directions the two do not follow their chi-square law, so their p-values come from samples
drawn under the null fit (a parametric bootstrap); ``asymptotic=True`` takes the law anyway, for
samples too large to draw again. The tests that resample labels among likely positives, which reject
too often where classes overlap, are in ``doublelogit.studies.scar``.

Both take the class to be logistic in the columns. Where they reject, the test is repeated with a
class that bends (bending.py), and the verdict is one of both.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from scipy.special import chdtrc
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import check_X_y

from doublelogit._types import Floats
from doublelogit.common.thresholds import BENT_LEVEL, SCAR_LEVEL
from doublelogit.estimators.out_of_core import is_distant
from doublelogit.estimators.validation import encode_labels
from doublelogit.findings.labelling import scar_result
from doublelogit.inference.bending import BentTest, bent_test
from doublelogit.inference.scar_likelihood import (
    STATISTIC,
    Hypotheses,
    by_law,
    counted_range,
    null_draws,
)

BIAS, UNDECIDED, NO_EVIDENCE = "bias", "undecided", "no evidence"
WEAK = 100.0  # C of the class


@dataclass(frozen=True)
class ScarTest:
    """The result of a test of SCAR.

    Parameters
    ----------
    method : str
        Name of the statistic.
    statistic, p_value : float
        Large statistics and small p-values speak against SCAR.
    null : ndarray
        Statistics of samples whose labels were drawn at random.
    label_frequency : float
        c under SCAR.
    freedom : int
        Degrees of freedom of the chi-square law that gave the p-value; 0 if samples were counted.
        With samples the law is stretched to their mean.
    most : int
        Samples that would have been drawn if fewer had not settled the verdict.
    merit : float
        Gain in twice the log-likelihood by biased labelling, less twice the number of its slopes.
    bent : BentTest or None
        The test with a class that bends, where the test rejects.
    """

    ASSUMED: ClassVar[str] = ", given that the class is logistic in these columns"

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
        return counted_range(round(self.p_value * (n + 1)) - 1, n)

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
        if self.bent is None or self.bent.p_value <= BENT_LEVEL or self.bias_explains_more:
            return BIAS
        return UNDECIDED

    @property
    def p_bent(self) -> float | None:
        """The p-value with a class that bends; None where it was not tested."""
        return None if self.bent is None else self.bent.p_value

    @property
    def bias_explains_more(self) -> bool:
        """Whether biased labelling explains the labels better than a class that bends."""
        return self.bent is not None and self.merit > self.bent.merit

    @property
    def sentence(self) -> str:
        """The result in words."""
        return scar_result(self)

    def __str__(self) -> str:
        return self.sentence


def scar_test(
    X: Any,
    s: Any,
    *,
    method: str = "lr",
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
    method : {"lr", "wald"}, default="lr"
        Likelihood ratio or Wald test of a constant propensity.
    n_resamples : int, default=None
        Most samples under the hypothesis, 199 if not given: see ``stop_early``.
    C : float, default=100.0
        Penalty of the class, as everywhere, but weak: a stronger one bends the fit under SCAR away
        from steep classes, and what it misses would be taken for bias.
    pos_label : object, default=None
        The value of s that means labelled. Not needed for 0/1, -1/1 and booleans.
    random_state : int, default=0
        The same seed gives the same p-value whatever n_jobs is.
    n_jobs : int, default=None
        Threads; None: one, or for tables above 50,000 cells one per core.
    asymptotic : bool, default=False
        For large samples: the p-value from the chi-square law instead of samples.
        The penalty makes it a little too large.
    stop_early : bool, default=True
        Whether to stop drawing once it is settled on which side of 5% p lies, but for one
        chance in a hundred, or once the samples to come could not make them reject beyond error.
        ``p_interval`` of the result tells how well p is known.
    progress : callable, default=None
        Called with the share that is done.

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
    if method not in STATISTIC:
        raise ValueError(f"method must be one of {', '.join(STATISTIC)}; got {method!r}.")
    if is_distant(X):
        raise ValueError(
            f"tests of SCAR redraw labels of rows that are in memory; got {type(X).__name__}."
        )
    X, s = check_X_y(X, s, dtype=np.float64)
    labels, _ = encode_labels(s, pos_label)
    Z = StandardScaler().fit_transform(X)
    if asymptotic:
        return _by_chi_square(Z, labels, method, C)
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


def _by_chi_square(X: Floats, s: Floats, method: str, C: float) -> ScarTest:
    hypotheses = Hypotheses.about(X, s, C)
    contrast, freedom = hypotheses.contrast(s), hypotheses.freedom
    statistic = STATISTIC[method](contrast)
    p = float(chdtrc(freedom, statistic))
    test = ScarTest(method, statistic, p, np.array([]), hypotheses.null.c, freedom)
    return _with_bends(test, X, s, C, contrast.lr - 2 * freedom)


def _by_likelihood(X: Floats, s: Floats, method: str, C: float, **drawing: Any) -> ScarTest:
    hypotheses = Hypotheses.about(X, s, C)
    contrast = hypotheses.contrast(s)
    statistic = STATISTIC[method](contrast)
    draws = null_draws(hypotheses, method, statistic, **drawing)
    p, freedom = float((1 + np.count_nonzero(draws >= statistic)) / (len(draws) + 1)), 0
    if len(draws) < drawing["most"] and hypotheses.far(statistic, draws):
        freedom = hypotheses.freedom
        p = by_law(freedom, statistic, draws)[0]
    test = ScarTest(method, statistic, p, draws, hypotheses.null.c, freedom, drawing["most"])
    return _with_bends(test, X, s, C, contrast.lr - 2 * hypotheses.freedom)


def _with_bends(test: ScarTest, X: Floats, s: Floats, C: float, merit: float) -> ScarTest:
    """The result with that of a class that bends, if it is not clear without."""
    test = replace(test, merit=merit)
    if test.p_interval[0] > SCAR_LEVEL:
        return test
    return replace(test, bent=bent_test(X, s, C))
