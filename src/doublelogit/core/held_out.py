"""Models compared by the likelihood that they give to rows which they have not seen."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from doublelogit._types import Floats, Ints
from doublelogit.core.folds import Split


def cross_fitted(n: int, splits: Iterable[Split], values: Callable[[Ints, Ints], Floats]) -> Floats:
    """A number for each of n rows, by models that have not seen it.

    ``values`` fits to the rows outside of a fold, its first argument, and judges those inside.
    """
    found = np.empty(n)
    for outside, inside in splits:
        found[inside] = values(outside, inside)
    return found


def simplest(scores: Mapping[Any, Floats], weight: Floats) -> Any:
    """The first of some models that is within a standard error of the best.

    ``scores`` are log-likelihoods of held-out rows, the simplest model first. One that is worse
    than a simpler one is never the answer: it may differ so much from the best that it is within
    a standard error while the simpler one is not.
    """
    means = {name: np.average(score, weights=weight) for name, score in scores.items()}
    best, least = max(means, key=lambda name: means[name]), -np.inf
    for name, score in scores.items():
        behind, error = compared(scores[best], score, weight)
        if behind <= error and means[name] >= least:
            return name
        least = max(least, means[name])
    return best


def compared(one: Floats, other: Floats, weight: Floats) -> tuple[float, float]:
    """Mean difference of two likelihoods of the same rows, and its standard error."""
    difference = one - other
    mean = float(np.average(difference, weights=weight))
    spread = np.average((difference - mean) ** 2, weights=weight)
    return mean, float(np.sqrt(spread * (weight**2).sum()) / weight.sum())
