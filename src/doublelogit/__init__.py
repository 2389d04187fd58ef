"""Learning from positive-unlabelled data whose labels are biased.

A labelled row is surely positive, an unlabelled one may be either, and the chance of a positive
to be labelled depends on its features. The double logistic model estimates both:
y(x) = P(Y=1 | x) and e(x) = P(S=1 | Y=1, x).
"""

from importlib.metadata import version

from doublelogit.engines.scan import scan_parquet
from doublelogit.estimators import (
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
    "scan_parquet",
    "scar_test",
]
