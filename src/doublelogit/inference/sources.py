"""Inference from labels of several sources: what they overlap in, whether they depend, what if.

Two sources can not show whether they find the same positives more often than by chance: hidden
positives are as many as their odds ratio says. Three can, by the rows that two of them labelled.
"""

from copy import copy
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from scipy.special import ndtri
from scipy.stats import chi2

from doublelogit._types import Floats
from doublelogit.averaged.nodes import independence_test, pair_posterior
from doublelogit.averaged.sources import averaged_by_sources
from doublelogit.common.thresholds import FEW_OVERLAPS
from doublelogit.core.labels import Labels
from doublelogit.fitted.sources import SourcesPosterior
from doublelogit.inference.estimate import Estimate, check_level
from doublelogit.inference.posterior import PosteriorInference

ODDS_RATIOS = (1 / 3, 1 / 2, 1.0, 2.0, 3.0)


@dataclass(frozen=True)
class Dependence:
    """How sources depend on each other among positives.

    Parameters
    ----------
    mean : Estimate
        Mean log odds ratio of two sources, with its credible interval.
    pairs : dict of (str, str) to Estimate
        That of every pair.
    p_value : float or None
        Of the test that all sources are independent among positives; None where labels can not
        show it: of two sources, or of too few rows with two labels.
    overlaps : float
        Rows that two sources labelled.
    """

    mean: Estimate
    pairs: dict[tuple[str, str], Estimate]
    p_value: float | None
    overlaps: float

    @property
    def learned(self) -> bool:
        """Whether labels moved the dependence from its prior."""
        return self.p_value is not None

    def __str__(self) -> str:
        if self.p_value is None:
            return f"{self.mean}; {unlearned(self.overlaps, len(self.pairs))}"
        return f"{self.mean}; independent sources: p = {self.p_value:.2g}"


def unlearned(overlaps: float, n_pairs: int) -> str:
    """Why labels do not show whether sources depend on each other."""
    if n_pairs > 1:
        return (
            f"only {overlaps:.0f} rows have labels of two sources, so their dependence is that of "
            "other tables"
        )
    return (
        "two sources cannot show whether they depend on each other; a third, or audited rows, can"
    )


@dataclass(frozen=True)
class Overlaps:
    """How many rows have each pattern of labels, those of no label included.

    Parameters
    ----------
    names : tuple of str
        Names of the sources.
    patterns : ndarray of shape (patterns, sources)
        1 where a source labelled, 0 where not; sources that did not look count as 0.
    rows : ndarray of shape (patterns,)
        Total weight of the rows with each.
    """

    names: tuple[str, ...]
    patterns: Floats
    rows: Floats

    def to_frame(self) -> Any:
        """The table as a pandas DataFrame, the commonest pattern of labels first."""
        import pandas as pd

        frame = pd.DataFrame(self.patterns.astype(int), columns=list(self.names))
        return frame.assign(rows=self.rows)

    def __str__(self) -> str:
        return str(self.to_frame().to_string(index=False))


class SourcesInference(PosteriorInference):
    """Credible intervals of a model of labels by several sources; made by :func:`infer`."""

    def prevalence(
        self,
        *,
        by: Any = None,
        level: float = 0.95,
        dependence: float | None = None,
        **options: Any,
    ) -> Any:
        """P(Y=1) over the rows, or over each group of ``by``, with a credible interval.

        ``dependence`` is a log odds ratio of any two sources among positives: 0 is independence.
        None averages over what it may be.
        """
        if dependence is not None:
            return self._given(dependence).prevalence(by=by, level=level, **options)
        return super().prevalence(by=by, level=level, **options)

    def curve(self, level: float = 0.95) -> dict[float, Estimate]:
        """The prevalence by the odds ratio of any two sources among positives, 1/3 to 3."""
        return {
            ratio: self.prevalence(dependence=float(np.log(ratio)), level=level)
            for ratio in ODDS_RATIOS
        }

    def dependence(self, level: float = 0.95) -> Dependence:
        """Log odds ratios of the sources among positives, and a test that they are zero."""
        check_level(level)
        posterior, names = pair_posterior(self._problem), self.names
        sd = np.sqrt(np.diagonal(posterior.covariance))
        columns = zip(posterior.pairs, posterior.mean.tolist(), sd.tolist(), strict=True)
        pairs = {
            (names[one[0]], names[one[1]]): _log_odds(value, se, level)
            for one, value, se in columns
        }
        n = len(posterior.mean)
        of_mean = float(np.sqrt(posterior.covariance.sum())) / n
        mean = _log_odds(float(posterior.mean.mean()), of_mean, level)
        overlaps, p_value = self._sources.overlaps, None
        if n > 1 and overlaps >= FEW_OVERLAPS:
            p_value = float(chi2.sf(*independence_test(self._problem)))
        return Dependence(mean, pairs, p_value, overlaps)

    def overlaps(self) -> Overlaps:
        """Rows by the pattern of their labels, the commonest first."""
        rows, m = self._problem.rows, len(self.names)
        every = np.array(list(product((0.0, 1.0), repeat=m)))
        counts = rows.sum_columns(partial(_counts, m), rows.labels, rows.weight)
        order = [i for i in np.argsort(-counts, kind="stable") if counts[i] > 0]
        return Overlaps(self.names, every[order], counts[order])

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the sources."""
        return tuple(map(str, self.model.sources_in_))

    @property
    def _sources(self) -> SourcesPosterior:
        assert isinstance(self._mixture, SourcesPosterior)
        return self._mixture

    def _given(self, dependence: float) -> "SourcesInference":
        """The same with the dependence of all pairs held."""
        other = copy(self)
        vars(other).pop("_of_everyone", None)  # sums of the other mixture
        fit = averaged_by_sources(self._problem, self.model._settings, dependence)
        assert isinstance(fit.model, SourcesPosterior)
        other._mixture = fit.model
        return other


def _log_odds(value: float, se: float, level: float) -> Estimate:
    far = float(ndtri((1 + level) / 2)) * se
    return Estimate("log odds ratio", value, se, value - far, value + far, level, "posterior")


def _counts(m: int, labels: Labels, weight: Floats) -> Floats:
    """Weight of each pattern, numbered as bits, the first source the highest."""
    assert labels.by_source is not None
    number = np.nan_to_num(labels.by_source) @ 2.0 ** np.arange(m - 1, -1, -1)
    return np.bincount(number.astype(np.intp), weight, 2**m).astype(float)
