"""Prevalence, label frequency and hidden positives of all rows, from one profile likelihood.

Label frequency and hidden positives follow from the prevalence of a sample, so its profile is
theirs. What the profile does not hold is added to the outer ends: that other rows might have been
drawn, for the population's prevalence, and which rows are positive, for a number of rows.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from doublelogit.core.rows import labelled_share
from doublelogit.inference.covariance import Sampling, covariance
from doublelogit.inference.estimate import Estimate
from doublelogit.inference.fitted_problem import FittedProblem
from doublelogit.inference.profile import Profile, Region
from doublelogit.inference.shares import GroupShares, Share
from doublelogit.methods.prevalence import label_frequency_at, prevalence_value_grad

METHOD = "profile likelihood"


@dataclass(frozen=True)
class ProfiledShares:
    """Shares of all rows together, by a profile that was walked far enough."""

    fitted: FittedProblem
    sampling: Sampling
    shares: GroupShares
    profile: Profile
    level: float

    def prevalence(self) -> Estimate:
        """Mean of y(x) in the population."""
        share, z = self.shares.prevalence(), ndtri(0.5 + self.level / 2)
        reach = float(z * self.shares.row_error()[0])
        value = float(share.value[0])
        ends = widened(self._regions, value, reach, self.profile.bounds)
        return self._estimate("prevalence", share, ends)

    def label_frequency(self) -> Estimate:
        """Share of the positives that are labelled: the prevalence tells it, and falls with it."""
        rows = self.fitted.problem.rows
        mean_s, rate = labelled_share(rows), self.fitted.problem.false_label_rate
        ends = [
            (label_frequency_at(high, mean_s, rate), label_frequency_at(low, mean_s, rate))
            for low, high in reversed(self.prevalence().regions)
        ]
        return self._estimate("label frequency", self.shares.label_frequency(), tuple(ends))

    def hidden(self) -> Estimate:
        """Number of positives among the unlabelled rows: n times as far as the prevalence goes."""
        share, n = self.shares.hidden(), self.fitted.problem.n
        value, most = float(share.value[0]), float(share.total[0])
        pi, rate = float(self.shares.prevalence().value[0]), self.fitted.problem.false_label_rate
        # false labels count as labelled: of dpi more positives (1 - rate) dpi are hidden
        moved = [
            (value + n * (1 - rate) * (low - pi), value + n * (1 - rate) * (high - pi))
            for low, high in self._regions
        ]
        reach = float(ndtri(0.5 + self.level / 2) * self.shares.chance_error()[0])
        ends = widened(tuple(moved), value, reach, (0.0, most))
        return self._estimate("hidden positives", share, ends)

    @property
    def _regions(self) -> tuple[Region, ...]:
        return self.profile.regions(self.level, self._stretch)

    @property
    def _stretch(self) -> float:
        """How much larger the variance is than the likelihood believes, by the sandwich."""
        if self.sampling.cov_type == "observed":
            return 1.0
        g = prevalence_value_grad(self.fitted.problem.likelihood, self.fitted.theta).grad
        believed = float(g @ self.fitted.inverse_information @ g)
        return max(1.0, float(g @ covariance(self.fitted, self.sampling) @ g) / believed)

    def _estimate(self, name: str, share: Share, regions: tuple[Region, ...]) -> Estimate:
        value, se = float(share.value[0]), float(share.se[0])
        low, high = regions[0][0], regions[-1][1]
        return Estimate(name, value, se, low, high, self.level, METHOD, regions)


def widened(
    regions: tuple[Region, ...], value: float, reach: float, bounds: Region
) -> tuple[Region, ...]:
    """Regions whose outer ends are further from the estimate by another source of error."""
    low, high = regions[0][0], regions[-1][1]
    low = max(value - float(np.hypot(value - low, reach)), bounds[0])
    high = min(value + float(np.hypot(high - value, reach)), bounds[1])
    if len(regions) == 1:
        return ((low, high),)
    first, *middle, last = regions
    return ((low, first[1]), *middle, (last[0], high))
