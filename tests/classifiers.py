"""Every classifier, cheap enough to be fitted in each test."""

import pytest

from doublelogit import (
    EMClassifier,
    JointClassifier,
    LBEClassifier,
    NaiveClassifier,
    TwoModelsClassifier,
    TwoModelsSimpleClassifier,
)

CLASSIFIERS = [
    NaiveClassifier(),
    TwoModelsSimpleClassifier(),
    TwoModelsClassifier(tol=0, max_iter=20),
    JointClassifier(n_starts=1),
    EMClassifier(init="naive"),
    LBEClassifier(max_iter=100),
]
WITH_PROPENSITY = CLASSIFIERS[2:]
each = pytest.mark.parametrize("model", CLASSIFIERS, ids=lambda m: type(m).__name__)
each_with_propensity = pytest.mark.parametrize(
    "model", WITH_PROPENSITY, ids=lambda m: type(m).__name__
)
