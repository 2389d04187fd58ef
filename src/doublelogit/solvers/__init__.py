"""Minimisers of smooth functions. They never see data."""

from doublelogit.solvers.adam import Adam
from doublelogit.solvers.anderson import Anderson
from doublelogit.solvers.lbfgs import lbfgs
from doublelogit.solvers.newton import newton
from doublelogit.solvers.problem import First, Objective, Second
from doublelogit.solvers.solution import Factor, Solution, largest, settled, stationary
from doublelogit.solvers.trust_region import trust_region

__all__ = [
    "Adam",
    "Anderson",
    "Factor",
    "First",
    "Objective",
    "Second",
    "Solution",
    "largest",
    "lbfgs",
    "newton",
    "settled",
    "stationary",
    "trust_region",
]
