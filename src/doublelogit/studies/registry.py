"""Methods of others and what each of them can do: registered, so that their files can be read."""

from doublelogit.estimators.serialization import allow_records
from doublelogit.registry import Method, register
from doublelogit.studies.methods.softmax_pair import SoftmaxPair

PACKAGE = "studies.rivals"


def _rival(
    name: str,
    estimator: str,
    *,
    assumes_scar: bool = False,
    estimates_prevalence: bool = False,
) -> Method:
    """A method of others: in memory, without audits, intervals or features for each model."""
    return Method(
        name,
        estimator,
        assumes_scar=assumes_scar,
        has_propensity=False,
        estimates_prevalence=estimates_prevalence,
        takes_audits=False,
        out_of_core=False,
        package=PACKAGE,
    )


_RIVALS = (
    _rival("ntc-tmi", "ntc_tmi:NTCtMIClassifier"),
    _rival("pglin", "pglin:PGlinClassifier"),
    _rival("pusb", "pusb:PUSBClassifier"),
    _rival("pue", "pue:PUeClassifier"),
    _rival("upu", "upu:UPUClassifier", assumes_scar=True),
    _rival("nnpu", "nnpu:NNPUClassifier", assumes_scar=True),
    _rival(
        "elkan-noto",
        "elkan_noto:ElkanNotoClassifier",
        assumes_scar=True,
        estimates_prevalence=True,
    ),
    _rival("tice", "tice:TIcEClassifier", assumes_scar=True, estimates_prevalence=True),
    _rival("km2", "km2:KM2Classifier", assumes_scar=True, estimates_prevalence=True),
    _rival("dedpul", "dedpul:DEDPULClassifier", assumes_scar=True, estimates_prevalence=True),
)
# Published models of both class and labelling, fitted by the machinery of the library.
_DOUBLE_MODELS = (
    # spies are nearest neighbours, so rows must be in memory; users of a table get the steps of its
    # authors' code, for the maximum that these stop short of often has every row positive
    Method(
        "jerm",
        "jerm:JERMClassifier",
        out_of_core=False,
        settings={"variant": "released"},
        package=PACKAGE,
    ),
    Method(
        "detm",
        "detm:DETMClassifier",
        intervals="likelihood",
        large_settings={"n_starts": 1},
        package=PACKAGE,
    ),
)
RIVALS = {method.name: method for method in _RIVALS}
DOUBLE_MODELS = {method.name: method for method in _DOUBLE_MODELS}
register((*_RIVALS, *_DOUBLE_MODELS))
allow_records(SoftmaxPair)
