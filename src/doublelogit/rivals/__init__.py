"""Methods of others, under the contract of ours, to be compared with: one file each.

They hold their rows in memory and take neither weights nor audits. No command offers them.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from doublelogit.registry import CLASSIFIERS, classes_in

if TYPE_CHECKING:  # for editors and type checkers; at run time the registry says where they are
    from doublelogit.rivals.dedpul import DEDPULClassifier as DEDPULClassifier
    from doublelogit.rivals.elkan_noto import ElkanNotoClassifier as ElkanNotoClassifier
    from doublelogit.rivals.km2 import KM2Classifier as KM2Classifier
    from doublelogit.rivals.nnpu import NNPUClassifier as NNPUClassifier
    from doublelogit.rivals.ntc_tmi import NTCtMIClassifier as NTCtMIClassifier
    from doublelogit.rivals.pglin import PGlinClassifier as PGlinClassifier
    from doublelogit.rivals.pue import PUeClassifier as PUeClassifier
    from doublelogit.rivals.pusb import PUSBClassifier as PUSBClassifier
    from doublelogit.rivals.tice import TIcEClassifier as TIcEClassifier
    from doublelogit.rivals.upu import UPUClassifier as UPUClassifier

__all__ = classes_in("rivals")


def __getattr__(name: str) -> Any:
    if name not in classes_in("rivals"):
        raise AttributeError(f"module 'doublelogit.rivals' has no attribute {name!r}")
    return vars(import_module(CLASSIFIERS[name].module))[name]
