"""scikit-learn classifiers: validate, call a method, predict."""

from doublelogit.estimators.averaged import AveragedClassifier
from doublelogit.estimators.em import EMClassifier
from doublelogit.estimators.joint import JointClassifier
from doublelogit.estimators.lbe import LBEClassifier
from doublelogit.estimators.naive import NaiveClassifier
from doublelogit.estimators.two_models import TwoModelsClassifier, TwoModelsSimpleClassifier

__all__ = [
    "AveragedClassifier",
    "EMClassifier",
    "JointClassifier",
    "LBEClassifier",
    "NaiveClassifier",
    "TwoModelsClassifier",
    "TwoModelsSimpleClassifier",
]
