"""The methods by name. Imports nothing, so that a command line can ask for the names only."""

# name -> class of doublelogit.estimators
METHODS = {
    "averaged": "AveragedClassifier",
    "joint": "JointClassifier",
    "em": "EMClassifier",
    "tm": "TwoModelsClassifier",
    "tm-simple": "TwoModelsSimpleClassifier",
    "lbe": "LBEClassifier",
    "naive": "NaiveClassifier",
}
DEFAULT_METHOD = "joint"

# Parameters that differ from a class's own defaults. TM seldom meets a stopping rule: the
# number of rounds of its authors' code is what users of a table get.
SETTINGS: dict[str, dict[str, object]] = {"tm": {"tol": 0, "max_iter": 100}}
