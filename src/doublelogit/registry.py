"""The methods and what each of them can do. Imports nothing, so that a command line starts quickly.

A method is added by its file, one line here, and one row in the tests' list; everything that
offers, compares or refuses methods asks this table. Other packages register classifiers of theirs,
which no command offers.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Method:
    """A method and its capabilities.

    Parameters
    ----------
    name : str
        As in ``--method``.
    estimator : str
        Its classifier, ``module:class`` of the package.
    assumes_scar : bool, default=False
        Whether biased labels rule it out: it takes labels as given at random, or as complete.
    has_propensity : bool, default=True
        Whether it has a propensity model of its own, so that features may be named for each model.
    takes_audits : bool, default=True
        Whether it uses rows whose class was found out.
    out_of_core : bool, default=True
        Whether it runs on Parquet files and Dask collections.
    intervals : {"likelihood", "posterior", None}, default=None
        What its intervals come from; None if it has none.
    pluggable : bool, default=False
        Whether other classifiers may take the place of its two models.
    settings : mapping, default={}
        Parameters for tables that differ from the class's own defaults.
    large_settings : mapping, default={}
        Parameters for tables of many rows.
    package : str, default="estimators"
        Where in the library its module is.
    estimates_prevalence : bool, default=False
        Whether it has an estimate of the prevalence that other rivals can ask for.
    counts_in_claims : bool, default=False
        Whether its opinion of a list counts in what a page claims: the best calibrated method, and
        one that errs towards fewer positives where maximum likelihood errs towards more.
    contradicts : bool, default=False
        Whether a page that it contradicts says so: it is calibrated well enough.
    label_model : bool, default=False
        Whether its class may have any shape, given by a model of the label that can be chosen.
    sources : bool, default=False
        Whether it learns from labels of several sources.
    least_features, most_features : float
        Widths of tables, in encoded features, that it is for.
    wide : str, default=None
        Name of the method that takes its place for more features than that.
    """

    name: str
    estimator: str
    assumes_scar: bool = False
    has_propensity: bool = True
    takes_audits: bool = True
    out_of_core: bool = True
    intervals: str | None = None
    pluggable: bool = False
    settings: Mapping[str, Any] = field(default_factory=dict)
    large_settings: Mapping[str, Any] = field(default_factory=dict)
    package: str = "estimators"
    estimates_prevalence: bool = False
    counts_in_claims: bool = False
    contradicts: bool = False
    label_model: bool = False
    sources: bool = False
    least_features: float = 0
    most_features: float = float("inf")
    wide: str | None = None

    def suits(self, n_features: int) -> bool:
        """Whether it is for tables of so many encoded features."""
        return self.least_features <= n_features <= self.most_features

    def at_width(self, n_features: int) -> "Method":
        """The method for so many encoded features: itself, or what takes its place."""
        if self.wide is None or n_features <= self.most_features:
            return self
        return METHODS[self.wide]

    @property
    def module(self) -> str:
        """Module of the classifier."""
        return f"doublelogit.{self.package}.{self.estimator.partition(':')[0]}"

    @property
    def class_name(self) -> str:
        """Name of the classifier."""
        return self.estimator.partition(":")[2]


WIDEST = 999  # features of which the default holds matrices of all pairs

AUTO, LINES = "auto", "lines"
# Models of the label that a class of any shape may follow; by lines the class is a line.
LABEL_MODELS = (AUTO, "logistic", "product", "splines", "trees", "forest", LINES)

_METHODS = (
    Method(
        "averaged",
        "averaged:AveragedClassifier",
        intervals="posterior",
        counts_in_claims=True,
        contradicts=True,
        label_model=True,
        sources=True,
        most_features=WIDEST,
        wide="sparse",
    ),
    Method(
        "sparse",
        "sparse:SparseClassifier",
        out_of_core=False,
        intervals="posterior",
        least_features=WIDEST + 1,
    ),
    # in large samples all starts end in one optimum, and each costs as much as the fit
    Method(
        "joint",
        "joint:JointClassifier",
        intervals="likelihood",
        settings={"scaled_penalty": False},  # tables scale their numbers themselves
        large_settings={"n_starts": 1},
        sources=True,
    ),
    Method("em", "em:EMClassifier", intervals="likelihood", pluggable=True),
    # TM seldom meets a stopping rule: users of a table get the rounds of its authors' code
    Method(
        "tm",
        "two_models:TwoModelsClassifier",
        pluggable=True,
        settings={"tol": 0, "max_iter": 100},
    ),
    Method("tm-simple", "two_models:TwoModelsSimpleClassifier", has_propensity=False),
    Method("lbe", "lbe:LBEClassifier", counts_in_claims=True),
    Method(
        "naive",
        "naive:NaiveClassifier",
        assumes_scar=True,
        has_propensity=False,
        takes_audits=False,
    ),
)
METHODS = {method.name: method for method in _METHODS}
CLASSIFIERS = {method.class_name: method for method in _METHODS}
AUDIT_GOALS = ("prevalence", "orientation", "list")  # what rows of an audit may be drawn for
DEFAULT_METHOD = "averaged"
# What tests, curves and checks of the default are made by: the quickest that has a likelihood.
CHECKING_METHOD = "joint"

# The likelihood under labelling at random: a constant propensity. Reports and comparisons show it
# beside the others; it is not a choice of its own.
SCAR = Method(
    "joint, SCAR",
    METHODS[CHECKING_METHOD].estimator,
    assumes_scar=True,
    intervals="likelihood",
    settings={"propensity_features": [], "n_starts": 1, "scaled_penalty": False},
)


def method_of(classifier: Any) -> Method:
    """The method of a classifier, or of the class that it extends."""
    names = [cls.__name__ for cls in type(classifier).__mro__]
    for name in names:
        if name in CLASSIFIERS:
            return CLASSIFIERS[name]
    example = METHODS[DEFAULT_METHOD].class_name
    raise TypeError(f"a classifier of this library is needed, such as {example}; got {names[0]}.")


def suited(n_features: int) -> list[Method]:
    """The methods for tables of so many encoded features."""
    return [method for method in METHODS.values() if method.suits(n_features)]


def register(methods: Iterable[Method]) -> None:
    """Make classifiers of another package known to inference and to model files."""
    CLASSIFIERS.update({method.class_name: method for method in methods})


def classes_in(package: str) -> list[str]:
    """Names of the classifiers of a package."""
    return [name for name, method in CLASSIFIERS.items() if method.package == package]


def with_capability(name: str) -> list[str]:
    """Names of the methods that have a capability, for a message."""
    return [method.name for method in _METHODS if vars(method)[name]]
