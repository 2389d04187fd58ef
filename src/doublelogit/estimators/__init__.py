"""scikit-learn classifiers: validate, call a method, predict with what it fitted."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from doublelogit.registry import CLASSIFIERS, classes_in

if TYPE_CHECKING:  # for editors and type checkers; at run time the registry says where they are
    from doublelogit.estimators.averaged import AveragedClassifier as AveragedClassifier
    from doublelogit.estimators.em import EMClassifier as EMClassifier
    from doublelogit.estimators.joint import JointClassifier as JointClassifier
    from doublelogit.estimators.lbe import LBEClassifier as LBEClassifier
    from doublelogit.estimators.naive import NaiveClassifier as NaiveClassifier
    from doublelogit.estimators.sparse import SparseClassifier as SparseClassifier
    from doublelogit.estimators.two_models import TwoModelsClassifier as TwoModelsClassifier
    from doublelogit.estimators.two_models import (
        TwoModelsSimpleClassifier as TwoModelsSimpleClassifier,
    )

__all__ = classes_in("estimators")


def __getattr__(name: str) -> Any:
    if name not in classes_in("estimators"):
        raise AttributeError(f"module 'doublelogit.estimators' has no attribute {name!r}")
    return vars(import_module(CLASSIFIERS[name].module))[name]
