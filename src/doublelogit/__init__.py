"""Learning from positive-unlabelled data whose labels are biased.

A labelled row is surely positive, an unlabelled one may be either, and the probability that a
positive is labelled depends on its features. The double logistic model estimates both:
y(x) = P(Y=1 | x) and e(x) = P(S=1 | Y=1, x).
"""

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from doublelogit.registry import classes_in

if TYPE_CHECKING:
    from doublelogit.engines.scan import scan_parquet as scan_parquet
    from doublelogit.estimators import *  # noqa: F403
    from doublelogit.estimators.calibration import (
        AuditCalibratedClassifier as AuditCalibratedClassifier,
    )
    from doublelogit.estimators.paths import joint_path as joint_path
    from doublelogit.estimators.pipeline import PUPipeline as PUPipeline
    from doublelogit.exceptions import LabelOrderWarning as LabelOrderWarning
    from doublelogit.exceptions import MisfitWarning as MisfitWarning
    from doublelogit.exceptions import ModelFileError as ModelFileError
    from doublelogit.exceptions import OrientationWarning as OrientationWarning
    from doublelogit.exceptions import SeparationWarning as SeparationWarning
    from doublelogit.exceptions import TableError as TableError
    from doublelogit.exceptions import TableWarning as TableWarning
    from doublelogit.exceptions import WeakIdentificationWarning as WeakIdentificationWarning
    from doublelogit.export import to_onnx as to_onnx
    from doublelogit.findings import Finding as Finding
    from doublelogit.inference import infer as infer
    from doublelogit.inference import scar_test as scar_test
    from doublelogit.persistence import load as load
    from doublelogit.report import Report as Report
    from doublelogit.table_classifier import TableClassifier as TableClassifier
    from doublelogit.tables import Roles as Roles
    from doublelogit.tables import TableEncoder as TableEncoder
    from doublelogit.tables import read_table as read_table

__version__ = version("doublelogit")

# Where each public name lives. Names are imported when first asked for, so that the command line
# can show its help without waiting for numpy and scikit-learn.
_HOMES = {
    "AuditCalibratedClassifier": "estimators.calibration",
    "Finding": "findings",
    "LabelOrderWarning": "exceptions",
    "MisfitWarning": "exceptions",
    "ModelFileError": "exceptions",
    "OrientationWarning": "exceptions",
    "PUPipeline": "estimators.pipeline",
    "Report": "report",
    "Roles": "tables",
    "SeparationWarning": "exceptions",
    "TableClassifier": "table_classifier",
    "TableEncoder": "tables",
    "TableError": "exceptions",
    "TableWarning": "exceptions",
    "WeakIdentificationWarning": "exceptions",
    "infer": "inference",
    "joint_path": "estimators.paths",
    "load": "persistence",
    "read_table": "tables",
    "scan_parquet": "engines.scan",
    "scar_test": "inference",
    "to_onnx": "export",
    **dict.fromkeys(classes_in("estimators"), "estimators"),
}

__all__ = ["__version__", *sorted(_HOMES)]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'doublelogit' has no attribute {name!r}")
    return getattr(import_module(f"doublelogit.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
