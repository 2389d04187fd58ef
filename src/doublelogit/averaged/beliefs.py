"""Beliefs about the prevalence or the label frequency, as AVERAGED weighs them.

A belief from elsewhere multiplies the prior density of a cell, and its precision is added to that
of the prevalence within a cell.
"""

from dataclasses import replace

import numpy as np

from doublelogit._types import Floats
from doublelogit.fitted import PosteriorSide
from doublelogit.methods.belief import Belief

FIRM = 0.005  # guard: deviation of a share that is known for certain; cells are no finer


def log_belief(beliefs: tuple[Belief, ...], pi: Floats, c: Floats) -> Floats:
    """Logarithm of the density of all beliefs at a prevalence and a label frequency."""
    about = {"prevalence": pi, "label frequency": c}
    off = [(about[belief.about] - belief.mean) / max(belief.sd, FIRM) for belief in beliefs]
    return np.asarray(-0.5 * np.sum(np.square(off), axis=0)) if off else np.zeros(len(pi))


def informed(side: PosteriorSide, beliefs: tuple[Belief, ...], mean_s: float) -> PosteriorSide:
    """The outcome, its share in every cell updated by a belief (a Kalman step)."""
    for belief in beliefs:
        mean, sd = belief.mean, belief.sd
        if belief.about == "label frequency":
            mean, sd = mean_s / mean, mean_s * sd / mean**2
        variance, firm = side.share_sd**2, max(sd, FIRM) ** 2
        gain = variance / (variance + firm)
        share, share_sd = side.share + gain * (mean - side.share), side.share_sd * np.sqrt(1 - gain)
        side = replace(side, share=share, share_sd=share_sd)
    return side
