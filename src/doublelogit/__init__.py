"""Learning from positive-unlabelled data whose labels are biased.

A labelled row is surely positive, an unlabelled one may be either, and the chance of a positive
to be labelled depends on its features. The double logistic model estimates both:
y(x) = P(Y=1 | x) and e(x) = P(S=1 | Y=1, x).
"""

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from doublelogit.engines.scan import scan_parquet
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
        ModelFileError,
        OrientationWarning,
        SeparationWarning,
        TableError,
        TableWarning,
        WeakIdentificationWarning,
    )
    from doublelogit.inference import infer, scar_test
    from doublelogit.persistence import load
    from doublelogit.tables import Roles, TableEncoder, TableModel, fit_table, read_table

__version__ = version("doublelogit")

__all__ = [
    "AveragedClassifier",
    "EMClassifier",
    "JointClassifier",
    "LBEClassifier",
    "LabelOrderWarning",
    "ModelFileError",
    "NaiveClassifier",
    "OrientationWarning",
    "Roles",
    "SeparationWarning",
    "TableEncoder",
    "TableError",
    "TableModel",
    "TableWarning",
    "TwoModelsClassifier",
    "TwoModelsSimpleClassifier",
    "WeakIdentificationWarning",
    "__version__",
    "fit_table",
    "infer",
    "load",
    "read_table",
    "scan_parquet",
    "scar_test",
]

# Names are imported when first asked for, so that the command line can show its help without
# waiting for numpy and scikit-learn.
_HOMES = ("exceptions", "estimators", "inference", "persistence", "tables", "engines.scan")


def __getattr__(name: str) -> Any:
    if name in __all__:
        for home in _HOMES:
            module = import_module(f"doublelogit.{home}")
            if hasattr(module, name):
                return getattr(module, name)
    raise AttributeError(f"module 'doublelogit' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
