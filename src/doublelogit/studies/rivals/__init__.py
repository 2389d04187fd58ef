"""Methods of others, under the contract of ours, to be compared with: one file each.

They hold their rows in memory and take neither weights nor audits, except JERM and DETM, which use
the machinery of the library. No command offers them.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from doublelogit.registry import CLASSIFIERS, classes_in
from doublelogit.studies.registry import PACKAGE

if TYPE_CHECKING:  # for editors and type checkers; at run time the registry says where they are
    from doublelogit.studies.rivals.dedpul import DEDPULClassifier as DEDPULClassifier
    from doublelogit.studies.rivals.detm import DETMClassifier as DETMClassifier
    from doublelogit.studies.rivals.elkan_noto import ElkanNotoClassifier as ElkanNotoClassifier
    from doublelogit.studies.rivals.jerm import JERMClassifier as JERMClassifier
    from doublelogit.studies.rivals.km2 import KM2Classifier as KM2Classifier
    from doublelogit.studies.rivals.nnpu import NNPUClassifier as NNPUClassifier
    from doublelogit.studies.rivals.ntc_tmi import NTCtMIClassifier as NTCtMIClassifier
    from doublelogit.studies.rivals.pglin import PGlinClassifier as PGlinClassifier
    from doublelogit.studies.rivals.pue import PUeClassifier as PUeClassifier
    from doublelogit.studies.rivals.pusb import PUSBClassifier as PUSBClassifier
    from doublelogit.studies.rivals.tice import TIcEClassifier as TIcEClassifier
    from doublelogit.studies.rivals.upu import UPUClassifier as UPUClassifier

__all__ = classes_in(PACKAGE)


def __getattr__(name: str) -> Any:
    if name not in classes_in(PACKAGE):
        raise AttributeError(f"module 'doublelogit.studies.rivals' has no attribute {name!r}")
    return vars(import_module(CLASSIFIERS[name].module))[name]
