"""How sure: standard errors, intervals, prevalence, profile likelihood, bootstrap."""

from doublelogit.inference.bootstrap import bootstrap
from doublelogit.inference.estimate import Estimate
from doublelogit.inference.profile import Profile
from doublelogit.inference.result import Inference, infer
from doublelogit.inference.summary import Summary

__all__ = ["Estimate", "Inference", "Profile", "Summary", "bootstrap", "infer"]
