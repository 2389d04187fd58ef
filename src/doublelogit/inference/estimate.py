"""A number with its uncertainty, and intervals that stay inside the range of a share."""

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit
from scipy.stats import norm

from doublelogit._types import Floats


@dataclass(frozen=True)
class Estimate:
    """An estimate with its standard error and interval.

    Parameters
    ----------
    name : str
        What is estimated.
    value, se, low, high : float
        The estimate, its standard error, the ends of its interval.
    level : float
        Nominal coverage of the interval.
    method : str
        How the interval was made.
    """

    name: str
    value: float
    se: float
    low: float
    high: float
    level: float
    method: str

    def __str__(self) -> str:
        digits = ".0f" if self.high > 10 else ".3f"
        low, high = f"{self.low:{digits}}", f"{self.high:{digits}}"
        return (
            f"{self.name} {self.value:{digits}}, {self.level:.0%} interval {low} to {high} "
            f"({self.method})"
        )


def check_level(level: float) -> None:
    """A nominal coverage is a probability."""
    if not 0 < level < 1:
        raise ValueError(f"level must be between 0 and 1, for example 0.95; got {level}.")


def share_estimate(
    name: str, value: float, se: float, level: float, method: str, total: float = 1.0
) -> Estimate:
    """A share of a total with an interval that is symmetric on the logit scale."""
    if total == 0:  # no row that could be one
        return Estimate(name, 0.0, 0.0, 0.0, 0.0, level, method)
    share = value / total
    if not 0 < share < 1:  # a ratio of estimates may leave the range: no logit, so cut it off
        reach = norm.ppf(0.5 + level / 2) * se
        low, high = np.clip([value - reach, value + reach], 0.0, total)
        return Estimate(name, value, se, float(low), float(high), level, method)
    # d logit(p) = dp / (p (1 - p))
    reach = norm.ppf(0.5 + level / 2) * (se / total) / (share * (1 - share))
    low, high = (float(expit(logit(share) + sign * reach)) * total for sign in (-1, 1))
    return Estimate(name, value, se, low, high, level, method)


def draws_estimate(name: str, value: float, draws: Floats, level: float, method: str) -> Estimate:
    """An estimate with the percentile interval of bootstrap draws."""
    tail = (1 - level) / 2
    low, high = np.nanquantile(draws, [tail, 1 - tail])  # a small group may miss a resample
    return Estimate(
        name, value, float(np.nanstd(draws, ddof=1)), float(low), float(high), level, method
    )
