"""Minimisers of smooth functions. They never see data."""

from doublelogit.core.solvers.adam import Adam
from doublelogit.core.solvers.anderson import Anderson
from doublelogit.core.solvers.composite import CompositeSolution, composite
from doublelogit.core.solvers.lbfgs import lbfgs
from doublelogit.core.solvers.newton import newton
from doublelogit.core.solvers.objective import FirstOrder, Objective, ValueGrad, ValueGradHess
from doublelogit.core.solvers.solution import Factor, Solution, largest, settled, stationary
from doublelogit.core.solvers.trust_region import trust_region

__all__ = [
    "Adam",
    "Anderson",
    "CompositeSolution",
    "Factor",
    "FirstOrder",
    "Objective",
    "Solution",
    "ValueGrad",
    "ValueGradHess",
    "composite",
    "largest",
    "lbfgs",
    "newton",
    "settled",
    "stationary",
    "trust_region",
]
