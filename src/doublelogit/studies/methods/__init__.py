"""Methods of others that share the double logistic machinery: JERM and DETM."""

from doublelogit.studies.methods.detm import detm
from doublelogit.studies.methods.jerm import jerm
from doublelogit.studies.methods.softmax import SoftmaxProblem

__all__ = ["SoftmaxProblem", "detm", "jerm"]
