"""A number with its uncertainty, and intervals that stay inside the range of a share."""

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import expit, logit, ndtri

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
    regions : tuple of (float, float), default=()
        The parts of the interval, in order; one, from low to high, unless two answers fit.
    """

    name: str
    value: float
    se: float
    low: float
    high: float
    level: float
    method: str
    regions: tuple[tuple[float, float], ...] = ()

    def __post_init__(self) -> None:
        if not self.regions:
            object.__setattr__(self, "regions", ((self.low, self.high),))

    def __str__(self) -> str:
        digits = ".0f" if self.high > 10 else ".3f"
        intervals = [f"{low:{digits}} to {high:{digits}}" for low, high in self.regions]
        return (
            f"{self.name} {self.value:{digits}}, {self.level:.0%} interval "
            f"{' or '.join(intervals)} ({self.method})"
        )

    def hull(self, other: "Estimate") -> "Estimate":
        """The estimate with an interval that holds that of another method too."""
        low, high = min(self.low, other.low), max(self.high, other.high)
        first, *rest = self.regions
        ends = ((low, high),) if not rest else ((low, first[1]), *rest[:-1], (rest[-1][0], high))
        method = f"{self.method} and {other.method}"
        return replace(self, low=low, high=high, method=method, regions=ends)


def check_level(level: float) -> None:
    """A nominal coverage is a probability."""
    if not 0 < level < 1:
        raise ValueError(f"level must be between 0 and 1, for example 0.95; got {level}.")


def share_estimate(
    name: str,
    value: float,
    se: float,
    level: float,
    method: str,
    total: float = 1.0,
    least: float = 0.0,
) -> Estimate:
    """A share of a total with an interval that is symmetric on the logit scale.

    ``least`` is what is certain of it: the interval is one of the share of the rest.
    """
    room = total - least
    if room <= 0:  # no row that could be one
        return Estimate(name, value, 0.0, value, value, level, method)
    share = (value - least) / room
    if not 0 < share < 1:  # a ratio of estimates may leave the range: no logit, so cut it off
        reach = ndtri(0.5 + level / 2) * se
        low, high = np.clip([value - reach, value + reach], least, total)
        return Estimate(name, value, se, float(low), float(high), level, method)
    # d logit(p) = dp / (p (1 - p))
    reach = ndtri(0.5 + level / 2) * (se / room) / (share * (1 - share))
    low, high = (least + float(expit(logit(share) + sign * reach)) * room for sign in (-1, 1))
    return Estimate(name, value, se, low, high, level, method)


def draws_estimate(name: str, value: float, draws: Floats, level: float, method: str) -> Estimate:
    """An estimate with the percentile interval of bootstrap draws."""
    tail = (1 - level) / 2
    low, high = np.nanquantile(draws, [tail, 1 - tail])  # a small group may miss a resample
    return Estimate(
        name, value, float(np.nanstd(draws, ddof=1)), float(low), float(high), level, method
    )
