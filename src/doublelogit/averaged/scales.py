"""The normal laws of one slice under all scales of slopes, as few climbs as that takes.

One law is settled, along the ridge from where it was in the nearest slice. Its expansion tells of
the others: that they are as near as can be, or hopeless; if neither they are settled as well.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from doublelogit._types import Floats
from doublelogit.averaged.gaussian import Normal, Prior, SlicedPosterior

HOPELESS = 1e-7  # share of all mass that ends the search of a slice, or of a whole posterior
# Log-evidence below the best from which a scale is left out: by what was found in the nearest
# slice; by a guess; by a guess, if in that slice it was so far behind likewise. To leave out only
# those nine units behind takes 1.4 times the laws, and moves ends of intervals by .001 on average.
BEHIND, UNLIKELY, AGREED, LIKEWISE = 5.0, 3.5, 2.5, 4.0


class Start(NamedTuple):
    """Where to begin: a point and the likeliest scale of slopes so far, by its number."""

    u: Floats
    scale: int

    def under(self, posterior: SlicedPosterior) -> Floats:
        """The point under a mechanism; a model that had no slopes starts without.

        Where labelling follows the class labels show its slopes twice, so that it has half of them.
        """
        u = np.zeros(posterior.size)
        shared = min(len(u), len(self.u))
        u[:shared] = self.u[:shared] / (1 + np.nan_to_num(posterior.follows))
        return u


class Known(NamedTuple):
    """The law of a scale in the nearest slice that has one, and how far behind its best it is."""

    law: Normal
    behind: float


def laws_of_slice(
    posterior: SlicedPosterior,
    intercept: float,
    near: list[list[Normal]],
    start: Start,
    lag: Callable[[Normal], float],
) -> list[Normal]:
    """The laws of all scales that are worth it.

    ``near`` are those of other slices, the nearest and the likeliest first; without any it begins
    from what was found under another mechanism. ``lag`` says how far the mass of a law is behind
    all mass, in logarithms.
    """
    priors, known = posterior.priors, _known(near)
    if near:
        best = _moved(near[0][0], intercept)
    else:
        best = posterior.at(intercept, priors[start.scale]).climb(start.under(posterior))
    found, i = [best], priors.index(best.slice.prior)
    lost = lag(best) if near else 0.0
    if lost > -np.log(HOPELESS):  # no other scale would mend it
        return found
    for further in (priors[i + 1 :], priors[:i][::-1]):
        law, before = best, best
        for prior in further:
            top, nearby = max(map(height, found)), known.get(prior)
            # evidence bends downwards along the scales, so that it falls at least as fast again
            if law is not best and top - 2 * height(law) + height(before) > BEHIND:
                break
            if nearby is not None and nearby.behind > BEHIND:
                break
            guess = law.under(prior)
            behind = top - height(guess)
            if _unlikely(guess, behind, nearby):
                break
            # what weighs little need not be known well
            if guess.error >= guess.slice.enough(behind + lost):
                guess = _settled(guess, nearby, lost)
            before, law = law, guess
            found.append(law)
    return found


def height(law: Normal) -> float:
    """Evidence, coarsened, times prior odds, in logarithms."""
    return law.slice.posterior.power * law.log_evidence + law.slice.prior.log_odds


def _unlikely(guess: Normal, behind: float, nearby: Known | None) -> bool:
    """Whether a scale is left out, by a guess and what is known of it nearby."""
    if nearby is not None and nearby.behind > LIKEWISE:
        return behind > AGREED
    return guess.error < np.inf and behind > UNLIKELY


def _known(near: list[list[Normal]]) -> dict[Prior, Known]:
    found: dict[Prior, Known] = {}
    for laws in near:
        best = max(map(height, laws))
        for law in laws:
            found.setdefault(law.slice.prior, Known(law, best - height(law)))
    return found


def _moved(law: Normal, intercept: float, behind: float = 0.0) -> Normal:
    """The law of another slice, found along the ridge from this one."""
    there = law.slice.posterior.at(intercept, law.slice.prior)
    return there.settle(law.tangent(intercept), law.root, behind)


def _settled(guess: Normal, nearby: Known | None, lost: float) -> Normal:
    """The law that was guessed, from where it was in the nearest slice, or from the guess."""
    if nearby is None:
        return guess.slice.settle(guess.u, guess.root, lost)
    return _moved(nearby.law, guess.slice.intercept, lost + nearby.behind)
