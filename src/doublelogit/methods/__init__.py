"""The methods: pseudo-code and one function each, from a Problem to a PUFit."""

from doublelogit.methods.averaged import averaged
from doublelogit.methods.detm import detm
from doublelogit.methods.em import em
from doublelogit.methods.jerm import jerm
from doublelogit.methods.joint import joint
from doublelogit.methods.lbe import lbe
from doublelogit.methods.naive import naive
from doublelogit.methods.oracle import oracle
from doublelogit.methods.problem import Problem
from doublelogit.methods.softmax import SoftmaxProblem
from doublelogit.methods.tm import tm
from doublelogit.methods.tm_simple import tm_simple

__all__ = [
    "Problem",
    "SoftmaxProblem",
    "averaged",
    "detm",
    "em",
    "jerm",
    "joint",
    "lbe",
    "naive",
    "oracle",
    "tm",
    "tm_simple",
]
