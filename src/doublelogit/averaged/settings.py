"""Settings of AVERAGED: numbers that its prior and its search were given, with their sources.

"Learned" numbers are those of ``tools/learn_prior.py``. "By priors" means chosen on the learn half
of the corpus by ``benchmarks/priors.py``; "by tolerance" means that halving the number changes ends
of intervals by less than .001 there; a "guard" keeps arithmetic finite.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from doublelogit._types import Floats


@dataclass(frozen=True)
class Settings:
    """Numbers of the prior, of the ascent within a slice, and of the search along the prevalence.

    The prior:

    nodes : scales of the class at which it is evaluated, in standard deviations of its logarithm
    coarse : rows that the evidence of any number of rows counts as, at most
    labels_per_slope : labels for each coefficient below which labelling has no slopes of its own

    The gaussian of a slice:

    tolerance : change of the log-evidence, as it counts, that does not matter
    most_steps : steps of one ascent
    small_gain : gain of a step, as a share of the tolerance, that ends an ascent
    few_coefficients : coefficients per label below which expectations are taken by the curvature
    faster : growth of the step size after a successful step
    irrelevant : log-evidence behind others from which precision is lowered no further
    wide : standard deviation of predictors before anything is known of it
    most_error : error of the log-evidence beyond which no gaussian was found
    longest_step : largest change of a coordinate in a step

    Scales of slopes that are left out, by log-evidence behind the best:

    behind : as found in the nearest slice
    unlikely : by a guess
    agreed, likewise : by a guess, if it was so far behind in the nearest slice too

    Cells of the prevalence:

    cells : cells up to 1 to begin with
    heavy : share of the mass of a posterior that one cell may hold
    first : multiple of its share by which the first cell is judged
    edge : share that a cell may hold beside a wider one
    light : share of all mass below which a cell is not worth a gaussian or a component
    narrow : width of a cell that is not cut further
    hopeless : share of all mass that ends the search of a slice or a whole posterior

    The class:

    shape : "any", or "line" where it is a line
    label_model : models of the label, for a class of any shape
    """

    # by priors: three nodes one and a half apart covered .25 where the scale lay between two
    nodes: tuple[float, ...] = (2.0, 1.0, 0.0, -1.0, -2.0, -3.0)
    # by priors: no class is quite logistic, so evidence is not taken at its word
    coarse: float = 3000.0
    # by priors: with fewer labels slopes of labelling cannot be told from chance
    labels_per_slope: float = 1.0
    # by tolerance
    tolerance: float = 0.01
    # guard: ascents take some ten steps
    most_steps: int = 50
    # by tolerance
    small_gain: float = 0.3
    # by tolerance: Laplace's method is exact enough where coefficients are few beside the labels
    few_coefficients: float = 0.025
    # chosen for speed
    faster: float = 1.3
    # by tolerance
    irrelevant: float = 2.3
    # a start, which does not matter
    wide: float = 0.5
    # guard: where the curvature vanishes a last step promises any evidence
    most_error: float = 1e3
    # guard
    longest_step: float = 3.0
    # by tolerance: leaving out only scales nine units behind takes 1.4 times the gaussians
    behind: float = 5.0
    unlikely: float = 3.5
    agreed: float = 2.5
    likewise: float = 4.0
    # by tolerance
    cells: int = 6
    heavy: float = 0.4
    # cells beside the first one say nothing of its lower half
    first: float = 4.0
    edge: float = 0.07
    light: float = 1e-3
    # guard
    narrow: float = 1e-4
    # by tolerance
    hopeless: float = 1e-7
    shape: str = "any"
    label_model: Any = "auto"

    def coarsening(self, n: float) -> float:
        """Power of the evidence: n rows count as n / (1 + n / coarse)."""
        return 1 / (1 + n / self.coarse)

    @property
    def deepest(self) -> float:
        """Log-mass behind all other mass at which a search ends."""
        return -float(np.log(self.hopeless))

    @property
    def node_values(self) -> Floats:
        """The nodes as an array."""
        return np.array(self.nodes)
