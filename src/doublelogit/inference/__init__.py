"""Uncertainty: standard errors, intervals, prevalence, profile likelihood, tests of SCAR."""

from doublelogit.inference.base import Inference
from doublelogit.inference.bootstrap import bootstrap
from doublelogit.inference.diagnosis import Diagnosis
from doublelogit.inference.estimate import Estimate
from doublelogit.inference.infer import infer
from doublelogit.inference.likelihood import LikelihoodInference
from doublelogit.inference.posterior import PosteriorInference
from doublelogit.inference.profile import Profile
from doublelogit.inference.scar import ScarTest, scar_test
from doublelogit.inference.sources import Dependence, Overlaps, SourcesInference
from doublelogit.inference.summary import Summary

__all__ = [
    "Dependence",
    "Diagnosis",
    "Estimate",
    "Inference",
    "LikelihoodInference",
    "Overlaps",
    "PosteriorInference",
    "Profile",
    "ScarTest",
    "SourcesInference",
    "Summary",
    "bootstrap",
    "infer",
    "scar_test",
]
