"""Pictures of what a classifier knows."""

from typing import Any

import numpy as np
from scipy.stats import norm

from doublelogit._types import Floats
from doublelogit.averaged.readings import readings
from doublelogit.common.extras import needs
from doublelogit.fitted import PosteriorMixture

GREY = "#777777"
POINTS = 800


def posterior_of_prevalence(mixture: PosteriorMixture, ax: Any, level: float) -> Any:
    """Density of the prevalence, one reading of the labels above the other."""
    if ax is None:
        needs("matplotlib", "a picture", "report")
        from matplotlib.figure import Figure

        ax = Figure(figsize=(5.0, 2.8), layout="constrained").subplots()
    low, high = mixture.prevalence_interval(level)
    x = np.linspace(mixture.mean_s, 1.0, POINTS)
    each, below, whole = _densities(mixture, x), np.zeros_like(x), np.zeros_like(x)
    for _, words, colour, components in readings(mixture):
        whole = whole + each[:, components].sum(axis=1)
        share = mixture.weight[components].sum()
        ax.fill_between(x, below, whole, color=colour, lw=0, label=f"{words} ({share:.0%})")
        below = whole
    ax.axvline(mixture.mean_s, color=GREY, lw=1.0, ls="--", label="labelled share")
    ax.plot([low, high], [0, 0], color="black", lw=3.0, solid_capstyle="butt", clip_on=False)
    ax.set_title(f"Prevalence: {low:.2f} to {high:.2f} with {level:.0%} credibility", fontsize=9)
    ax.set(xlabel="prevalence P(Y=1)", xlim=(0, 1), ylim=(0, 1.05 * whole.max()), yticks=[])
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.legend(frameon=False, fontsize=8)
    return ax


def _densities(mixture: PosteriorMixture, x: Floats) -> Floats:
    """Density of each component at each point, cut at the labelled share and at one."""
    side, width = mixture.outcome_model, x[1] - x[0]
    # a component narrower than the grid would fall between its points
    spread = np.maximum(side.share_sd, width)
    return np.asarray(mixture.weight * norm.pdf(x[:, None], side.share, spread))
