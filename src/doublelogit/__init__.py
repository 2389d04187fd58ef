"""Learning from positive-unlabelled data whose labels are biased.

A labelled row is surely positive, an unlabelled one may be either, and the chance of a positive
to be labelled depends on its features. The double logistic model estimates both:
y(x) = P(Y=1 | x) and e(x) = P(S=1 | Y=1, x).
"""

from importlib.metadata import version

from doublelogit.estimators import (
    AveragedClassifier,
    EMClassifier,
    JointClassifier,
    LBEClassifier,
    NaiveClassifier,
    TwoModelsClassifier,
    TwoModelsSimpleClassifier,
)
from doublelogit.exceptions import (
    LabelOrderWarning,
    OrientationWarning,
    SeparationWarning,
    WeakIdentificationWarning,
)
from doublelogit.inference import infer, scar_test

__version__ = version("doublelogit")

__all__ = [
    "AveragedClassifier",
    "EMClassifier",
    "JointClassifier",
    "LBEClassifier",
    "LabelOrderWarning",
    "NaiveClassifier",
    "OrientationWarning",
    "SeparationWarning",
    "TwoModelsClassifier",
    "TwoModelsSimpleClassifier",
    "WeakIdentificationWarning",
    "__version__",
    "infer",
    "scar_test",
]
