"""The methods: pseudo-code and one function each, from a Problem to a PUFit."""

from doublelogit.methods.em import em
from doublelogit.methods.joint import joint
from doublelogit.methods.lbe import lbe
from doublelogit.methods.naive import naive
from doublelogit.methods.oracle import oracle
from doublelogit.methods.problem import Problem
from doublelogit.methods.tm import tm
from doublelogit.methods.tm_simple import tm_simple

__all__ = [
    "Problem",
    "em",
    "joint",
    "lbe",
    "naive",
    "oracle",
    "tm",
    "tm_simple",
]
