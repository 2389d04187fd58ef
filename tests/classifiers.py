"""Every classifier, cheap enough to be fitted in each test."""

import numpy as np
import pytest

from doublelogit import (
    AveragedClassifier,
    EMClassifier,
    JointClassifier,
    LBEClassifier,
    NaiveClassifier,
    SparseClassifier,
    TwoModelsClassifier,
    TwoModelsSimpleClassifier,
)
from doublelogit.studies.rivals import DETMClassifier, JERMClassifier

FREE = {"C": np.inf, "propensity_C": np.inf, "tol": 1e-9}  # of any penalty
CLASSIFIERS = [
    NaiveClassifier(),
    TwoModelsSimpleClassifier(),
    TwoModelsClassifier(tol=0, max_iter=20),
    JointClassifier(n_starts=1),
    EMClassifier(init="naive"),
    LBEClassifier(max_iter=100),
    JERMClassifier(),
    DETMClassifier(n_starts=2),
    AveragedClassifier(label_model=("logistic", "splines")),
    SparseClassifier(),
]
LINE = AveragedClassifier(shape="line")  # whose folds, unlike others', do not hang on units
LINEAR = [*CLASSIFIERS[:-2], LINE, SparseClassifier()]
WITH_PROPENSITY = CLASSIFIERS[2:]
# AVERAGED has a prior, and is no logistic model but a mean of them; so is SPARSE
PENALISED = CLASSIFIERS[:-2]
each = pytest.mark.parametrize("model", CLASSIFIERS, ids=lambda m: type(m).__name__)
each_with_propensity = pytest.mark.parametrize(
    "model", WITH_PROPENSITY, ids=lambda m: type(m).__name__
)
each_penalised = pytest.mark.parametrize("model", PENALISED, ids=lambda m: type(m).__name__)
