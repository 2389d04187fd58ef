"""The label frequency c of a class of any shape, given what labels and lines say: a law.

Where a label model is highest nearly all rows are positive, so that their label rate is about c::

    log c ~ N(LAW'(1, log lift, log mean S, log c of the lines), SD^2), cut at c <= 1
            in part log-uniform, for tables unlike those it was learned from
            in part "nobody is hidden", c = 1

lift being the label rate among the top twentieth by s(x) over that of all rows. LAW is the least
squares of ``benchmarks/shape_rule.py`` on draws of the learn half, which leave a deviation of .42.
Lines hold the rest of the posterior and their intervals already cover; with .42 both together cover
.99 of learn's draws at 90%, with SD .97, at a better score. SD and the parts were chosen there.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import ndtr

from doublelogit._types import Floats

LAW, SD = (0.05, 0.13, 0.44, 0.34), 0.25
FLAT, NOBODY_HIDDEN = 0.06, 0.08
LEAST_MEAN_S, LEAST_LOG_C = 0.07, -1.6  # below, a regressor says no more
TOP = 20  # one row in so many is at the top of a label model
FEWEST_TOP = 5
MOST = 0.985  # largest prevalence


class Law(NamedTuple):
    """Masses of label frequencies c on a grid; the last is c = 1."""

    c: Floats
    mass: Floats


def law(s: Floats, labels: Floats, weight: Floats, log_c_lines: float, cells: int) -> Law:
    """The law given s(x), labels and weights of a sample, on so many cells and at one."""
    mean_s = float(np.average(labels, weights=weight))
    return law_at(mean_s, log_lift(s, labels, weight, mean_s), log_c_lines, cells)


def law_at(
    mean_s: float,
    log_lift: float,
    log_c_lines: float,
    cells: int,
    *,
    sd: float = SD,
    flat: float = FLAT,
    nobody: float = NOBODY_HIDDEN,
) -> Law:
    """The law at some values of its regressors."""
    regressors = (
        1.0,
        log_lift,
        max(np.log(mean_s), np.log(LEAST_MEAN_S)),
        max(log_c_lines, LEAST_LOG_C),
    )
    edges = np.linspace(min(np.log(mean_s / MOST), -1e-3), 0.0, cells + 1)
    learned = np.diff(ndtr((edges - np.dot(LAW, regressors)) / sd))
    learned = learned / max(learned.sum(), np.finfo(float).tiny)
    mass = (1 - nobody) * ((1 - flat) * learned + flat / cells)
    middle = np.exp((edges[1:] + edges[:-1]) / 2)
    return Law(np.append(middle, 1.0), np.append(mass, nobody))


def log_lift(s: Floats, labels: Floats, weight: Floats, mean_s: float) -> float:
    """Logarithm of the label rate at the top of s(x) over that of all rows."""
    order = np.argsort(-s, kind="stable")
    above = np.cumsum(weight[order])
    most = max(FEWEST_TOP, above[-1] / TOP)
    top = order[: int(np.searchsorted(above, most, side="left")) + 1]
    labelled, rows = weight[top] @ labels[top], weight[top].sum()
    return float(np.log((labelled + 0.5) / (rows + 1) / mean_s))
