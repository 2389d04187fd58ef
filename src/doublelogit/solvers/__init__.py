"""Minimisers of smooth functions. They never see data."""

from doublelogit.solvers.adam import Adam
from doublelogit.solvers.anderson import Anderson
from doublelogit.solvers.lbfgs import lbfgs
from doublelogit.solvers.newton import newton
from doublelogit.solvers.objective import FirstOrder, Objective, ValueGrad, ValueGradHess
from doublelogit.solvers.solution import Factor, Solution, largest, settled, stationary
from doublelogit.solvers.trust_region import trust_region

__all__ = [
    "Adam",
    "Anderson",
    "Factor",
    "FirstOrder",
    "Objective",
    "Solution",
    "ValueGrad",
    "ValueGradHess",
    "largest",
    "lbfgs",
    "newton",
    "settled",
    "stationary",
    "trust_region",
]
