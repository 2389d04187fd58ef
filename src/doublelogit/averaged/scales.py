"""The gaussians of one slice under all scales of slopes, by as few ascents as that takes.

One gaussian is found by an ascent, along the ridge from where it was in the nearest slice. Its
expansion predicts the others: either the prediction is exact enough, or the scale weighs too little
to matter, or it is found by an ascent as well.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from doublelogit._types import Floats
from doublelogit.averaged.gaussian import GaussianFit, SlicedPosterior
from doublelogit.averaged.settings import Settings
from doublelogit.averaged.weights import log_weight


class Start(NamedTuple):
    """Where to begin: a point and the likeliest scale of slopes so far, by its number."""

    u: Floats
    node: int

    def under(self, posterior: SlicedPosterior) -> Floats:
        """The point under a mechanism; a model that had no slopes starts without.

        Where labelling follows the class labels show its slopes twice, so that it has half of them.
        """
        u = np.zeros(posterior.size)
        shared = min(len(u), len(self.u))
        u[:shared] = self.u[:shared] / (1 + posterior.mechanism.of_class)
        return u


# The gaussian of a scale in the nearest slice that has one, and its weight behind the best.
Nearby = tuple[GaussianFit, float]


def gaussians_of_slice(
    posterior: SlicedPosterior,
    intercept: float,
    near: list[list[GaussianFit]],
    start: Start,
    deficit: Callable[[GaussianFit], float],
) -> list[GaussianFit]:
    """The gaussians of all scales that are worth it.

    ``near`` are those of other slices, the nearest and the likeliest first; without any it begins
    from what was found under another mechanism. ``deficit`` is how far the mass of a gaussian is
    behind all mass, in logarithms.
    """
    priors, nearby, settings = posterior.priors, _nearby(near), posterior.settings
    if near:
        best = _moved(near[0][0], intercept)
    else:
        slice_ = posterior.at(intercept, priors[start.node])
        best = slice_.ascend_from_prior(start.under(posterior))
    results, i = [best], best.prior.node
    behind_all = deficit(best) if near else 0.0
    if behind_all > settings.deepest:  # no other scale would mend it
        return results
    for further in (priors[i + 1 :], priors[:i][::-1]):
        last, before = best, best
        for prior in further:
            top, neighbour = max(map(log_weight, results)), nearby.get(prior.node)
            # evidence is concave along the scales, so that it falls at least as fast again
            falling = top - 2 * log_weight(last) + log_weight(before)
            if last is not best and falling > settings.behind:
                break
            if neighbour is not None and neighbour[1] > settings.behind:
                break
            guess = last.under(prior)
            behind = top - log_weight(guess)
            if _unlikely(guess, behind, neighbour, settings):
                break
            # the less a scale weighs, the less exactly it needs to be known
            if guess.error >= guess.slice.tolerance(behind + behind_all):
                guess = _ascended(guess, neighbour, behind_all)
            before, last = last, guess
            results.append(last)
    return results


def _unlikely(
    guess: GaussianFit, behind: float, neighbour: Nearby | None, settings: Settings
) -> bool:
    """Whether a scale is left out, by a guess and by its weight nearby."""
    if neighbour is not None and neighbour[1] > settings.likewise:
        return behind > settings.agreed
    return guess.error < np.inf and behind > settings.unlikely


def _nearby(near: list[list[GaussianFit]]) -> dict[int, Nearby]:
    """The nearest gaussian of every scale, by its number."""
    nearest: dict[int, Nearby] = {}
    for gaussians in near:
        best = max(map(log_weight, gaussians))
        for gaussian in gaussians:
            behind = best - log_weight(gaussian)
            nearest.setdefault(gaussian.prior.node, (gaussian, behind))
    return nearest


def _moved(gaussian: GaussianFit, intercept: float, behind: float = 0.0) -> GaussianFit:
    """The gaussian of another slice, found along the ridge from this one."""
    there = gaussian.posterior.at(intercept, gaussian.prior)
    return there.ascend(gaussian.tangent(intercept), gaussian.factor, behind)


def _ascended(guess: GaussianFit, neighbour: Nearby | None, behind_all: float) -> GaussianFit:
    """The gaussian that was guessed, from where it was in the nearest slice, or from the guess."""
    if neighbour is None:
        return guess.slice.ascend(guess.u, guess.factor, behind_all)
    return _moved(neighbour[0], guess.slice.intercept, behind_all + neighbour[1])
